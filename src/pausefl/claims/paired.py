"""Selectors side by side under the same seeds: paired gaps, as claims have them, of anyone's runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from pausefl.claims.metrics import METRICS, Metric
from pausefl.claims.records import Replicate, replicates
from pausefl.claims.statistics import Floats, gaps, holm_adjusted, judge
from pausefl.errors import ConfigError, PauseflError, suggest
from pausefl.runs.run import Run, check_settings, rounds_of
from pausefl.selectors import in_legend_order
from pausefl.settings.scenario import as_of_today, scenario_of_job


def pair_gaps(
    metric: Metric, runs: Mapping[tuple[str, int], Replicate], first: str, second: str, ratio: bool
) -> Floats:
    """Bounds (n, 2) of the gap of two selectors under each common seed; logarithms of ratios."""
    seeds = [seed for name, seed in runs if name == first and (second, seed) in runs]
    if not seeds:
        return np.empty((0, 2))
    values = np.array([metric.values(runs[first, seed], runs[second, seed]) for seed in seeds])
    return gaps(values[:, 0], values[:, 1], ratio)


def paired(runs: Iterable[Run], metric: str, *, ratio: bool | None = None) -> pd.DataFrame:
    """Differences, or ratios, between all selectors of some runs, over the seeds that two of them share.

    Parameters
    ----------
    runs
        From `pausefl.run` or `pausefl.read_run`, of one scenario.
    metric
        What is compared, one of `pausefl.claims.metrics.METRICS`: ``accuracy_in_time``, ``mean_round_s``,
        ``seconds_to_target``, ``leakage_in_time`` and so on. Each is of what both runs have: the time until
        the earlier end, or as many rounds.
    ratio
        Whether values are divided; by default all but accuracies are.

    Returns
    -------
    pandas.DataFrame
        One row a pair: ``selector``, ``against``, ``n_seeds``, ``gap`` in ``unit`` with ``low`` and ``high``
        of its 95 % interval (Student's), ``bound``, which is ``at most`` or ``at least`` where a run ended
        too early to tell, ``p`` (two-sided, that there is no gap), and ``p_holm``, corrected for the number
        of pairs. NaN where it cannot be known, as of one seed.

    Raises
    ------
    PauseflError
        If the metric is not known, there are no runs, or they are not of one scenario.
    """
    if metric not in METRICS:
        raise ConfigError(f"unknown metric '{metric}'. {suggest(metric, METRICS)}")
    runs = list(runs)
    if not runs:
        raise PauseflError("there are no runs to compare")
    recorded, measured = runs[0].summary["scenario"], METRICS[metric]
    check_settings(runs, as_of_today(recorded))
    if measured.trained and not all(run.summary["trained"] for run in runs):
        raise PauseflError(f"metric '{metric}' needs trained runs")
    scenario = scenario_of_job(recorded)
    found = replicates(rounds_of(runs), scenario.name, scenario.network)
    divided = measured.unit != "points" if ratio is None else ratio
    rows: list[dict[str, Any]] = []
    for first, second in combinations(in_legend_order(name for name, _ in found), 2):
        values = pair_gaps(measured, found, first, second, divided)
        row = {"selector": first, "against": second, "n_seeds": len(values)}
        if len(values):
            decision = judge(values, -math.inf, 0.0)
            gap = map(math.exp, decision.gap) if divided else decision.gap
            row |= dict(zip(("gap", "low", "high"), gap, strict=True))
            row |= {"bound": decision.bound, "p": decision.p}
        rows.append(row | {"unit": "ratio" if divided else measured.unit})
    columns = ["selector", "against", "n_seeds", "gap", "low", "high", "unit", "bound", "p"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(p_holm=holm_adjusted(table["p"].to_numpy(np.float64)))
