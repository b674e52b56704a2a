"""Curves of the page are those of the figures: of each reading, seed and selector, on one axis."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pausefl.reproduction.report.charts import N_POINTS, charts, legend
from pausefl.runs.run import split_by_run


def rounds(scenario: str, latencies: dict[str, tuple[float, ...]], n: int = 161) -> pd.DataFrame:
    """Runs whose accuracy is 0.5 in every round, of seeds with these latencies."""
    runs = [
        pd.DataFrame(
            {"scenario": scenario, "selector": selector, "seed": seed, "round": np.arange(1, n + 1)}
            | {"elapsed_s": latency * np.arange(1, n + 1), "accuracy": 0.5}
        )
        for selector, seeds in latencies.items()
        for seed, latency in enumerate(seeds)
    ]
    return pd.concat(runs, ignore_index=True)


def test_charts_have_both_readings_and_every_seed() -> None:
    name = "mnist_large_iid_r1"
    own = rounds(name, {"random": (1.0,), "pause": (0.5, 0.5)})
    own.loc[own["seed"] == 1, "accuracy"] = 0.25
    (chart,) = charts(
        {name: split_by_run(own), f"{name}_as_run": split_by_run(rounds(f"{name}_as_run", {"pause": (1.0,)}))}
    )
    assert chart["title"] == "Fig. 8: MNIST, 300 clients, i.i.d."
    assert list(chart["readings"]) == ["as run", "as written"]
    reading = chart["readings"]["as written"]
    assert reading["ends"] == {"elapsed_s": 161.0, "round": 161.0}
    first, second = reading["selectors"]["pause"]["elapsed_s"]
    half = N_POINTS // 2
    assert first[1:half] == [500] * (half - 1)
    assert second[1:half] == [250] * (half - 1)
    assert first[half + 1 :] == [None] * half  # PAUSE has ended
    assert None not in reading["selectors"]["pause"]["round"][0][1:]
    assert [key["name"] for key in legend([chart])] == ["pause", "random"]


def test_what_was_not_trained_has_no_chart() -> None:
    name = "mnist_large_iid_r1"
    assert charts({name: split_by_run(rounds(name, {"pause": (1.0,)}).assign(accuracy=np.nan))}) == []
    assert charts({}) == []
    assert legend([]) == []
