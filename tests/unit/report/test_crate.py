"""The archive of a reproduction: all files, described as the profiles of RO-Crate require."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from pausefl import __version__
from pausefl.errors import ConfigError
from pausefl.settings import read_yaml

pytest.importorskip("rocrate")
from rocrate.rocrate import ROCrate

from pausefl.report.crate import write_crate

ROOT = Path(__file__).parents[3]
CONFIGURATION = {"data_root": "data/raw", "experiments": [{"scenario": "demo_small", "seeds": [0]}]}
FILES = {
    "results/runs/demo_small/pause/seed-0/summary.json": json.dumps(
        {"dataset_origin": "scikit-learn's digits", "digests": {"data set": "abc123"}}
    ),
    "results/published/old/runs.jsonl": json.dumps({"dataset_origin": "MNIST files"}) + "\n",
    "results/tables/demo_small/summary.md": "| a |",
    "results/claims/demo/claims.json": "{}",
    "results/report/all.html": "<html></html>",
}


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        path = Path("copies", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return {name: Path("copies", name) for name in FILES}


@pytest.fixture
def crate(results: dict[str, Path], tmp_path: Path) -> ROCrate:
    write_crate(tmp_path / "crate.zip", ROOT, CONFIGURATION, results)
    with zipfile.ZipFile(tmp_path / "crate.zip") as archive:
        assert len(archive.namelist()) == len(set(archive.namelist()))
        archive.extractall(tmp_path / "crate")
    return ROCrate(tmp_path / "crate")


def test_workflow_configuration_and_results_are_in_it(crate: ROCrate, tmp_path: Path) -> None:
    folder = tmp_path / "crate"
    for name, text in FILES.items():
        assert (folder / name).read_text("utf-8") == text
        assert crate.get(name)["contentSize"] == str(len(text))
        assert crate.get(name)["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert read_yaml(folder / "configuration.yaml") == CONFIGURATION
    for name in ("workflow/Snakefile", "workflow/rules/jobs.smk", "src/pausefl/cli.py", "constraints.txt"):
        assert (folder / name).read_bytes() == (ROOT / name).read_bytes()
    assert not list(folder.rglob("__pycache__"))
    described = {entity.id.rstrip("/") for entity in crate.data_entities}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        assert (
            path.is_dir()
            or name == "ro-crate-metadata.json"
            or any(name == one or name.startswith(f"{one}/") for one in described)
        ), name


def test_all_files_have_a_digest(crate: ROCrate, tmp_path: Path) -> None:
    folder = tmp_path / "crate"
    digests = dict(
        reversed(line.split("  ")) for line in (folder / "SHA256SUMS").read_text("utf-8").splitlines()
    )
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert digests == {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in files.items()
        if name != "SHA256SUMS"
    }
    assert "src/pausefl/cli.py" in digests
    subprocess.run(["sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS"], cwd=folder, check=True)


def test_the_same_files_make_the_same_bytes(
    results: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    write_crate(tmp_path / "one.zip", ROOT, CONFIGURATION, results)
    for path in results.values():
        os.utime(path, (0, 0))
    write_crate(tmp_path / "two.zip", ROOT, CONFIGURATION, results)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    crate = ROCrate(tmp_path / "two.zip")
    assert crate.root_dataset["datePublished"] == "2023-11-14T22:13:20+00:00"
    assert crate.root_dataset["mentions"]["endTime"] == "2023-11-14T22:13:20+00:00"


def test_scenarios_of_ones_own_are_in_it(results: dict[str, Path], tmp_path: Path) -> None:
    own = tmp_path / "mine" / "scenarios"
    own.mkdir(parents=True)
    (own / "few.yaml").write_text("name: few\n", encoding="utf-8")
    places = {"scenarios": "mine/scenarios", "studies": str(ROOT / "config" / "studies.yaml")}
    write_crate(tmp_path / "crate.zip", ROOT, places, results)
    with zipfile.ZipFile(tmp_path / "crate.zip") as archive:
        assert archive.read("own/scenarios/few.yaml") == b"name: few\n"
        assert [name for name in archive.namelist() if name.startswith("own/")] == ["own/scenarios/few.yaml"]
    assert ROCrate(tmp_path / "crate.zip").get("own/scenarios/")


def test_it_says_who_what_and_under_which_licence(crate: ROCrate) -> None:
    citation = read_yaml(ROOT / "CITATION.cff")
    root, workflow = crate.root_dataset, crate.mainEntity
    assert root["license"].id == workflow["license"].id == f"https://spdx.org/licenses/{citation['license']}"
    assert root["author"]["name"] == citation["authors"][0]["name"]
    assert [paper["name"] for paper in root["citation"]] == [one["title"] for one in citation["references"]]
    assert root["citation"][0].id == "https://arxiv.org/abs/2503.13173"
    assert "Natalie Lang" in root["citation"][0]["author"]
    assert {profile["name"] for profile in root["conformsTo"]} == {
        "Process Run Crate",
        "Workflow Run Crate",
        "Workflow RO-Crate",
    }
    assert set(workflow.type) == {"File", "SoftwareSourceCode", "ComputationalWorkflow"}
    assert workflow["version"] == __version__
    assert workflow["programmingLanguage"]["name"] == "Snakemake"


def test_the_run_links_what_went_in_to_what_came_out(crate: ROCrate) -> None:
    action = crate.root_dataset["mentions"]
    assert action.type == "CreateAction"
    assert action["instrument"].id == "workflow/Snakefile"
    assert {one.id for one in action["result"]} == set(FILES)
    configuration, *data = action["object"]
    assert configuration.id == "configuration.yaml"
    assert [(one["name"], one["value"]) for one in data] == [
        ("Data set: MNIST files", ""),
        ("Data set: scikit-learn's digits", "abc123"),
    ]
    assert action["endTime"].endswith("+00:00")


def test_without_a_citation_it_says_so(results: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"CITATION\.cff: no such file"):
        write_crate(tmp_path / "crate.zip", tmp_path, CONFIGURATION, results)
    assert not (tmp_path / "crate.zip").exists()
