"""Names of settings and their classes: facts are cheap to look at, every model has a backend."""

from __future__ import annotations

import inspect

import pytest

from pausefl.bandit.rewards import REWARDS
from pausefl.data.sources import SOURCES
from pausefl.errors import ConfigError
from pausefl.plugins import Plugins
from pausefl.privacy import MECHANISMS, SAMPLERS, SCHEDULES
from pausefl.selectors import SELECTORS
from pausefl.training.models import MODELS

ALL = (SELECTORS, MODELS, SOURCES, REWARDS, MECHANISMS, SCHEDULES, SAMPLERS)


@pytest.mark.parametrize("plugins", ALL, ids=lambda one: one.what)
def test_names_stand_for_classes_that_can_be_made(plugins: Plugins[object]) -> None:
    for name, part in plugins.items():
        assert issubclass(part, plugins.base), name
        assert not inspect.isabstract(part), name
    name = next(iter(plugins))
    with pytest.raises(ConfigError, match=f"unknown {plugins.what} '{name}x'. Did you mean '{name}'"):
        plugins.find(f"{name}x")
