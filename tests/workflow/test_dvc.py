"""DVC stores and compares what the workflow makes, and never deletes any of it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from workspace import PATIENCE_S, ROOT, Checkout, counted

from pausefl.data._torchvision import datasets
from pausefl.data.sources import SOURCES, mnist

PAGE = (ROOT / "docs/workflow.md").read_text("utf-8")

#: Of the tiny scenario.
SELECTORS = {"pause", "fedavg"}


@dataclass(frozen=True)
class Repository:
    """A Git repository with the tiny configuration, and this interpreter as its ``.venv``."""

    root: Path

    def run(self, *command: str, ok: bool = True) -> str:
        """Run a command and return what it printed; fail unless it succeeds or fails as expected."""
        private = self.root.parent / "dvc"
        environment = os.environ | {
            "CORES": "2",
            "DVC_NO_ANALYTICS": "1",
            "DVC_GLOBAL_CONFIG_DIR": str(private),
            "DVC_SITE_CACHE_DIR": str(private),
            "DVC_SYSTEM_CONFIG_DIR": str(private),
            "GIT_CONFIG_GLOBAL": os.devnull,
            **{f"GIT_{who}_{what}": "test" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
            "PYTHONPATH": str(self.root / "src"),
        }
        # Of a `make test` that runs this.
        environment = {k: v for k, v in environment.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
        done = subprocess.run(
            command,
            cwd=self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
        )
        assert (done.returncode == 0) == ok, done.stdout
        return done.stdout

    def dvc(self, *arguments: str) -> str:
        """Run DVC."""
        return self.run(".venv/bin/dvc", *arguments)

    def shown(self, *arguments: str) -> Any:
        """What a command of DVC shows, as data."""
        output = self.dvc(*arguments, "--json")
        return json.loads(output[output.index("{") :])

    def documented(self, section: str, number: int = 0, **places: str) -> str:
        """Run commands of docs/workflow.md, with ``places`` replaced, and return what they printed."""
        (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
        block = re.findall(r"^```bash\n(.*?)^```", text, re.M | re.S)[number]
        for old, new in places.items():
            assert old in block
            block = block.replace(old, new)
        return self.run("bash", "-euc", f'PATH="$PWD/.venv/bin:$PATH"\n{block}')

    def commit(self) -> None:
        """Commit everything that Git does not ignore."""
        self.run("git", "add", "--all")
        self.run("git", "commit", "--quiet", "-m", "test")

    def link_interpreter(self) -> None:
        """Make ``.venv`` what the Makefile takes for a finished installation."""
        (self.root / ".venv").mkdir()
        for path in Path(sys.prefix).iterdir():
            if path.name != "installed":
                (self.root / ".venv" / path.name).symlink_to(path)
        (self.root / ".venv/installed").touch()

    def summaries(self) -> dict[str, int]:
        """When each run ended."""
        runs = self.root / "results/runs/tiny"
        return {str(p.relative_to(runs)): p.stat().st_mtime_ns for p in runs.rglob("summary.json")}


@pytest.fixture(scope="module")
def recorded(finished: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A repository with finished results, recorded, committed and pushed; not to be changed."""
    root = tmp_path_factory.mktemp("dvc") / "first"
    finished.copy(root)
    for name in ("Makefile", "pyproject.toml", "constraints.txt", "dvc.yaml", ".dvcignore", ".gitignore"):
        shutil.copy2(ROOT / name, root)
    shutil.copytree(ROOT / ".dvc", root / ".dvc", ignore=shutil.ignore_patterns("cache", "tmp", "*.local"))
    repository = Repository(root)
    repository.run("git", "init", "--quiet")
    repository.link_interpreter()
    repository.run("make", "record")
    repository.commit()
    repository.documented("Share results", **{"/path/to/folder": "../storage", "; or: dvc push figures": ""})
    return repository


