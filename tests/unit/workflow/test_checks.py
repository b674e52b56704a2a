"""What is wrong with a configuration is found before anything runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pausefl.errors import ConfigError, DataError, PauseflError
from pausefl.project import Project
from pausefl.registry import SOURCES
from pausefl.workflow.checks import check, check_data, check_interpreter, rules

ROOT = Path(__file__).parents[3]

Load = Callable[..., Project]
SAME = {"figures": {"same": "accuracy_vs_time"}}


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
    return {
        "title": "Mine",
        "scenario": "demo_small",
        "selectors": ["pause"],
        "seeds": [0],
        "n_rounds": 5,
    } | keys


@pytest.mark.parametrize("name", ["config", "demo", "published"])
def test_the_shipped_configurations_pass(load: Load, name: str) -> None:
    check(load(name))


def test_scenarios_and_studies_of_ones_own_pass(mine: Load) -> None:
    check(mine(few={"network": {"n_users": 8}}, studies={"regret": {"my_regret": study()}}))


@pytest.mark.parametrize(
    "name", ["all", "job", "table_privacy", "plot_figures", "plot_regret", "download_mnist", "claims"]
)
def test_a_figure_called_like_a_rule_is_refused(mine: Load, name: str) -> None:
    table = mine(few={"figures": {name: "accuracy_vs_time"}})
    message = f"a figure of scenario 'few' is called '{name}', like a rule of the workflow: rename one"
    with pytest.raises(ConfigError, match=message):
        check(table)


@pytest.mark.parametrize(
    ("few", "many", "studies", "message"),
    [
        (
            SAME,
            {"figures": {"same": "loss_vs_time"}},
            {},
            "like a figure of",
        ),
        ({"figures": {"many": "accuracy_vs_time"}}, {}, {}, "is called 'many', like a scenario"),
        ({}, {}, {"regret": {"few": study()}}, "a study is called 'few', like a scenario"),
        (
            SAME,
            {},
            {"regret": {"same": study()}},
            "a study is called 'same'",
        ),
        (
            {"figures": {"my_fig1_a": "accuracy_vs_time", "my_fig1_b": "loss_vs_time"}},
            {"figures": {"my_fig1": "loss_vs_time"}},
            {},
            "the whole of my_fig1_a and my_fig1_b is called 'my_fig1'",
        ),
        (
            {"figures": {"demo_small_accuracy": "loss_vs_time"}},
            {},
            {},
            "like a figure of scenario 'demo_small'",
        ),
    ],
)
def test_two_things_of_one_name_are_refused(
    mine: Load, few: dict[str, Any], many: dict[str, Any], studies: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        check(mine(few=few, many=many, studies=studies))


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


def test_published_runs_that_are_missing_are_counted(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert check_data(load("published")) == []
    monkeypatch.chdir(tmp_path)
    n_runs = len(load("published").config.experiments)
    with pytest.raises(PauseflError, match=f"there is no results/pub.*, nor {n_runs - 1} other runs"):
        check_data(load("published", scenarios=str(ROOT / "config/scenarios")))


def test_the_rules_of_every_source_and_collection_are_known() -> None:
    known = rules(ROOT)
    assert {"all", "default", "partition", "write_metrics", "demo", "metrics"} <= known
    assert {f"download_{source}" for source in SOURCES} <= known
