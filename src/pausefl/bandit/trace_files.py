"""CSV files that worlds are read from: traces of latencies, and of who can be asked."""

from __future__ import annotations

import csv
import math

from pausefl.errors import ConfigError, DataError
from pausefl.files import path_of


def csv_rows(file: str, columns: tuple[str, ...], key: str) -> list[tuple[float, ...]]:
    """The rows of a CSV file with some columns of finite numbers; ``key`` is the setting that names it.

    Raises
    ------
    ConfigError
        If the file cannot be read.
    DataError
        If it lacks a column, or has a value that is no finite number.
    """
    try:
        with path_of(file).open(encoding="utf-8-sig", newline="") as lines:
            rows = [tuple(float(row[name]) for name in columns) for row in csv.DictReader(lines)]
    except OSError as error:
        raise ConfigError(f"{key} = '{file}' cannot be read ({error.strerror})") from None
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{file} must have the columns {', '.join(columns)} with numbers ({error})") from None
    if any(not math.isfinite(value) for row in rows for value in row):
        raise DataError(f"{file} has a value that is not finite")
    return rows
