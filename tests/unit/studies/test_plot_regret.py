"""The figure of a regret study shows the regret of every selector, the law of its mean, and how it grows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from pausefl.registry.selectors import look_of
from pausefl.studies.regret import growth, kept_rounds, plot_regret

T = kept_rounds(10_000)
#: Regret of seeds 0 and 1 in units of the mean of both.
SEEDS = (0.5, 1.5)
ORDER = ["pause", "bsfl", "genie", "random"]
MEANS = {"random": 2.0 * T, "pause": 3 * np.log(T) + 1, "bsfl": 0.1 * T**0.5, "genie": np.zeros(len(T))}
LABELS = [
    "PAUSE: 0.12 (0.12 to 0.12)",
    "BSFL: 0.50 (0.50 to 0.50)",
    "Genie: no regret",
    "Random: 1.00 (1.00 to 1.00)",
]


@pytest.fixture(scope="module")
def runs() -> pd.DataFrame:
    tables = [
        pd.DataFrame({"selector": selector, "seed": seed, "round": T, "regret": factor * mean})
        for selector, mean in MEANS.items()
        for seed, factor in enumerate(SEEDS)
    ]
    return pd.concat(tables, ignore_index=True)


@pytest.fixture(scope="module")
def figure(runs: pd.DataFrame) -> Figure:
    return plot_regret(runs, growth(runs))


def test_lines_are_means_in_the_order_of_the_legend(figure: Figure) -> None:
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [*LABELS, "Band: range of seeds"]
    left, right = figure.axes
    assert (left.get_xscale(), left.get_yscale(), right.get_yscale()) == ("log", "log", "linear")
    for line, name in zip(left.lines, ORDER, strict=True):
        assert line.get_color() == look_of(name).color
        np.testing.assert_allclose(line.get_ydata(), MEANS[name])
    keys = [key.get_color() for key in legend.legend_handles[: len(ORDER)] if key is not None]
    assert keys == [look_of(name).color for name in ORDER]


def test_the_legend_has_the_range_over_seeds_of_the_last_exponent() -> None:
    tables = [
        pd.DataFrame({"selector": "bsfl", "seed": seed, "round": T, "regret": 1.0 * T**power})
        for seed, power in enumerate((0.5, 0.7))
    ]
    for n, words in ((1, "BSFL: 0.50"), (2, "BSFL: 0.60 (0.50 to 0.70)")):
        runs = pd.concat(tables[:n], ignore_index=True)
        (legend,) = plot_regret(runs, growth(runs)).legends
        assert legend.get_title().get_text().startswith("Exponent of growth, rounds 1,000 to 10,000")
        assert legend.get_texts()[0].get_text() == words


def test_bands_are_of_the_seeds(figure: Figure) -> None:
    heights = np.asarray(figure.axes[0].collections[0].get_paths()[0].vertices)[:, 1]
    assert heights.max() == pytest.approx(1.5 * MEANS["pause"].max())
    assert heights.min() == pytest.approx(0.5 * MEANS["pause"].min())


def test_growth_is_the_slope_of_the_decade_before(figure: Figure) -> None:
    right = figure.axes[1]
    growth = {name: line.get_ydata() for name, line in zip(ORDER, right.lines, strict=False)}
    late = T[T >= 10]
    for name, line in zip(ORDER, right.lines, strict=False):
        assert (line.get_color(), list(line.get_xdata())) == (look_of(name).color, list(late))
    assert growth["bsfl"] == pytest.approx(0.5)
    assert growth["random"] == pytest.approx(1)
    assert np.isnan(growth["genie"]).all()
    # 3 ln t + 1 has the slope 3 / (3 ln t + 1) at t, so the last decade's lies between its ends.
    assert 3 / (3 * np.log(1e4) + 1) < growth["pause"][-1] < 3 / (3 * np.log(1e3) + 1)
    assert [text.get_text() for text in right.texts] == ["as $t$", "as $\\sqrt{t\\,\\ln t}$", "as $\\ln t$"]
