"""Curves that a reader of the page switches: accuracy of every selector in the figures of the overview."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pausefl.analysis.figures.curves import time_limit
from pausefl.analysis.outcomes import smoothed
from pausefl.reproduction.figures.overview import PANELS
from pausefl.reproduction.figures.papers import AS_RUN, AS_WRITTEN, label
from pausefl.runs.run import Rounds, runs_of
from pausefl.selectors import in_legend_order, look_of

#: What a curve may be drawn against: columns of rounds, and what they are called.
AXES = {"elapsed_s": "Simulated time (s)", "round": "Rounds"}

#: Points of an axis, the same for all curves of a reading.
N_POINTS = 81


def scenarios() -> list[str]:
    """Scenarios that have curves, in both readings."""
    return [name for panel in PANELS for name in (panel.as_run, panel.scenario)]


def charts(rounds: Mapping[str, Rounds]) -> list[dict[str, Any]]:
    """Plain values of the charts of those `scenarios` that ran (`pausefl.runs.run.rounds_of`).

    A chart has a ``title`` and ``readings``; a reading has the ``ends`` of both axes and, by ``selectors``
    and axis, a list for each seed: 1,000 times the smoothed accuracy, null where there is none.
    """
    found = []
    for panel in PANELS:
        names = {AS_RUN: panel.as_run, AS_WRITTEN: panel.scenario}
        trained = {
            reading: rounds[name]
            for reading, name in names.items()
            if any(run["accuracy"].notna().any() for run in rounds.get(name, {}).values())
        }
        if readings := {reading: _curves(own) for reading, own in trained.items()}:
            found.append({"title": f"{label(panel.part)}: {panel.setting}", "readings": readings})
    return found


def legend(shown: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Name, label, colour and dashes of each selector in some `charts`."""
    names = {name for chart in shown for one in chart["readings"].values() for name in one["selectors"]}
    looks = {name: look_of(name) for name in in_legend_order(names)}
    return [
        {
            "name": name,
            "label": look.label,
            "color": look.color,
            "dashes": "" if look.line == "-" else " ".join(f"{1.3 * n:.3g}" for n in look.line[1]),
        }
        for name, look in looks.items()
    ]


def _curves(rounds: Rounds) -> dict[str, Any]:
    runs = [(selector, run) for selector, _, run in runs_of(rounds) if run["accuracy"].notna().any()]
    lasting: dict[str, float] = {}
    for selector, run in runs:
        end = float(run["elapsed_s"].iloc[-1])
        lasting[selector] = min(end, lasting.get(selector, end))
    ends = {"elapsed_s": time_limit(lasting), "round": float(max(len(run) for _, run in runs))}
    found: dict[str, dict[str, list[list[int | None]]]] = {}
    for selector, run in runs:
        accuracy, known = smoothed(run, "accuracy")[1], run["accuracy"].notna()
        for axis, end in ends.items():
            x = run[axis][known].to_numpy(np.float64)
            on_grid = np.interp(np.linspace(0, end, N_POINTS), x, accuracy, left=np.nan, right=np.nan)
            found.setdefault(selector, {}).setdefault(axis, []).append(
                [None if np.isnan(share) else round(1000 * share) for share in on_grid]
            )
    return {"ends": ends, "selectors": found}
