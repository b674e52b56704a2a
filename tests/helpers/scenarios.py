"""Scenarios with other settings, and configurations with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pausefl.settings import Scenario

SCENARIOS = Path(__file__).parents[2] / "config" / "scenarios"


def configuration(*rows: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A configuration with these rows of the shipped scenarios and without studies."""
    data = {"data_root": "data/raw", "download": False, "image_folders": {}}
    return data | {"scenarios": str(SCENARIOS), "studies": None, "experiments": [*rows]} | changes


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
