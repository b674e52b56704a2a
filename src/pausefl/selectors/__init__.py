"""User selectors: which users take part in a round, given what was observed so far.

`pausefl.registry.selectors` lists them all; `make_selector` builds one for a scenario.
"""

from __future__ import annotations

from pausefl.registry import SELECTORS
from pausefl.selectors.base import Selector
from pausefl.settings import Scenario

__all__ = ["Selector", "make_selector"]


def make_selector(name: str, scenario: Scenario) -> Selector:
    """Build a selector of `pausefl.registry.selectors` for a scenario."""
    cls: type[Selector] = SELECTORS.find(name).load()
    return cls.build(scenario)
