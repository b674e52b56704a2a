"""What a finished run has come to, in a few lines for whoever started it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.registry import MECHANISMS
from pausefl.results.markdown import aligned
from pausefl.results.outcomes import WINDOW, evaluations
from pausefl.runs.collected import read_run

#: A fall of accuracy is reported beyond this share of the best, and beyond this much: any learning has less.
_FALLEN_SHARE, _FALLEN_BY = 0.1, 0.05


def closing(folder: Path) -> str:
    """The result of a finished run, what it took, where its files are, and warnings."""
    run = read_run(folder)
    summary, rounds = run.summary, run.rounds
    head = f"{summary['scenario']['name']}, {summary['selector']}, seed {summary['seed']}:"
    lines = [f"  {line}" for line in aligned(list(_rows(summary, rounds, folder)))]
    return "\n".join([head, *lines, *[f"Warning: {warning}" for warning in _warnings(summary, rounds)]])


def _warnings(summary: Mapping[str, Any], rounds: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence for each thing that a reader of the results has to know."""
    if (t := summary["diverged_round"]) is not None:
        yield f"the model diverged in round {t}: from there on it has chance level and an infinite loss"
    empty = rounds.loc[rounds["selection"].map(len) == 0, "round"]
    if len(empty):
        yield (
            f"nobody took part in {len(empty)} of {len(rounds)} rounds, first in round {empty.iloc[0]}: no"
            " selected user had budget left"
        )
    refused = summary["refused_updates"]
    if refused["n"]:
        first = refused["first"][0]
        yield (
            f"{refused['n']} updates were not finite and were left out, the first of user {first['user']} in"
            f" round {first['round']}"
        )
    accuracy = evaluations(rounds, "accuracy")
    if len(accuracy) and t is None and math.isfinite(rounds["leakage_max"].iloc[-1]):
        best, best_round = _best(accuracy, rounds)
        last = float(accuracy[-1])
        if best - last > max(_FALLEN_BY, _FALLEN_SHARE * best):
            # Without a decay, later participations need not have smaller budgets.
            grew = ", as noise grew" if summary["scenario"]["privacy"].get("decay") else ""
            yield f"accuracy fell from {100 * best:.3g} % (round {best_round}) to {100 * last:.3g} %{grew}"


def _best(accuracy: NDArray[np.float64], rounds: pd.DataFrame) -> tuple[float, int]:
    """The best moving average of accuracy, and its first round."""
    evaluated = rounds.loc[rounds["accuracy"].notna(), "round"]
    return float(accuracy.max()), int(evaluated.iloc[accuracy.argmax()])


def _rows(summary: Mapping[str, Any], rounds: pd.DataFrame, folder: Path) -> Iterator[tuple[str, str]]:
    """Label and value of each line."""
    accuracy = evaluations(rounds, "accuracy")
    shown = ("accuracy", " %", 100 * accuracy), ("loss", "", evaluations(rounds, "loss"))
    for column, unit, values in shown:
        if len(values) and np.isfinite(values[-1]):
            yield f"test {column}", f"{values[-1]:.4g}{unit} ({_averaged(rounds[column])})"
    if len(accuracy):
        best, best_round = _best(accuracy, rounds)
        yield "best accuracy", f"{100 * best:.4g} % in round {best_round}, averaged likewise"
    if not summary["trained"]:
        yield "trained", "no, only selected"
    elif "trained_by" in summary:
        yield "trained", f"by the run of {summary['trained_by']['scenario']}, which trains the same"
    last, privacy = rounds.iloc[-1], summary["scenario"]["privacy"]
    horizon = summary["scenario"]["training"].get("time_horizon_s")
    ended = f", the first to reach {horizon:g}" if summary.get("ended_by") == "time_horizon_s" else ""
    yield "rounds", f"{len(rounds)} in {last['elapsed_s']:.1f} simulated seconds{ended}"
    leakage = "unlimited: updates are not protected"
    if privacy is not None and math.isfinite(last["leakage_max"]):
        protects = MECHANISMS.find(privacy["mechanism"]).protects
        leakage = f"ε = {last['leakage_max']:.4g} of {privacy['epsilon_total']:g} per {protects}"
    yield "largest leakage", leakage
    yield "took", f"{summary['timings_s']['total']:.1f} s, {summary['peak_memory_bytes'] / 1e6:.0f} MB"
    yield "files", f"{folder}/rounds.parquet, ledger.parquet and summary.json"


def _averaged(values: pd.Series[float]) -> str:
    """What the last moving average of a column is the mean of."""
    window = values.loc[: values.last_valid_index()].tail(WINDOW)
    n = window.count()
    if n == len(window):
        return f"mean of the last {n} rounds" if n > 1 else "of the only round"
    return f"mean of {n} evaluations in {len(window)} rounds" if n > 1 else "of the last evaluation"
