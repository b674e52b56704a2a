"""A finished run, read from its files and checked, and the rounds of several as one table."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pausefl import hashing
from pausefl.columns import ALONE, ROUNDS
from pausefl.errors import PauseflError
from pausefl.files import check_readable, check_writable, path_of, remedy, replacing
from pausefl.runs.reading import read_json, read_table
from pausefl.runs.run_id import RunId
from pausefl.selectors.settings import CONSTANT_KEYS
from pausefl.settings import Scenario
from pausefl.settings.dotted_keys import differing, flattened
from pausefl.settings.scenario import as_of_today
from pausefl.training.settings import MOST_ROUNDS

#: Tables of a run (`pausefl.columns`).
TABLES = ("rounds.parquet", "ledger.parquet")
#: Files of a run in a folder of its own, as they are written: the last marks a complete one.
RUN_FILES = (*TABLES, "summary.json")

#: Columns that identify a run.
KEY = ["scenario", "selector", "seed"]

#: Rounds of runs, as `rounds_of` has them.
Rounds = Mapping[RunId, pd.DataFrame]

_SUMMARY_KEYS = (*KEY, "n_rounds", "trained", "timings_s", "peak_memory_bytes", "diverged_round")


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A finished run.

    Attributes
    ----------
    rounds
        One row a round: the columns of ``rounds.parquet`` (docs/files.md). ``accuracy`` is in [0, 1],
        ``elapsed_s`` in simulated seconds, ``leakage_max`` the largest epsilon that a user has spent.
    ledger
        One row a user: participations, and what these leaked (``ledger.parquet``).
    summary
        Settings, code, versions, machine, timings (``summary.json``).
    folder
        Its folder, or that which it would have below collected runs; None if it was not read from files.
    """

    rounds: pd.DataFrame
    ledger: pd.DataFrame
    summary: dict[str, Any]
    folder: Path | None = None

    @property
    def scenario(self) -> str:
        """Name of the scenario."""
        return str(self.summary["scenario"]["name"])

    @property
    def selector(self) -> str:
        """Name of the selector."""
        return str(self.summary["selector"])

    @property
    def seed(self) -> int:
        """Seed of all random streams."""
        return int(self.summary["seed"])

    def __repr__(self) -> str:
        return f"Run({self.scenario}, {self.selector}, seed {self.seed}, {len(self.rounds)} rounds)"

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return str(self.folder or repr(self))

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What was run, apart from selector and seed, by dotted key."""
        more = {"data": self.summary.get("dataset_origin"), "training.n_rounds": self.summary["n_rounds"]}
        return flattened(as_of_today(self.summary)) | more

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the three files of ``pausefl run`` to a folder, which `pausefl.read_run` reads.

        Parameters
        ----------
        folder
            Made if it is not there.

        Raises
        ------
        PauseflError
            If the folder cannot be written to, or already has a run.
        """
        out = path_of(folder)
        check_writable(out)
        check_free(out)
        if (out / "summary.json").exists():
            raise PauseflError(f"{out} already has a run; save this one to another folder")
        write_files(self.rounds, self.ledger, self.summary, out)


def check_free(out: Path) -> None:
    """Raise `PauseflError` if something that is no file stands where a run is to be written."""
    for path in (out / name for name in RUN_FILES):
        if path.exists():
            check_readable(path)


def write_files(rounds: pd.DataFrame, ledger: pd.DataFrame, summary: Mapping[str, Any], out: Path) -> None:
    """Write the files of a run under temporary names, then rename them, the summary last."""
    with replacing(*(out / name for name in RUN_FILES)) as staged:
        for path, table in zip(staged, (rounds, ledger), strict=False):
            pq.write_table(pa.Table.from_pandas(table, preserve_index=False), path)
        staged[-1].write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")


def rounds_made(summary: Mapping[str, Any]) -> int:
    """Rounds of a finished run: fewer than its ``n_rounds`` if its time horizon ended it."""
    made: int = summary.get("rounds_made", summary["n_rounds"])  # earlier versions had no horizon
    return made


def read_folder(folder: Path) -> Run:
    """The run in a folder of its own; `PauseflError` if a file is missing, damaged or of another run."""
    for name in RUN_FILES:
        if not (folder / name).exists():
            raise PauseflError(f"{folder / name} is missing")
    files = dict(zip(RUN_FILES, (folder / name for name in RUN_FILES), strict=True))
    summary = read_json(files["summary.json"])
    rounds, ledger = (read_table(files[name]) for name in TABLES)
    return checked(Run(rounds, ledger, summary, folder), files)


def checked(run: Run, files: Mapping[str, Path]) -> Run:
    """A run whose three parts are of one run, as far as they tell; ``files`` are those of `RUN_FILES`.

    Checked are the columns, the number of rounds, the digests of the tables (runs of earlier versions have
    none), whether anything was trained, who took part how often and what that leaked, and where a time
    horizon ended the run. `PauseflError` if one is wrong.
    """
    summary, rounds = run.summary, run.rounds
    _check_keys(files["summary.json"], summary, _SUMMARY_KEYS)
    _check_keys(files["rounds.parquet"], rounds, [name for name in ALONE if not ROUNDS[name].since])
    _check_keys(files["ledger.parquet"], run.ledger, ("user", "participations", "epsilon_coordinate"))
    n_rounds = rounds_made(summary)
    for key, value in (("n_rounds", summary["n_rounds"]), ("rounds_made", n_rounds)):
        if not isinstance(value, int) or not 1 <= value <= MOST_ROUNDS:
            raise PauseflError(f"{files['summary.json']}: {key} = {value!r} is no number of rounds")
    if len(rounds) != n_rounds or rounds["round"].tolist() != list(range(1, n_rounds + 1)):
        raise PauseflError(
            f"{run.name}: rounds.parquet holds {len(rounds)} rounds, expected 1 .. {n_rounds} without gaps"
            + remedy(files["rounds.parquet"])
        )
    try:
        problem = _disagreement(run)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        problem = f"a value is of the wrong kind ({error!r})"
    if problem:
        raise PauseflError(f"{run.name}: {problem}{remedy(files['summary.json'])}")
    return run


