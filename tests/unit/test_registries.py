"""Registries: every record loads, reading them is cheap."""

from __future__ import annotations

import inspect
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from pausefl.bandit.rewards import Reward
from pausefl.errors import ConfigError
from pausefl.privacy import Mechanism, Sampler, Schedule
from pausefl.registry import (
    BACKENDS,
    FIGURES,
    MECHANISMS,
    MODELS,
    REWARDS,
    SAMPLERS,
    SCHEDULES,
    SELECTORS,
    SOURCES,
    Registry,
)
from pausefl.registry.backends import fastest_backend
from pausefl.selectors import Selector
from pausefl.training.backends.base import Backend

ROOT = Path(__file__).parents[2]
REGISTRIES: dict[str, Registry[Any]] = {
    registry.what: registry
    for registry in (
        SELECTORS,
        MODELS,
        SOURCES,
        REWARDS,
        MECHANISMS,
        SCHEDULES,
        SAMPLERS,
        BACKENDS,
        FIGURES,
    )
}
#: Base of the classes that records name; the others name functions.
BASES: dict[str, type] = {
    SELECTORS.what: Selector,
    REWARDS.what: Reward,
    MECHANISMS.what: Mechanism,
    SCHEDULES.what: Schedule,
    SAMPLERS.what: Sampler,
    BACKENDS.what: Backend,
}


@pytest.mark.parametrize("what", REGISTRIES)
def test_every_record_loads_what_it_names(what: str) -> None:
    for name, record in REGISTRIES[what].items():
        code = record.load()
        if what in BASES:
            assert issubclass(code, BASES[what]), name
            assert not inspect.isabstract(code), name
        else:
            assert callable(code), name


@pytest.mark.parametrize("what", REGISTRIES)
def test_an_unknown_name_is_refused_with_the_nearest_one(what: str) -> None:
    name = next(iter(REGISTRIES[what]))
    with pytest.raises(ConfigError, match=f"unknown {what} '{name}x'. Did you mean '{name}'"):
        REGISTRIES[what].find(f"{name}x")


def test_reading_the_registries_loads_nothing_large() -> None:
    heavy = "{'torch', 'numba', 'matplotlib', 'scipy', 'pandas'}"
    code = f"import sys, pausefl.registry; print(sorted(set(sys.modules) & {heavy}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_backend(name: str) -> None:
    family = MODELS[name].family
    for device, regression in product(("cpu", "cuda"), (True, False)):
        chosen = BACKENDS[fastest_backend(device, family, regression)]
        assert chosen.takes(device, family, regression)
