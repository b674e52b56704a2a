"""A copy of a published scenario with its runs of seed 0 alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd

from pausefl.runs.collected import LINES
from pausefl.runs.run import TABLES


def copy_seed_0(source: Path, target: Path) -> Path:
    """Copy the folder of a published scenario; its runs keep their lines and digests."""
    shutil.copytree(source, target)
    for name in TABLES:
        table = pd.read_parquet(source / name)
        table[table["seed"] == 0].to_parquet(target / name, index=False)
    lines = (source / LINES).read_text("utf-8").splitlines(keepends=True)
    (target / LINES).write_text("".join(line for line in lines if json.loads(line)["seed"] == 0), "utf-8")
    return target
