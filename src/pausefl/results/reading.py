"""Reading tables and JSON files of results; a damaged one is an error that says how to get it again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from pausefl.errors import PauseflError
from pausefl.files import check_readable, remedy


def read_table(path: Path) -> pd.DataFrame:
    """Read a Parquet or CSV file; `PauseflError` if it is missing or damaged."""
    check_readable(path)
    try:
        return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    # pyarrow and pandas raise many kinds of errors for a damaged file.
    except Exception as error:
        raise PauseflError(f"{path} cannot be read ({_short(error)}){remedy(path)}") from None


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; `PauseflError` if the file is missing or damaged, or holds something else."""
    check_readable(path)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise PauseflError(f"{path} cannot be read ({_short(error)}){remedy(path)}") from None
    if not isinstance(found, dict):
        raise PauseflError(f"{path} holds no JSON object{remedy(path)}")
    return found


def _short(error: Exception) -> str:
    """The first line of an error's message, or its kind."""
    return (str(error).splitlines() or [type(error).__name__])[0]
