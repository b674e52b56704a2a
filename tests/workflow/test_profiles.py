"""The profile for Slurm, as far as it can be tried without Slurm."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from snakemake.profiles import ProfileConfigFileParser
from workspace import ROOT, Checkout, make_checkout

PROFILE = Path("profiles/slurm/profile.v9+.yaml")
#: Rules that are not for arrays: they train, or make one file of a scenario's name, of a study or of all.
ALONE = r"job|prepare_data|download_\w+|(compute|plot)_(?!regret|figures|partition)\w+|plot_regret"
ALONE += r"|study_verdict|check_claims|write_\w+|plot_overview|publish|republish"


def read(folder: Path) -> dict[str, Any]:
    """The profile in a folder, as Snakemake reads it there."""
    with (folder / PROFILE).open(encoding="utf-8") as file, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return dict(ProfileConfigFileParser().parse(file))


def test_arrays_are_of_all_rules_but_those_that_train_or_are_few(tmp_path: Path) -> None:
    """Of each shipped configuration that runs anything."""
    arrays = read(ROOT)["slurm-array-jobs"].split(", ")
    checkout = make_checkout(tmp_path / "checkout")
    there = set[str]()
    for name in ("config", "demo"):
        configured = ("--configfile", f"config/{name}.yaml", "--")
        rules, targets = (
            checkout.listed(option, *configured[:2]) for option in ("--list-rules", "--list-target-rules")
        )
        there |= rules.keys() - targets.keys()
    assert sorted(arrays) == sorted(name for name in there if not re.fullmatch(ALONE, name))


def test_a_site_adds_what_it_needs_in_a_file_that_git_ignores(checkout: Checkout) -> None:
    before, file = read(checkout.root), PROFILE.with_name("site.yaml")
    (checkout.root / file).write_text(
        "default-resources: {slurm_partition: cpu, runtime: 20}\n"
        "set-resources: {job: {slurm_account: lab}}\n",
        "utf-8",
    )
    site = read(checkout.root)
    others = before["default-resources"][2:]
    expected = ["mem_mb=2000 * attempt", "runtime=20", *others, "slurm_partition=cpu"]
    assert site["default-resources"] == expected
    assert site["set-resources"] == ["job:slurm_account=lab"]
    changed = {"default-resources", "set-resources"}
    assert {key: site[key] for key in site.keys() - changed} == {
        key: before[key] for key in before.keys() - changed
    }
    run = "results/runs/tiny/pause/seed-0/summary.json"
    output = checkout.snakemake("--profile", "profiles/slurm", "--dry-run", "--printshellcmds", "--", run)
    assert output.count("slurm_partition=cpu") >= 2  # prepare, partition, train
    ignored = subprocess.run(["git", "check-ignore", "--quiet", file], cwd=ROOT, check=False)
    assert ignored.returncode == 0


def test_a_cnn_asks_for_a_gpu_where_there_are_some(checkout: Checkout) -> None:
    dense = checkout.root / "config/scenarios/tiny.yaml"
    text = dense.read_text("utf-8").replace("name: fc", "name: cnn_bsfl").replace("name: tiny", "name: cnn")
    dense.with_name("cnn.yaml").write_text(text.replace("tiny_", "cnn_"), "utf-8")
    row = {"selectors": ["pause"], "seeds": [0]}
    checkout.write_config(experiments=[row | {"scenario": "tiny"}, row | {"scenario": "cnn"}])
    slurm = ("--profile", "profiles/slurm", "--dry-run", "--printshellcmds")
    runs = [f"results/runs/{name}/pause/seed-0/summary.json" for name in ("tiny", "cnn")]

    def gpus(*arguments: str) -> dict[str, str]:
        jobs = checkout.snakemake(*slurm, *arguments, "--", *runs).split("rule job:")[1:]
        found = (re.search(r"scenario=(\w+).*resources:[^\n]*\bgpu=(\d)", job, re.DOTALL) for job in jobs)
        return {match[1]: match[2] for match in found if match}

    assert gpus("--resources", "gpu=4") == {"tiny": "0", "cnn": "1"}
    assert gpus() == {"tiny": "0", "cnn": "0"}
