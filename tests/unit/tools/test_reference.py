"""The reference of configuration keys and the schemas for editors say what the models say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pausefl.settings import read_yaml
from pausefl.tools.reference import editor_schemas, reference

ROOT = Path(__file__).parents[3]
CONFIG = ROOT / "config"
FOLDER = CONFIG / "scenarios"


def test_the_file_is_up_to_date() -> None:
    found = (CONFIG / "README.md").read_text(encoding="utf-8")
    assert found == reference(FOLDER), "run: python -m pausefl.tools.reference"


def test_the_schemas_are_up_to_date() -> None:
    found = {p.name: json.loads(p.read_text(encoding="utf-8")) for p in (CONFIG / "schemas").iterdir()}
    assert found == editor_schemas(), "run: python -m pausefl.tools.reference"


def test_files_agree_with_the_schema_that_they_name() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    for path in CONFIG.rglob("*.yaml"):
        first, marker = path.read_text(encoding="utf-8").splitlines()[0], "# yaml-language-server: $schema="
        if not first.startswith(marker):  # a file of one's own
            continue
        schema = path.parent / first.removeprefix(marker)
        jsonschema.validate(read_yaml(path), json.loads(schema.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", ["demo_small", "mnist_large_iid_r1_as_run"])
def test_a_misspelt_key_disagrees_with_the_schema(name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    document = read_yaml(FOLDER / f"{name}.yaml")
    document["training"]["n_round"] = 3
    with pytest.raises(jsonschema.ValidationError, match="n_round"):
        jsonschema.validate(document, editor_schemas()["scenario.json"])
