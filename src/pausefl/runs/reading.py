"""Reading tables and JSON files; a damaged file is an error that says how to get it again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from pausefl.errors import PauseflError
from pausefl.files import check_readable, remedy


def read_table(path: Path) -> pd.DataFrame:
    """Read a Parquet or CSV file; `PauseflError` if it is missing or damaged."""
    check_readable(path)
    try:
        if path.suffix != ".parquet":
            return pd.read_csv(path)
        # In one thread: where memory is too little for others, Arrow would wait for them for ever.
        with pq.ParquetFile(path) as file:
            frame: pd.DataFrame = file.read(use_threads=False).to_pandas(use_threads=False)
        return frame
    # pyarrow and pandas raise many kinds of errors for a damaged file.
    except Exception as error:
        raise _damaged(path, error) from None


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; `PauseflError` if the file is missing or damaged, or holds something else."""
    check_readable(path)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(path, error) from None
    if not isinstance(found, dict):
        raise PauseflError(f"{path} holds no JSON object{remedy(path)}")
    return found


def _damaged(path: Path, error: Exception) -> PauseflError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return PauseflError(f"{path} cannot be read ({reason}){remedy(path)}")
