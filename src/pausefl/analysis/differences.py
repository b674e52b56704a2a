"""What differs between two tables."""

from __future__ import annotations

import numpy as np
import pandas as pd


def first_differences(old: pd.DataFrame, new: pd.DataFrame, rtol: float = 0.0) -> dict[str, int]:
    """Position of the first row in which each column differs, among the rows and columns that both have.

    Floats are equal within the relative difference ``rtol``; NaN equals NaN.
    """
    n, found = min(len(old), len(new)), {}
    for column in old.columns.intersection(new.columns, sort=False):
        a, b = (table[column].iloc[:n] for table in (old, new))
        if a.dtype.kind == b.dtype.kind == "f":
            same = np.isclose(a, b, rtol=rtol, atol=0.0, equal_nan=True)
        else:
            values = (column.astype(object).where(column.notna(), None) for column in (a, b))
            same = np.fromiter(map(np.array_equal, *values), bool, n)
        if not same.all():
            found[str(column)] = int(np.argmin(same))
    return found


def difference(new: pd.DataFrame, old: pd.DataFrame, rtol: float = 0.0) -> str:
    """The first column and row in which two tables differ; empty if none does.

    The first column names the rows. Floats are equal within the relative difference ``rtol``.
    """
    if list(new.columns) != list(old.columns) or len(new) != len(old):
        return "other columns or rows"
    for column, row in first_differences(new, old, rtol).items():
        return f"column {column} differs in {new.columns[0]} {new.iloc[row, 0]!s}"
    return ""
