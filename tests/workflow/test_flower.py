"""Selection in Flower: the oldest and the newest version, a simulation, and a deployment with processes."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from environments import copy_source
from workspace import ROOT

#: What pyproject.toml says is the oldest; 1.20 lacks `flwr.app.Array`, and the strategies of messages.
OLDEST = "1.21.0"


def make_python(folder: Path, *packages: str) -> Path:
    """Python of an environment with some packages, and nothing of the extras for training."""
    source = copy_source(folder / "source")
    subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
    pip = [folder / "env/bin/pip", "--quiet", "--disable-pip-version-check", "install"]
    done = subprocess.run([*pip, f"{source}[flower]", *packages], capture_output=True, text=True)
    if done.returncode and re.search("connection broken by|No matching distribution", done.stderr):
        pytest.skip("no package index can be reached for Flower")
    assert done.returncode == 0, done.stderr
    return Path(folder / "env/bin/python")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python with the newest Flower."""
    return make_python(tmp_path_factory.mktemp("flower"), "flwr[simulation,dp]", "matplotlib")


@pytest.fixture(scope="module")
def oldest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python with the oldest Flower that works."""
    return make_python(tmp_path_factory.mktemp("oldest"), f"flwr[simulation]=={OLDEST}")


@pytest.fixture(scope="module", params=["python", "oldest"])
def strategies(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What strategies did on nodes that answer at once, by part, with the newest and the oldest Flower."""
    script = ROOT / "tests/helpers/flower_strategies.py"
    done = run([request.getfixturevalue(request.param), script])
    return {**json.loads(done), "newest": request.param == "python"}


