"""Figures that a scenario names."""

from __future__ import annotations

from typing import Any

import pytest

from pausefl.analysis.figures.kinds import figures_of
from pausefl.errors import ConfigError
from pausefl.settings import Scenario


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("loss_vs_tim", ("mine.yaml: figures.fig.kind = 'loss_vs_tim'", "'loss_vs_time'")),
        ({"kind": "loss_vs_time", "x_limits": [3, 1]}, ("x_limits = [3, 1]", "begin")),
        (
            {"kind": "loss_vs_time", "x_scale": "log", "x_limits": [0, 1]},
            ("x_limits = [0, 1]", "above 0"),
        ),
        ({"kind": "selections", "window": 5}, ("window does not apply",)),
        ({"kind": "selections", "caption": ""}, ("figures.fig.caption",)),
        ({"kind": "leakage_vs_time", "window": 5}, ("window does not apply", "smoothed")),
    ],
)
def test_a_wrong_figure_is_refused(asked: Any, words: tuple[str, ...], demo: Scenario) -> None:
    with pytest.raises(ConfigError) as error:
        figures_of(demo.model_copy(update={"figures": {"fig": asked}}), "mine.yaml")
    assert [word for word in words if word not in str(error.value)] == []
