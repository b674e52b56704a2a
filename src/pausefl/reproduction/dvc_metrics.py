"""Small files of numbers and curves, in the formats that DVC compares between revisions."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pausefl.analysis.outcomes import moving_average
from pausefl.files import write_text
from pausefl.plugins import as_folder
from pausefl.runs.run import Rounds, runs_of

#: Key numbers of a selector; the loss only where there is no accuracy.
NUMBERS = ("final_accuracy", "final_loss", "seconds_to_target", "leakage_max")

#: Largest number of points of a curve.
N_POINTS = 100

#: Significant digits.
_DIGITS = 5


def write(tables: Mapping[Path, Rounds], claims: Iterable[Path], metrics: Path, plots: Path) -> None:
    """Write numbers and curves of finished scenarios, and the number of claims with each finding.

    ``tables`` has the rounds of scenarios by the folders with their ``summary.csv``, ``claims`` are
    ``SCALE/claims.json``. What is written, ``SCENARIO/SELECTOR.json`` and ``claims/SCALE.json`` to
    ``metrics``, ``SCENARIO.csv`` to ``plots``, replaces all that is there.
    """
    texts: dict[Path, str] = {}
    for folder, rounds in tables.items():
        for row in pd.read_csv(folder / "summary.csv").to_dict("records"):
            texts[metrics / folder.name / f"{as_folder(row['selector'])}.json"] = _json(numbers(row))
        texts[plots / f"{folder.name}.csv"] = curves_text(rounds)
    for path in claims:
        judged = json.loads(path.read_text("utf-8"))["claims"]
        texts[metrics / "claims" / f"{path.parent.name}.json"] = _json(findings(judged))
    for old in {*metrics.rglob("*.json"), *plots.rglob("*.csv")} - texts.keys():
        old.unlink()
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)


def numbers(row: Mapping[Any, Any]) -> dict[str, float]:
    """Finite key numbers of a row of `pausefl.analysis.tables.by_selector`."""
    means = {name: float(row[f"{name}_mean"]) for name in NUMBERS}
    finite = {name: float(f"{mean:.{_DIGITS}g}") for name, mean in means.items() if math.isfinite(mean)}
    if "final_accuracy" in finite:
        finite.pop("final_loss", None)
    return finite


def findings(claims: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Number of claims with each finding, those of the reading as run apart."""
    counts: Counter[str] = Counter()
    for claim in claims:
        counts[claim["finding"].replace(" ", "_")] += 1
        if run := claim.get("as_run"):
            counts["as_run_" + run["finding"].replace(" ", "_")] += 1
    return dict(sorted(counts.items()))


def curves(rounds: Rounds) -> pd.DataFrame:
    """Mean over seeds of the smoothed accuracy, or of the smoothed loss if there is no accuracy.

    Columns ``round``, ``selector``, ``accuracy`` or ``loss``. At most `N_POINTS` evenly spaced rounds a
    selector, the last one among them; no rounds that not all seeds have, or in which a loss is infinite.
    """
    column = "accuracy" if any(run["accuracy"].notna().any() for run in rounds.values()) else "loss"
    parts = []
    for selector, _, run in runs_of(rounds):
        average = run[["round"]].assign(selector=selector, **{column: moving_average(run[column].to_numpy())})
        parts.append(average[run[column].notna()])
    averages = pd.concat(parts)
    of_round = averages.groupby(["selector", "round"], sort=False)[column]
    mean = of_round.agg(["mean", "size"]).reset_index().rename(columns={"mean": column})
    complete = mean["size"] == mean.groupby("selector")["size"].transform("max")
    finite = mean[complete & ~mean[column].isin([math.inf])]
    of_selector = finite.groupby("selector")["round"]
    step = np.ceil(of_selector.transform("size") / N_POINTS)
    sampled = of_selector.cumcount(ascending=False) % step == 0
    chosen: pd.DataFrame = finite.loc[sampled, ["round", "selector", column]]
    return chosen


def curves_text(rounds: Rounds) -> str:
    """The `curves` of a scenario's rounds as CSV."""
    text: str = curves(rounds).to_csv(index=False, float_format=f"%.{_DIGITS}g")
    return text


def _json(values: Mapping[str, float]) -> str:
    return json.dumps(values, indent=2) + "\n"
