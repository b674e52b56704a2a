"""Hashes of contents: of arrays, and of the values of a table, however its file stores them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def of_arrays(arrays: Iterable[NDArray[Any]]) -> str:
    """SHA-256 of arrays, in hexadecimal digits: types, shapes and contents."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def of_table(table: pd.DataFrame) -> str:
    """SHA-256 of a table's names and values; the same before it is written and after it is read.

    Parameters
    ----------
    table
        Columns are integers, floats (NaN where there is no value) or lists of integers.
    """
    return of_arrays(_arrays(table))


def _arrays(table: pd.DataFrame) -> Iterator[NDArray[Any]]:
    """The columns as arrays, each after its name; of lists, the lengths and then all entries."""
    for name in table.columns:
        yield np.frombuffer(str(name).encode(), np.uint8)
        column = table[name]
        if len(column) and isinstance(column.iloc[0], list | np.ndarray):
            yield np.array([len(entries) for entries in column], np.int64)
            yield np.concatenate([np.asarray(entries, np.int64) for entries in column])
        elif pd.api.types.is_integer_dtype(column):
            yield column.to_numpy(np.int64)
        else:
            values = column.to_numpy(np.float64, copy=True)
            values[np.isnan(values)] = np.nan  # one bit pattern of the many that NaN has
            yield values
