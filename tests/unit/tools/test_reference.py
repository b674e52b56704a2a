"""The reference of configuration keys and the schemas for editors say what the models say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from pausefl.claims.load import Claims
from pausefl.schema.json_schema import described, inside
from pausefl.settings import Scenario, read_yaml, scenario_names
from pausefl.settings.config import ConfigFile
from pausefl.studies import file_of_studies
from pausefl.tools.reference import editor_schemas, reference

ROOT = Path(__file__).parents[3]
CONFIG = ROOT / "config"
FOLDER = CONFIG / "scenarios"
MODELS = [ConfigFile, Scenario, file_of_studies(), Claims]


def described_keys(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Path and description of each key of a schema, however deep."""
    within = inside(schema)
    if within is not None:
        yield from described_keys(within, path + ("[]" if "items" in schema else ".NAME"))
    for key, sub in schema.get("properties", {}).items():
        where = f"{path}.{key}" if path else key
        yield where, sub.get("description", "")
        yield from described_keys(sub, where)


def test_the_file_is_up_to_date() -> None:
    found = (CONFIG / "README.md").read_text(encoding="utf-8")
    assert found == reference(FOLDER), "run: python -m pausefl.tools.reference"


def test_the_schemas_are_up_to_date() -> None:
    found = {p.name: json.loads(p.read_text(encoding="utf-8")) for p in (CONFIG / "schemas").iterdir()}
    assert found == editor_schemas(), "run: python -m pausefl.tools.reference"


@pytest.mark.parametrize("model", MODELS)
def test_every_key_is_described_and_listed(model: type[BaseModel]) -> None:
    text = reference(FOLDER)
    keys = dict(described_keys(described(model)))
    assert [key for key, description in keys.items() if not description] == []
    assert [key for key in keys if f"| `{key}` |" not in text and f"### `{key}`" not in text] == []


def test_files_agree_with_the_schema_that_they_name() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    for path in CONFIG.rglob("*.yaml"):
        first = path.read_text(encoding="utf-8").splitlines()[0]
        schema = path.parent / first.removeprefix("# yaml-language-server: $schema=")
        jsonschema.validate(read_yaml(path), json.loads(schema.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", ["demo_small", "mnist_large_iid_r1_as_run"])
def test_a_misspelt_key_disagrees_with_the_schema(name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    document = read_yaml(FOLDER / f"{name}.yaml")
    document["training"]["n_round"] = 3
    with pytest.raises(jsonschema.ValidationError, match="n_round"):
        jsonschema.validate(document, editor_schemas()["scenario.json"])


def test_scenarios_ranges_choices_and_defaults_are_listed() -> None:
    text = reference(FOLDER)
    assert [name for name in scenario_names(FOLDER) if f"(scenarios/{name}.yaml)" not in text] == []
    assert "| `reward.beta` | yes | number, ≥ 1 |" in text
    assert "| `model.norm` | yes | one of `batch`, `group`, `none` |" in text
    assert "| `training.evaluate_every` | no, `1` | integer, ≥ 1 |" in text
