"""The runs of a scenario in three files: reading one or all of them, and writing them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pausefl.columns import ROUNDS, TRAINED
from pausefl.errors import PauseflError
from pausefl.files import check_readable, path_of, remedy, replacing
from pausefl.plugins import as_folder, from_folder
from pausefl.runs.reading import read_json, read_table
from pausefl.runs.run import RUN_FILES, TABLES, Run, checked, read_folder
from pausefl.runs.run_id import RunId
from pausefl.selectors import SELECTORS
from pausefl.settings import SHIPPED, home, scenario_file

#: The file with a summary a line, and all files of a scenario.
LINES = "runs.jsonl"
FILES = (*TABLES, LINES)

_SEED = re.compile(r"seed-(\d+)")

#: Selector and seed of a run.
Key = tuple[str, int]
Runs = dict[RunId, Run]
#: A run or several: each itself, its folder, or the folder of a scenario's collected runs.
Given = Run | str | os.PathLike[str] | Iterable[Run | str | os.PathLike[str]]


def run_folder(results: Path, run: RunId) -> Path:
    """Folder of a run below that of all runs, or the name of a collected one."""
    return results / run.scenario / as_folder(run.selector) / f"seed-{run.seed}"


def experiment_of(folder: Path) -> RunId:
    """The run whose folder below that of all runs this is."""
    return RunId(folder.parts[-3], from_folder(folder.parts[-2]), int(folder.name.removeprefix("seed-")))


def named(keys: Iterable[Key]) -> str:
    """Runs in words."""
    return "; ".join(f"{selector}, seed {seed}" for selector, seed in sorted(keys))


class Collected:
    """The runs of one scenario in a folder with `FILES`, which are read when they are needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder if folder.name else folder.absolute()  # its name is that of the scenario

    @cached_property
    def summaries(self) -> dict[Key, dict[str, Any]]:
        """The summary of each run; `PauseflError` if a line is none of a run, or a run has two."""
        path = self.folder / LINES
        check_readable(path)
        summaries: dict[Key, dict[str, Any]] = {}
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            try:
                summary = json.loads(line)
                key, scenario = (str(summary["selector"]), int(summary["seed"])), summary["scenario"]["name"]
            except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
                raise PauseflError(f"{path}: line {number} is not that of a run{remedy(path)}") from None
            if scenario != self.folder.name:
                raise PauseflError(
                    f"{path}: the line of {named([key])} belongs to scenario '{scenario}'{remedy(path)}"
                )
            if key in summaries:
                raise PauseflError(f"{path} has two lines of {named([key])}{remedy(path)}")
            summaries[key] = summary
        return summaries

    def run(self, key: Key) -> Run:
        """A run, checked; `PauseflError` if there is none, or the files do not have the same runs."""
        if key not in self.summaries:
            raise PauseflError(f"{self.folder / LINES} has no run of {named([key])}")
        known, tables = self.summaries, []
        for name, rows in self._rows.items():
            for file, lacking in ((name, known.keys() - rows), (LINES, rows - known.keys())):
                if lacking:
                    path = self.folder / file
                    raise PauseflError(
                        f"{path} lacks {named(lacking)}, which other files here have{remedy(path)}"
                    )
            tables.append(rows[key].copy())
        summary = deepcopy(known[key])
        lacks = [] if summary.get("trained") else list(TRAINED)
        lacks += [
            name
            for name, one in ROUNDS.items()
            if one.since and name in tables[0] and tables[0][name].isna().all()
        ]
        tables[0] = tables[0].drop(columns=lacks, errors="ignore")  # which other runs have
        path = run_folder(self.folder.parent, RunId(self.folder.name, *key))
        files = {name: self.folder / name for name in TABLES} | {"summary.json": self.folder / LINES}
        rounds, ledger = tables
        return checked(Run(rounds, ledger, summary, path), files)

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
def _opened(folder: Path, stamps: tuple[tuple[int, ...], ...]) -> Collected:
    """Collected runs as long as their files stay: readers ask for all runs of a scenario in turn."""
    return Collected(folder)


