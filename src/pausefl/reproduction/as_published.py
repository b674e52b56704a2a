"""Whether verdicts made here are those of the documentation; ``make figures`` ends with it.

``python -m pausefl.reproduction.as_published`` prints one line, ``PASS`` or what differs, and fails if a
verdict does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from pausefl.reproduction.claims.words import with_count
from pausefl.reproduction.figures.papers import AS_RUN, AS_WRITTEN, SETTINGS
from pausefl.runs.reading import read_json

#: Claim and reading, and a verdict in words: ``supported (4 hold, 0 fail, 0 open)``.
Verdicts = dict[tuple[str, str], str]


def made(judged: Mapping[str, Any]) -> Verdicts:
    """The verdicts of ``claims.json``."""
    told = {
        (claim["id"], reading): one
        for claim in judged["claims"]
        for reading, one in ((AS_WRITTEN, claim), (AS_RUN, claim["as_run"]))
        if one is not None
    }
    return {key: with_count(one["finding"], one["count"]) for key, one in told.items()}


def published(page: str) -> Verdicts:
    """The verdicts of the page of verdicts (Markdown): the first words of the cells of both settings."""
    rows = [
        re.split(r"(?<!\\)\|", row)[1:-1] for row in re.findall(r"^\| (?:Claim|C\d).*$", page, re.MULTILINE)
    ]
    head, *body = [[cell.strip() for cell in row] for row in rows]
    columns = {reading: head.index(SETTINGS[reading].capitalize()) for reading in (AS_WRITTEN, AS_RUN)}
    cells = {
        (row[0], reading): row[column]
        for row in body
        for reading, column in columns.items()
        if len(row) == len(head)
    }
    found = {
        key: re.match(r"\*\*([a-z ]+)\*\*( \((?:[^()]|\([^()]*\))*\))?", cell) for key, cell in cells.items()
    }
    return {key: match[1] + (match[2] or "") for key, match in found.items() if match}


def differing(here: Verdicts, there: Verdicts) -> list[str]:
    """What differs between verdicts made here and published ones, a sentence each."""
    return [
        f"{claim}, {SETTINGS[reading]}: {here.get((claim, reading), 'no verdict')} here,"
        f" {there.get((claim, reading), 'no verdict')} in the documentation"
        for claim, reading in sorted(here.keys() | there.keys())
        if here.get((claim, reading)) != there.get((claim, reading))
    ]


def main(
    claims: Path = Path("results/claims/paper/claims.json"), page: Path = Path("docs/verdicts.md")
) -> None:
    """Compare verdicts with the published ones."""
    here, there = made(read_json(claims)), published(page.read_text("utf-8"))
    complaints = differing(here, there) if there else [f"{page} has no verdicts"]
    same = sum(here.get(key) == verdict for key, verdict in there.items())
    words = f"{same} of {len(there)} verdicts as published ({page})"
    typer.echo("\n".join([*complaints, f"{'FAIL' if complaints else 'PASS'}: {words}"]))
    raise SystemExit(1 if complaints else 0)


if __name__ == "__main__":
    typer.run(main)
