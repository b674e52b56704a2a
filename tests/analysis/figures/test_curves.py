"""Curves show what they say: hand-computed bands, steps, gaps, limits and marks."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from pausefl.analysis import outcomes
from pausefl.analysis.figures import curves, kinds, style
from pausefl.analysis.figures.kinds import FigureSettings
from pausefl.errors import PauseflError
from pausefl.reproduction.figures.authors import of_authors
from pausefl.runs.run import split_by_run
from pausefl.runs.run_id import RunId
from pausefl.selectors import SELECTORS, Look, look_of
from pausefl.selectors.baselines import Random
from pausefl.settings import scenario as config


@pytest.fixture
def scenario(scenario: config.Scenario) -> config.Scenario:
    return scenario.replace(
        name="s",
        title="A small scenario",
        network=scenario.network.replace(n_users=4, n_selected=2),
        selectors=("pause", "fedavg"),
        figures={},
        privacy=config.PrivacySettings(epsilon_total=8, decay=0.04, sensitivity=0.003),
    )


def rounds_of(selector: str, seed: int, elapsed: list[float], **columns: Any) -> pd.DataFrame:
    n = len(elapsed)
    run = {"accuracy": np.full(n, 0.5), "loss": np.ones(n), "leakage_max": np.ones(n)} | columns
    return pd.DataFrame(
        {"scenario": "s", "selector": selector, "seed": seed, "round": range(1, n + 1), "elapsed_s": elapsed}
        | {name: np.asarray(values, dtype=float) for name, values in run.items()}
    )


def axes_of(figure: Figure) -> Axes:
    (axes,) = figure.axes
    return axes


def points_of(line: Line2D) -> NDArray[np.float64]:
    """Shape (n, 2): what a line is shown through."""
    return np.column_stack([np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)])


def names_of(figure: Figure) -> list[str]:
    """Names beside the axes, from top to bottom."""
    texts = sorted(axes_of(figure).texts, key=lambda text: -text.get_position()[1])
    return [" ".join(text.get_text().split()) for text in texts]


def test_band_interpolates_where_all_seeds_are_defined() -> None:
    first = (np.array([1.0, 3.0, 5.0]), np.array([0.0, 2.0, 4.0]))
    second = (np.array([2.0, 4.0]), np.array([3.0, 5.0]))
    band = curves.band({0: first, 1: second})
    np.testing.assert_allclose(band.x, [2, 3, 4])
    np.testing.assert_allclose(band.low, [1, 2, 3])
    np.testing.assert_allclose(band.high, [3, 4, 5])
    np.testing.assert_allclose(band.mean, [2, 3, 4])


def test_band_of_steps_keeps_the_last_value() -> None:
    first = (np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 4.0]))
    second = (np.array([0.0, 2.0, 4.0]), np.array([0.0, 2.0, 4.0]))
    band = curves.band({0: first, 1: second}, step=True)
    np.testing.assert_allclose(band.x, [0, 1, 2, 3])
    np.testing.assert_allclose(band.mean, [0, 1, 2, 3])
    np.testing.assert_allclose(band.low, [0, 0, 2, 2])
    np.testing.assert_allclose(band.high, [0, 2, 2, 4])


@pytest.mark.parametrize("kind", ["leakage_vs_time", "leakage_vs_rounds"])
def test_unbounded_leakage_is_left_out_and_the_budget_is(kind: str, scenario: config.Scenario) -> None:
    rounds = pd.concat(
        [
            rounds_of("fedavg_no_privacy", 0, [1, 2], leakage_max=[math.inf, math.inf]),
            rounds_of("pause", 0, [1, 2], leakage_max=[1, 2]),
        ]
    )
    figure = kinds.plot(kind, split_by_run(rounds), scenario).figure
    assert names_of(figure) == ["Budget ε = 8", "PAUSE"]
    (across,) = [line for line in axes_of(figure).lines if line.get_label() == "Budget ε = 8"]
    assert points_of(across)[:, 1].tolist() == [8, 8]
    assert axes_of(figure).get_ylim()[1] > 8


def test_nothing_to_plot_is_an_error(scenario: config.Scenario) -> None:
    rounds = rounds_of("pause", 0, [1, 2], leakage_max=[math.inf] * 2, accuracy=[math.nan] * 2)
    for kind in ("leakage_vs_time", "leakage_vs_rounds", "accuracy_vs_time"):
        with pytest.raises(PauseflError, match="scenario 's': no run has finite values"):
            kinds.plot(kind, split_by_run(rounds), scenario)
    diverged = rounds_of("pause", 0, [1, 2], loss=[math.inf] * 2)
    with pytest.raises(PauseflError, match="no run has finite values of 'Test loss'"):
        kinds.plot("loss_vs_time", split_by_run(diverged), scenario)
    healthy = pd.concat([diverged, rounds_of("random", 0, [1, 2], loss=[2.0, 1.0])])
    figure = kinds.plot("loss_vs_time", split_by_run(healthy), scenario).figure
    assert names_of(figure) == ["Random"]
    with pytest.raises(PauseflError, match="Did you mean 'loss_vs_time'"):
        kinds.plot("los_vs_time", split_by_run(rounds), scenario)


def test_the_target_is_marked_where_each_selector_reaches_it(scenario: config.Scenario) -> None:
    fast, slow = [0.1] + [0.8] * 9, [0.1] + [0.75] * 40
    times = [np.arange(1.0, 11) + seed / 10 for seed in (0, 2)]
    runs = [rounds_of("pause", seed, [*own], accuracy=fast) for seed, own in zip((0, 2), times, strict=True)]
    runs += [rounds_of("random", seed, [*np.arange(2.0, 84, 2)], accuracy=slow) for seed in (0, 2)]
    runs += [rounds_of("fedavg", 0, [1.0, 2.0], accuracy=[0.1, 0.9])]
    rounds = split_by_run(pd.concat(runs))
    plotted = kinds.plot("time_to_target", rounds, scenario)
    target = outcomes.target_accuracy(rounds)
    expected = {
        name: np.mean([outcomes.seconds_to_target(rounds[RunId("s", name, seed)], target) for seed in (0, 2)])
        for name in ("pause", "random")
    }
    axes = axes_of(plotted.figure)
    dots = [
        points_of(line)[0].tolist()
        for line in axes.lines
        if line.get_marker() == "o" and len(points_of(line)) == 1
    ]
    np.testing.assert_allclose(sorted(dots), sorted([seconds, 100 * target] for seconds in expected.values()))
    assert [text.get_text() for text in axes.texts if "later" in text.get_text()] == [
        f"{expected['random'] - expected['pause']:.0f} s\nlater"
    ]
    named = {" ".join(name.split()) for name in names_of(plotted.figure)}
    assert {f"{look_of(name).label}: after {seconds:.0f} s" for name, seconds in expected.items()} <= named
    assert not any("FedAvg" in name for name in named)


def test_without_a_target_there_are_the_curves_alone(scenario: config.Scenario) -> None:
    nobody = split_by_run(rounds_of("pause", 0, [1, 2], accuracy=[0.1, 0.1]))
    assert names_of(kinds.plot("time_to_target", nobody, scenario).figure) == ["PAUSE"]


def test_time_limit_cuts_only_a_long_fedavg() -> None:
    assert curves.time_limit({"pause": 100, "random": 260, "fedavg": 290}) == 290
    assert curves.time_limit({"pause": 100, "random": 260, "fedavg": 640}) == pytest.approx(1.08 * 260)
    assert curves.time_limit({"fedavg": 640}) == 640
    assert curves.time_limit({"fastest": 40, "random": 260}) == 260


def test_a_figure_has_the_axes_that_its_scenario_asks_for(scenario: config.Scenario) -> None:
    rounds = pd.concat([rounds_of(name, 0, [0.5, 2.0, 8.0]) for name in ("pause", "fedavg")])
    asked = FigureSettings(kind="leakage_vs_time", x_scale="log", y_limits=(0, 3))
    axes = axes_of(kinds.plot(asked, split_by_run(rounds), scenario).figure)
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    assert axes.get_xlim() == (0.5, 8.0)  # from the first time above 0
    assert axes.get_ylim() == (0, 3)
    asked = FigureSettings(kind="leakage_vs_time", y_scale="log", x_limits=(1, 4))
    axes = axes_of(kinds.plot(asked, split_by_run(rounds), scenario).figure)
    assert (axes.get_xlim(), axes.get_yscale()) == ((1, 4), "log")


def test_small_panels_name_every_decade_of_a_logarithmic_axis() -> None:
    figure, panels = style.new_grid(["one", "two", "three"], "Time", 3, 3.4, 0.9)
    for axes in panels:
        axes.plot([0.2, 200], [0, 1])
    style.set_axes(figure, x_scale="log")
    assert all({1, 10, 100} <= set(axes.get_xticks()) for axes in panels)


def test_a_figure_smooths_over_as_many_rounds_as_its_scenario_asks_for(scenario: config.Scenario) -> None:
    saw = [0.2, 0.8] * 15
    rounds = rounds_of("pause", 0, list(np.arange(1.0, 31.0)), accuracy=saw)
    asked = FigureSettings(kind="accuracy_vs_time", window=2)
    curve = axes_of(kinds.plot(asked, split_by_run(rounds), scenario).figure).lines[0]
    assert np.asarray(curve.get_ydata())[1:] == pytest.approx([50.0] * 29)
    asked = FigureSettings(kind="accuracy_vs_time", window=1)
    curve = axes_of(kinds.plot(asked, split_by_run(rounds), scenario).figure).lines[0]
    assert np.asarray(curve.get_ydata()) == pytest.approx([20.0, 80.0] * 15)


def test_an_exploding_loss_leaves_the_axis_of_the_others(scenario: config.Scenario) -> None:
    runs = [
        rounds_of("pause", 0, [1, 2, 3], loss=[2, 1.5, 1]),
        rounds_of("fedavg", 0, [1, 2, 3], loss=[2, 1, 1e6]),
    ]
    figure = kinds.plot("loss_vs_time", split_by_run(pd.concat(runs)), scenario).figure
    assert axes_of(figure).get_ylim()[1] == 16
    assert axes_of(figure).get_yscale() == "log"
    assert names_of(figure) == ["FedAvg with privacy", "PAUSE"]


class Mine(Random):
    """A selector of a user's own."""

    look = Look("Mine", "#123456", "s", "-")