def run(command: list[Any], **options: Any) -> str:
    """The standard output of a command that succeeds."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_oldest_version_is_that_of_the_extra() -> None:
    assert f'"flwr>={OLDEST.removesuffix(".0")}"' in (ROOT / "pyproject.toml").read_text("utf-8")


@pytest.mark.slow
def test_nodes_are_chosen_and_one_that_fails_is_asked_less(python: Path, tmp_path: Path) -> None:
    example = [ROOT / "examples/flower_digits.py", "pause", "clustered_similarity", "power_of_choice"]
    sizes = ["--nodes", "6", "--rounds", "5"]
    runs = {
        (told := json.loads(line))["selector"]: told for line in digits(python, tmp_path, example + sizes)
    }
    assert set(runs) == {"pause", "clustered_similarity", "power_of_choice"}
    for told in runs.values():
        assert told["rounds"] == 5
        assert told["accuracy"] > 0.8
        assert told["largest_epsilon"] == pytest.approx(40 * (math.exp(0.04) - 1) * math.exp(-0.04), abs=1e-3)
    assert 1 <= runs["pause"]["failed"] <= 3  # of five rounds, half of six nodes each
    assert runs["pause"]["mean_round_s"] < 60


@pytest.mark.slow
def test_a_simulation_with_the_oldest_version(oldest: Path, tmp_path: Path) -> None:
    example = [ROOT / "examples/flower_digits.py", "pause", "--nodes", "6", "--rounds", "5"]
    (line,) = digits(oldest, tmp_path, example)
    assert json.loads(line)["accuracy"] > 0.8


def digits(python: Path, folder: Path, command: list[Any]) -> list[str]:
    """Lines of JSON of the example on digits."""
    return [line for line in run([python, *command], cwd=folder).splitlines() if line.startswith("{")]


@pytest.mark.slow
def test_derived_strategies_do_what_they_did_but_for_who_is_asked(strategies: dict[str, Any]) -> None:
    by_base = strategies["bases"]
    usual = by_base["FedAvg"]
    assert {"FedAdam", "FedAdagrad", "FedYogi"} <= by_base.keys()
    if strategies["newest"]:
        others = {"FedProx", "FedAvgM", "FedMedian", "QFedAvg", "FedTrimmedAvg"}
        assert others | {"Krum", "MultiKrum", "Bulyan"} <= by_base.keys()
        assert by_base["FedMedian"]["model"] == sorted(usual["asked"][-1])[1]
        assert all(config["proximal-mu"] == 0.5 for config in by_base["FedProx"]["configs"])
    for base, one in by_base.items():
        assert one["class"] == [f"Picker{base}", True]
        assert [sorted(nodes) for nodes in one["asked"]] == [sorted(nodes) for nodes in usual["asked"]]
        assert [config["epsilon"] for config in one["configs"]] == pytest.approx([1 - math.exp(-0.1)] * 3)
        assert all(config["server-round"] == 4 for config in one["configs"])
    assert usual["model"] == pytest.approx(sum(usual["asked"][-1]) / 3)
    assert 0 < by_base["FedAdam"]["model"] != usual["model"]


@pytest.mark.slow
def test_selectors_learn_sizes_losses_and_updates_and_end_with_the_budgets(
    strategies: dict[str, Any],
) -> None:
    # Nodes of which no reply has told the number of examples count as having the mean of the others.
    found = strategies["selectors"]
    assert [found[name] for name in ("clustered_size", "random_by_size", "clustered_similarity")] == [20] * 3
    assert found["tiers"] == 1
    assert found["spent"] == [3, 3, 3, 3, 3, 3, 2]


@pytest.mark.slow
def test_who_failed_is_named_and_who_got_nothing_is_not_charged(strategies: dict[str, Any]) -> None:
    results = strategies["failures"]
    assert results["failed"] == [[4, 5], [4, 5]]
    why = {4: "its metric 'latency' is nan", 5: "an error, or nothing in time"}
    assert sorted(results["warned"]) == sorted(
        2 * [f"Node {node} counts as failed: {words}" for node, words in why.items()]
    )
    asked, participations, failed = results["unsent"]
    assert [sorted(nodes) for nodes in asked] == [[1, 2, 3, 4], [1, 2, 3, 4]]
    assert participations == [2, 2, 0, 2]
    assert failed == [[], []]
    assert results["silent"] == [True, True]


@pytest.mark.slow
def test_a_server_that_restarts_goes_on_from_its_file(strategies: dict[str, Any]) -> None:
    found = strategies["sizes"]
    assert 0 < found["guesses"][0] < 17
    assert found["guesses"][1]  # which sizes are guesses is in the file
    assert found["charged"] == [0] * 17 + [1] * 3  # the server was killed while it sent
    assert re.match(r"save_to: .*own\.json cannot be read: ", found["broken"])
    assert re.match(
        r"save_to: .*picker\.json: the saved state is of a picker with selector = random", found["other"]
    )
    assert found["slower"] == [7, 4, 20]
    assert found["folder"]


@pytest.mark.slow
def test_a_round_with_over_selection_ends_at_m_answers_and_late_ones_are_learned(
    strategies: dict[str, Any],
) -> None:
    found = strategies["over"]
    assert found["model"] == pytest.approx(2)  # of nodes 1, 2 and 3
    assert found["latency"] == pytest.approx([0.01, 0.02, 0.03, 5])
    assert found["corrected"] == pytest.approx([0.01, 0.02, 0.03, 0.04])
    latency, participations = found["asked again"]
    assert participations == [5] * 4
    assert latency == pytest.approx([0.01, 0.02, 0.03, (3 * 0.04 + 2 * 5) / 5])  # two are not answered yet


@pytest.mark.slow
def test_wrappers_for_differential_privacy_work_with_and_without_accountant(
    strategies: dict[str, Any],
) -> None:
    found = strategies["accountants"]
    for side in ("ServerSide", "ClientSide"):
        assert found[f"{side} fixed"] == [[3] * 5, True]
        assert found.get(f"{side} adaptive", [3] * 5) == [3] * 5
    assert found["dropped"] == [[4, 5], [4, 5]]  # whoever answered in a dropped round did not fail
    if strategies["newest"]:
        assert "ClientSide adaptive" in found
        assert found["accountant FedAvg"] == found["accountant FedProx"] == 5  # releases
        assert "requires a strategy using FedAvg.aggregate_train" in found["accountant FedAdam"]


@pytest.mark.slow
def test_a_node_that_restarts_has_its_old_budget_by_its_name(strategies: dict[str, Any]) -> None:
    named, numbered = strategies["names"]["by name"], strategies["names"]["by None"]
    assert named["participations"] == {"ann": 4, "bob": 4, "eve": 4}  # of a budget for 4
    assert named["asked"] == [[2, 3, 4], [2, 3, 4]]  # not node 1, the one that was killed and is still listed
    assert any(
        "Nodes 1 and 4 are both called 'ann': only the latter is asked." in one for one in named["warned"]
    )
    assert any(
        "Node 5 is not asked: its answer to a query has no text 'name'" in one for one in named["warned"]
    )
    assert numbered["participations"] == {"1": 3, "2": 4, "3": 4, "4": 3, "5": 3}
    joined = [one for one in numbered["warned"] if "joins in round 3 with a whole privacy budget" in one]
    assert [one.split()[1] for one in joined] == ["4", "5"]
    assert not any("whole privacy budget" in one for one in named["warned"])


@pytest.mark.slow
def test_what_a_picker_cannot_choose_for_is_refused_and_nobody_is_charged(strategies: dict[str, Any]) -> None:
    found = strategies["refused"]
    for name in ("own", "parts", "cyclic"):
        assert "does not send one message to each of the nodes that it is shown" in found[name]
    assert "must be flwr.serverapp.strategy.FedAvg, or a class derived from it" in found["object"]
    assert found["picker"] == "picker = 'pause' must be a pausefl.Picker"
    assert "selector 'pow_d' asks clients for losses before each round" in found["losses"]
    assert "as in wrapper.start(strategy.watch(grid), ...)" in found["grid"]
    assert found["charged"] == 0


@pytest.mark.slow
def test_mods_for_differential_privacy_at_clients(python: Path, tmp_path: Path) -> None:
    printed = run([python, ROOT / "tests/helpers/flower_mods.py"], cwd=tmp_path)
    found = json.loads(printed.splitlines()[-1])
    assert found.keys() == {"local", "fixed", "adaptive"}
    for one in found.values():
        assert one["answered"] == [2, 2]
        assert 0 < one["largest"] < 2.5  # without a bound of 1 on each update it would be 6


@pytest.mark.slow
def test_the_app_runs_in_flwr_run(python: Path, tmp_path: Path) -> None:
    printed = run([python, ROOT / "tests/helpers/flower_deployment.py", "3", "simulation"], cwd=tmp_path)
    check_rounds(printed, 3)
    assert len(re.findall(r"^SPENT \d: ", printed, re.MULTILINE)) == 4


@pytest.mark.slow
def test_a_node_that_is_killed_and_started_again_keeps_its_budget(python: Path, tmp_path: Path) -> None:
    printed = run([python, ROOT / "tests/helpers/flower_deployment.py", "10"], cwd=tmp_path)
    rounds = check_rounds(printed, 10)
    times = {name: int(n) for name, n in re.findall(r"^SPENT (\w+): (\d+) part", printed, re.MULTILINE)}
    assert times == {name: sum(name in asked for asked in rounds) for name in ("ann", "bob", "eve")}
    epsilon = dict(re.findall(r"^SPENT (\w+): .* epsilon ([\d.]+)$", printed, re.MULTILINE))
    for name, n in times.items():
        assert float(epsilon[name]) == pytest.approx(40 * (1 - math.exp(-0.04 * n)), abs=0.01)
    assert any(asked.get("ann") is not None for asked in rounds[5:])  # it is asked again, and answers
    saved = json.loads((tmp_path / "picker.json").read_text("utf-8"))
    assert set(saved["ids"]) == set(times)


def check_rounds(printed: str, n_rounds: int) -> list[dict[str, float | None]]:
    """Seconds by client of each round that the app printed."""
    lines = re.findall(r"^ROUND \d+ (\{.*\})$", printed, re.MULTILINE)
    rounds = [json.loads(line.replace("'", '"').replace("None", "null")) for line in lines]
    assert [len(asked) for asked in rounds] == [2] * n_rounds, printed
    return rounds


@pytest.mark.slow
def test_the_notebook_shows_that_pause_has_shorter_rounds(python: Path, tmp_path: Path) -> None:
    cells = json.loads((ROOT / "examples/notebooks/flower_selection.ipynb").read_text("utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    (tmp_path / "notebook.py").write_text(code, encoding="utf-8")
    printed = run([python, "notebook.py"], cwd=tmp_path)
    found = re.findall(r"^(\w+): ([\d.]+) s a round, accuracy ([\d.]+) %$", printed, re.MULTILINE)
    told = {name: (float(seconds), float(accuracy)) for name, seconds, accuracy in found}
    assert told["PAUSE"][0] < told["Random"][0]
    assert min(accuracy for _, accuracy in told.values()) > 75
