"""Published runs: three files a scenario, in place of three a run.

``results/published/SCENARIO`` has ``rounds.parquet`` and ``ledger.parquet``, the tables of all runs one below
the other with columns ``selector`` and ``seed`` in front, and ``runs.jsonl``, with the summary of a run in
each line. Runs are sorted by selector and seed. The name of a run is that of the folder that it would have,
``results/published/SCENARIO/SELECTOR/seed-SEED``.

The last key of a line, ``published``, has digests of the run's rows in both tables and of its summary, and
``manifest.json`` has the digest of the line: rows and lines that were cut, edited or swapped are refused.
Where a summary has the parts of the code that made the run, its line names the file
``results/published/code.json`` instead, which has them by the code's hash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, cast

import pandas as pd

from pausefl import digests
from pausefl.errors import PauseflError
from pausefl.files import check_readable, remedy
from pausefl.results import manifest
from pausefl.results.reading import read_json, read_table
from pausefl.settings import Experiment

#: Tables of a run, and the files of a scenario.
TABLES = ("rounds.parquet", "ledger.parquet")
LINES = "runs.jsonl"
FILES = (*TABLES, LINES)
#: Parts of code by its hash, beside the folders of scenarios.
CODE = "code.json"
#: A published study's rows of all selectors and seeds, which have a file each where they were computed.
STUDY_RUNS = "runs.parquet"
#: Columns of rounds that only trained runs have.
TRAINED_COLUMNS = ("train_loss", "accuracy", "loss")

_SEED = re.compile(r"seed-(\d+)")

#: Selector and seed of a run.
Key = tuple[str, int]


def run_folder(results: Path, run: Experiment) -> Path:
    """Name of a run in ``results/runs``, or of a published one in ``results/published``."""
    runs = results if results.name == "published" else results / "runs"
    return runs / run.scenario / run.selector / f"seed-{run.seed}"


def to_line(summary: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> str:
    """The line of a run, without its end.

    Parameters
    ----------
    summary
        The run's ``summary.json``.
    tables
        `TABLES` of the run.
    """
    published = {name: digests.of_table(table) for name, table in tables.items()}
    published["summary"] = manifest.of_json(summary)
    whole = {"selector": summary["selector"], "seed": summary["seed"], **summary}
    if isinstance(summary.get("code"), Mapping) and summary["code_hash"]:
        whole["code"] = CODE
    return json.dumps(whole | {"published": published}, separators=(",", ":"))


def named(keys: Iterable[Key]) -> str:
    """Runs in words."""
    return "; ".join(f"{selector}, seed {seed}" for selector, seed in sorted(keys))


class PublishedRuns:
    """The published runs of a scenario; files are read when they are needed.

    Parameters
    ----------
    folder
        ``results/published/SCENARIO``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def lines(self) -> dict[Key, str]:
        """The line of each run.

        Raises
        ------
        PauseflError
            If the file is missing, a line is none of a run, or a run has two.
        """
        path = self.folder / LINES
        check_readable(path)
        lines: dict[Key, str] = {}
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            try:
                found = json.loads(line)
                key = (str(found["selector"]), int(found["seed"]))
                digested = {*TABLES, "summary"} <= found["published"].keys()
            except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
                digested = False
            if not digested:
                raise PauseflError(f"{path}: line {number} is not that of a run{remedy(path)}")
            if key in lines:
                raise PauseflError(f"{path} has two lines of {named([key])}{remedy(path)}")
            lines[key] = line
        return lines

    @cached_property
    def manifest(self) -> dict[str, str]:
        """Digests of all published runs, by name."""
        return manifest.read(self.folder.parent)["runs"]

    def summary(self, key: Key) -> dict[str, Any]:
        """The summary of a run.

        Raises
        ------
        PauseflError
            If there is no such run, or its line is not as it was published.
        """
        path = self.folder / LINES
        if key not in self.lines:
            raise PauseflError(f"{path} has no run of {named([key])}")
        summary: dict[str, Any] = json.loads(self.lines[key])
        whole = self.manifest.get(f"{self.folder.name}/{key[0]}/seed-{key[1]}") == manifest.of_json(summary)
        written = summary.pop("published")
        if summary.get("code") == CODE:
            summary["code"] = read_json(self.folder.parent / CODE).get(summary.get("code_hash", ""))
        if not whole or written["summary"] != manifest.of_json(summary):
            raise PauseflError(
                f"{path}: the line of {named([key])} is not the one that was published{remedy(path)}"
            )
        if summary["scenario"]["name"] != self.folder.name:
            raise PauseflError(
                f"{path}: the line of {named([key])} belongs to scenario"
                f" '{summary['scenario']['name']}'{remedy(path)}"
            )
        return summary

    def table(self, name: str, key: Key) -> pd.DataFrame:
        """One of `TABLES` of a run, as it was before publication.

        Raises
        ------
        PauseflError
            If the run's rows are not those that were published, or files differ in their runs.
        """
        path = self.folder / name
        self.summary(key)
        rows = self.rows(name, key)
        if digests.of_table(rows) != json.loads(self.lines[key])["published"][name]:
            raise PauseflError(
                f"{path}: the rows of {named([key])} are not those that were published{remedy(path)}"
            )
        return rows

    def rows(self, name: str, key: Key) -> pd.DataFrame:
        """What `table` returns, or anything else that is there."""
        path = self.folder / name
        if self._rows[name].keys() != self.lines.keys():
            more, less = (
                self._rows[name].keys() - self.lines.keys(),
                self.lines.keys() - self._rows[name].keys(),
            )
            first, runs = (path, less) if less else (self.folder / LINES, more)
            raise PauseflError(f"{first} lacks {named(runs)}, which other files here have{remedy(first)}")
        rows = self._rows[name][key]
        if name == "rounds.parquet" and not json.loads(self.lines[key])["trained"]:
            rows = rows.drop(columns=[column for column in TRAINED_COLUMNS if column in rows])
        return rows

    @cached_property
    def _rows(self) -> dict[str, dict[Key, pd.DataFrame]]:
        found = {}
        for name in TABLES:
            table = read_table(path := self.folder / name)
            if missing := [column for column in ("selector", "seed") if column not in table]:
                raise PauseflError(f"{path} lacks {', '.join(missing)}{remedy(path)}")
            found[name] = dict(rows_by_run(table))
        return found