def collected_in(folder: Path) -> Collected | None:
    """The collected runs of a folder; None if there are none."""
    stats = [path.stat() for name in FILES if (path := folder / name).is_file()]
    stamps = tuple((stat.st_ino, stat.st_mtime_ns, stat.st_size) for stat in stats)
    return _opened(folder, stamps) if stats else None


def exists(folder: Path) -> bool:
    """Whether `read_run` would find a run."""
    runs, key = _part(folder)
    return (folder / "summary.json").is_file() if runs is None else key in runs.summaries


def read_summary(folder: Path) -> dict[str, Any] | None:
    """The summary of a run that `read_run` would find; None if there is none, or a file is missing."""
    runs, key = _part(folder)
    if runs is not None:
        return runs.summaries.get(key)
    if not all((folder / name).is_file() for name in RUN_FILES):
        return None
    with suppress(PauseflError):
        return read_json(folder / "summary.json")
    return None


def read_run(folder: Path) -> Run:
    """A finished run by its folder, or by that which a collected one would have.

    `PauseflError` if there is none, a file is damaged, or the files are not of one run, or of another one
    than the names of its folders, ``SCENARIO/SELECTOR/seed-SEED``, say.
    """
    runs, key = _part(folder)
    if runs is None and (folder / LINES).exists():
        raise PauseflError(f"{folder} has the runs of a scenario: name one of them, as {folder}/pause/seed-0")
    if runs is not None:
        return runs.run(key)
    run, place = read_folder(folder), folder.absolute()
    number, selector = _SEED.fullmatch(place.name), from_folder(place.parent.name)
    known = ":" not in selector and selector in SELECTORS  # a user's own would be imported
    if number and known and (selector, int(number[1])) != (run.selector, run.seed):
        raise PauseflError(
            f"{folder} has a run of {named([(run.selector, run.seed)])}, as its summary.json says: move it"
            " where it belongs, or make it again"
        )
    above = place.parents[1].name if number and known else run.scenario
    if above != run.scenario and scenario_file(above, home() / SHIPPED):
        raise PauseflError(
            f"{folder} has a run of scenario '{run.scenario}', as its summary.json says: move it where it"
            " belongs, or make it again"
        )
    return run


def runs_in(folder: Path) -> list[Run]:
    """The run that `read_run` finds, or all collected runs of a folder; `PauseflError` if there are none."""
    if (folder / LINES).exists() and (collected := collected_in(folder)):
        return [collected.run(key) for key in collected.summaries]
    if not exists(folder):
        raise PauseflError(
            f"{folder} is not a finished run: it has no summary.json, nor the {LINES} of several"
        )
    return [read_run(folder)]


def as_runs(given: Given) -> list[Run]:
    """Runs that are given as themselves or by their folders; `PauseflError` where there are none."""
    several = [given] if isinstance(given, Run | str | os.PathLike) else given
    if not isinstance(several, Iterable):
        raise PauseflError(f"runs must be runs or their folders, not {type(given).__name__}")
    several = list(several)
    for i, one in enumerate(several):
        if not isinstance(one, Run | str | os.PathLike):
            raise PauseflError(
                f"runs[{i}] must be a run or its folder, not {type(one).__name__}. Give all runs in one list"
            )
    parts = ([one] if isinstance(one, Run) else runs_in(path_of(one)) for one in several)
    if not (runs := [run for part in parts for run in part]):
        raise PauseflError("no runs are given")
    return runs


def _part(folder: Path) -> tuple[Collected | None, Key]:
    """The collected runs of which a folder names one, and which; None if it is a run's own folder."""
    seed = None if folder.is_dir() else _SEED.fullmatch(folder.name)
    if seed is None:
        return None, ("", 0)
    place = (folder if folder.parent.name else folder.absolute()).parent  # its name is that of the selector
    return collected_in(place.parent), (from_folder(place.name), int(seed[1]))


