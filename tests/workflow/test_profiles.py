"""The profile for Slurm, as far as it can be tried without Slurm."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from snakemake.profiles import ProfileConfigFileParser
from workspace import ROOT, TINY_STUDIES, Checkout

PROFILE = Path("profiles/slurm/profile.v9+.yaml")


def read(folder: Path) -> dict[str, Any]:
    """The profile in a folder, as Snakemake reads it there."""
    with (folder / PROFILE).open(encoding="utf-8") as file, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return dict(ProfileConfigFileParser().parse(file))


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


def test_a_study_in_several_processes_has_all_cores_or_those_of_the_profile(checkout: Checkout) -> None:
    checkout.write_studies({"regret": TINY_STUDIES["regret"]})
    checkout.write_config(studies="config/studies.yaml")
    dry_run = ("--dry-run", "--printshellcmds", "--")
    for options, n in ((("--cores", "5"), 5), (("--profile", "profiles/slurm", "--cores", "16"), 8)):
        assert f"threads: {n}\n" in checkout.snakemake(*options, *dry_run, "results/studies/tiny_regret")


def test_each_job_asks_for_its_time_and_memory_and_a_gpu_on_request(checkout: Checkout) -> None:
    dense = checkout.root / "config/scenarios/tiny.yaml"
    text = dense.read_text("utf-8").replace("name: fc", "name: cnn_bsfl").replace("name: tiny", "name: cnn")
    dense.with_name("cnn.yaml").write_text(text.replace("tiny_", "cnn_"), "utf-8")
    row = {"selectors": ["pause"], "seeds": [0]}
    checkout.write_config(experiments=[row | {"scenario": "tiny"}, row | {"scenario": "cnn"}])
    slurm = ("--profile", "profiles/slurm", "--dry-run", "--printshellcmds")
    runs = [f"results/runs/{name}/pause/seed-0/summary.json" for name in ("tiny", "cnn")]

    def asked(*arguments: str) -> dict[str, dict[str, str]]:
        jobs = checkout.snakemake(*slurm, *arguments, "--", *runs).split("rule job:")[1:]
        found = (re.search(r"scenario=(\w+).*?resources: ([^\n]*)", job, re.DOTALL) for job in jobs)
        return {match[1]: dict(re.findall(r"(\w+)=(\w+)", match[2])) for match in found if match}

    usual = asked()
    assert {name: (one["mem_mb"], one["runtime"]) for name, one in usual.items()} == {
        "tiny": ("1500", "5"),
        "cnn": ("4000", "720"),  # of which there are no rates
    }
    gpus = asked("--set-resources", "job:gpu=1", "--resources", "gpu=4")
    assert [one.get("gpu") for one in (*usual.values(), *gpus.values())] == [None, None, "1", "1"]
