"""The picture of six figures: which runs it shows, and whose."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pausefl.figures import overview
from pausefl.results.archive import read_off


def rounds(scenario: str, *selectors: str, seeds: int = 1) -> pd.DataFrame:
    frames = [
        pd.DataFrame(
            {
                "scenario": scenario,
                "selector": selector,
                "seed": seed,
                "round": [1, 2, 3],
                "elapsed_s": [50.0, 100.0, 150.0],
                "accuracy": [0.1, 0.5, 0.6 + 0.1 * seed],
            }
        )
        for selector in selectors
        for seed in range(seeds)
    ]
    return pd.concat(frames, ignore_index=True)


def test_a_panel_says_what_was_run_and_has_the_authors_rounds() -> None:
    name = "mnist_large_iid_r1_as_run"
    own = pd.concat([rounds(name, "pause", seeds=3), rounds(name, "clustered_size", "cs_ucb")])
    figure = overview.plot({name: own})
    said = [axes.texts[0].get_text() for axes in figure.axes]
    assert said == ["not run", "not run", "not run", "as run, 1 to 3 seeds", "not run", "not run"]
    panel = figure.axes[3]
    lines = [line for line in panel.lines if line.get_linestyle() != "None"]
    assert [line.get_ydata()[-1] for line in lines] == pytest.approx([130 / 3, 40.0])  # no CS-UCB
    assert len(panel.collections) == 1  # a band of several seeds
    theirs = read_off(name)["pause"]
    marks = next(line for line in panel.lines if line.get_marker() == "o")
    x, y = marks.get_data()
    assert set(x) <= set(theirs["elapsed_s"])
    assert max(x) <= 150
    assert set(np.round(y, 6)) <= set(np.round(100 * theirs["accuracy"], 6))
    assert panel.get_xlim() == (0, 150)
