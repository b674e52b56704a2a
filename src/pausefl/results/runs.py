"""Finished runs, read from their files and checked: rounds and summaries of all runs of a scenario."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.errors import PauseflError
from pausefl.settings import Experiment

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

#: Columns of trained runs; NaN where only the selection was run.
TRAINED_COLUMNS = ("train_loss", "accuracy", "loss")

_SUMMARY_KEYS = (*KEY, "n_rounds", "trained", "timings_s", "peak_memory_bytes", "diverged_round")


def collect(run_dirs: Mapping[Experiment, Path]) -> pd.DataFrame:
    """Rounds of all runs of one scenario, one below the other.

    Parameters
    ----------
    run_dirs
        Folder of each run. All of them must be finished.

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
        or if the runs differ in scenario or number of rounds.
    """
    frames = [rounds for rounds, _ in _read_runs(run_dirs).values()]
    return pd.concat(frames, ignore_index=True)


def read_summaries(run_dirs: Mapping[Experiment, Path]) -> dict[Experiment, dict[str, Any]]:
    """The ``summary.json`` of each run, with the checks and errors of `collect`."""
    return {experiment: summary for experiment, (_, summary) in _read_runs(run_dirs).items()}


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


def _read_runs(run_dirs: Mapping[Experiment, Path]) -> dict[Experiment, tuple[pd.DataFrame, dict[str, Any]]]:
    """Read every run, or raise one error that lists every problem."""
    if not run_dirs:
        raise PauseflError("no runs to collect")
    scenarios = sorted({experiment.scenario for experiment in run_dirs})
    if len(scenarios) > 1:
        raise PauseflError(f"a table holds the runs of one scenario, got {', '.join(scenarios)}")
    runs, problems = {}, []
    for experiment, folder in run_dirs.items():
        try:
            runs[experiment] = _read_run(experiment, folder)
        except PauseflError as error:
            problems.append(f"  {experiment.selector}, seed {experiment.seed}: {error}")
    if problems:
        raise PauseflError(
            f"scenario '{scenarios[0]}': {len(problems)} of {len(run_dirs)} runs cannot be used:\n"
            + "\n".join(problems)
        )
    _check_equal_length(runs)
    return runs


def _check_equal_length(runs: Mapping[Experiment, tuple[pd.DataFrame, dict[str, Any]]]) -> None:
    """Raise `PauseflError` if runs differ in length: their last rounds cannot be compared."""
    lengths: dict[int, list[str]] = {}
    for experiment, (_, summary) in runs.items():
        lengths.setdefault(summary["n_rounds"], []).append(f"{experiment.selector}/seed-{experiment.seed}")
    if len(lengths) > 1:
        listing = "; ".join(f"{n} rounds: {', '.join(names)}" for n, names in sorted(lengths.items()))
        raise PauseflError(f"runs of one scenario differ in their number of rounds: {listing}")


def _read_run(experiment: Experiment, folder: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Rounds (with key columns) and summary of one run."""
    summary, path = _read_summary(experiment, folder / "summary.json"), folder / "rounds.parquet"
    rounds, n_rounds = _read_rounds(path), summary["n_rounds"]
    if rounds["round"].tolist() != list(range(1, n_rounds + 1)):
        raise PauseflError(
            f"{path} holds {len(rounds)} rounds, expected 1 .. {n_rounds} without gaps"
            + _missing(rounds["round"].to_numpy(), n_rounds)
        )
    return as_collected(rounds, experiment), summary


def _read_summary(experiment: Experiment, path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise PauseflError(f"{path} is missing")
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise PauseflError(f"{path} cannot be read ({error})") from None
    missing = [key for key in _SUMMARY_KEYS if not isinstance(summary, dict) or key not in summary]
    if missing:
        raise PauseflError(f"{path} lacks {', '.join(missing)}")
    found = (summary["scenario"].get("name"), summary["selector"], summary["seed"])
    if found != _identity(experiment):
        raise PauseflError(f"{path} belongs to another run: {', '.join(map(str, found))}")
    return dict(summary)


def _read_rounds(path: Path) -> pd.DataFrame:
    if not path.is_file():
        raise PauseflError(f"{path} is missing")
    try:
        rounds = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise PauseflError(f"{path} cannot be read ({error})") from None
    missing = [column for column in ROUND_COLUMNS if column not in rounds]
    if missing:
        raise PauseflError(f"{path} lacks the columns {', '.join(missing)}")
    return rounds


def _missing(found: NDArray[np.int64], n_rounds: int) -> str:
    """The missing rounds, as ranges."""
    absent = np.setdiff1d(np.arange(1, n_rounds + 1), found)
    ranges = [part for part in np.split(absent, np.flatnonzero(np.diff(absent) > 1) + 1) if len(part)]
    words = [f"{part[0]}" if len(part) == 1 else f"{part[0]} .. {part[-1]}" for part in ranges]
    return f"; missing: {', '.join(words)}" if words else ""


def _identity(experiment: Experiment) -> tuple[str, str, int]:
    return experiment.scenario, experiment.selector, experiment.seed
