"""What differs between two tables, and between two folders of results.

``python -m pausefl.analysis.differences OLD NEW`` prints one line for each file that differs and exits with 1
if there is any. Files of only one folder are listed too. Hashes of code, texts of captions and notes, and
whatever says how and where a run went, as times, memory and the machine, do not count.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pausefl.settings.dotted_keys import differing

#: Files of results that are compared, by suffix; reports, logs and PDF files hold nothing else.
_SUFFIXES = (".csv", ".parquet", ".json", ".jsonl", ".png")

#: Keys of JSON files that may change while all numbers stay.
_UNCOUNTED = {
    *("code_hash", "code_hashes", "caption", "notes", "titles", "title", "code", "versions"),
    *("timings_s", "peak_memory_bytes", "resumed_from_rounds", "hardware"),
}


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


def differences(old: Path, new: Path) -> Iterator[str]:
    """Yield a line for each file below two folders that is missing in one of them or differs."""
    files = [
        {path.relative_to(folder) for path in folder.rglob("*") if path.suffix in _SUFFIXES}
        for folder in (old, new)
    ]
    for path in sorted(files[0] | files[1]):
        if path not in files[1]:
            yield f"{path}: only in {old}"
        elif path not in files[0]:
            yield f"{path}: only in {new}"
        elif found := _COMPARE[path.suffix](old / path, new / path):
            yield f"{path}: {found}"


def _tables(old: Path, new: Path) -> str:
    """What differs between two tables, whatever the precision of their text."""
    ours, theirs = (
        pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path) for path in (new, old)
    )
    return difference(ours, theirs) or ("" if ours.dtypes.equals(theirs.dtypes) else "other types")


def _documents(old: Path, new: Path) -> str:
    """The first keys whose values differ between two files of JSON, or of JSON lines, by their number."""
    keys = list(differing(*({"": _keyed(_read(path))} for path in (old, new))))
    return f"{len(keys)} values differ: {', '.join(key[1:] for key in keys[:5])}" if keys else ""


def _read(path: Path) -> Any:
    text = path.read_bytes()
    return list(map(json.loads, text.splitlines())) if path.suffix == ".jsonl" else json.loads(text)


def _keyed(value: Any) -> Any:
    """What counts of a value, with the entries of lists by their position."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        return repr(value)
    return {str(key): _keyed(one) for key, one in value.items() if key not in _UNCOUNTED}


def _pictures(old: Path, new: Path) -> str:
    """The share of pixels that differ between two pictures."""
    from PIL import Image

    pixels = [np.asarray(Image.open(path).convert("RGB")) for path in (old, new)]
    if pixels[0].shape != pixels[1].shape:
        return f"{pixels[0].shape} pixels, and {pixels[1].shape}"
    share = (pixels[0] != pixels[1]).any(axis=2).mean()
    return f"{100 * share:.2f} % of the pixels differ" if share else ""


_COMPARE = {
    ".csv": _tables,
    ".parquet": _tables,
    ".json": _documents,
    ".jsonl": _documents,
    ".png": _pictures,
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m pausefl.analysis.differences", description=__doc__)
    parser.add_argument("old", type=Path, help="folder of results")
    parser.add_argument("new", type=Path, help="folder to compare with it")
    folders = parser.parse_args()
    for path in (folders.old, folders.new):
        if not path.is_dir():
            parser.error(f"{path} is no folder")
    found = list(differences(folders.old, folders.new))
    print("\n".join(found) or "No number and no picture differs.")
    sys.exit(bool(found))
