"""The profile for Slurm, as far as it can be tried without Slurm."""

from __future__ import annotations

import re

import pytest
import yaml
from workspace import ROOT, Checkout

PROFILE = yaml.safe_load((ROOT / "profiles/slurm/profile.v9+.yaml").read_text("utf-8"))
SLURM = ("--profile", "profiles/slurm", "--dry-run", "--printshellcmds")


def test_arrays_are_of_rules_that_there_are(checkout: Checkout) -> None:
    arrays = set(PROFILE["slurm-array-jobs"].replace(" ", "").split(","))
    assert arrays <= set(checkout.snakemake("--list-rules").split())
    assert "job" not in arrays


@pytest.mark.parametrize(
    ("model", "arguments", "gpus"),
    [
        ("cnn_bsfl", (), 0),
        ("cnn_bsfl", ("--resources", "gpu=4", "--"), 1),
        ("fc", ("--resources", "gpu=4", "--"), 0),
    ],
)
def test_a_cnn_asks_for_a_gpu_where_there_are_some(
    checkout: Checkout, model: str, arguments: tuple[str, ...], gpus: int
) -> None:
    checkout.edit("config/scenarios/tiny.yaml", "name: fc", f"name: {model}")
    output = checkout.snakemake(*SLURM, *arguments, "results/runs/tiny/pause/seed-0/summary.json")
    job = output.split("rule job:", 1)[1]
    assert re.findall(r"gpu=(\d)", job.split("resources: ", 1)[1].splitlines()[0]) == [str(gpus)]
