"""Whether verdicts made here are those of the documentation; ``make figures`` ends with it.

``python -m pausefl.reproduction.as_published`` prints one line, ``PASS`` or what differs, and fails if a
verdict does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from pausefl.reproduction.claims.headlines import SETTINGS
from pausefl.reproduction.figures.papers import AS_RUN, AS_WRITTEN
from pausefl.runs.reading import read_json


def differing(judged: Mapping[str, Any], page: str) -> Iterator[tuple[str, str]]:
    """Each verdict of ``claims.json``, and what differs from the page of verdicts, or an empty text."""
    rows = {row.split("|")[1].strip(): row for row in re.findall(r"^\| C\d+.*$", page, re.MULTILINE)}
    for claim in judged["claims"]:
        for reading, told in ((AS_WRITTEN, claim), (AS_RUN, claim["as_run"])):
            if told is not None:
                name = f"{claim['id']}, {SETTINGS[reading]}"
                words = f"**{told['finding']}**" + (f" ({told['count']})" if told["count"] else "")
                known = words in rows.get(claim["id"], "")
                yield name, "" if known else f"{name}: {words.replace('*', '')} is not what is published"


def main(
    claims: Path = Path("results/claims/paper/claims.json"), page: Path = Path("docs/verdicts.md")
) -> None:
    """Compare verdicts with the published ones."""
    found = list(differing(read_json(claims), page.read_text("utf-8")))
    complaints = [complaint for _, complaint in found if complaint]
    same = f"{len(found) - len(complaints)} of {len(found)} verdicts as published ({page})"
    typer.echo("\n".join([*complaints, f"{'FAIL' if complaints else 'PASS'}: {same}"]))
    raise SystemExit(1 if complaints else 0)


if __name__ == "__main__":
    typer.run(main)