def rows_by_run(table: pd.DataFrame) -> Iterator[tuple[Key, pd.DataFrame]]:
    """Selector and seed, and rows without these columns, of each run in a table of many."""
    values = table.drop(columns=["selector", "seed"])
    for key, rows in table.groupby(["selector", "seed"], sort=False).indices.items():
        selector, seed = cast("tuple[str, int]", key)
        yield (selector, int(seed)), values.iloc[rows].reset_index(drop=True)


@lru_cache(maxsize=1)
def _opened(folder: Path, stamps: tuple[tuple[int, ...], ...]) -> PublishedRuns:
    """Published runs as long as their files stay: most readers ask for all runs of a scenario in turn."""
    return PublishedRuns(folder)


def published_in(folder: Path) -> PublishedRuns | None:
    """The published runs of a folder; None if there are none."""
    files = [path for name in FILES if (path := folder / name).is_file()]
    kept = (path.stat() for path in (*files, folder.parent / manifest.FILE) if path.is_file())
    stamps = [(stat.st_ino, stat.st_mtime_ns, stat.st_size) for stat in kept]
    return _opened(folder, tuple(stamps)) if files else None


@dataclass(frozen=True)
class RunFiles:
    """The summary and the tables of one run: its own files, or its part of a scenario's published ones.

    Attributes
    ----------
    folder
        Folder of the run's own files.
    published
        Where it is otherwise, and under which key.
    """

    folder: Path
    published: tuple[PublishedRuns, Key] | None = None

    @classmethod
    def of(cls, folder: Path) -> RunFiles:
        """Find the files of a run by its folder, or by the folder that a published run would have."""
        seed = _SEED.fullmatch(folder.name)
        if seed is None or folder.is_dir():
            return cls(folder)
        runs = published_in(folder.parent.parent)
        return cls(folder, None if runs is None else (runs, (folder.parent.name, int(seed[1]))))

    def there(self) -> bool:
        """Whether there is such a finished run."""
        if self.published is None:
            return (self.folder / "summary.json").is_file()
        runs, key = self.published
        return key in runs.lines

    def path(self, name: str) -> Path:
        """The file that has one of `TABLES` or ``summary.json``."""
        if self.published is None:
            return self.folder / name
        return self.published[0].folder / (name if name in TABLES else LINES)

    def summary(self) -> dict[str, Any]:
        """The contents of ``summary.json``; `PauseflError` if it is missing or damaged."""
        if self.published is None:
            return read_json(_existing(self.path("summary.json")))
        runs, key = self.published
        return runs.summary(key)

    def table(self, name: str) -> pd.DataFrame:
        """One of `TABLES`; `PauseflError` if it is missing or damaged."""
        if self.published is None:
            return read_table(_existing(self.path(name)))
        runs, key = self.published
        return runs.table(name, key)


def _existing(path: Path) -> Path:
    if not path.exists():
        raise PauseflError(f"{path} is missing")
    return path


def study_file(folder: Path, name: str) -> Path:
    """The file that has a table of a study; published tables of one selector and seed are in one file."""
    return folder / (STUDY_RUNS if _SEED.fullmatch(Path(name).stem) and _is_published(folder) else name)


def _is_published(study: Path) -> bool:
    return study.parent.parent.name == "published"


def read_study(folder: Path, name: str) -> pd.DataFrame | None:
    """A table of a study, by the name of the file that it was computed as; None if there is none.

    Raises
    ------
    PauseflError
        If it is damaged, or not as it was published.
    """
    path = study_file(folder, name)
    if not path.is_file():
        return None
    if _is_published(folder):
        manifest.check_study(folder)
    table = read_table(path)
    if path == folder / name:
        return table
    selector, seed = Path(name).parent.name, int(Path(name).stem.removeprefix("seed-"))
    rows = table[(table["selector"] == selector) & (table["seed"] == seed)]
    return None if rows.empty else rows.reset_index(drop=True)
