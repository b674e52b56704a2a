"""What a finished run has come to, in a few lines for whoever started it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pausefl.registry import MECHANISMS
from pausefl.results.markdown import aligned
from pausefl.results.outcomes import WINDOW, smoothed
from pausefl.results.runs import read_run


def closing(folder: Path) -> str:
    """The result of a run, what it took, where its files are, and warnings.

    Parameters
    ----------
    folder
        Of the finished run.

    Raises
    ------
    PauseflError
        If there is none.
    """
    summary, rounds = read_run(folder)
    head = f"{summary['scenario']['name']}, {summary['selector']}, seed {summary['seed']}:"
    lines = [f"  {line}" for line in aligned(list(_rows(summary, rounds, folder)))]
    return "\n".join([head, *lines, *[f"Warning: {warning}" for warning in warnings(summary, rounds)]])


def warnings(summary: Mapping[str, Any], rounds: pd.DataFrame) -> Iterator[str]:
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


def _rows(summary: Mapping[str, Any], rounds: pd.DataFrame, folder: Path) -> Iterator[tuple[str, str]]:
    """Label and value of each line."""
    for column, unit, factor in (("accuracy", " %", 100), ("loss", "", 1)):
        values = smoothed(rounds, column)[1] if column in rounds else np.empty(0)
        if len(values) and np.isfinite(values[-1]):
            yield f"test {column}", f"{factor * values[-1]:.4g}{unit} (mean of the last {WINDOW} rounds)"
    if not summary["trained"]:
        yield "trained", "no, only selected"
    elif "trained_by" in summary:
        yield "trained", f"by the run of {summary['trained_by']['scenario']}, which trains the same"
    last = rounds.iloc[-1]
    horizon = summary["scenario"]["training"].get("time_horizon_s")
    ended = f", the first to reach {horizon:g}" if summary.get("ended_by") == "time_horizon_s" else ""
    yield "rounds", f"{len(rounds)} in {last['elapsed_s']:.1f} simulated seconds{ended}"
    yield "largest leakage", _leakage(summary["scenario"]["privacy"], float(last["leakage_max"]))
    yield "took", f"{summary['timings_s']['total']:.1f} s, {summary['peak_memory_bytes'] / 1e6:.0f} MB"
    yield "files", f"{folder}/rounds.parquet, ledger.parquet and summary.json"


def _leakage(privacy: Mapping[str, Any] | None, leakage: float) -> str:
    """The largest leakage of a user beside its budget."""
    if privacy is None or math.isinf(leakage):
        return "unlimited: updates are not protected"
    protects = MECHANISMS.find(privacy["mechanism"]).protects
    return f"ε = {leakage:.4g} of {privacy['epsilon_total']:g} per {protects}"
