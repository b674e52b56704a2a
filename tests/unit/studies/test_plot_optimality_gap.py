"""The figure of a study of what annealing loses: gaps where there are any, and everyone's time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from pausefl.registry.selectors import look_of
from pausefl.studies.optimality_gap import plot_gaps

N, START_UP = 60, 5


def runs_of(selector: str, gap: float, latency: float, last_gap: float | None = None) -> pd.DataFrame:
    """Seeds 0 and 1; the second's gaps are three times as large."""
    tables = []
    for seed in range(2):
        gaps = np.full(N, gap * (1.0 + 2 * seed))
        gaps[:START_UP] = 0
        if last_gap is not None:
            gaps[-20:] = last_gap
        rounds = np.arange(1, N + 1)
        optimum = np.where(rounds <= START_UP, np.inf, 1.0)
        table = {"round": rounds, "optimum": optimum, "gap": gaps, "elapsed_s": latency * rounds}
        tables.append(pd.DataFrame({"selector": selector, "seed": seed, **table}))
    return pd.concat(tables)


def plot(last_gap: float | None = None) -> Figure:
    annealed = [runs_of("sa_vanilla", 2, 3), runs_of("sa_pause", 1, 2, last_gap)]
    return plot_gaps(pd.concat([*annealed, runs_of("pause", 1e-15, 1)]))


def test_gaps_on_the_left_time_on_the_right_in_legend_order() -> None:
    figure = plot()
    left, right = figure.axes
    (legend,) = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == ["PAUSE (no gap)", "SA-PAUSE", "PAUSE by plain SA", "Band: range of seeds"]
    colors = [look_of(name).color for name in ("pause", "sa_pause", "sa_vanilla")]
    assert [line.get_color() for line in right.lines] == colors
    assert [line.get_color() for line in left.lines] == colors[1:]
    assert [line.get_ydata()[-1] for line in right.lines] == pytest.approx([N, 2 * N, 3 * N])  # type: ignore[index]
    assert left.get_xlim() == right.get_xlim()


def test_gaps_are_means_after_the_start_up() -> None:
    left = plot().axes[0]
    for line, mean in zip(left.lines, (2, 4), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), np.arange(START_UP + 1, N + 1))
        np.testing.assert_allclose(line.get_ydata(), mean)
    heights = np.asarray(left.collections[0].get_paths()[0].vertices)[:, 1]
    assert (heights.min(), heights.max()) == pytest.approx((1, 3))


def test_gaps_are_averaged_over_ten_rounds() -> None:
    gap = np.asarray(plot(last_gap=0.5).axes[0].lines[0].get_ydata())
    assert gap[-20] == pytest.approx((9 * 2 + 0.5) / 10)
    assert gap[-1] == pytest.approx(0.5)


@pytest.mark.parametrize(("last_gap", "scale"), [(None, "linear"), (0.01, "log")])
def test_gaps_of_different_orders_are_logarithmic(last_gap: float | None, scale: str) -> None:
    left = plot(last_gap).axes[0]
    assert left.get_yscale() == scale
    assert (left.get_ylim()[0] == 0) == (scale == "linear")


def test_a_study_of_the_exact_search_alone_has_no_gaps() -> None:
    left, right = plot_gaps(runs_of("pause", 0, 1)).axes
    assert (len(left.lines), len(right.lines)) == (0, 1)