def _check_keys(path: Path, found: Container[str], wanted: Iterable[str]) -> None:
    if missing := [key for key in wanted if key not in found]:
        raise PauseflError(f"{path} lacks {', '.join(missing)}{remedy(path)}")


def _disagreement(run: Run) -> str:
    """In what the three parts of a run are not of one run; empty if they are."""
    summary, rounds, ledger = run.summary, run.rounds, run.ledger
    taken = np.array([user for users in rounds["selection"] for user in set(users.tolist())], np.int64)
    written, problem = summary.get("digests", {}), ""
    if ("accuracy" in rounds) != summary["trained"]:
        problem = "one of rounds.parquet and summary.json is of a run without training"
    elif not np.array_equal(np.bincount(taken, minlength=len(ledger)), ledger["participations"]):
        problem = "rounds.parquet and ledger.parquet differ in who took part how often"
    elif not np.isclose(rounds["leakage_max"].iloc[-1], ledger["epsilon_coordinate"].max(), rtol=1e-9):
        problem = "rounds.parquet and ledger.parquet differ in the largest budget spent"
    elif not _ends_rightly(rounds, summary):
        problem = "rounds.parquet does not end where n_rounds and the time horizon in summary.json end it"
    else:
        tables = zip(TABLES, (rounds, ledger), strict=True)
        other = [name for name, one in tables if written.get(name, of := hashing.of_table(one)) != of]
        problem = f"{' and '.join(other)} differ from what summary.json was written with" if other else ""
    return problem and f"files of different runs: {problem}"


def _ends_rightly(rounds: pd.DataFrame, summary: Mapping[str, Any]) -> bool:
    """Whether the last round is the first to reach the time horizon, or the last that the run may have."""
    horizon = summary["scenario"]["training"].get("time_horizon_s") or math.inf
    reached = np.flatnonzero(rounds["elapsed_s"].to_numpy(np.float64) >= horizon)
    return len(rounds) == int(reached[0] + 1 if len(reached) else summary["n_rounds"])


def selector_version(run: Run) -> str | None:
    """Digest of the source of a selector that was handed over; None of one that was named, or unknown."""
    source = run.summary.get("selector_source")
    return f"{crc32(source.encode()):08x}" if source else None


def check_settings(runs: Iterable[Run], settings: Mapping[str, Any], whose: str = "") -> None:
    """Raise `PauseflError` if a run was made with other `job_settings`, by default its scenario's.

    A constant of one selector counts only where both have it.
    """
    for run in runs:
        apart = differing(as_of_today(run.summary), settings)
        lone = {key for key, values in apart.items() if key in CONSTANT_KEYS and None in values}
        if others := apart.keys() - lone - {"name"}:
            changes = ", ".join(f"{key} = {apart[key][0]}" for key in apart if key in others)
            than = whose or f"scenario '{run.scenario}' has today"
            raise PauseflError(
                f"the run of {run.selector}, seed {run.seed}, was made with other settings than"
                f" {than}: {changes}"
            )


def has_settings(summary: Mapping[str, Any], scenario: Scenario) -> bool:
    """Whether a finished run, by its summary, was made with a scenario's settings of today."""
    made_with = summary.get("scenario")
    if not isinstance(made_with, dict) or "selector" not in summary:
        return False
    return not differing(as_of_today(summary), scenario.job_settings(summary["selector"]))


def rounds_of(runs: Iterable[Run]) -> dict[RunId, pd.DataFrame]:
    """Rounds of runs, by what names a run, in their order.

    Each has one row a round, in order, and all columns of `columns.ROUNDS`: NaN where a quantity was not
    computed.
    """
    return {RunId(one.scenario, one.selector, one.seed): with_all_columns(one.rounds) for one in runs}


def with_all_columns(rounds: pd.DataFrame) -> pd.DataFrame:
    """Rounds of a run with all columns of `columns.ROUNDS`, and of these alone."""
    columns: dict[str, Any] = {}
    for name, column in ROUNDS.items():
        kind = object if column.type == "list" else np.dtype(column.type)
        given = name in rounds
        columns[name] = rounds[name].to_numpy(kind) if given else np.full(len(rounds), np.nan)
    return pd.DataFrame(columns)


def joined(rounds: Iterable[tuple[RunId, pd.DataFrame]]) -> pd.DataFrame:
    """Rounds of several runs, as `rounds_of` has them, one below the other, with `KEY` in front."""
    tables = [table.assign(**name._asdict())[[*KEY, *table.columns]] for name, table in rounds]
    return pd.concat(tables, ignore_index=True)


def split_by_run(table: pd.DataFrame) -> dict[RunId, pd.DataFrame]:
    """The runs of a table that was `joined`, as `rounds_of` has them."""
    by_run = table.groupby(KEY, sort=False)
    return {RunId(*map(_plain, key)): with_all_columns(run.sort_values("round")) for key, run in by_run}


def _plain(value: Any) -> Any:
    """A value that pandas may have wrapped."""
    return value.item() if isinstance(value, np.generic) else value


def runs_of(rounds: Rounds) -> Iterator[tuple[str, int, pd.DataFrame]]:
    """Yield selector, seed and rounds of each run."""
    for name, run in rounds.items():
        yield name.selector, name.seed, run
