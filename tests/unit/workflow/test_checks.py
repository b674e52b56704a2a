"""What is wrong with a configuration is found before anything runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pausefl.errors import ConfigError, DataError
from pausefl.workflow.checks import check, check_data, check_interpreter, rules
from pausefl.workflow.project import Project

ROOT = Path(__file__).parents[3]

Load = Callable[..., Project]


@pytest.fixture
def mine(load: Load, tmp_path: Path) -> Callable[..., Project]:
    """A configuration with scenarios of one's own: keys over ``demo_small``, by name; and studies."""

    def table(studies: dict[str, Any] | None = None, **scenarios: dict[str, Any]) -> Project:
        folder = tmp_path / "mine"
        folder.mkdir(exist_ok=True)
        for name, keys in scenarios.items():
            own = {"name": name, "title": "Mine", "base": "demo_small", "figures": {}}
            (folder / f"{name}.yaml").write_text(yaml.safe_dump(own | keys), "utf-8")
        file = None
        if studies is not None:
            file = tmp_path / "studies.yaml"
            file.write_text(yaml.safe_dump(studies), "utf-8")
        rows = [{"scenario": name, "seeds": [0], "selectors": ["pause"]} for name in scenarios]
        studies_file = None if file is None else str(file)
        return load("demo", scenarios=str(folder), studies=studies_file, experiments=rows)

    return table


def study(**keys: Any) -> dict[str, Any]:
    """A study of one selector without training."""
    whole = {"title": "Mine", "scenario": "demo_small", "selectors": ["pause"], "seeds": [0], "n_rounds": 5}
    return whole | keys


@pytest.mark.parametrize("name", ["config", "demo", "published"])
def test_the_shipped_configurations_pass(load: Load, name: str) -> None:
    check(load(name))


def test_scenarios_and_studies_of_ones_own_pass(mine: Load) -> None:
    check(mine(few={"network": {"n_users": 8}}, studies={"regret": {"my_regret": study()}}))


@pytest.mark.parametrize("name", ["all", "default", "job", "figures", "claims", "overview", "unknown"])
def test_a_figure_called_like_a_rule_is_refused(mine: Load, name: str) -> None:
    table = mine(few={"figures": {name: "accuracy_vs_time"}})
    message = f"a figure of scenario 'few' is called '{name}', like a rule of the workflow: rename one"
    with pytest.raises(ConfigError, match=message):
        check(table)


@pytest.mark.parametrize(
    ("few", "many", "studied", "message"),
    [
        (["same"], ["same"], "x", "is called 'same', like a figure of scenario 'few'"),
        (["many"], [], "x", "is called 'many', like a scenario"),
        ([], [], "few", "a study is called 'few', like a scenario"),
        (["same"], [], "same", "is called 'same', like a study"),
        (["my_fig1_a", "my_fig1_b"], ["my_fig1"], "x", "the whole of my_fig1_a and my_fig1_b is called"),
        (["demo_small_accuracy"], [], "x", "like a figure of scenario 'demo_small'"),
        # A figure that its own scenario gives no name.
        (["many_loss_vs_time"], [], "x", "is called 'many_loss_vs_time', like"),
        ([], [], "few_loss_vs_time", "is called 'few_loss_vs_time', like"),
    ],
)
def test_two_things_of_one_name_are_refused(
    mine: Load, few: list[str], many: list[str], studied: str, message: str
) -> None:
    figures = ({"figures": dict.fromkeys(names, "accuracy_vs_time")} for names in (few, many))
    studies = {"regret": {studied: study()}}
    with pytest.raises(ConfigError, match=message):
        check(mine(studies, **dict(zip(("few", "many"), figures, strict=True))))


@pytest.mark.parametrize("jobs", [("few", "other"), ("same", "same"), ("one", "two")])
def test_the_jobs_of_a_comparison_have_a_scenario_of_their_own(mine: Load, jobs: tuple[str, str]) -> None:
    settings = study(scenario="mnist_large_iid_r1", selectors=["pause"]) | {"time_s": 1.0}
    settings.pop("n_rounds", None)
    studies = {"benchmark": {f"mine_{i}": settings | {"jobs": name} for i, name in enumerate(jobs)}}
    if jobs == ("one", "two"):
        check(mine(few={}, studies=studies))
    else:
        with pytest.raises(ConfigError, match=f"study 'mine_.' is called '{jobs[0]}'"):
            check(mine(few={}, studies=studies))


def test_a_study_whose_selector_cannot_run_is_refused(mine: Load) -> None:
    many = study(scenario="mnist_large_iid_r1", selectors=["pause_brute"])
    with pytest.raises(ConfigError, match="'pause_brute' would enumerate"):
        check(mine(few={}, studies={"regret": {"mine": many}}))


@pytest.mark.parametrize("executable", ["/home/me/my code/.venv/bin/python", "/home/me/a&b/python"])
def test_a_path_that_a_shell_would_take_apart_is_refused(executable: str) -> None:
    with pytest.raises(ConfigError, match="Move the checkout to a path without"):
        check_interpreter(executable)
    check_interpreter("/home/josé/my-code_1.0/.venv/bin/python3.12")


def test_data_that_are_missing_are_named(load: Load, tmp_path: Path) -> None:
    rows = [{"scenario": "mnist_large_iid_r1", "seeds": [0], "selectors": ["pause"]}]
    table = load("demo", data_root=str(tmp_path), experiments=rows)
    check(table)
    with pytest.raises(DataError, match="train-images-idx3-ubyte"):
        check_data(table)
    assert check_data(load("demo")) == []


def test_published_runs_that_are_missing_are_named(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert check_data(load("published")) == []
    monkeypatch.chdir(tmp_path)
    rows = [{"scenario": "mnist_large_iid_r1", "seeds": [0, 1], "selectors": ["pause"]}]
    table = load("published", scenarios=str(ROOT / "config/scenarios"), experiments=rows)
    message = "results/published/mnist_large_iid_r1 has no run of pause, seed 0; pause, seed 1"
    with pytest.raises(ConfigError, match=message):
        check(table)


def test_all_rules_are_known() -> None:
    files = [ROOT / "Snakefile", ROOT / "workflow/Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]
    n_rules = sum(len(re.findall(r"^rule ", file.read_text("utf-8"), re.MULTILINE)) for file in files)
    assert len(rules(ROOT)) == n_rules > 20