@pytest.mark.slow
def test_a_clone_is_restored_and_another_seed_trains_that_seed_alone(recorded: Repository) -> None:
    metrics = recorded.shown("metrics", "show", "results/metrics")[""]["data"]
    assert set(metrics) == {f"results/metrics/tiny/{selector}.json" for selector in SELECTORS}
    assert 0 < metrics["results/metrics/tiny/pause.json"]["data"]["final_accuracy"] < 1
    clone = Repository(recorded.root.parent / "clone")
    recorded.run("git", "clone", "--quiet", ".", str(clone.root))
    clone.link_interpreter()
    clone.dvc("remote", "add", "--local", "--default", "storage", "../storage")
    left = counted(clone.run("make", "restore"))
    assert {"collect", "tables", "figures", "report"} <= left.keys()
    assert not {"job", "partition", "prepare"} & left.keys()
    assert clone.run("git", "status", "--short") == ""
    clone.documented("Share results", 1, **{"make .venv/installed": "true", "make restore": "true"})
    table = "results/tables/tiny/summary.csv"
    assert (clone.root / table).read_bytes() == (recorded.root / table).read_bytes()
    pages = [(one.root / "results/report/all.html").read_text("utf-8") for one in (clone, recorded)]
    # A page names the commit it is made at.
    first, second = (
        re.sub(r"(pausefl [\d.]+), commit \w+ of [\d-]+( with uncommitted changes)?", r"\1", page)
        for page in pages
    )
    assert first == second
    before = clone.summaries()
    assert set(before) == {f"{run}/seed-{seed}/summary.json" for run in SELECTORS for seed in (0, 1)}

    checkout = Checkout(clone.root)
    row = {"scenario": "tiny", "selectors": ["pause", "fedavg"], "seeds": [0, 1, 2]}
    checkout.write_config(experiments=[row])
    locked = (clone.root / "dvc.lock").read_bytes()
    output = clone.run("make", "record", ok=False)
    assert "Not recorded: the dry run above shows what is left to make" in output
    assert (clone.root / "dvc.lock").read_bytes() == locked

    clone.dvc("repro", "reproduce")
    after = clone.summaries()
    assert set(after) - set(before) == {f"{run}/seed-2/summary.json" for run in SELECTORS}
    assert after.items() >= before.items()
    assert "final_accuracy" in clone.dvc("metrics", "diff")
    (plot,) = clone.shown("plots", "diff", "HEAD")["data"]["results/plots/tiny.csv"]
    assert set(plot["revisions"]) == {"HEAD", "workspace"}


@pytest.mark.slow
def test_results_of_other_configurations_are_not_recorded_as_published(tmp_path: Path) -> None:
    """As those that `make demo` left."""
    subprocess.run(["git", "clone", "--quiet", ROOT, tmp_path / "clone"], check=True)
    clone = Repository(tmp_path / "clone")
    shutil.copy2(ROOT / "Makefile", clone.root)
    clone.link_interpreter()
    (clone.root / "results/claims/demo").mkdir(parents=True)
    (clone.root / "results/claims/demo/claims.json").touch()
    locked = (clone.root / "dvc.lock").read_bytes()
    output = clone.run("make", "record", "CONFIG=config/published.yaml", ok=False)
    assert "results/claims/demo/claims.json" in output
    assert "Not recorded: the files above are of another configuration" in output
    assert (clone.root / "dvc.lock").read_bytes() == locked


def test_the_lock_is_that_of_the_published_results() -> None:
    """Of what `make figures` reads; whether it makes the same of it, a slow test and reviewers find out."""
    stage = yaml.safe_load((ROOT / "dvc.yaml").read_text("utf-8"))["stages"]["figures"]
    locked = yaml.safe_load((ROOT / "dvc.lock").read_text("utf-8"))["stages"]["figures"]
    assert [one["path"] for one in locked["deps"]] == stage["deps"]
    stale = [one["path"] for one in locked["deps"] if one["md5"] != checksum(ROOT / one["path"])]
    assert stale == [], (
        f"dvc.lock has other digests of {', '.join(stale)}. Run `make figures`, then"
        " `make record CONFIG=config/published.yaml`, and commit dvc.lock"
    )
    numbers = {one["path"]: one["md5"] for one in locked["outs"]}
    for folder in ("results/metrics", "results/plots"):
        assert numbers[folder] == checksum(ROOT / folder)


def checksum(path: Path) -> str:
    """What DVC calls a file or folder."""
    if path.is_file():
        return hashlib.md5(path.read_bytes()).hexdigest()
    pages = set(ROOT.glob("results/published/*.md"))
    files = [file for file in path.rglob("*") if file.is_file() and file not in pages]
    return folder_hash(
        {file.relative_to(path).as_posix(): hashlib.md5(file.read_bytes()).hexdigest() for file in files}
    )


def folder_hash(checksums: Mapping[str, str]) -> str:
    """What DVC calls a folder whose files have these checksums."""
    files = [{"md5": md5, "relpath": path} for path, md5 in sorted(checksums.items())]
    return hashlib.md5(json.dumps(files).encode()).hexdigest() + ".dir"


def tracked(name: str) -> str:
    """The hash of a folder in ``data/raw`` that is in Git."""
    (out,) = yaml.safe_load((ROOT / f"data/raw/{name}.dvc").read_text("utf-8"))["outs"]
    assert out["path"] == name
    return str(out["md5"])


def test_tracked_raw_data_are_those_that_the_workflow_verifies() -> None:
    digests = zip(SOURCES["mnist"].files, mnist._MNIST_MD5, strict=True)
    assert tracked("MNIST") == folder_hash({file.removeprefix("MNIST/"): md5 for file, md5 in digests})
    official = datasets.CIFAR10
    batches = dict([*official.train_list, *official.test_list])
    batches[official.meta["filename"]] = official.meta["md5"]
    assert tracked("cifar-10-batches-py") == folder_hash(batches)
