"""User selectors: which users take part in a round, given what was seen so far.

One family a file; `pausefl.registry` lists them all. `make_selector` builds one for a scenario.
"""

from __future__ import annotations

import importlib

from pausefl.config import Scenario
from pausefl.registry import SELECTORS
from pausefl.selectors.base import Selector

__all__ = ["Selector", "make_selector"]


def make_selector(name: str, scenario: Scenario) -> Selector:
    """Build the selector ``name`` of `pausefl.registry` for a scenario."""
    info = SELECTORS[name]
    cls: type[Selector] = getattr(importlib.import_module(info.full_module), info.class_name)
    return cls.build(scenario)
