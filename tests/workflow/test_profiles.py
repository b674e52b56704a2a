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
    ignored = subprocess.run(["git", "check-ignore", "--quiet", file], cwd=ROOT, check=False)
    assert ignored.returncode == 0


def test_each_job_asks_for_its_time_memory_and_cores_and_a_gpu_on_request(checkout: Checkout) -> None:
    dense = checkout.root / "config/scenarios/tiny.yaml"
    text = dense.read_text("utf-8").replace("name: fc", "name: cnn_bsfl").replace("name: tiny", "name: cnn")
    dense.with_name("cnn.yaml").write_text(text.replace("tiny_", "cnn_"), "utf-8")
    row = {"selectors": ["pause"], "seeds": [0]}
    rows = [row | {"scenario": "tiny"}, row | {"scenario": "cnn"}]
    checkout.write_config(experiments=rows, studies="config/studies.yaml")
    checkout.write_studies({"runtime": TINY_STUDIES["runtime"]})
    runs = [f"results/runs/{name}/pause/seed-0/summary.json" for name in ("tiny", "cnn")]
    slurm = ("--profile", "profiles/slurm", "--cores", "16", "--dry-run", "--printshellcmds")
    gpu = ("--set-resources", "job:gpu=1", "--resources", "gpu=4")
    output = checkout.snakemake(*slurm, *gpu, "--", *runs, "results/studies/tiny_cost")
    jobs = output.split("rule job:")[1:]
    found = (re.search(r"scenario=(\w+).*?resources: ([^\n]*)", job, re.DOTALL) for job in jobs)
    asked = {match[1]: dict(re.findall(r"(\w+)=(\w+)", match[2])) for match in found if match}
    assert {name: (one["mem_mb"], one["runtime"], one["gpu"]) for name, one in asked.items()} == {
        "tiny": ("1500", "5", "1"),
        "cnn": ("4000", "720", "1"),  # of which there are no rates
    }
    assert "threads: 8\n" in output  # a study that measures times
