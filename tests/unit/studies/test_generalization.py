"""The figures of the generalisation reward show the formula of the papers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pausefl.studies import load_studies
from pausefl.studies.generalization import Generalization

ROOT = Path(__file__).parents[3]
STUDIES = load_studies(ROOT / "config/studies.yaml", ROOT / "config/scenarios").of_kind("generalization")
SMALL = Generalization(title="Small", n_users=8, n_selected=2, betas=(1, 2.5), n_rounds=4)


def test_values_by_hand() -> None:
    table = SMALL.compute(print)["generalization.csv"]
    assert table["participation"].tolist() == 2 * [0, 0.25, 0.5, 0.75, 1]
    straight, curved = (table.loc[table["beta"] == beta, "reward"].to_numpy() for beta in SMALL.betas)
    np.testing.assert_allclose(straight, [0.25, 0, -0.25, -0.5, -0.75])
    np.testing.assert_allclose(curved, [0.25**2.5, 0, -(0.25**2.5), -(0.5**2.5), -(0.75**2.5)])


@pytest.mark.parametrize("name", STUDIES)
def test_the_figure_has_a_line_an_exponent_that_crosses_zero_at_the_share(name: str) -> None:
    study = STUDIES[name]
    share = study.n_selected / study.n_users
    figure = study.plot(study.compute(print)).figure
    (axes,) = figure.axes
    zero, mark, *lines = axes.lines
    assert set(np.asarray(zero.get_ydata())) == {0}
    assert set(np.asarray(mark.get_xdata())) == {share}
    assert len(lines) == len(study.betas)
    for line, beta in zip(lines, study.betas, strict=True):
        x, y = (np.asarray(values, float) for values in line.get_data())
        np.testing.assert_allclose(y, np.sign(share - x) * np.abs(share - x) ** beta, atol=1e-12)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [f"{beta:g}" for beta in study.betas]
    assert axes.get_xlim() == (0, 1)
    assert len({line.get_color() for line in lines}) == len(lines)
