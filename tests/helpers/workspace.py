"""A checkout to run the workflow in, with a configuration small enough to train in seconds."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from filelock import FileLock
from scenarios import configuration, row

ROOT = Path(__file__).parents[2]

#: After so many seconds a command counts as stuck, also on a slow and busy machine.
PATIENCE_S = 1800

#: Rules that make something; the others are targets.
STEPS = ("download", "prepare", "partition", "plot_partition", "job", "collect", "publish", "tables")
STEPS += ("figures", "study", "plot_study", "verdict", "claims", "overview", "report", "metrics")

#: Studies that take seconds, of each kind; `tiny_absent` is of a scenario of which there are no runs.
TINY_STUDIES: dict[str, Any] = yaml.safe_load("""
regret:
  tiny_regret:
    {title: Tiny regret, scenario: demo_small, selectors: [pause, random], seeds: [0, 1], n_rounds: 200}
selection:
  tiny_selection: &selection
    title: Tiny selection
    scenario: demo_small
    selectors: [pause, fedavg, fedavg_no_privacy]
    seeds: [0, 1]
  tiny_absent: {<<: *selection, title: Tiny absent, scenario: cifar10_small_iid_r1, seeds: [0]}
comparison:
  tiny_race: &race
    title: Tiny race
    scenario: demo_small
    selectors: [alsa, sa_bsfl]
    n_instances: 12
    n_iterations: 50
    temperature_divisors: [1, 30]
  tiny_races:
    {<<: *race, title: Tiny races, n_users: [6, 12], n_selected: [2], sources: [drawn, games], n_instances: 4}
changes:
  tiny_knobs:
    title: Tiny knobs
    scenario: demo_small
    selectors: [pause, random]
    seeds: [0, 1]
    knobs: [{key: reward.alpha, values: [1, 100]}]
    variants: {no_p: {reward.gamma: 0}}
graphs:
  tiny_graph: {title: Tiny graph, n_users: 5, n_selected: 2, n_instances: 10}
runtime:
  tiny_cost:
    title: Tiny cost
    scenario: demo_small
    selectors: [pause, pause_brute, sa_pause]
    n_users: [10, 20, 40]
    selected_share: 0.1
    budget_s: 0.05
audit:
  tiny_audit:
    title: Tiny audit
    mechanisms: [coordinate, vector]
    sampler: simulated
    epsilons: [1, 4]
    dimensions: [2]
    n_trials: 1000
    confidence: 0.99
    seed: 0
generalization:
  tiny_fig1: {title: Tiny reward, n_users: 6, n_selected: 2, betas: [2], n_rounds: 9}
""")

#: On runs, or on a study of selection where there are none; on a study; on what did not run.
TINY_CLAIMS: list[dict[str, Any]] = yaml.safe_load("""
- id: T1
  sentence: PAUSE leaks no more than FedAvg.
  place: here
  tests:
    - &leakage
      kind: noninferiority
      metric: leakage_after_rounds
      gap: ratio
      direction: lower
      margin: 9
      reason: some
      selectors: [pause]
      against: [fedavg]
      scenarios: {demo: [tiny], paper: [cifar10_small_iid_r1]}
- id: T2
  sentence: PAUSE has little regret.
  place: there
  tests:
    - kind: regret
      law: logarithmic
      margin: 0.25
      reason: some
      selectors: [pause]
      studies: {demo: [tiny_regret]}
- id: T3
  sentence: Nobody has run this.
  place: elsewhere
  tests: [{<<: *leakage, scenarios: {paper: [mnist_large_iid_r1]}}]
