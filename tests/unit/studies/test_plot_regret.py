"""The figure of a regret study shows every selector twice, and the law of its mean."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from pausefl.registry.selectors import look_of
from pausefl.studies.regret import fits, kept_rounds, plot_regret

T = kept_rounds(10_000)
#: Regret of seeds 0 and 1 in units of the mean of both.
SEEDS = (0.5, 1.5)
MEANS = {"random": 2.0 * T, "pause": 3 * np.log(T) + 1, "bsfl": 0.1 * T**0.5, "genie": np.zeros(len(T))}
LABELS = ["PAUSE: $\\ln t$", "BSFL: $t^{0.50}$", "Genie: constant", "Random: $t$", "Law fitted"]


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
    return plot_regret(runs, fits(runs))


def test_lines_are_means_in_the_order_of_the_legend(figure: Figure) -> None:
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == LABELS
    order = ["pause", "bsfl", "genie", "random"]
    for axes, scale in zip(figure.axes, ("linear", "log"), strict=True):
        assert (axes.get_xscale(), axes.get_yscale()) == (scale, scale)
        curves = axes.lines[: len(order)]
        assert [line.get_color() for line in curves] == [look_of(name).color for name in order]
        for line, name in zip(curves, order, strict=True):
            np.testing.assert_allclose(line.get_ydata(), MEANS[name])
    keys = [key.get_color() for key in legend.legend_handles if key is not None]
    assert keys == [*[look_of(name).color for name in order], "black"]


def test_bands_are_of_the_seeds(figure: Figure) -> None:
    heights = np.asarray(figure.axes[0].collections[0].get_paths()[0].vertices)[:, 1]
    assert heights.max() == pytest.approx(1.5 * MEANS["pause"].max())
    assert heights.min() == pytest.approx(0.5 * MEANS["pause"].min())


def test_laws_are_plotted_where_they_were_fitted(figure: Figure) -> None:
    straight, logarithmic = figure.axes
    assert len(straight.lines) == len(MEANS)
    guides = logarithmic.lines[len(MEANS) :]
    for guide, name in zip(guides, ("pause", "bsfl", "genie", "random"), strict=True):
        t = np.asarray(guide.get_xdata())
        assert (t[0], t[-1]) == (T[T >= 100][0], 10_000)
        np.testing.assert_allclose(guide.get_ydata(), MEANS[name][T >= 100], rtol=1e-6)
