"""What differs between two folders of results: numbers of tables and metadata, pixels of pictures.

``python -m pausefl.results.differences OLD NEW`` prints one line for each file that differs and exits with 1
if there is any. Files of only one folder are listed too. Hashes of code, texts of captions and notes, and
whatever says how long a run took do not count.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

#: Files of results that are compared, by suffix; reports, logs and PDF files hold nothing else.
_SUFFIXES = (".csv", ".parquet", ".json", ".png")

#: Keys of JSON files that may change while all numbers stay.
_UNCOUNTED = {"code_hash", "code_hashes", "caption", "notes", "titles", "title", "code", "versions"}


def differences(old: Path, new: Path) -> Iterator[str]:
    """Yield a line for each file below two folders that is missing in one of them or differs.

    Parameters
    ----------
    old, new
        Folders of results, e.g. ``results`` of two checkouts.
    """
    files = [
        {path.relative_to(folder) for path in folder.rglob("*") if path.suffix in _SUFFIXES}
        for folder in (old, new)
    ]
    for path in sorted(files[0] | files[1]):
        if path not in files[1]:
            yield f"{path}: only in {old}"
        elif path not in files[0]:
            yield f"{path}: only in {new}"
        elif difference := _COMPARE[path.suffix](old / path, new / path):
            yield f"{path}: {difference}"


def _tables(old: Path, new: Path) -> str:
    """What differs between two tables, whatever the precision of their text."""
    read: Callable[[Path], pd.DataFrame] = pd.read_csv if old.suffix == ".csv" else pd.read_parquet
    try:
        pd.testing.assert_frame_equal(read(old), read(new), check_exact=True)
    except AssertionError as error:
        return " ".join(str(error).split())
    return ""


def _documents(old: Path, new: Path) -> str:
    """The first keys whose values differ between two JSON files."""
    values = [dict(_flat(json.loads(path.read_text("utf-8")))) for path in (old, new)]
    keys = [key for key in values[0] | values[1] if repr(values[0].get(key)) != repr(values[1].get(key))]
    return f"{len(keys)} values differ: {', '.join(keys[:5])}" if keys else ""


def _pictures(old: Path, new: Path) -> str:
    """The share of pixels that differ between two pictures."""
    from PIL import Image

    pixels = [np.asarray(Image.open(path).convert("RGB")) for path in (old, new)]
    if pixels[0].shape != pixels[1].shape:
        return f"{pixels[0].shape} pixels, and {pixels[1].shape}"
    differing = (pixels[0] != pixels[1]).any(axis=2).mean()
    return f"{100 * differing:.2f} % of the pixels differ" if differing else ""


_COMPARE: dict[str, Callable[[Path, Path], str]] = {
    ".csv": _tables,
    ".parquet": _tables,
    ".json": _documents,
    ".png": _pictures,
}


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of nested mappings and lists that counts, by its dotted path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in _UNCOUNTED:
                yield from _flat(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _flat(inner, f"{path}[{i}]")
    else:
        yield path, value


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m pausefl.results.differences", description=__doc__)
    parser.add_argument("old", type=Path, help="folder of results")
    parser.add_argument("new", type=Path, help="folder to compare with it")
    folders = parser.parse_args()
    for path in (folders.old, folders.new):
        if not path.is_dir():
            parser.error(f"{path} is no folder")
    found = list(differences(folders.old, folders.new))
    print("\n".join(found) or "No number and no picture differs.")
    sys.exit(bool(found))
