"""Publishing: what Git keeps of finished runs and studies, in ``results/published``.

A scenario's folder there has the format of collected runs, and a study's has that of computed ones.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from pausefl.analysis.differences import difference
from pausefl.errors import PauseflError
from pausefl.files import replacing
from pausefl.runs.collected import collected_in, named, write, write_table
from pausefl.runs.reading import read_table
from pausefl.runs.run import Run
from pausefl.settings.dotted_keys import differing
from pausefl.settings.scenario import as_of_today


def publish_runs(runs: Iterable[Run], folder: Path) -> str:
    """Add runs of one scenario to its published ones; a line on what was added and what was there.

    A run stays as published if this one has the same settings and numbers, whatever else differs, such as
    times and code.

    Raises
    ------
    PauseflError
        If other numbers or settings are published under a run's name, or what is published is damaged.
    """
    published = collected_in(folder)
    there = {key: published.run(key) for key in published.summaries} if published else {}
    ours = {(run.selector, run.seed): run for run in runs}
    added = [key for key in ours if key not in there]
    if other := [key for key, run in ours.items() if key in there and not _same(run, there[key])]:
        raise _refused(folder, named(other))
    if added:
        write([*there.values(), *(ours[key] for key in added)], folder)
    left = len(ours) - len(added)
    counts = [f"{len(added)} added ({named(added)})"] * bool(added) + [f"{left} there already"] * bool(left)
    return f"{folder.name}: {', '.join(counts)}"


def _refused(folder: Path, what: str) -> PauseflError:
    return PauseflError(
        f"{folder} has other settings or numbers of {what}; nothing was published. To replace what is there,"
        " delete it first"
    )


def _same(ours: Run, theirs: Run) -> bool:
    """Whether two runs have the same settings and numbers."""
    settings = (as_of_today(run.summary) for run in (ours, theirs))
    tables = ((ours.rounds, theirs.rounds), (ours.ledger, theirs.ledger))
    return not differing(*settings) and not any(difference(*pair) for pair in tables)


def publish_study(source: Path, target: Path) -> str:
    """Publish the tables of a study; a line on what was written.

    `PauseflError` if a table is published in ``target`` with other values.
    """
    files = sorted(path for path in source.iterdir() if path.suffix in (".csv", ".parquet"))
    changed = [path for path in files if _changed(path, target / path.name)]
    if other := [path.name for path in changed if (target / path.name).is_file()]:
        raise _refused(target, ", ".join(other))
    target.mkdir(parents=True, exist_ok=True)
    for path in changed:
        with replacing(target / path.name) as (staged,):
            if path.suffix == ".parquet":
                write_table(read_table(path), staged)
            else:
                shutil.copyfile(path, staged)
    written = ", ".join(path.name for path in changed)
    return f"study {target.name}: {f'wrote {written}' if written else 'there already'}"


def _changed(ours: Path, published: Path) -> bool:
    """Whether a table is not published with the same values."""
    return not published.is_file() or bool(difference(read_table(ours), read_table(published)))
