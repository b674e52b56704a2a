"""Where a reader finds what a workflow made: what it prints at its end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

#: What is named, in this order, and the files that stand for it, of all that are made with them.
_NAMED = {
    "Report": r"results/report/.+\.html",
    "Figures": r"results/(figures|studies)/.+\.pdf",
    "Tables": r"results/(tables|studies)/.+\.md",
    "Claims": r"results/claims/.+\.md",
}

#: What is named one by one fits into this many characters.
_WIDTH = 90


def where(files: Iterable[str]) -> str:
    """A line for each kind of result among some files; empty if there is none.

    Many files are counted by folder.
    """
    files, lines = sorted(set(files)), []
    for what, pattern in _NAMED.items():
        if found := [file for file in files if re.fullmatch(pattern, file)]:
            lines.append(f"{what + ':':9}{_shortly(found)}")
    return "\n".join(lines)


def _shortly(files: list[str]) -> str:
    """The files, or the folders that have them, or what these are in, and how many are there."""
    text = ", ".join(files)
    for depth in (3, 2):
        if len(text) <= _WIDTH:
            break
        folders = Counter("/".join(PurePath(file).parts[:depth]) for file in files)
        text = ", ".join(f"{folder}/ ({n})" for folder, n in folders.items())
    return text


def of_targets(dag: Any) -> str:
    """What `where` says of the files that Snakemake was asked for, by their names or by that of a rule."""
    return where(str(file) for job in dag.targetjobs for file in (job.output or job.input))
