"""Names of settings and their classes: facts are cheap to look at, every model has a backend."""

from __future__ import annotations

import inspect
import subprocess
import sys
from itertools import product

import pytest

from pausefl.bandit.rewards import REWARDS
from pausefl.data.sources import SOURCES
from pausefl.errors import ConfigError
from pausefl.plugins import Plugins
from pausefl.privacy import MECHANISMS, SAMPLERS, SCHEDULES
from pausefl.selectors import SELECTORS
from pausefl.training.backends import fastest_backend
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


def test_facts_load_nothing_large() -> None:
    heavy = "{'torch', 'numba', 'matplotlib', 'scipy', 'pandas'}"
    code = f"import sys, pausefl.settings; print(sorted(set(sys.modules) & {heavy}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_backend(name: str) -> None:
    for device, regression in product(("cpu", "cuda"), (True, False)):
        chosen = fastest_backend(device, MODELS[name].family, regression)
        assert device in chosen.devices
        assert MODELS[name].family in chosen.families
        assert chosen.regression or not regression
