"""Finished runs, read from their files and checked: rounds and summaries of all runs of a scenario."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pausefl import digests
from pausefl.bandit.latency import LatencyLaw
from pausefl.errors import PauseflError
from pausefl.files import remedy
from pausefl.results.published import TRAINED_COLUMNS, RunFiles
from pausefl.settings import Experiment, NetworkSettings, Scenario
from pausefl.settings.changes import differing, replaced
from pausefl.settings.scenario import MOST_ROUNDS, as_of_today
from pausefl.streams import Streams

#: Columns that identify a run.
KEY = ["scenario", "selector", "seed"]

#: Columns that every run has.
ROUND_COLUMNS = (
    "round",
    "selection",
    "latency_s",
    "elapsed_s",
    "leakage_max",
    "leakage_mean",
    "reward",
    "pseudo_regret",
)

_SUMMARY_KEYS = (*KEY, "n_rounds", "trained", "timings_s", "peak_memory_bytes", "diverged_round")


def collect(run_dirs: Mapping[Experiment, Path]) -> pd.DataFrame:
    """Rounds of all runs of one scenario, one below the other.

    Returns
    -------
    pandas.DataFrame
        One row a round: ``scenario``, ``selector``, ``seed``, `ROUND_COLUMNS` and `TRAINED_COLUMNS`,
        in the order of ``run_dirs``. Selections are int64 arrays of user ids, times are simulated seconds,
        leakage is the epsilon of what the mechanism protects (a coordinate or the update), accuracy is in
        [0, 1]. NaN where a quantity was not computed.

    Raises
    ------
    PauseflError
        If any run is missing, unreadable, cut short or in the wrong folder (the message lists all of them),
        or if the runs differ in scenario or in the number of rounds that they were to have.
    """
    return read_runs(run_dirs)[0]


def read_runs(run_dirs: Mapping[Experiment, Path]) -> tuple[pd.DataFrame, dict[Experiment, dict[str, Any]]]:
    """What `collect` returns, and the ``summary.json`` of each run, with its checks and errors."""
    if not run_dirs:
        raise PauseflError("no runs to collect")
    scenarios = sorted({experiment.scenario for experiment in run_dirs})
    if len(scenarios) > 1:
        raise PauseflError(f"a table holds the runs of one scenario, got {', '.join(scenarios)}")
    frames: list[pd.DataFrame] = []
    summaries: dict[Experiment, dict[str, Any]] = {}
    problems: dict[str, str] = {}  # published runs share files, and problems
    for run, folder in run_dirs.items():
        try:
            summary, rounds = read_run(folder)
            found = (summary["scenario"].get("name"), summary["selector"], summary["seed"])
            if found != _identity(run):
                path = RunFiles.of(folder).path("summary.json")
                raise PauseflError(f"{path} belongs to another run: {', '.join(map(str, found))}")
        except PauseflError as error:
            problems.setdefault(str(error), f"  {run.selector}, seed {run.seed}: {error}")
            continue
        summaries[run] = summary
        frames.append(as_collected(rounds, run))
    if problems:
        raise PauseflError(
            f"scenario '{scenarios[0]}': {len(run_dirs) - len(summaries)} of {len(run_dirs)} runs cannot be"
            " used:\n" + "\n".join(problems.values())
        )
    lengths: dict[int, list[str]] = {}
    for run, summary in summaries.items():
        lengths.setdefault(summary["n_rounds"], []).append(f"{run.selector}/seed-{run.seed}")
    if len(lengths) > 1:  # their ends cannot be compared
        listing = "; ".join(f"{n} rounds: {', '.join(names)}" for n, names in sorted(lengths.items()))
        raise PauseflError(f"runs of one scenario differ in their number of rounds: {listing}")
    return pd.concat(frames, ignore_index=True), summaries


def check_settings(summaries: Mapping[Experiment, Mapping[str, Any]], settings: Mapping[str, Any]) -> None:
    """Raise `PauseflError` if a run was made with other `job_settings` than its scenario has today."""
    for run, summary in summaries.items():
        if differing := replaced(as_of_today(summary["scenario"]), settings):
            changes = ", ".join(f"{key} = {value}" for key, value in differing.items())
            raise PauseflError(
                f"the run of {run.selector}, seed {run.seed}, was made with other settings than scenario"
                f" '{run.scenario}' has today: {changes}"
            )


def has_settings(folder: Path, scenario: Scenario) -> bool:
    """Whether a finished run was made with a scenario's settings of today."""
    try:
        made_with = RunFiles.of(folder).summary().get("scenario")
    except PauseflError:
        return False
    return isinstance(made_with, dict) and not differing(as_of_today(made_with), scenario.job_settings())


def rounds_made(summary: Mapping[str, Any]) -> int:
    """How many rounds a finished run has: fewer than ``n_rounds`` if its time horizon ended it."""
    made: int = summary.get("rounds_made", summary["n_rounds"])  # earlier versions had no horizon
    return made


def as_collected(rounds: pd.DataFrame, experiment: Experiment) -> pd.DataFrame:
    """The rounds of one run, with at least `ROUND_COLUMNS`, in the form that `collect` returns."""
    rounds = rounds.reindex(columns=[*ROUND_COLUMNS, *TRAINED_COLUMNS])
    # A column of nulls has type object, and pandas would warn when it joins runs.
    floats = {column: float for column in rounds.columns if column not in ("round", "selection")}
    key = pd.DataFrame([_identity(experiment)] * len(rounds), columns=KEY)
    return pd.concat([key, rounds.astype({"round": np.int64, **floats})], axis=1)


