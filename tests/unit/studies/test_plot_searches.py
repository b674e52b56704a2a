"""Figures of searches show their tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from pausefl.results.intervals import wilson
from pausefl.studies import comparison, graphs
from pausefl.studies.graphs import Graphs

TABLES = Graphs(title="", n_users=5, n_selected=2, n_instances=1).compute(print)


def texts(figure: Figure) -> list[str]:
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def test_graphs_have_all_edges_at_the_same_places() -> None:
    vertices, edges = TABLES["vertices.parquet"], TABLES["edges.parquet"]
    figure = graphs.plot_graphs(vertices, edges)
    panels = [axes for axes in figure.axes if axes.collections]
    assert [axes.get_title().split(":")[0] for axes in panels] == [
        "BSFL by plain SA",
        "ALSA",
        "SA-PAUSE",
        "SA-PAUSE (v1)",
    ]
    places = []
    for axes, selector in zip(panels, edges["selector"].unique(), strict=True):
        (lines,) = [shown for shown in axes.collections if isinstance(shown, LineCollection)]
        (dots,) = [shown for shown in axes.collections if shown is not lines]
        assert len(lines.get_segments()) == (edges["selector"] == selector).sum()
        assert f"{len(lines.get_segments())} edges" in axes.get_title()
        places.append(np.asarray(dots.get_offsets()))
        np.testing.assert_allclose(places[-1][:, 1], vertices["energy"])
        ends = np.array(lines.get_segments())[:, :, 1]
        np.testing.assert_allclose(np.asarray(lines.get_array()), ends.min(axis=1))
    assert all((place == places[0]).all() for place in places)
    assert "degree 6" in panels[0].get_title()


def test_shares_of_races_have_ties_in_a_bar_and_a_line_at_half_of_them() -> None:
    cell = {"source": "drawn", "n_users": 10, "n_selected": 2, "temperature_divisor": 1.0, "moves": "all"}
    cell |= {"selector": "alsa", "other": "sa_bsfl", "optimum": 1.0, "n_listed": 1.0, "n_listed_other": 2.0}
    cell |= dict.fromkeys(("final", "best", "best_iterations", "best_neighbours", "final_neighbours"), 0.5)
    table = pd.DataFrame([cell | {"final_iterations": other} for other in (0.1, 0.2, 0.3, 0.5, 0.9)])
    figure = comparison.plot_shares(table)
    axes = figure.axes[0]
    assert axes.get_title() == "Equal iterations,\nlast vertex"
    half, papers, one_size, interval = axes.lines
    assert [line.get_xdata()[0] for line in (half, papers, one_size)] == [50, 98.3, 60]
    np.testing.assert_allclose(interval.get_xdata(), 100 * np.array(wilson(3, 5)))
    won, tied, lost = axes.patches
    parts = [(part.get_x(), part.get_width()) for part in (won, tied, lost)]
    np.testing.assert_allclose(parts, [(0, 60), (60, 20), (80, 20)])
    assert tied.get_hatch()
    assert texts(figure) == [
        "All sizes: ALSA higher",
        "One size: ALSA higher",
        "tied",
        "Half of the races",
        "BSFL by plain SA higher",
        "BSFL reports 98.3 %",
        "95 % interval",
    ]