MANY = ("pause", "sa_pause", "random", "random_by_size", "clustered_size", "clustered_similarity", "fastest")


def test_those_that_matter_are_in_colour_and_the_others_grey(scenario: config.Scenario) -> None:
    with SELECTORS.including({"mine": Mine}):
        rounds = pd.concat([rounds_of(name, 0, [1, 2]) for name in (*MANY, "mine")])
        figure = kinds.plot("accuracy_vs_time", split_by_run(rounds), scenario).figure
        labels = {look_of(name).label: name for name in (*MANY, "mine")}
        shown = {
            labels[str(line.get_label())]: line
            for line in axes_of(figure).lines
            if line.get_label() in labels
        }
        coloured = {name for name, line in shown.items() if same_color(line.get_color(), look_of(name).color)}
    assert shown.keys() == {*MANY, "mine"}
    assert coloured == {"pause", "sa_pause", "random", "random_by_size", "mine"}
    assert len({line.get_color() for name, line in shown.items() if name not in coloured}) == 1
    few = pd.concat([rounds_of(name, 0, [1, 2]) for name in MANY[-3:]])
    lines = axes_of(kinds.plot("accuracy_vs_time", split_by_run(few), scenario).figure).lines
    assert any(same_color(line.get_color(), look_of("fastest").color) for line in lines)


