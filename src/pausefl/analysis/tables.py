"""Summary tables: one row a run, one row a selector, and the latter as Markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from pausefl.analysis import markdown
from pausefl.analysis.formats import mean_sd
from pausefl.analysis.outcomes import TARGET_SHARE, WINDOW, outcomes
from pausefl.columns import ROUNDS
from pausefl.errors import PauseflError
from pausefl.runs.run import Rounds, rounds_made
from pausefl.runs.run_id import RunId
from pausefl.selectors import SELECTORS

_AVERAGED = (
    "final_accuracy",
    "best_accuracy",
    "final_loss",
    "elapsed_s",
    "mean_round_s",
    "leakage_max",
    "fairness",
    "seconds_to_target",
    "selection_ms_per_round",
    "wall_s",
    "peak_memory_mb",
)

#: Columns of rounds whose last values have a column of their own.
_TITLED = [name for name, column in ROUNDS.items() if column.title]


def summarise(rounds: Rounds, summaries: Mapping[RunId, Mapping[str, Any]]) -> pd.DataFrame:
    """One row a run of `pausefl.runs.run.rounds_of`, with what its summary tells.

    Returns
    -------
    pandas.DataFrame
        ``scenario``, ``selector``, ``seed``; the `pausefl.analysis.outcomes.outcomes`; measured
        ``selection_ms_per_round``, ``wall_s`` and ``peak_memory_mb`` (1 MB = 10^6 bytes); ``diverged_round``
        (missing if the run did not diverge).
    """
    rows: list[dict[str, Any]] = []
    for run, outcome in outcomes(rounds).items():
        summary = summaries[run]
        timings = summary["timings_s"]
        costs = {
            "selection_ms_per_round": 1e3 * timings["selection"] / rounds_made(summary),
            "wall_s": float(timings["total"]),
            "peak_memory_mb": summary["peak_memory_bytes"] / 1e6,
            "diverged_round": summary["diverged_round"],
        }
        costs |= {name: rounds[run][name].iloc[-1] for name in _TITLED}
        rows.append(run._asdict() | outcome | costs)
    return pd.DataFrame(rows).astype({"diverged_round": "Int64"})


def by_selector(summary: pd.DataFrame) -> pd.DataFrame:
    """Mean and sample standard deviation over the seeds of a `summarise`, one row a selector.

    A mean is NaN as soon as one seed has no value (target never reached, run diverged): a mean over the
    lucky seeds would flatter a selector. ``n_reached`` and ``n_diverged`` count these seeds, and
    ``seconds_reached_mean`` is the mean over those that reach the target.

    Returns
    -------
    pandas.DataFrame
        ``scenario``, ``selector``, ``n_seeds``, ``n_reached``, ``n_diverged``, ``target_accuracy`` and, for
        each quantity of `summarise`, ``..._mean`` and ``..._sd`` (NaN with one seed). Selectors come in
        the order of `pausefl.selectors.SELECTORS`.
    """
    rows, order = [], {name: i for i, name in enumerate(SELECTORS)}
    by_name = summary.groupby("selector")
    for selector, runs in sorted(by_name, key=lambda group: order.get(str(group[0]), len(order))):
        row: dict[str, Any] = {
            "scenario": runs["scenario"].iloc[0],
            "selector": selector,
            "n_seeds": len(runs),
            "n_reached": int(runs["seconds_to_target"].notna().sum()),
            "n_diverged": int(runs["diverged_round"].notna().sum()),
            "target_accuracy": runs["target_accuracy"].iloc[0],
            "seconds_reached_mean": runs["seconds_to_target"].mean(),
        }
        for column in filter(runs.columns.__contains__, (*_AVERAGED, *_TITLED)):
            values = runs[column].to_numpy(dtype=np.float64)
            row[f"{column}_mean"] = float(np.mean(values))
            finite = len(values) > 1 and bool(np.isfinite(values).all())
            row[f"{column}_sd"] = float(np.std(values, ddof=1)) if finite else math.nan
        rows.append(row)
    return pd.DataFrame(rows)


def to_markdown(
    across: pd.DataFrame, labels: Mapping[str, str] | None = None, protected: str = "coordinate"
) -> str:
    """The table for people, with a note. Nothing in it is bold: means alone do not say which is the best.

    The table is that of `by_selector`; `PauseflError` if it has no rows. A regression has a column of final
    losses, and dashes for accuracy. Selectors are called by their labels, else by their names. The epsilon of
    the leakage is for what is ``protected``: a ``coordinate`` or the ``update``.
    """
    if across.empty:
        raise PauseflError("no runs to tabulate")
    labels = labels or {}
    titled = [name for name in _TITLED if across[f"{name}_mean"].notna().any()]
    records = []
    for _, row in across.iterrows():
        accuracy = mean_sd(row, "final_accuracy", 1, scale=100)
        if row["n_diverged"]:
            accuracy += f", diverged ({row['n_diverged']} of {row['n_seeds']} seeds)"
        cells = {
            "Selector": labels.get(row["selector"], f"`{row['selector']}`"),
            "Final accuracy (%)": accuracy,
            "Best accuracy (%)": mean_sd(row, "best_accuracy", 1, scale=100),
            "Final loss": mean_sd(row, "final_loss", 4),
            "Time to target (s)": time_to_target(row),
            "Mean round (s)": mean_sd(row, "mean_round_s", 3),
            f"Largest budget spent (ε per {protected})": mean_sd(row, "leakage_max", 2),
            **{ROUNDS[name].title: mean_sd(row, name, ROUNDS[name].digits) for name in titled},
            "Selection (ms a round)": mean_sd(row, "selection_ms_per_round", 2),
            "Wall time (s)": mean_sd(row, "wall_s", 0),
            "Peak memory (MB)": mean_sd(row, "peak_memory_mb", 0),
            "Seeds": str(row["n_seeds"]),
        }
        if not _loss_alone(across):
            del cells["Final loss"]
        records.append(cells)
    return markdown.of_records(records, _table_note(across))


def _loss_alone(across: pd.DataFrame) -> bool:
    """Whether the runs have a loss but no accuracy."""
    return bool(across["final_accuracy_mean"].isna().all() and across["final_loss_mean"].notna().any())


def time_to_target(row: pd.Series) -> str:
    """``mean ± sd`` of the seconds, or ``mean (9 of 10)`` if a seed ends before; a dash without a target."""
    if math.isnan(row["target_accuracy"]):
        return "–"
    if not row["n_reached"]:
        return "not reached"
    if row["n_reached"] < row["n_seeds"]:
        return f"{row['seconds_reached_mean']:.1f} ({row['n_reached']} of {row['n_seeds']})"
    return mean_sd(row, "seconds_to_target", 1)


def _table_note(across: pd.DataFrame) -> str:
    target = across["target_accuracy"].iloc[0]
    note = "Mean ± standard deviation over seeds. Mean rounds are in simulated seconds."
    if across["final_accuracy_mean"].notna().any():
        note += f" Accuracy is on test data, averaged over {WINDOW} rounds."
        if math.isnan(target):
            return f"{note} There is no target: accuracies are hardly above the start."
        note += (
            f" Time to target is simulated too; the target, {100 * target:.1f} %, is {100 * TARGET_SHARE:.0f}"
            " % of the best accuracy of a private selector when the first of them ends."
        )
    elif _loss_alone(across):
        note += f" Loss is the mean squared error on test data, averaged over {WINDOW} rounds."
    return note
