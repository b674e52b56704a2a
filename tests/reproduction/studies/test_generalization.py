"""The generalisation reward of the papers' figures is that of their formula."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pausefl.reproduction.studies import load_studies

ROOT = Path(__file__).parents[3]
STUDIES = load_studies(ROOT / "config/studies.yaml", ROOT / "config/scenarios").of_kind("generalization")


@pytest.mark.parametrize("name", STUDIES)
def test_the_figure_has_a_line_an_exponent_that_crosses_zero_at_the_share(name: str) -> None:
    study = STUDIES[name]
    share = study.n_selected / study.n_users
    figure = study.plot(study.compute(print)).figure
    (axes,) = figure.axes
    lines = axes.lines[2:]  # after zero and the share
    assert len(lines) == len(study.betas)
    for line, beta in zip(lines, study.betas, strict=True):
        x, y = (np.asarray(values, float) for values in line.get_data())
        np.testing.assert_allclose(x, np.arange(study.n_rounds + 1) / study.n_rounds)
        np.testing.assert_allclose(y, np.sign(share - x) * np.abs(share - x) ** beta, atol=1e-12)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [f"{beta:g}" for beta in study.betas]
