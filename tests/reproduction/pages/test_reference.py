"""What is made from models and published runs, and kept by Git, says what these say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pausefl.reproduction.claims.formats import to_json
from pausefl.reproduction.dvc_metrics import NUMBERS, curves_text, findings, numbers
from pausefl.reproduction.pages.documentation import pages
from pausefl.reproduction.pages.numbers import evaluate
from pausefl.reproduction.pages.published import Published
from pausefl.reproduction.pages.reference import editor_schemas, reference
from pausefl.runs.run_id import RunId
from pausefl.settings import read_yaml

ROOT = Path(__file__).parents[3]
CONFIG = ROOT / "config"
FOLDER = CONFIG / "scenarios"


def test_the_file_is_up_to_date() -> None:
    found = (CONFIG / "README.md").read_text(encoding="utf-8")
    assert found == reference(FOLDER), "run: python -m pausefl.reproduction.pages.reference"


def test_the_schemas_are_up_to_date() -> None:
    found = {p.name: json.loads(p.read_text(encoding="utf-8")) for p in (CONFIG / "schemas").iterdir()}
    assert found == editor_schemas(), "run: python -m pausefl.reproduction.pages.reference"


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


def test_the_pages_hold_what_is_made(published: Published) -> None:
    """If this fails: make docs."""
    for path, text in pages(published, evaluate(published, ROOT / "docs/numbers.yaml")).items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, path


def test_what_dvc_compares_is_of_the_published_runs(published: Published) -> None:
    """If this fails: snakemake --cores all --configfile config/published.yaml -- metrics."""
    metrics, plots = ROOT / "results/metrics", ROOT / "results/plots"
    for scale, judged in {"paper": published.judged}.items():
        there = json.loads((metrics / "claims" / f"{scale}.json").read_text("utf-8"))
        assert there == findings(json.loads(to_json(judged, scale, ""))["claims"]), scale
    assert {path.stem for path in plots.glob("*.csv")} == set(published.records.scenarios)
    for name in published.records.scenarios:
        jobs = dict.fromkeys(one.selector for one in published.records.experiments if one.scenario == name)
        runs = {selector: published.records.runs(name, selector, trained=True) for selector in jobs}
        assert {path.stem for path in (metrics / name).glob("*.json")} == set(jobs), name
        for selector, own in runs.items():
            found = [run.outcome for _, run in sorted(own.items()) if run]
            means = numbers({f"{key}_mean": np.mean([one[key] for one in found]) for key in NUMBERS})
            path = metrics / name / f"{selector}.json"
            assert json.loads(path.read_text("utf-8")) == means, path
        finished = {
            RunId(name, selector, seed): run.rounds
            for selector, own in runs.items()
            for seed, run in own.items()
            if run
        }
        curve = curves_text(finished)
        assert (plots / f"{name}.csv").read_text("utf-8") == curve, name
