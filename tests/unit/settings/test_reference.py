"""The reference of configuration keys says what the schemas and the scenario files say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pausefl.settings import load_schema, scenario_names
from pausefl.settings.reference import reference

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "config" / "scenarios"


def keys(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """Paths of all values of a schema that hold no keys themselves."""
    for key, sub in schema.get("properties", {}).items():
        named = sub.get("additionalProperties", False)
        if "properties" in sub:
            yield from keys(sub, f"{path}{key}.")
        elif "properties" in (named or {}):
            yield from keys(named, f"{path}{key}.NAME.")
        elif "properties" in sub.get("items", {}):
            yield from keys(sub["items"], f"{path}{key}[].")
        else:
            yield path + key


def test_the_file_is_up_to_date() -> None:
    found = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    assert found == reference(FOLDER), "run: python -m pausefl.settings.reference > config/README.md"


@pytest.mark.parametrize("name", ["config", "scenario", "studies", "claims"])
def test_every_key_is_listed(name: str) -> None:
    text = reference(FOLDER)
    assert [key for key in keys(load_schema(name)) if f"| `{key}` |" not in text] == []


def test_every_scenario_is_listed_with_its_facts() -> None:
    text = reference(FOLDER)
    assert [name for name in scenario_names(FOLDER) if f"(scenarios/{name}.yaml)" not in text] == []
    assert (
        "MNIST, large network, i.i.d. labels, Dirichlet sizes, reward R1 | 300 | 15 | mnist | fc | 10 |"
        in text
    )
    assert "CIFAR-10, BSFL, i.i.d. data | 500 | 25 | cifar10 | cnn_bsfl | none |" in text


def test_ranges_and_choices_are_told() -> None:
    text = reference(FOLDER)
    assert "| `reward.beta` | yes | number, > 1 |" in text
    assert "| `model.norm` | yes | one of `batch`, `group`, `none` |" in text
    assert "| `data.test_fraction` | no | number, > 0, < 1 |" in text