def runs_of(rounds: pd.DataFrame) -> Iterator[tuple[str, int, pd.DataFrame]]:
    """Yield each run of a rounds table: selector, seed, rounds in order."""
    for _, run in rounds.groupby(KEY, sort=False):
        yield str(run["selector"].iloc[0]), int(run["seed"].iloc[0]), run.sort_values("round")


def read_run(folder: Path) -> tuple[dict[str, Any], pd.DataFrame]:
    """Summary and rounds of a finished run, by its folder or by the name of a published run.

    `PauseflError` if a file is missing or damaged, or the files are not of one run.
    """
    files = RunFiles.of(folder)
    summary = files.summary()
    _check_keys(files.path("summary.json"), summary, _SUMMARY_KEYS)
    rounds = files.table("rounds.parquet")
    _check_keys(files.path("rounds.parquet"), rounds, ROUND_COLUMNS)
    n_rounds = rounds_made(summary)
    for key, value in (("n_rounds", summary["n_rounds"]), ("rounds_made", n_rounds)):
        if not isinstance(value, int) or not 1 <= value <= MOST_ROUNDS:
            raise PauseflError(f"{files.path('summary.json')}: {key} = {value!r} is no number of rounds")
    if len(rounds) != n_rounds or rounds["round"].tolist() != list(range(1, n_rounds + 1)):
        raise PauseflError(
            f"{folder}: rounds.parquet holds {len(rounds)} rounds, expected 1 .. {n_rounds} without gaps"
            + remedy(files.path("rounds.parquet"))
        )
    try:
        _check_agreement(files, rounds, summary)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise PauseflError(
            f"{folder}: a value is of the wrong kind ({error!r}){remedy(files.path('summary.json'))}"
        ) from None
    return summary, rounds


def _check_keys(path: Path, found: Container[str], wanted: Iterable[str]) -> None:
    if missing := [key for key in wanted if key not in found]:
        raise PauseflError(f"{path} lacks {', '.join(missing)}{remedy(path)}")


def _check_agreement(files: RunFiles, rounds: pd.DataFrame, summary: Mapping[str, Any]) -> None:
    """Raise `PauseflError` unless the three files of a run are of the same run, as far as they tell.

    Compared are the digests of the tables (runs of earlier versions have none), whether anything was trained,
    who took part how often and what that leaked, the time of the first round, which the seed determines, and
    where a time horizon ended the run.
    """
    ledger = files.table("ledger.parquet")
    _check_keys(files.path("ledger.parquet"), ledger, ("user", "participations", "epsilon_coordinate"))
    tables, written = {"rounds.parquet": rounds, "ledger.parquet": ledger}, summary.get("digests", {})
    other = [name for name in tables if name in written and written[name] != digests.of_table(tables[name])]
    taken = np.array([user for users in rounds["selection"] for user in set(users.tolist())], np.int64)
    leaked = ledger["epsilon_coordinate"].max()
    problem = ""
    if ("accuracy" in rounds) != summary["trained"]:
        problem = "one of rounds.parquet and summary.json is of a run without training"
    elif not np.array_equal(np.bincount(taken, minlength=len(ledger)), ledger["participations"]):
        problem = "rounds.parquet and ledger.parquet differ in who took part how often"
    elif not np.isclose(rounds["leakage_max"].iloc[-1], leaked, rtol=1e-9):
        problem = "rounds.parquet and ledger.parquet differ in the largest leakage"
    elif not _of_this_seed(rounds, summary):
        problem = "the latencies of rounds.parquet are not those of the seed and the network in summary.json"
    elif not _ends_rightly(rounds, summary):
        problem = "rounds.parquet does not end where n_rounds and the time horizon in summary.json end it"
    elif other:
        problem = f"{' and '.join(other)} differ from what summary.json was written with"
    if problem:
        message = f"{files.folder}: files of different runs: {problem}"
        raise PauseflError(message + remedy(files.path("summary.json")))


def _of_this_seed(rounds: pd.DataFrame, summary: Mapping[str, Any]) -> bool:
    """Whether the first round's time is that of its slowest user, as seed and network have it."""
    network = NetworkSettings.read(summary["scenario"]["network"], "summary.json")
    users, time = rounds["selection"].iloc[0], float(rounds["latency_s"].iloc[0])
    if not len(users):
        return time == 0
    slowest = float(LatencyLaw(network, Streams(summary["seed"])).sample(1)[users].max())
    # R2 adds time for users of the same cluster.
    delay = summary["scenario"]["reward"].get("overlap_latency") or 0.0
    longest = min(slowest, network.round_latency_max or math.inf)
    return longest * (1 - 1e-6) <= time <= longest * (1 + 1e-6) + delay * len(users)


def _ends_rightly(rounds: pd.DataFrame, summary: Mapping[str, Any]) -> bool:
    """Whether the last round is the first to reach the time horizon, or the last that the run may have."""
    horizon = summary["scenario"]["training"].get("time_horizon_s") or math.inf
    reached = np.flatnonzero(rounds["elapsed_s"].to_numpy(np.float64) >= horizon)
    return len(rounds) == int(reached[0] + 1 if len(reached) else summary["n_rounds"])


def _identity(experiment: Experiment) -> tuple[str, str, int]:
    return experiment.scenario, experiment.selector, experiment.seed