def read_runs(folders: Mapping[RunId, Path]) -> Runs:
    """Finished runs of one scenario by their folders, or by those which collected ones would have.

    Raises
    ------
    PauseflError
        If any run is missing, unreadable, cut short or in the wrong folder (the message lists all of them),
        or if the runs differ in scenario or in the number of rounds that they were to have.
    """
    if not folders:
        raise PauseflError("no runs to collect")
    scenarios = sorted({experiment.scenario for experiment in folders})
    if len(scenarios) > 1:
        raise PauseflError(f"a table holds the runs of one scenario, got {', '.join(scenarios)}")
    runs: Runs = {}
    problems: dict[str, str] = {}  # collected runs share files, and problems
    for wanted, folder in folders.items():
        try:
            run = read_run(folder)
            found = (run.scenario, run.selector, run.seed)
            if RunId(*found) != wanted:
                raise PauseflError(f"{folder} belongs to another run: {', '.join(map(str, found))}")
        except PauseflError as error:
            problems.setdefault(str(error), f"  {wanted.selector}, seed {wanted.seed}: {error}")
            continue
        runs[wanted] = run
    if problems:
        raise PauseflError(
            f"scenario '{scenarios[0]}': {len(folders) - len(runs)} of {len(folders)} runs cannot be used:\n"
            + "\n".join(problems.values())
        )
    lengths: dict[int, list[str]] = {}
    for key, run in runs.items():
        lengths.setdefault(run.summary["n_rounds"], []).append(f"{key.selector}/seed-{key.seed}")
    if len(lengths) > 1:  # their ends cannot be compared
        listing = "; ".join(f"{n} rounds: {', '.join(names)}" for n, names in sorted(lengths.items()))
        raise PauseflError(f"runs of one scenario differ in their number of rounds: {listing}")
    return runs


def read_collected(folder: Path, wanted: Iterable[RunId]) -> Runs:
    """Some of the runs in a folder of collected ones; `PauseflError` as `read_runs` has it."""
    return read_runs({run: run_folder(folder.parent, run) for run in wanted})


def read_scenarios(files: Iterable[str], wanted: Iterable[Iterable[RunId]]) -> dict[str, Runs]:
    """Some runs of each of several scenarios, by its name, from the paths of their `FILES` among others."""
    folders = [Path(file).parent for file in files if Path(file).name == LINES]
    return {one.name: read_collected(one, runs) for one, runs in zip(folders, wanted, strict=True)}


def write(runs: Iterable[Run], folder: Path) -> None:
    """Write runs of one scenario as `FILES` of a folder, all of them or nothing."""
    by_key = {(run.selector, run.seed): run for run in runs}
    ordered = [by_key[key] for key in sorted(by_key)]
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(*(folder / name for name in FILES)) as (rounds, ledger, lines):
        write_table(pd.concat([_keyed(run.rounds, run) for run in ordered], ignore_index=True), rounds)
        write_table(pd.concat([_keyed(run.ledger, run) for run in ordered], ignore_index=True), ledger)
        summaries = ({"selector": run.selector, "seed": run.seed} | run.summary for run in ordered)
        texts = (json.dumps(one, separators=(",", ":")) for one in summaries)
        lines.write_text("".join(f"{text}\n" for text in texts), "utf-8")


def _keyed(table: pd.DataFrame, run: Run) -> pd.DataFrame:
    """Rows of a run with its selector and seed in front."""
    keyed = table.assign(selector=run.selector, seed=run.seed)
    return keyed[["selector", "seed", *table.columns]]


def write_table(table: pd.DataFrame, target: Path) -> None:
    """Write a Parquet file as small as Git wants it: zstd at its best, and floats byte by byte."""
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    floats = [field.name for field in arrow.schema if pa.types.is_floating(field.type)]
    pq.write_table(
        # Pandas' description of its index is left out: there is none but the numbers of the rows.
        arrow.replace_schema_metadata(None),
        target,
        compression="zstd",
        compression_level=19,
        use_dictionary=[field.name for field in arrow.schema if field.name not in floats],
        use_byte_stream_split=floats,
        write_statistics=False,
        store_schema=False,
    )
