"""The workflow on real MNIST, at the paper's number of users."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml
from workspace import Checkout, make_checkout

pytestmark = pytest.mark.slow

SCENARIO = "mnist_large_iid_r1"


def test_mnist_is_learned_within_the_memory_promised(data_root: Path, tmp_path: Path) -> None:
    checkout: Checkout = make_checkout(tmp_path)
    path = checkout.root / f"config/scenarios/{SCENARIO}.yaml"
    scenario = yaml.safe_load(path.read_text("utf-8"))
    scenario["training"]["n_rounds"] = 25
    path.write_text(yaml.safe_dump(scenario), "utf-8")
    row = {"scenario": SCENARIO, "selectors": ["pause", "fedavg_no_privacy"], "seeds": [0]}
    checkout.write_config(data_root=str(data_root), experiments=[row])

    checkout.snakemake("--cores", "2", SCENARIO)

    runs = {name: checkout.root / f"results/runs/{SCENARIO}/{name}/seed-0" for name in row["selectors"]}
    learned = pd.read_parquet(runs["fedavg_no_privacy"] / "rounds.parquet")["accuracy"]
    assert learned.iloc[-1] > 0.7
    participations = pd.read_parquet(runs["pause"] / "ledger.parquet")["participations"]
    assert (participations >= 1).all()  # 300 users, 15 a round: everyone has had a turn after 20 rounds
    for run in runs.values():
        summary = json.loads((run / "summary.json").read_text("utf-8"))
        assert summary["dataset_origin"] == "MNIST, official files"
        assert summary["peak_memory_bytes"] < 2e9
