"""Scenarios with other settings, and rows of an experiment table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pausefl.settings import Scenario


def row(scenario: str, *selectors: str, seeds: Sequence[int] = (0,)) -> dict[str, Any]:
    """A row of the table: a scenario with selectors and seeds."""
    return {"scenario": scenario, "selectors": list(selectors), "seeds": list(seeds)}


def changed(scenario: Scenario, **sections: dict[str, Any] | None) -> Scenario:
    """A copy with ``section={"key": value}`` replaced; ``privacy=None`` takes a section away."""
    return scenario.replace(
        **{
            name: None if keys is None else getattr(scenario, name).replace(**keys)
            for name, keys in sections.items()
        }
    )
