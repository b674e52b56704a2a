"""Selection in Flower, by a real simulation in an environment that has what its extra brings."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
from environments import copy_source
from workspace import ROOT


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of an environment with Flower, and nothing of the extras for training."""
    folder = tmp_path_factory.mktemp("flower")
    source = copy_source(folder / "source")
    subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
    pip = [folder / "env/bin/pip", "--quiet", "--disable-pip-version-check", "install"]
    done = subprocess.run(
        [*pip, f"{source}[flower]", "flwr[simulation]", "matplotlib"], capture_output=True, text=True
    )
    if done.returncode and re.search("connection broken by|No matching distribution", done.stderr):
        pytest.skip("no package index can be reached for Flower")
    assert done.returncode == 0, done.stderr
    return Path(folder / "env/bin/python")


@pytest.mark.slow
def test_nodes_are_chosen_and_one_that_fails_is_asked_less(python: Path, tmp_path: Path) -> None:
    example = [ROOT / "examples/flower_digits.py", "pause", "clustered_similarity", "power_of_choice"]
    sizes = ["--nodes", "6", "--rounds", "5"]
    done = subprocess.run([python, *example, *sizes], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    runs = {(run := json.loads(line))["selector"]: run for line in done.stdout.splitlines()}
    assert set(runs) == {"pause", "clustered_similarity", "power_of_choice"}
    for run in runs.values():
        assert run["rounds"] == 5
        assert run["accuracy"] > 0.8
        assert run["largest_epsilon"] == pytest.approx(40 * (math.exp(0.04) - 1) * math.exp(-0.04), abs=1e-3)
    assert 1 <= runs["pause"]["failed"] <= 3  # of five rounds, half of six nodes each
    assert runs["pause"]["mean_round_s"] < 60


@pytest.mark.slow
def test_derived_strategies_do_what_they_did_but_for_who_is_asked(python: Path) -> None:
    script = ROOT / "tests/helpers/flower_strategies.py"
    done = subprocess.run([python, script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    usual = found["FedAvg"]
    for base in ("FedProx", "FedAdam", "FedYogi", "FedAvgM", "QFedAvg", "FedMedian"):
        one = found[base]
        assert one["asked"] == usual["asked"]
        assert [config["epsilon"] for config in one["configs"]] == pytest.approx([1 - math.exp(-0.1)] * 3)
        assert all(config["server-round"] == 4 for config in one["configs"])
    assert all(config["proximal-mu"] == 0.5 for config in found["FedProx"]["configs"])
    assert usual["model"] == pytest.approx(sum(usual["asked"][-1]) / 3)
    assert 0 < found["FedAdam"]["model"] != usual["model"]
    # Nodes of which no reply has told the number of examples count as having the mean of the others.
    assert [found[name] for name in ("clustered_size", "random_by_size", "clustered_similarity")] == [20] * 3
    assert found["tiers"] == 1
    assert found["failed"] == [[4, 5], [4, 5]]
    why = {4: "its metric 'latency' is nan", 5: "an error, or nothing in time"}
    assert sorted(found["warned"]) == sorted(
        2 * [f"Node {node} counts as failed: {words}" for node, words in why.items()]
    )
    assert 0 < found["guesses"][0] < 17
    assert found["guesses"][1]  # a picker that is restored knows which sizes are guesses
    assert found["spent"] == [3, 3, 3, 3, 3, 3, 2, 0]
    assert found["answered"] == [3, 20]
    assert found["own"] == "OwnNodes chooses its nodes itself"
    assert found["parts"] == "InParts makes the messages of a round in several parts"
    assert found["cyclic"] == "FedXgbCyclic goes through the nodes in an order of its own"
    assert "must be flwr.serverapp.strategy.FedAvg, or a class derived from it" in found["object"]


@pytest.mark.slow
def test_the_notebook_shows_that_pause_has_shorter_rounds(python: Path, tmp_path: Path) -> None:
    cells = json.loads((ROOT / "examples/notebooks/flower_selection.ipynb").read_text("utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    (tmp_path / "notebook.py").write_text(code, encoding="utf-8")
    done = subprocess.run([python, "notebook.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"^(\w+): ([\d.]+) s a round, accuracy ([\d.]+) %$", done.stdout, re.MULTILINE)
    told = {name: (float(seconds), float(accuracy)) for name, seconds, accuracy in found}
    assert told["PAUSE"][0] < told["Random"][0]
    assert min(accuracy for _, accuracy in told.values()) > 75
