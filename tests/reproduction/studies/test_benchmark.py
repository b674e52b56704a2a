"""Selectors are measured over the same time, and those on the front are as good as can be had."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from worlds import trained, write_run

from pausefl.reproduction.studies.benchmark import Benchmark, Variant
from pausefl.runs.run_id import RunId
from pausefl.settings import Scenario

SUMMARY: dict[str, Any] = {
    "class_accuracy": [0.9, 0.3, None, 0.8],
    "timings_s": {"selection": 0.05},
    "n_rounds": 20,
    "losses": None,
}


def rounds(accuracy: float, leakage: float = 1.0, users: tuple[int, ...] = (0,)) -> pd.DataFrame:
    """20 rounds of 2 s with one accuracy."""
    t = np.arange(1, 21)
    table = pd.DataFrame({"round": t, "elapsed_s": 2.0 * t, "accuracy": accuracy, "leakage_max": leakage * t})
    return table.assign(selection=[np.array(users)] * 20)


def study(demo: Scenario, **changes: Any) -> Benchmark:
    """PAUSE and random selection, and PAUSE with another weight of speed."""
    other = Variant(selector="pause", label="PAUSE (10)", selection={"exploitation": 10})
    scenario = demo.replace(selectors=("pause", "random"))
    made = {"title": "", "scenario": scenario, "jobs": "tiny", "seeds": (0, 1), "time_s": 20.0}
    return Benchmark(**{**made, "variants": {"fast": other}, **changes})


def test_a_variant_runs_in_a_scenario_of_its_own(demo: Scenario) -> None:
    (usual, keys), (fast, own) = study(demo).runs
    assert (usual.name, fast.name) == ("tiny", "tiny_fast")
    assert (keys, own) == (
        [("pause", 0), ("pause", 1), ("random", 0), ("random", 1)],
        [("pause", 0), ("pause", 1)],
    )
    assert (usual.selection.exploitation, fast.selection.exploitation) == (1.0, 10)
    assert study(demo).names == {"pause": "PAUSE", "fast": "PAUSE (10)", "random": "Random"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"front_target": 0.77}, r"front_target = 0\.77 must be one of targets"),
        (
            {"variants": {"random": Variant(selector="pause", label="x", selection={})}},
            "'random' is among selectors",
        ),
        (
            {"variants": {"odd": Variant(selector="oort", label="x", selection={"utility_cutoff": 1.5})}},
            r"variants\.odd: selection\.utility_cutoff = 1\.5 must be .* 1",
        ),
    ],
)
def test_rows_that_cannot_be_are_refused(demo: Scenario, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        study(demo, **changes)


@pytest.mark.usefixtures("made_up_runs")
def test_runs_become_a_table(demo: Scenario, tmp_path: Path) -> None:
    accuracies = {"tiny/pause": (0.85, 0.85), "tiny/random": (0.82, 0.6), "tiny_fast/pause": (0.7, 0.7)}
    benchmark, folders = study(demo), {}
    for scenario, keys in benchmark.runs:
        for selector, seed in keys:
            run = RunId(scenario.name, selector, seed)
            own = rounds(accuracies[f"{scenario.name}/{selector}"][seed]).to_dict("series")
            losses = "unaccounted" if selector == "random" else None
            more = SUMMARY | {"losses": losses, "scenario": {"name": scenario.name}}
            folders[run] = write_run(tmp_path, run, trained([0.0] * 20).assign(**own), **more)
    tables = benchmark.compute(lambda note: None, folders)
    runs = tables["runs.csv"].set_index(["selector", "seed"])
    assert runs.loc[("pause", 0), "accuracy_over_time"] == pytest.approx(
        (2 * (0.25 + 0.85) / 2 + 18 * 0.85) / 20
    )
    assert (runs.loc[("fast", 1), "worst_class_accuracy"], runs.loc[("fast", 1), "selection_ms"]) == (
        0.3,
        2.5,
    )
    plotted = benchmark.plot(tables)
    pause, fast, random = plotted.tables["summary.csv"].to_dict("records")
    assert (pause["n_seeds"], pause["seconds_to_80_n"], pause["seconds_to_80_median"]) == (2, 2, 2.0)
    # Random selection reaches 80 % under seed 0 after 2 s, under seed 1 not within the 20 s.
    assert (random["seconds_to_80_n"], random["seconds_to_80_median"]) == (1, math.inf)
    assert fast["seconds_to_80_n"] == 0
    assert (pause["front"], fast["front"]) == (1, 0)
    assert math.isnan(random["front"])  # it spends more than is known
    names = [one.get_text() for one in plotted.figure.axes[0].get_yticklabels()]
    assert names == ["PAUSE (10)", "Random †", "PAUSE"]


def test_who_chooses_on_noise_is_not_ranked(demo: Scenario) -> None:
    rows = [
        {"selector": name, "seed": seed, "losses": losses, "spent_max": spent, "accuracy": 0.9}
        | {"seconds_to_80": 5.0, "rounds_to_80": 5.0}
        for name, losses, spent in (("pause", None, 5.0), ("random", "accounted", 4.0))
        for seed in (0, 1)
    ]
    summary = study(demo, variants={}).summary(pd.DataFrame(rows)).set_index("selector")
    assert summary.loc["pause", "front"] == 1
    assert math.isnan(summary.loc["random", "front"])
