"""CSV files that worlds are read from: traces of latencies, and of who can be asked."""

from __future__ import annotations

import csv
import math
import re

from pausefl.errors import DataError
from pausefl.files import check_readable, path_of

#: How a file writes a number; Python reads more, such as ``1_0`` and digits of other scripts.
_NUMBER = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")


def csv_rows(file: str, columns: tuple[str, ...], key: str) -> list[tuple[float, ...]]:
    """The rows of a CSV file with some columns of finite numbers; ``key`` is the setting that names it.

    Raises
    ------
    DataError
        If the file cannot be read, lacks a column, has a row with more values than columns, or has a value
        that is no finite number.
    """
    path, rows = path_of(file), list[tuple[float, ...]]()
    try:
        check_readable(path, DataError)
    except DataError as error:
        raise DataError(f"{key}: {error}") from None
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines)
            if lacking := [name for name in columns if name not in (reader.fieldnames or ())]:
                raise DataError(
                    f"{file} must have the columns {', '.join(columns)}, and lacks {', '.join(lacking)}"
                )
            for row in reader:
                where = f"{file}, line {reader.line_num}"
                if None in row:
                    raise DataError(f"{where} has more values than columns; decimals need a point")
                rows.append(tuple(_number(row[name], f"{where}: {name}") for name in columns))
    except OSError as error:
        raise DataError(f"{key} = '{file}' cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{file} is no CSV file in UTF-8 ({error})") from None
    return rows


def _number(text: str | None, what: str) -> float:
    """A finite number; `DataError` begins with ``what`` it is."""
    if text is None or not _NUMBER.fullmatch(text) or not math.isfinite(value := float(text)):
        shown = "missing" if text is None else f"'{text:.40}'"
        raise DataError(f"{what} is {shown}, not a finite number with a decimal point")
    return value
