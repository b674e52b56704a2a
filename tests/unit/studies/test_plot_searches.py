"""Figures of searches show their tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import same_color
from matplotlib.figure import Figure

from pausefl.registry.selectors import look_of
from pausefl.results.intervals import wilson
from pausefl.studies import comparison, graphs, load_studies, races, runtime, trained_knobs
from pausefl.studies.graphs import Graphs, first

ROOT = Path(__file__).parents[3]
STUDIES = load_studies(ROOT / "config" / "studies.yaml", ROOT / "config" / "scenarios")


def comparison_curves(*names: str) -> pd.DataFrame:
    rows = [
        {"temperature_divisor": divisor, "selector": name, "iteration": j}
        | {"mean": 1.0, "low": 0.1, "median": divisor / j, "high": 2.0, "example": 1 / j, "ahead": 0.6}
        for divisor in (1.0, 30.0)
        for name in names
        for j in (1, 10, 100)
    ]
    return pd.DataFrame(rows)


def runtime_times() -> pd.DataFrame:
    sizes = np.array([10.0, 100.0, 1000.0])
    frames = [
        pd.DataFrame(
            {"selector": "pause", "n_users": sizes, "median_s": 1e-6 * sizes, "iteration_s": np.nan}
        ).assign(listing_s=np.nan),
        pd.DataFrame(
            {"selector": "sa_pause", "n_users": sizes, "median_s": 1e-3, "iteration_s": 1e-7}
        ).assign(listing_s=1e-9 * sizes),
    ]
    return pd.concat(frames)


def graphs_figure() -> Figure:
    return graphs.plot_graphs(*first(Graphs(title="", n_users=5, n_selected=2, n_instances=1)))


MADE: dict[str, Callable[[], Figure]] = {
    "comparison": lambda: comparison.plot_curves(comparison_curves("alsa", "sa_bsfl")),
    "graphs": graphs_figure,
    "runtime": lambda: runtime.plot_times(runtime_times()),
}


def lines_of(axes: Any, selector: str) -> list[Any]:
    return [line for line in axes.lines if same_color(line.get_color(), look_of(selector).color)]


def texts(figure: Figure) -> list[str]:
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def test_comparisons_have_a_colour_a_divisor() -> None:
    figure = MADE["comparison"]()
    gap, ahead = figure.axes
    keys = figure.legends[0].legend_handles
    assert texts(figure) == ["ALSA", "BSFL by plain SA", "Temperature divisor κ = 1", "κ = 30"]
    for key, divisor in zip(keys[2:], (1.0, 30.0), strict=True):
        own = [line for line in gap.lines if line.get_color() == key.get_color()]  # type: ignore[union-attr]
        assert [line.get_linestyle() for line in own] == ["-", "--"]
        for line in own:
            np.testing.assert_allclose(line.get_ydata(), divisor / np.array([1, 10, 100]))
    shares = [line for line in ahead.lines if len(line.get_xdata()) == 3]
    assert [set(line.get_ydata()) for line in shares] == [{60}, {60}]
    assert [line.get_ydata()[0] for line in ahead.lines if line not in shares] == [50, 98.3]
    assert [text.get_text() for text in ahead.texts] == ["equal chances", "BSFL reports 98.3 %"]
    assert ahead.get_ylabel() == "ALSA ahead (% of instances)"


def test_the_papers_share_is_that_of_alsa_only() -> None:
    _, ahead = comparison.plot_curves(comparison_curves("sa_pause", "sa_vanilla")).axes
    assert [text.get_text() for text in ahead.texts] == ["equal chances"]


def test_graphs_have_all_edges_at_the_same_places() -> None:
    vertices, edges = first(Graphs(title="", n_users=5, n_selected=2, n_instances=1))
    figure = graphs_figure()
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


def test_vertices_do_not_coincide() -> None:
    places = graphs._spread(np.linspace(0, 1, 70))
    assert np.abs(places).max() <= 1
    assert np.abs(np.diff(places)).min() > 0.05


def test_costs_have_dots_at_every_size_and_slopes_to_compare() -> None:
    figure = MADE["runtime"]()
    selection, iteration = figure.axes
    (pause,), (annealer,) = lines_of(selection, "pause"), lines_of(selection, "sa_pause")
    np.testing.assert_allclose(pause.get_ydata(), [1e-5, 1e-4, 1e-3])
    assert (pause.get_marker(), annealer.get_marker()) == ("o", "s")
    assert {axes.get_xscale() + axes.get_yscale() for axes in figure.axes} == {"loglog"}
    assert [text.get_text() for text in selection.texts] == ["∝ K ln K", "∝ K²"]
    listed, sampled = lines_of(iteration, "sa_pause")
    np.testing.assert_allclose(listed.get_ydata(), [1e-8, 1e-7, 1e-6])
    np.testing.assert_allclose(sampled.get_ydata(), 1e-7)
    assert sampled.get_linestyle() == "None"
    guides = [line for line in selection.lines if line.get_marker() not in ("o", "s")]
    slopes = [np.ptp(np.log(line.get_ydata())) / np.ptp(np.log(line.get_xdata())) for line in guides]
    assert 1 < slopes[0] < 1.5
    assert slopes[1] == pytest.approx(2)
    assert texts(figure) == ["PAUSE", "SA-PAUSE"]


def test_costs_without_annealers_have_one_panel() -> None:
    times = runtime_times()
    figure = runtime.plot_times(times[times["selector"] == "pause"])
    assert [axes.get_ylabel() for axes in figure.axes] == ["Time of a selection (s)"]


def test_shares_of_races_have_ties_in_a_bar_and_a_line_at_half_of_them() -> None:
    cell = {"source": "drawn", "n_users": 10, "n_selected": 2, "temperature_divisor": 1.0, "moves": "all"}
    cell |= {"selector": "alsa", "other": "sa_bsfl", "optimum": 1.0, "n_listed": 1.0, "n_listed_other": 2.0}
    cell |= dict.fromkeys(("final", "best", "best_iterations", "best_neighbours", "final_neighbours"), 0.5)
    table = pd.DataFrame([cell | {"final_iterations": other} for other in (0.1, 0.2, 0.3, 0.5, 0.9)])
    figure = races.plot_shares(table)
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


def test_accuracy_against_a_setting_is_in_the_colour_of_its_selector() -> None:
    t = np.arange(10, 60, 10)
    runs = [
        pd.DataFrame({"knob": knob, "value": value, "selector": selector, "seed": 0, "round": t}).assign(
            elapsed_s=1.0 * t, accuracy=accuracy * t / 50
        )
        for knob, value, best in (("usual", "usual", 0.8), ("reward.alpha", "9", 0.6))
        for selector, accuracy in (("pause", best), ("random", best / 2))
    ]
    table = pd.concat(runs, ignore_index=True)
    figure = trained_knobs.plot_accuracy(table, trained_knobs.compare(table), {"reward.alpha": 3.0})
    axes = figure.axes[1]
    for selector, heights in (("pause", [80, 60]), ("random", [40, 30])):
        (line,) = lines_of(axes, selector)
        assert line.get_xdata().tolist() == [3, 9]
        np.testing.assert_allclose(line.get_ydata(), heights)
