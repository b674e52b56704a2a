"""Reading tables, JSON files and hashes of code; a damaged file is an error that says how to get it again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from pausefl.errors import PauseflError
from pausefl.files import check_readable, remedy

#: Ends the names of files with the hash of the code that computed a study.
CODE_SUFFIX = ".code"
#: What `study_codes` returns of a published study, in its folder.
PUBLISHED_CODE = "code.json"


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


def study_codes(folder: Path, files: Iterable[str]) -> dict[str, list[str]]:
    """Hashes of the code that computed a study, by selector if each run is a job of its own, else under "".

    Empty texts stand for what was not recorded, as in studies that earlier versions published.

    Parameters
    ----------
    folder
        Of the study.
    files
        Its files with a hash each (`StudyRecord.code_files`); a published study has one file for all.
    """
    path = folder / PUBLISHED_CODE
    if path.is_file():
        known: dict[str, list[str]] = read_json(path)
        return known
    found: dict[str, set[str]] = {}
    for file in files:
        code = (folder / file).read_text("utf-8").strip() if (folder / file).is_file() else ""
        found.setdefault(Path(file).parent.name, set()).add(code)
    return {selector: sorted(codes) for selector, codes in found.items()}
