"""The archive of a finished workflow."""

from __future__ import annotations

import json
import shutil
import zipfile

import pytest
from workspace import ROOT, Checkout

pytestmark = pytest.mark.slow


def test_a_finished_workflow_becomes_an_archive(copy: Checkout) -> None:
    for name in ("CITATION.cff", "LICENSE"):
        shutil.copy2(ROOT / name, copy.root)
    assert copy.planned("results/crates/all.zip") == {"write_crate": 1}
    copy.snakemake("--cores", "1", "crate")
    with zipfile.ZipFile(copy.root / "results/crates/all.zip") as archive:
        files = {name for name in archive.namelist() if not name.endswith("/")}
        metadata = json.loads(archive.read("ro-crate-metadata.json"))
        report = archive.read("results/report/all.html")
    made = {
        path.relative_to(copy.root).as_posix()
        for folder in ("runs", "tables", "figures", "claims", "report")
        for path in (copy.root / "results" / folder).rglob("*.*")
    }
    assert made <= files
    assert report == (copy.root / "results/report/all.html").read_bytes()
    (action,) = [entity for entity in metadata["@graph"] if entity["@id"] == "#reproduction"]
    assert made <= {one["@id"] for one in action["result"]}
    origins = [entity["name"] for entity in metadata["@graph"] if entity["@type"] == "PropertyValue"]
    assert len(origins) == 1
    assert "digits" in origins[0]


def test_an_unfinished_workflow_is_finished_first(checkout: Checkout) -> None:
    planned = checkout.planned("results/crates/tiny.zip")
    assert planned["jobs"] == 2
    assert planned["write_crate"] == 1
    assert "write_report" not in planned
