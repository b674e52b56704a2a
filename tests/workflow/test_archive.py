"""A commit makes a deposit for a DOI, to the byte; figures are made from what is fetched of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml
from server import serving
from workspace import ROOT, TINY_STUDIES, Checkout

from pausefl import __version__
from pausefl.results.fetching import fetch

pytestmark = pytest.mark.slow

NAME = f"pausefl-{__version__}"


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def committed(everything: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A repository with published runs and studies, and nothing that was made from them."""
    checkout = everything.copy(tmp_path_factory.mktemp("archive") / "checkout", "data", ".snakemake")
    for path in (checkout.root / "results").iterdir():
        if path.name != "published":
            shutil.rmtree(path)
    checkout.write_studies({kind: TINY_STUDIES[kind] for kind in ("regret", "selection")})
    published = yaml.safe_load((checkout.root / "config/config.yaml").read_text("utf-8"))
    text = yaml.safe_dump(published | {"runs": "published"})
    (checkout.root / "config/published.yaml").write_text(text, "utf-8")
    for name in ("CITATION.cff", "LICENSE", "README.md", "pyproject.toml", ".gitignore", ".gitattributes"):
        shutil.copy2(ROOT / name, checkout.root)
    git(checkout.root, "init", "--initial-branch", "main")
    git(checkout.root, "add", "--all")
    git(checkout.root, "commit", "--message", "All")
    return checkout


def archive(
    checkout: Path, out: Path, umask: int = 0o022, **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")} | variables
    command = [sys.executable, "-m", "pausefl.tools.archive", "--out", out, "--cores", "2"]
    return subprocess.run(
        command, cwd=checkout, env=environment, umask=umask, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def deposit(committed: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deposits") / "one"
    done = archive(committed.root, folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_it_has_software_wheel_runs_crate_and_digests(deposit: Path, committed: Checkout) -> None:
    wheel = f"{NAME}-py3-none-any.whl"
    files = {f"{NAME}.tar.gz", wheel, f"{NAME}-published.zip", f"{NAME}-crate.zip", "CITATION.cff"}
    assert {path.name for path in deposit.iterdir()} == files | {"zenodo.json", "SHA256SUMS"}
    subprocess.run(["sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS"], cwd=deposit, check=True)
    with tarfile.open(deposit / f"{NAME}.tar.gz") as software:
        assert f"{NAME}/workflow/Snakefile" in software.getnames()
    with zipfile.ZipFile(deposit / wheel) as opened:
        assert "pausefl/results/fetching.py" in opened.namelist()
        assert "pausefl/config/scenarios/demo_small.yaml" in opened.namelist()
    with zipfile.ZipFile(deposit / f"{NAME}-published.zip") as opened:
        manifest = opened.read("results/published/manifest.json")
    assert manifest == (committed.root / "results/published/manifest.json").read_bytes()
    with zipfile.ZipFile(deposit / f"{NAME}-crate.zip") as opened:
        assert {"results/report/all.html", "results/published/tiny/runs.jsonl"} <= set(opened.namelist())
    told = json.loads((deposit / "zenodo.json").read_text("utf-8"))["metadata"]
    assert told["version"] == __version__


def test_the_same_commit_makes_the_same_bytes(deposit: Path, committed: Checkout, tmp_path: Path) -> None:
    git(tmp_path, "clone", str(committed.root), "elsewhere")
    done = archive(tmp_path / "elsewhere", tmp_path / "two", 0o077, TZ="Asia/Tokyo")
    assert done.returncode == 0, done.stderr
    for path in deposit.iterdir():
        assert (tmp_path / "two" / path.name).read_bytes() == path.read_bytes(), path.name


def test_changes_that_are_not_committed_are_refused(committed: Checkout, tmp_path: Path) -> None:
    git(tmp_path, "clone", str(committed.root), "clone")
    (tmp_path / "clone/LICENSE").write_text("mine", "utf-8")
    done = archive(tmp_path / "clone", tmp_path / "out")
    assert done.returncode == 1
    assert done.stderr == "Error: commit or take back first: LICENSE\n"
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_else_is_kept(committed: Checkout, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine", "utf-8")
    done = archive(committed.root, tmp_path)
    assert done.returncode == 1
    assert f"Error: {tmp_path} is there already, and is no deposit" in done.stderr
    assert (tmp_path / "mine").exists()


def test_figures_are_made_from_what_is_fetched(
    deposit: Path, committed: Checkout, everything: Checkout, tmp_path: Path
) -> None:
    with serving(deposit) as address:
        fetch(address, tmp_path / "again")
    committed.snakemake(
        "--directory", f"{tmp_path}/again", "--configfile", "config/published.yaml", "--cores", "2"
    )
    figures = sorted((tmp_path / "again/results").rglob("*.png"))
    assert {path.parent.name for path in figures} == {"tiny", "tiny_regret", "tiny_selection", "tiny_absent"}
    for path in figures:
        name = path.relative_to(tmp_path / "again")
        assert path.read_bytes() == (everything.root / name).read_bytes(), name
    assert (tmp_path / "again/results/report/all.html").is_file()
    assert not (committed.root / "results/figures").exists()
