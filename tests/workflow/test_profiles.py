"""The profile for Slurm, as far as it can be tried without Slurm."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from workspace import ROOT, Checkout, make_checkout

PROFILE = yaml.safe_load((ROOT / "profiles/slurm/profile.v9+.yaml").read_text("utf-8"))


def test_arrays_are_of_rules_that_there_are(tmp_path: Path) -> None:
    arrays = set(PROFILE["slurm-array-jobs"].replace(" ", "").split(","))
    assert arrays <= set(make_checkout(tmp_path).listed("--list-rules"))
    assert "job" not in arrays


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
