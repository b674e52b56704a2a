"""Parts of a user's own in the workflow, in a folder that is no checkout."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from workspace import ROOT, Checkout

MODULE = """
import math

import numpy as np
from pausefl import Model, Selector
from torch import nn


class LeastUsed(Selector):
    label = "My own"

    def __call__(self, history, rng):
        users = rng.permutation(history.candidates())
        order = np.argsort(history.participations[users], kind="stable")
        return np.sort(users[order[: history.n_selected]])


class Tiny(Model):
    @staticmethod
    def build(input_shape, n_outputs, norm):
        return nn.Sequential(nn.Flatten(), nn.Linear(math.prod(input_shape), n_outputs))


def unused():
    return 1
"""
SCENARIO = {
    "name": "few",
    "title": "Few",
    "base": "demo_small",
    "network": {"n_users": 4, "n_selected": 2},
    "training": {"n_rounds": 4},
    "selectors": ["random", "my_module:LeastUsed"],
    "figures": {"few_accuracy": "accuracy_vs_time"},
}
#: The same, with a model of one's own.
TINY = SCENARIO | {
    "name": "tiny",
    "model": {"name": "my_module:Tiny"},
    "figures": {},
    "selectors": ["random"],
}
CONFIG = {
    "data_root": "data/raw",
    "download": False,
    "image_folders": {},
    "scenarios": "scenarios",
    "studies": None,
    "experiments": [{"scenario": "few", "seeds": [0]}, {"scenario": "tiny", "seeds": [0]}],
}


@pytest.mark.slow
def test_a_folder_elsewhere_ends_in_a_figure_and_an_edit_reruns_exactly_its_jobs(tmp_path: Path) -> None:
    (tmp_path / "src").symlink_to(ROOT / "src")  # what is tested, not what is installed
    (tmp_path / "my_module.py").write_text(MODULE, "utf-8")
    (tmp_path / "scenarios").mkdir()
    for one in (SCENARIO, TINY):
        (tmp_path / f"scenarios/{one['name']}.yaml").write_text(yaml.safe_dump(one), "utf-8")
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(CONFIG), "utf-8")
    folder = Checkout(tmp_path)
    asked = ["--snakefile", str(ROOT / "Snakefile"), "--configfile", "own.yaml"]
    targets = ["--", "few_accuracy", "results/tables/few", "results/tables/tiny"]
    folder.snakemake("--cores", "2", *asked, *targets)
    assert "My own" in (tmp_path / "results/figures/few_accuracy.json").read_text("utf-8")
    assert "My own" in (tmp_path / "results/tables/few/summary.md").read_text("utf-8")
    runs = sorted(path.parts[-2:] for path in (tmp_path / "results/runs").glob("*/*"))
    assert runs == [("few", "my_module.LeastUsed"), ("few", "random"), ("tiny", "random")]
    folder.edit("my_module.py", "return 1", "# A comment.\n    return 1")
    assert folder.planned(*asked, *targets) == {}
    folder.edit("my_module.py", "return 1", "return 2")
    output = folder.snakemake("--cores", "1", "--dry-run", "--printshellcmds", *asked, *targets)
    trained = re.findall(r"^rule job:.*?wildcards: scenario=(\w+), selector=([\w.]+)", output, re.M | re.S)
    assert sorted(trained) == [("few", "my_module.LeastUsed"), ("tiny", "random")]
