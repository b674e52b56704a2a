"""What each run achieved. Tables, figures and claims share these definitions.

Accuracy and loss are smoothed: a trailing moving average over `WINDOW` rounds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.results.runs import runs_of
from pausefl.settings import Experiment

#: Rounds in the trailing moving average of accuracy and loss.
WINDOW = 10

#: The target accuracy, as a share of the best final accuracy among private selectors.
TARGET_SHARE = 0.9


def outcomes(rounds: pd.DataFrame) -> dict[Experiment, dict[str, Any]]:
    """Compute the outcome of each run from its rounds.

    Parameters
    ----------
    rounds
        As `pausefl.results.runs.collect` returns them.

    Returns
    -------
    dict
        For each run: ``final_accuracy`` (mean of the last 10 rounds, chance level if the model diverged
        before them), ``best_accuracy`` (best 10-round average), ``target_accuracy``; ``final_loss`` (like the
        final accuracy; infinite after divergence); ``elapsed_s``, ``mean_round_s``, ``seconds_to_target`` in
        simulated seconds (the last NaN if never reached); ``leakage_max`` (epsilon at the end). Accuracies
        are NaN for a regression; accuracies and losses are NaN if nothing was trained.
    """
    target = target_accuracy(rounds)
    return {
        Experiment(str(run["scenario"].iloc[0]), selector, seed): _outcome(run, target)
        for selector, seed, run in runs_of(rounds)
    }


def _outcome(run: pd.DataFrame, target: float) -> dict[str, Any]:
    accuracy = smoothed(run, "accuracy")[1]
    elapsed = float(run["elapsed_s"].iloc[-1])
    return {
        "final_accuracy": _final(run, "accuracy"),
        "best_accuracy": float(accuracy.max()) if len(accuracy) else math.nan,
        "final_loss": _final(run, "loss"),
        "elapsed_s": elapsed,
        "mean_round_s": elapsed / len(run),
        "leakage_max": float(run["leakage_max"].iloc[-1]),
        "seconds_to_target": seconds_to_target(run, target),
        "target_accuracy": target,
    }


def target_accuracy(rounds: pd.DataFrame) -> float:
    """Accuracy in [0, 1] that "seconds to target" refers to.

    It is `TARGET_SHARE` of the best final accuracy (mean over seeds of the last moving average) among
    selectors whose leakage is finite, or among all if none is. NaN if no run has an accuracy.
    """
    finals: dict[str, list[float]] = {}
    private: dict[str, bool] = {}
    for selector, _, run in runs_of(rounds):
        finals.setdefault(selector, []).append(_final(run, "accuracy"))
        private[selector] = private.get(selector, True) and bool(np.isfinite(run["leakage_max"]).all())
    eligible = [s for s in finals if private[s]] or list(finals)
    means = [float(np.mean(finals[s])) for s in eligible]
    return TARGET_SHARE * max((mean for mean in means if not math.isnan(mean)), default=math.nan)


def seconds_to_target(run: pd.DataFrame, target: float) -> float:
    """Simulated seconds until the smoothed accuracy first reaches ``target``; NaN if never."""
    elapsed, accuracy = smoothed(run, "accuracy")
    reached = np.flatnonzero(accuracy >= target)
    return float(elapsed[reached[0]]) if len(reached) else math.nan


def smoothed(run: pd.DataFrame, column: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times and moving average of one column of one run, at the rounds with an evaluation.

    Parameters
    ----------
    run
        The rounds of one run, in order.
    column
        ``accuracy``, ``loss`` or ``train_loss``.

    Returns
    -------
    elapsed, average : numpy.ndarray
        Shape (n evaluations,) each; simulated seconds and the column's unit.
    """
    values = run[column].to_numpy(dtype=np.float64)
    evaluated = ~np.isnan(values)
    elapsed = run["elapsed_s"].to_numpy(dtype=np.float64)
    return elapsed[evaluated], moving_average(values)[evaluated]


def moving_average(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Trailing mean over at most `WINDOW` entries, without NaN entries.

    Computed window by window: a running sum would carry the rounding error of one huge loss into
    all later rounds.

    Parameters
    ----------
    values
        Shape (n,), one entry a round, NaN without an evaluation.

    Returns
    -------
    numpy.ndarray
        Shape (n,); NaN where the whole window is NaN.
    """
    padded = np.concatenate([np.full(WINDOW - 1, np.nan), np.asarray(values, dtype=np.float64)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)
    counts = np.sum(~np.isnan(windows), axis=1)
    sums = np.nansum(windows, axis=1)
    averages: NDArray[np.float64] = np.divide(
        sums, counts, out=np.full(len(counts), np.nan), where=counts > 0
    )
    return averages


def _final(run: pd.DataFrame, column: str) -> float:
    """Last value of the moving average; NaN if there is none."""
    average = smoothed(run, column)[1]
    return float(average[-1]) if len(average) else math.nan
