"""Selectors side by side over the same simulated time: accuracy, leakage, fairness, and cost of selecting."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.results.intervals import estimate
from pausefl.results.outcomes import TARGET_SHARE, seconds_to_target, smoothed, smoothed_at
from pausefl.results.runs import read_runs, rounds_made, runs_of
from pausefl.settings import Experiment, Scenario
from pausefl.settings.studies import Benchmark
from pausefl.studies.knobs import fairness_of
from pausefl.studies.tables import across_seeds

Floats = NDArray[np.float64]

#: What is measured of a run.
METRICS = (
    "accuracy",
    "accuracy_over_time",
    "seconds_to_target",
    "leakage_max",
    "fairness",
    "slow_share",
    "worst_class_accuracy",
    "selection_ms",
    "n_rounds",
)

#: In ``summary.json``, that the selector looks at losses that no budget pays for.
UNACCOUNTED = "unaccounted"

#: Selectors that know expected latencies, as no server does: they are shown, but never on the front.
ORACLES = frozenset({"genie", "fastest"})

#: What a selector is to have most of (1) or least of (-1) to be on the front.
FRONT = {"accuracy_over_time": 1, "leakage_max": -1, "seconds_to_target": -1}


def compute(
    study: Benchmark, note: Callable[[str], None], folders: Mapping[Experiment, Path]
) -> dict[str, pd.DataFrame]:
    """Measure the runs of a study up to its time.

    Returns
    -------
    dict
        ``runs``, one row a run: ``selector``, ``seed``, the `METRICS` (see `measure`), ``target_accuracy``,
        and ``losses``, which says whether the budget pays for reported losses (missing without any).
    """
    scenario = study.job_scenario
    rounds, summaries = read_runs(folders)
    target = target_accuracy(rounds, study.time_s)
    rows = []
    for selector, seed, run in runs_of(rounds):
        note(f"{selector}, seed {seed}")
        summary = summaries[Experiment(scenario.name, selector, seed)]
        measured = measure(scenario, run, summary, study.time_s, target)
        rows.append({"selector": selector, "seed": seed} | measured)
    return {"runs": pd.DataFrame(rows)}


def target_accuracy(rounds: pd.DataFrame, time_s: float) -> float:
    """`TARGET_SHARE` of the best accuracy (mean over seeds) of a selector of finite leakage at a time."""
    then: dict[str, list[float]] = {}
    for selector, _, run in runs_of(rounds):
        if np.isfinite(run["leakage_max"]).all():
            then.setdefault(selector, []).append(smoothed_at(run, "accuracy", time_s))
    return TARGET_SHARE * max((float(np.mean(values)) for values in then.values()), default=math.nan)


def measure(
    scenario: Scenario, run: pd.DataFrame, summary: Mapping[str, Any], time_s: float, target: float
) -> dict[str, Any]:
    """What a run achieved within a simulated time; what it had when it ended, if that was earlier.

    Parameters
    ----------
    scenario, run, summary
        Scenario, rounds and ``summary.json`` of the run.
    time_s
        Simulated seconds.
    target
        Accuracy in [0, 1].

    Returns
    -------
    dict
        Test ``accuracy`` at that time, and ``accuracy_over_time``, its mean from chance level at 0 s up to
        it, both of the trailing mean over 10 rounds; ``seconds_to_target``, NaN if the run does not reach it
        in that time; ``leakage_max``, the largest of any user; ``fairness``, Jain's index of leakage over
        users (of participations without privacy); ``slow_share`` of participations by the slower half of the
        users; ``n_rounds`` within the time. Of the whole run: ``worst_class_accuracy`` of the last model and
        ``selection_ms``, wall-clock time of selecting a round.
    """
    within = run[run["elapsed_s"] <= time_s]
    reached = seconds_to_target(run, target)
    classes = summary["class_accuracy"]
    return {
        "accuracy": smoothed_at(run, "accuracy", time_s),
        "accuracy_over_time": _over_time(run, time_s, 1 / len(classes)),
        "seconds_to_target": reached if reached <= time_s else math.nan,
        "leakage_max": float(within["leakage_max"].max()) if len(within) else 0.0,
        **fairness_of(scenario, within["selection"]),
        "worst_class_accuracy": min(value for value in classes if value is not None),
        "selection_ms": 1e3 * summary["timings_s"]["selection"] / rounds_made(summary),
        "n_rounds": len(within),
        "target_accuracy": target,
        "losses": summary["losses"],
    }


def _over_time(run: pd.DataFrame, time_s: float, chance: float) -> float:
    """Mean accuracy from 0 s to a time, on straight lines from chance level; the last value stays."""
    elapsed, accuracy = smoothed(run, "accuracy")
    elapsed, accuracy = np.append(0.0, elapsed), np.append(chance, accuracy)
    times = np.append(elapsed[elapsed < time_s], time_s)
    return float(np.trapezoid(np.interp(times, elapsed, accuracy), times)) / time_s


def summary(runs: pd.DataFrame, study: Benchmark) -> pd.DataFrame:
    """Means and sample standard deviations over seeds, differences from the first selector, and the front.

    Parameters
    ----------
    runs
        As `compute` returns them.
    study
        Of these runs.

    Returns
    -------
    pandas.DataFrame
        ``selector``, ``n_seeds``, each of the `METRICS` with ``_mean`` and ``_sd``; a run that does not reach
        the target counts with the time of the study. ``n_reached``, the seeds that reach it. ``difference``:
        mean accuracy over time less that of the study's first selector under the same seed, its mean;
        ``difference_low`` and ``difference_high``, the interval of that mean. ``on_front``, as `on_front` has
        it; ``target_accuracy`` and ``losses``.
    """
    runs = runs.set_index(["selector", "seed"])
    across = across_seeds(runs[list(METRICS)].fillna({"seconds_to_target": study.time_s})).set_index(
        "selector"
    )
    of_selector = runs.groupby("selector", sort=False)
    across["n_reached"] = of_selector["seconds_to_target"].count()
    across[["target_accuracy", "losses"]] = of_selector[["target_accuracy", "losses"]].first()
    over_time = runs["accuracy_over_time"].unstack("selector")
    differences = over_time.sub(over_time[study.scenario.selectors[0]], axis=0)
    columns = ("difference", "difference_low", "difference_high")
    across = across.join(pd.DataFrame({name: estimate(differences[name]) for name in differences}, columns).T)
    across = across.reset_index()
    across["on_front"] = on_front(across)
    return across


def on_front(across: pd.DataFrame) -> list[bool]:
    """Whether no rival is as good in all means of `FRONT` and better in one.

    Rivals are private and not among `ORACLES`; the others are not on the front.
    """
    rival = np.isfinite(across["leakage_max_mean"]) & ~across["selector"].isin(ORACLES)
    values = np.array([sign * across[f"{name}_mean"].to_numpy(np.float64) for name, sign in FRONT.items()]).T
    better = [((values >= own).all(axis=1) & (values > own).any(axis=1) & rival).any() for own in values]
    return list(rival & ~np.array(better))
