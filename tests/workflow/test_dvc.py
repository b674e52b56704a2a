"""DVC stores and compares what the workflow makes, and never deletes any of it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from workspace import PATIENCE_S, ROOT, Checkout

from pausefl.data._torchvision import datasets
from pausefl.data.sources import idx
from pausefl.registry import SOURCES

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

    def commit(self) -> None:
        """Commit everything that Git does not ignore."""
        self.run("git", "add", "--all")
        self.run("git", "-c", "user.name=test", "-c", "user.email=test", "commit", "--quiet", "-m", "test")

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
    repository.dvc("remote", "add", "--local", "--default", "storage", "../storage")
    repository.dvc("push", "reproduce")
    return repository


@pytest.mark.slow
def test_what_was_recorded_can_be_shown(recorded: Repository) -> None:
    assert "up to date" in recorded.dvc("status", "reproduce")
    metrics = recorded.shown("metrics", "show")[""]["data"]
    assert set(metrics) == {f"results/metrics/tiny/{selector}.json" for selector in SELECTORS}
    assert 0 < metrics["results/metrics/tiny/pause.json"]["data"]["final_accuracy"] < 1
    plots = recorded.shown("plots", "show")["data"]
    assert list(plots) == ["results/plots/tiny.csv"]
    plotted = plots["results/plots/tiny.csv"][0]["content"]
    plotted = json.loads(plotted) if isinstance(plotted, str) else plotted
    assert plotted["encoding"]["y"]["field"] == "accuracy"
    assert {row["selector"] for row in plotted["data"]["values"]} == SELECTORS


@pytest.mark.slow
def test_a_clone_is_restored_and_another_seed_trains_that_seed_alone(recorded: Repository) -> None:
    clone = Repository(recorded.root.parent / "clone")
    recorded.run("git", "clone", "--quiet", ".", str(clone.root))
    clone.link_interpreter()
    clone.dvc("remote", "add", "--local", "--default", "storage", "../storage")
    assert "Nothing to be done" in clone.run("make", "restore")
    assert clone.run("git", "status", "--short") == ""
    before = clone.summaries()
    assert set(before) == {f"{run}/seed-{seed}/summary.json" for run in SELECTORS for seed in (0, 1)}

    checkout = Checkout(clone.root)
    row = {"scenario": "tiny", "selectors": ["pause"], "seeds": [0, 1, 2]}
    checkout.write_config(experiments=[row])
    locked = (clone.root / "dvc.lock").read_bytes()
    output = clone.run("make", "record", ok=False)
    assert "Not recorded: the dry run above shows what is left to make" in output
    assert (clone.root / "dvc.lock").read_bytes() == locked

    clone.dvc("repro")
    after = clone.summaries()
    assert set(after) - set(before) == {"pause/seed-2/summary.json"}
    assert after.items() >= before.items()
    assert "up to date" in clone.dvc("status", "reproduce")
    assert "final_accuracy" in clone.dvc("metrics", "diff")
    (plot,) = clone.shown("plots", "diff", "HEAD")["data"]["results/plots/tiny.csv"]
    assert set(plot["revisions"]) == {"HEAD", "workspace"}


@pytest.mark.slow
def test_nothing_is_recorded_where_the_configuration_is_wrong(recorded: Repository, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "copy")
    shutil.copytree(recorded.root, repository.root, symlinks=True)
    locked = (repository.root / "dvc.lock").read_bytes()
    (repository.root / "config/config.yaml").write_text("experiments: 1\n", "utf-8")
    assert "Not recorded" in repository.run("make", "record", ok=False)
    assert (repository.root / "dvc.lock").read_bytes() == locked


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
    mnist = zip(SOURCES["mnist"].files, idx._MNIST_MD5, strict=True)
    assert tracked("MNIST") == folder_hash({file.removeprefix("MNIST/"): md5 for file, md5 in mnist})
    official = datasets.CIFAR10
    batches = dict([*official.train_list, *official.test_list])
    batches[official.meta["filename"]] = official.meta["md5"]
    assert tracked("cifar-10-batches-py") == folder_hash(batches)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["MNIST", "FashionMNIST"])
def test_the_data_of_published_runs_are_those_tracked(name: str, data_root: Path) -> None:
    files = {p.relative_to(data_root / name).as_posix(): p for p in data_root.glob(f"{name}/raw/*-ubyte")}
    assert tracked(name) == folder_hash(
        {path: hashlib.md5(file.read_bytes()).hexdigest() for path, file in files.items()}
    )


@pytest.mark.slow
def test_changed_raw_data_are_noticed(data_root: Path, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "raw")
    shutil.copytree(ROOT / ".dvc", repository.root / ".dvc", ignore=shutil.ignore_patterns("cache", "tmp"))
    raw = repository.root / "data/raw"
    raw.mkdir(parents=True)
    shutil.copy2(ROOT / ".dvcignore", repository.root)
    for file in (".gitignore", "MNIST.dvc"):
        shutil.copy2(ROOT / "data/raw" / file, raw)
    repository.run("git", "init", "--quiet")
    repository.link_interpreter()
    repository.commit()
    shutil.copytree(data_root / "MNIST", raw / "MNIST", copy_function=shutil.copyfile)
    for folder in (raw / "MNIST", raw / "MNIST/raw"):
        folder.chmod(0o755)
    assert "modified" not in repository.dvc("data", "status")
    repository.dvc("add", "data/raw/MNIST")
    assert repository.run("git", "status", "--short", "data") == ""
    assert "up to date" in repository.dvc("status")
    with (raw / "MNIST/raw/t10k-labels-idx1-ubyte").open("ab") as file:
        file.write(b"x")
    assert "modified:           data/raw/MNIST" in repository.dvc("status")
    repository.dvc("checkout", "--force", "data/raw/MNIST")
    assert "up to date" in repository.dvc("status")
