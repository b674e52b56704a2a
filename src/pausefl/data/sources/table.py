"""A table of one's own: a file with a column for the label and, if it has users, one for whose a row is."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pausefl.data.sources.base import FIXED, Array, Examples, Source
from pausefl.errors import DataError, suggest
from pausefl.files import check_readable

if TYPE_CHECKING:
    import pandas as pd

#: How the names of files end that can be read.
SUFFIXES = (".csv", ".npz", ".parquet")

#: What pandas calls a column without a name, such as an index that was written.
_NAMELESS = re.compile(r"Unnamed: \d+|__index_level_\d+__")

#: Largest number that float32 has.
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Table(Source):
    """Rows of a CSV, NPZ or Parquet file are examples; columns that are not named here are their features.

    Features are float32 (N, features), taken as they are. Labels are numbers or texts, and classes their
    places in sorted order. Arrays of an NPZ file are columns, (N,); one of more dimensions is several. Rows
    are put in a fixed random order, and the last ``test_fraction`` of them, rounded down, is for testing:
    of each user, if there is a ``user_column``.
    """

    origin = "the table {file}"
    about = "`file`: CSV, NPZ or Parquet with a column of labels and, if users are given, one of users"
    files = ("{file}",)
    images = False

    file: str
    label_column: str
    test_fraction: float
    user_column: str | None = None

    def check(self, files: list[Path]) -> None:
        """Raise `DataError` if the file's name does not end as one of `SUFFIXES`."""
        if files[0].suffix.lower() not in SUFFIXES:
            raise DataError(
                f"{files[0]}: a table of another kind; its name must end in {', '.join(SUFFIXES)}"
            )

    def read(self, files: list[Path]) -> Examples:
        """See `Source.read`; ``train_users`` are the values of ``user_column``, whole numbers or texts."""
        self.check(files)
        table = _table_of(files[0])
        order = FIXED.generator("source/order").permutation(len(table))
        table = table.iloc[order]
        classes, y = np.unique(self._named(table, "label_column", files[0]), return_inverse=True)
        users = np.zeros(len(table), np.int64)
        if self.user_column is not None:
            users = self._named(table, "user_column", files[0])
        features = [name for name in table.columns if name not in (self.label_column, self.user_column)]
        if not features:
            raise DataError(f"{files[0]}: no column of features beside labels and users")
        if nameless := [name for name in features if _NAMELESS.fullmatch(name)]:
            where = list(table.columns).index(nameless[0]) + 1
            raise DataError(
                f"{files[0]}: column {where} has no name. If it is the index that pandas writes, leave it out"
                " (to_csv(…, index=False)); if it is a feature, name it"
            )
        x = np.stack([_numbers(table[name], files[0]) for name in features], axis=1)
        testing = _last_of_each(users, self.test_fraction)
        if not testing.any():
            raise DataError(
                f"{files[0]}: data.test_fraction = {self.test_fraction} leaves no row for testing; the most"
                f" rows of a user are {np.unique(users, return_counts=True)[1].max()}"
            )
        given = None if self.user_column is None else users[~testing]
        return Examples(x[~testing], y[~testing], x[testing], y[testing], len(classes), given)

    def _named(self, table: pd.DataFrame, key: str, path: Path) -> Array:
        """The values of the column that ``data.KEY`` names, (N,), as whole numbers or texts."""
        if (name := getattr(self, key)) not in table.columns:
            raise DataError(f"{path}: has no column {name!r} (data.{key}). {suggest(name, table.columns)}")
        column = table[name]
        if column.isna().any():
            raise DataError(f"{path}: column {name!r} has no value in row {_first(column.isna(), table)}")
        values: Array = column.to_numpy()
        if values.dtype.kind == "f" and (values != np.floor(values)).any():
            wrong = _first(values != np.floor(values), table)
            raise DataError(
                f"{path}: column {name!r} has a number that is not whole in row {wrong}; data.{key} must name"
                " whole numbers or texts"
            )
        whole: Array = values.astype(np.int64 if values.dtype.kind in "iufb" else np.str_)
        return whole


def _table_of(path: Path) -> pd.DataFrame:
    """The columns of a file, rows counted from 0; `DataError` if it cannot be read, or has no rows."""
    import pandas as pd

    check_readable(path, DataError)
    try:
        if path.suffix.lower() == ".npz":
            table = _arrays(path)
        else:
            table = pd.read_csv(path) if path.suffix.lower() == ".csv" else pd.read_parquet(path)
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:  # pandas and pyarrow derive theirs
        raise DataError(f"{path}: not readable as {path.suffix[1:]} ({_in_short(error)})") from None
    table.columns = table.columns.map(str)
    if not len(table):
        raise DataError(f"{path}: no rows in it")
    return table.reset_index(drop=True)


def _arrays(path: Path) -> pd.DataFrame:
    """The arrays of an NPZ file as columns: ``x`` of shape (N, 2) is the columns ``x`` 0 and ``x`` 1."""
    import pandas as pd

    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if len({array.shape[:1] for array in arrays.values()}) != 1 or not all(a.ndim for a in arrays.values()):
        raise DataError(f"{path}: its arrays must be of equally many examples, the first dimension of each")
    flat = {name: array.reshape(len(array), -1) for name, array in arrays.items()}
    parts = [
        pd.DataFrame(
            array, columns=[name] if array.shape[1] == 1 else [f"{name} {i}" for i in range(array.shape[1])]
        )
        for name, array in flat.items()
    ]
    return pd.concat(parts, axis=1)


def _numbers(column: pd.Series, path: Path) -> Array:
    """A feature as float32 (N,); `DataError`, which names column and row, for what is no finite number."""
    if column.dtype.kind not in "iufb":
        raise DataError(f"{path}: column {column.name!r} is not of numbers; leave it out, or encode it")
    values = column.to_numpy(np.float64, na_value=np.nan)
    if (wrong := ~(np.abs(values) <= _LARGEST)).any():
        raise DataError(
            f"{path}: column {column.name!r} has no finite number in row {_first(wrong, column.to_frame())}"
        )
    return values.astype(np.float32)


def _last_of_each(users: Array, share: float) -> Array:
    """For each row (N,), whether it is among the last ``share`` of those of its user, rounded down."""
    by_user = np.argsort(users, kind="stable")
    _, starts, counts = np.unique(users[by_user], return_index=True, return_counts=True)
    left = np.empty(len(users), np.int64)
    left[by_user] = np.repeat(starts + counts, counts) - np.arange(len(users))  # the last one has 1
    n_rows = np.empty(len(users), np.int64)
    n_rows[by_user] = np.repeat(counts, counts)
    last: Array = left <= np.floor(share * n_rows)
    return last


def _first(wrong: pd.Series | Array, table: pd.DataFrame) -> int:
    """The row of the file, counted from 1, that is the first one with something wrong."""
    return 1 + int(table.index[np.asarray(wrong)].min())


def _in_short(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
