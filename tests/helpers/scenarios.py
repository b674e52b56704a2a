"""Scenarios of tests: copies of one with other settings."""

from __future__ import annotations

from typing import Any

from pausefl.settings import Scenario


def changed(scenario: Scenario, **sections: dict[str, Any] | None) -> Scenario:
    """A copy with ``section={"key": value}`` replaced; ``privacy=None`` takes a section away."""
    return scenario.replace(
        **{
            name: None if keys is None else getattr(scenario, name).replace(**keys)
            for name, keys in sections.items()
        }
    )