""")


@dataclass(frozen=True)
class Checkout:
    """A copy of the repository, whose own library is the one that runs, by the Python of an environment."""

    root: Path
    python: str | Path = sys.executable

    def start(self, *arguments: str, before: Callable[[], object] | None = None) -> subprocess.Popen[str]:
        """Start Snakemake in the checkout, in a process group of its own, which calls ``before`` first."""
        environment = os.environ | {"PYTHONPATH": str(self.root / "src")}
        command = [self.python, "-m", "snakemake", *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command,
            cwd=self.root,
            env=environment,
            stdout=pipe,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=before,
        )

    def snakemake(self, *arguments: str, ok: bool = True, before: Callable[[], object] | None = None) -> str:
        """Run Snakemake and return what it printed; fail unless it succeeds or fails as expected."""
        process = self.start(*arguments, before=before)
        output, _ = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode == 0) == ok, output
        return output

    def planned(self, *arguments: str) -> dict[str, int]:
        """Number of jobs by rule in a dry run, without the targets that only collect."""
        return counted(self.snakemake("--quiet", "rules", "--dry-run", "--cores", "1", *arguments))

    def copy(self, folder: Path, *without: str) -> Checkout:
        """Copy the checkout, with all that was made in it but these folders."""
        shutil.copytree(self.root, folder)
        for name in without:
            shutil.rmtree(folder / name)
        return Checkout(folder)

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text in a file of the checkout."""
        file = self.root / path
        text = file.read_text("utf-8")
        assert old in text
        file.write_text(text.replace(old, new, 1), "utf-8")

    def write_scenario(self, **changes: Any) -> None:
        """Write the scenario ``tiny``; a change is a section with the keys to replace in it."""
        scenario = yaml.safe_load((self.root / "config/scenarios/demo_small.yaml").read_text("utf-8"))
        figures = {"tiny_accuracy": "accuracy_vs_time", "tiny_spending": "spending_vs_rounds"}
        scenario |= {"name": "tiny", "title": "Tiny", "figures": figures}
        scenario["network"] |= {"n_users": 4, "n_selected": 2}
        scenario["training"] |= {"n_rounds": 4}
        for section, values in changes.items():
            scenario[section] |= values
        (self.root / "config/scenarios/tiny.yaml").write_text(yaml.safe_dump(scenario), "utf-8")

    def write_config(self, **changes: Any) -> None:
        """Write ``config/config.yaml`` with ``tiny`` as its only scenario, and replace keys of it."""
        tiny = row("tiny", "pause", "fedavg", seeds=[0, 1])
        config = configuration(tiny, scenarios="config/scenarios") | changes
        (self.root / "config/config.yaml").write_text(yaml.safe_dump(config), "utf-8")

    def write_studies(self, studies: dict[str, Any]) -> None:
        """Write ``config/studies.yaml``: studies by kind and name."""
        (self.root / "config/studies.yaml").write_text(yaml.safe_dump(studies), "utf-8")

    def write_claims(self, claims: list[dict[str, Any]]) -> None:
        """Write ``config/claims.yaml``."""
        (self.root / "config/claims.yaml").write_text(yaml.safe_dump({"claims": claims}), "utf-8")


def copy_folders(names: Iterable[str], folder: Path) -> None:
    """Copy folders of the repository, with compiled kernels, but not what others are writing there."""
    ignored = shutil.ignore_patterns("*.egg-info", "*.pyc.*", "*.tmp.*")
    for name in names:
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)


def make_checkout(folder: Path) -> Checkout:
    """Copy what the workflow consists of."""
    copy_folders(("workflow", "profiles", "config", "src"), folder)
    shutil.copy2(ROOT / "Snakefile", folder)
    (folder / "docs").mkdir()
    shutil.copy2(ROOT / "docs/deviations.md", folder / "docs")
    return Checkout(folder)


def make_tiny_checkout(folder: Path) -> Checkout:
    """A checkout with the tiny configuration, in which nothing has run."""
    checkout = make_checkout(folder)
    checkout.write_scenario()
    checkout.write_config()
    return checkout


def shared(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Checkout:
    """A checkout that is made once for all tests, by whichever process needs it first; not to be changed."""
    folder = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    outcome = folder / f"{name}.outcome"
    with FileLock(folder / f"{name}.lock"):
        if not outcome.exists():
            outcome.write_text("could not be made, see the first test that needs it", "utf-8")
            make(folder / name)
            outcome.write_text("made", "utf-8")
    assert outcome.read_text("utf-8") == "made", f"the checkout {name!r} {outcome.read_text('utf-8')}"
    return Checkout(folder / name)


def make_finished(folder: Path) -> Checkout:
    """A checkout in which the tiny workflow ran to its end on two cores."""
    checkout = make_tiny_checkout(folder)
    checkout.snakemake("--cores", "2")
    return checkout


def counted(output: str) -> dict[str, int]:
    """Number of jobs by rule in what a dry run prints, without the targets that only collect.

    Figures of all scenarios are one: each has its rule.
    """
    if "Job stats" not in output:
        assert "Nothing to be done" in output, output
        return {}
    table = output.split("Job stats:", 1)[1].split("\ntotal ", 1)[0]
    found = Counter[str]()
    for rule, n in re.findall(r"^(figures(?=_)|\w+)\w* +(\d+)", table, re.M):
        found[rule] += int(n)
    return {rule: n for rule, n in found.items() if rule in STEPS}
