"""Files of runs and studies: those in ``results``, and those that were published.

``results/published/SCENARIO`` has three files in place of three a run: ``rounds.parquet`` and
``ledger.parquet``, the tables of all runs one below the other with columns ``selector`` and ``seed`` in
front, and ``runs.jsonl``, with the summary of a run in each line. Runs are sorted by selector and seed. The
name of a run is that of the folder that it would have, ``results/published/SCENARIO/SELECTOR/seed-SEED``.
A summary has the digests of the run's tables, so rows that were cut, edited or swapped are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, cast

import pandas as pd

from pausefl.errors import PauseflError
from pausefl.files import check_readable, remedy
from pausefl.registry.own import as_folder, from_folder
from pausefl.results.reading import read_json, read_table
from pausefl.settings import Experiment

#: Tables of a run, and the files of a scenario.
TABLES = ("rounds.parquet", "ledger.parquet")
LINES = "runs.jsonl"
FILES = (*TABLES, LINES)
#: A published study's rows of all selectors and seeds, which have a file each where they were computed.
STUDY_RUNS = "runs.parquet"
#: Columns of rounds that only trained runs have.
TRAINED_COLUMNS = ("train_loss", "accuracy", "loss")

_SEED = re.compile(r"seed-(\d+)")

#: Selector and seed of a run.
Key = tuple[str, int]


def run_name(scenario: str, selector: str, seed: int | str) -> str:
    """Folder of a run below that of all runs."""
    return f"{scenario}/{as_folder(selector)}/seed-{seed}"


def run_folder(results: Path, run: Experiment) -> Path:
    """Name of a run in ``results/runs``, or of a published one in ``results/published``."""
    runs = results if results.name == "published" else results / "runs"
    return runs / run_name(run.scenario, run.selector, run.seed)


def named(keys: Iterable[Key]) -> str:
    """Runs in words."""
    return "; ".join(f"{selector}, seed {seed}" for selector, seed in sorted(keys))


class PublishedRuns:
    """The published runs in ``results/published/SCENARIO``; files are read when they are needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def lines(self) -> dict[Key, dict[str, Any]]:
        """The summary of each run; `PauseflError` if a line is none of a run, or a run has two."""
        path = self.folder / LINES
        check_readable(path)
        lines: dict[Key, dict[str, Any]] = {}
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            try:
                found = json.loads(line)
                key = (str(found["selector"]), int(found["seed"]))
                scenario, whole = found["scenario"]["name"], {*TABLES} <= found["digests"].keys()
            except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
                whole = False
            if not whole:
                raise PauseflError(f"{path}: line {number} is not that of a run{remedy(path)}")
            if scenario != self.folder.name:
                raise PauseflError(
                    f"{path}: the line of {named([key])} belongs to scenario '{scenario}'{remedy(path)}"
                )
            if key in lines:
                raise PauseflError(f"{path} has two lines of {named([key])}{remedy(path)}")
            lines[key] = found
        return lines

    def summary(self, key: Key) -> dict[str, Any]:
        """The summary of a run; `PauseflError` if its line is missing."""
        if key not in self.lines:
            raise PauseflError(f"{self.folder / LINES} has no run of {named([key])}")
        return dict(self.lines[key])

    def table(self, name: str, key: Key) -> pd.DataFrame:
        """One of `TABLES` of a run, as it was before publication; `PauseflError` if there is none."""
        summary, here = self.summary(key), self._rows[name]
        for file, lacking in ((name, self.lines.keys() - here), (LINES, here.keys() - self.lines)):
            if lacking:
                path = self.folder / file
                raise PauseflError(
                    f"{path} lacks {named(lacking)}, which other files here have{remedy(path)}"
                )
        rows = here[key]
        if name == "rounds.parquet" and not summary["trained"]:
            rows = rows.drop(columns=[column for column in TRAINED_COLUMNS if column in rows])
        return rows

    @cached_property
    def _rows(self) -> dict[str, dict[Key, pd.DataFrame]]:
        found = {}
        for name in TABLES:
            table = read_table(path := self.folder / name)
            if missing := [column for column in ("selector", "seed") if column not in table]:
                raise PauseflError(f"{path} lacks {', '.join(missing)}{remedy(path)}")
            found[name] = dict(_by_run(table))
        return found