def test_names_are_at_the_ends_of_lines_and_do_not_overlap(scenario: config.Scenario) -> None:
    rises = {name: [0.2, 0.5] for name in (*MANY, "fedavg_no_privacy")} | {"fedavg": [0.2, 0.1]}
    rounds = pd.concat([rounds_of(name, 0, [1, 2], leakage_max=rise) for name, rise in rises.items()])
    asked = FigureSettings(kind="leakage_vs_time", y_limits=(0, 0.6))
    figure = kinds.plot(asked, split_by_run(rounds), scenario).figure
    assert names_of(figure)[0] == "Budget ε = 8"  # above the axis
    assert names_of(figure)[-1] == "FedAvg with privacy"
    figure.draw_without_rendering()
    boxes = sorted((text.get_window_extent() for text in axes_of(figure).texts), key=lambda box: box.y0)
    assert len(boxes) == len(rises) + 1
    assert all(lower.y1 <= upper.y0 + 1 for lower, upper in pairwise(boxes))
    whole = axes_of(figure).get_window_extent()
    assert boxes[0].y0 == pytest.approx(whole.y0 + whole.height / 6 - boxes[0].height / 2, abs=2)
    assert boxes[-1].y1 <= whole.y1 + 1
    assert max(box.x1 for box in boxes) <= figure.bbox.x1


