"""Tables of a study and their files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd


def read_tables(folder: Path, files: Iterable[str]) -> dict[str, pd.DataFrame]:
    """Tables by the names of their files without suffix; ``.parquet`` or ``.csv``, relative to a folder."""
    return {_name(file): _read(folder / file) for file in files}


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path, files: Iterable[str]) -> None:
    """Write tables to files, as `read_tables` finds them; folders are made if need be."""
    for file in files:
        path, table = folder / file, tables[_name(file)]
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".parquet":
            table.to_parquet(path, index=False)
        else:
            table.to_csv(path, index=False)


def _name(file: str) -> str:
    return Path(file).with_suffix("").as_posix()


def _read(path: Path) -> pd.DataFrame:
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