def _by_run(table: pd.DataFrame) -> Iterator[tuple[Key, pd.DataFrame]]:
    """Selector and seed, and rows without these columns, of each run in a table of many."""
    values = table.drop(columns=["selector", "seed"])
    for key, rows in table.groupby(["selector", "seed"], sort=False).indices.items():
        selector, seed = cast("tuple[str, int]", key)
        yield (selector, int(seed)), values.iloc[rows].reset_index(drop=True)


@lru_cache(maxsize=1)
def _opened(folder: Path, stamps: tuple[tuple[int, ...], ...]) -> PublishedRuns:
    """Published runs as long as their files stay: readers ask for all runs of a scenario in turn."""
    return PublishedRuns(folder)


def published_in(folder: Path) -> PublishedRuns | None:
    """The published runs of a folder; None if there are none."""
    files = [path for name in FILES if (path := folder / name).is_file()]
    stamps = [(stat.st_ino, stat.st_mtime_ns, stat.st_size) for stat in map(Path.stat, files)]
    return _opened(folder, tuple(stamps)) if files else None


@dataclass(frozen=True)
class RunFiles:
    """The summary and the tables of one run, in a folder of its own."""

    folder: Path

    @staticmethod
    def of(folder: Path) -> RunFiles:
        """Find the files of a run by its folder, or by the folder that a published run would have."""
        seed = _SEED.fullmatch(folder.name)
        runs = published_in(folder.parents[1]) if seed and not folder.is_dir() else None
        if seed is None or runs is None:
            return RunFiles(folder)
        return _PublishedFiles(folder, runs, (from_folder(folder.parent.name), int(seed[1])))

    def there(self) -> bool:
        """Whether there is such a finished run."""
        return (self.folder / "summary.json").is_file()

    def path(self, name: str) -> Path:
        """The file that has one of `TABLES` or ``summary.json``."""
        return self.folder / name

    def summary(self) -> dict[str, Any]:
        """The contents of ``summary.json``; `PauseflError` if it is missing or damaged."""
        return read_json(self._existing("summary.json"))

    def table(self, name: str) -> pd.DataFrame:
        """One of `TABLES`; `PauseflError` if it is missing or damaged."""
        return read_table(self._existing(name))

    def _existing(self, name: str) -> Path:
        if not (path := self.folder / name).exists():
            raise PauseflError(f"{path} is missing")
        return path


@dataclass(frozen=True)
class _PublishedFiles(RunFiles):
    """A run's part of the published files of its scenario."""

    runs: PublishedRuns
    key: Key

    def there(self) -> bool:
        return self.key in self.runs.lines

    def path(self, name: str) -> Path:
        return self.runs.folder / (name if name in TABLES else LINES)

    def summary(self) -> dict[str, Any]:
        return self.runs.summary(self.key)

    def table(self, name: str) -> pd.DataFrame:
        return self.runs.table(name, self.key)


def study_file(folder: Path, name: str) -> Path:
    """The file that has a table of a study; published tables of one selector and seed are in one file."""
    return folder / (STUDY_RUNS if _SEED.fullmatch(Path(name).stem) and _is_published(folder) else name)


def _is_published(study: Path) -> bool:
    return study.parent.parent.name == "published"


def read_study(folder: Path, name: str) -> pd.DataFrame | None:
    """A table of a study, by the name of the file that it was computed as; None if there is none.

    `PauseflError` if it is damaged.
    """
    path = study_file(folder, name)
    if not path.is_file():
        return None
    table = read_table(path)
    if path == folder / name:
        return table
    selector, seed = from_folder(Path(name).parent.name), int(Path(name).stem.removeprefix("seed-"))
    rows = table[(table["selector"] == selector) & (table["seed"] == seed)]
    return None if rows.empty else rows.reset_index(drop=True)