def as_run(scenario: config.Scenario) -> tuple[config.Scenario, pd.DataFrame]:
    """Fig. 8 as run, and runs of ours to 100 s; the authors have no run of one of the selectors."""
    runs = [
        rounds_of(selector, 0, list(np.linspace(1, 100, 50)))
        for selector in ("pause", "random", "fedavg", "clustered_similarity")
    ]
    return scenario.replace(name="mnist_large_iid_r1_as_run"), pd.concat(runs)


def theirs(figure: Figure, selector: str) -> Line2D | None:
    """The authors' run in the panel of a selector."""
    (axes,) = [
        axes for axes in figure.axes if " ".join(axes.get_title("left").split()) == look_of(selector).label
    ]
    found = [line for line in axes.lines if line.get_marker() == "o"]
    return found[0] if found else None


#: Three rounds of Fig. 8's log: simulated second; accuracy in per cent and loss, of this round alone.
ROUND_75 = {"accuracy": (46.58, 69.11), "loss": (46.58, 0.984)}
ROUND_152 = {"accuracy": (87.31, 84.19), "loss": (87.31, 0.510)}
ROUND_249 = {"accuracy": (139.49, 88.25), "loss": (139.49, 0.400)}


@pytest.mark.parametrize("column", ["accuracy", "loss"])
def test_rounds_of_the_authors_log_are_circles(column: str, scenario: config.Scenario) -> None:
    named, runs = as_run(scenario)
    figure = kinds.plot(f"{column}_vs_time", split_by_run(runs), named, source=of_authors).figure
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts.count("Authors' run, seed 0") == 1
    circles = theirs(figure, "pause")
    assert circles is not None
    assert circles.get_linestyle() == "None"
    shown = {tuple(point) for point in points_of(circles).round(6)}
    assert {ROUND_75[column], ROUND_152[column]} < shown
    assert ROUND_249[column] not in shown  # the axis ends with ours
    assert len(shown) == 28
    assert theirs(figure, "random")
    assert not theirs(figure, "clustered_similarity")


def test_where_nobody_learns_there_is_no_target(scenario: config.Scenario) -> None:
    runs = [rounds_of(name, 0, [1, 2, 3], accuracy=[0.25, 0.28, 0.26]) for name in ("pause", "fedavg")]
    plotted = kinds.plot("accuracy_vs_time", split_by_run(pd.concat(runs)), scenario)
    assert names_of(plotted.figure) == ["PAUSE", "FedAvg with privacy"]
    assert plotted.numbers is not None
    assert not [name for name in plotted.numbers if name.startswith("To ")]


def test_numbers_are_those_of_the_ends(scenario: config.Scenario) -> None:
    runs = [rounds_of("pause", seed, [1, end], accuracy=[0.1, 0.5]) for seed, end in ((0, 9), (1, 7))]
    runs.append(rounds_of("random", 0, [1, 4], accuracy=[0.1, 0.1]))
    numbers = kinds.plot("accuracy_vs_time", split_by_run(pd.concat(runs)), scenario).numbers
    assert numbers is not None
    assert list(numbers) == [
        *("Selector", "Seeds", "Simulated time (s)", "Test accuracy (%)", "Lowest seed", "Highest seed"),
        "To 27.0 % (s)",
    ]
    # Trailing means of two rounds, 10 and 30; PAUSE ends with its first seed, when the other has 25.
    first, second = numbers.to_numpy(object).tolist()
    assert first == ["PAUSE", 2, 7, *map(pytest.approx, (27.5, 25, 30, 8))]
    assert second[:6] == ["Random", 1, 4, *[pytest.approx(10)] * 3]
    assert math.isnan(second[6])
