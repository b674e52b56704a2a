"""The numbers of figures are those of the runs, worked out anew from their files with plain loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from matplotlib.colors import same_color, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pausefl.analysis.figures import kinds
from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.federated.job import Job
from pausefl.federated.run_job import run_job
from pausefl.runs.collected import read_runs
from pausefl.runs.run import rounds_of
from pausefl.runs.run_id import RunId
from pausefl.selectors import look_of
from pausefl.settings import Scenario

SELECTORS, SEEDS, N_ROUNDS = ("pause", "random", "fedavg"), (0, 1), 23

Points = list[tuple[float, float]]


#: When models are evaluated, and where runs end.
TRAINING: dict[str, dict[str, Any]] = {
    "evaluated always": {},
    "every 5th round": {"evaluate_every": 5},
    "first often, then seldom": {"evaluate_every": 4, "evaluate_all_until": 9},
    "ended by time": {"evaluate_every": 4, "evaluate_all_until": 9, "time_horizon_s": 17.0},
}


@pytest.fixture(scope="module", params=TRAINING.values(), ids=TRAINING)
def runs(
    request: pytest.FixtureRequest,
    demo: Scenario,
    digits: Dataset,
    share_out: Callable[..., Partition],
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Scenario, dict[RunId, Path]]:
    """Six short runs on the digits, and their scenario."""
    threads = torch.get_num_threads()
    training = demo.training.replace(n_rounds=N_ROUNDS, **request.param)
    scenario = demo.replace(training=training)
    folders = {}
    for selector in SELECTORS:
        for seed in SEEDS:
            folder = tmp_path_factory.mktemp(f"{selector}-{seed}")
            run_job(
                Job(scenario, selector, seed, N_ROUNDS, device="cpu"),
                digits,
                share_out(scenario, seed),
                folder,
            )
            folders[RunId("demo_small", selector, seed)] = folder
    torch.set_num_threads(threads)
    return scenario, folders


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return list(pq.read_table(folder / "rounds.parquet").to_pylist())


def smooth(rows: list[dict[str, Any]], column: str) -> Points:
    """Where a run was evaluated: its time, and the mean of the evaluations in rounds t - 9 to t."""
    points = []
    for row in rows:
        if row[column] is not None:
            t = row["round"]
            window = [r[column] for r in rows if t - 9 <= r["round"] <= t and r[column] is not None]
            points.append((row["elapsed_s"], sum(window) / len(window)))
    return points


def straight(points: Points, x: float) -> float:
    """The value at x on straight lines between points."""
    for (a, low), (b, high) in pairwise(points):
        if a <= x <= b:
            return low + (high - low) * (x - a) / (b - a)
    raise AssertionError(x)


def step(points: Points, x: float) -> float:
    """The value of the last point at or before x."""
    return [y for a, y in points if a <= x][-1]


def over_seeds(seeds: list[Points], value: Callable[[Points, float], float]) -> list[tuple[float, ...]]:
    """x, mean, least and largest at every x of any seed where all seeds are defined."""
    start, end = max(points[0][0] for points in seeds), min(points[-1][0] for points in seeds)
    knots = sorted({x for points in seeds for x, _ in points if start <= x <= end})
    found = []
    for x in knots:
        values = [value(points, x) for points in seeds]
        found.append((x, sum(values) / len(values), min(values), max(values)))
    return found


def line_of(figure: Figure, selector: str) -> Line2D:
    (line,) = [line for line in figure.axes[0].lines if line.get_label() == look_of(selector).label]
    return line


def compare(figure: Figure, selector: str, wanted: list[tuple[float, ...]]) -> None:
    """Line of a selector, and the band of its seeds."""
    plotted = np.column_stack(line_of(figure, selector).get_data())
    # The axis may end before a curve does, after its first knot beyond.
    assert len(plotted) == len(wanted) or plotted[-1, 0] >= figure.axes[0].get_xlim()[1]
    expected = np.array(wanted)[: len(plotted)]
    np.testing.assert_allclose(plotted, expected[:, :2], rtol=1e-9)
    color = to_rgb(look_of(selector).color)
    (band,) = [one for one in figure.axes[0].collections if same_color(one.get_facecolor()[0, :3], color)]
    corners = band.get_paths()[0].vertices
    for edge in (2, 3):
        for corner in expected[:, [0, edge]]:
            assert np.isclose(corners, corner, rtol=1e-9).all(axis=1).any()


@pytest.mark.parametrize(
    ("kind", "column", "scale"), [("accuracy_vs_time", "accuracy", 100), ("loss_vs_time", "loss", 1)]
)
def test_curves_over_time(
    kind: str, column: str, scale: float, runs: tuple[Scenario, dict[RunId, Path]]
) -> None:
    scenario, folders = runs
    figure = kinds.plot(kind, rounds_of(read_runs(folders).values()), scenario).figure
    for selector in SELECTORS:
        seeds = [
            [(x, scale * y) for x, y in smooth(rows_of(folder), column)]
            for run, folder in folders.items()
            if run.selector == selector
        ]
        compare(figure, selector, over_seeds(seeds, straight))


@pytest.mark.parametrize(("kind", "x"), [("leakage_vs_time", "elapsed_s"), ("leakage_vs_rounds", "round")])
def test_leakage(kind: str, x: str, runs: tuple[Scenario, dict[RunId, Path]]) -> None:
    scenario, folders = runs
    assert scenario.privacy is not None
    assert scenario.privacy.decay is not None
    figure = kinds.plot(kind, rounds_of(read_runs(folders).values()), scenario).figure
    for selector in SELECTORS:
        seeds = []
        for run, folder in folders.items():
            if run.selector == selector:
                counts = [0] * scenario.network.n_users
                points = [(0.0, 0.0)]
                for row in rows_of(folder):
                    for user in set(row["selection"]):
                        counts[user] += 1
                    spent = scenario.privacy.epsilon_total * (
                        1 - math.exp(-scenario.privacy.decay * max(counts))
                    )
                    points.append((row[x], spent))
                seeds.append(points)
        compare(figure, selector, over_seeds(seeds, step))
