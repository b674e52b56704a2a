"""What is wrong with a configuration is found before anything runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from scenarios import row

from pausefl.errors import ConfigError, DataError
from pausefl.reproduction.targets.checks import check, check_data
from pausefl.reproduction.targets.project import Project

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
        file = tmp_path / "studies.yaml"
        file.write_text(yaml.safe_dump(studies or {}), "utf-8")
        rows = [row(name, "pause") for name in scenarios]
        return load("demo", scenarios=str(folder), studies=str(file), experiments=rows)

    return table


def study(**keys: Any) -> dict[str, Any]:
    """A study of one selector without training."""
    whole = {"title": "Mine", "scenario": "demo_small", "selectors": ["pause"], "seeds": [0], "n_rounds": 5}
    return whole | keys


@pytest.mark.parametrize("name", ["config", "demo", "published"])
def test_the_shipped_configurations_pass(load: Load, name: str) -> None:
    check(load(name))


@pytest.mark.parametrize("name", ["all", "job", "claims"])
def test_a_figure_called_like_a_rule_is_refused(mine: Load, name: str) -> None:
    table = mine(few={"figures": {name: "accuracy_vs_time"}})
    message = f"a figure of scenario 'few' is called '{name}', like a rule of the workflow: rename one"
    with pytest.raises(ConfigError, match=message):
        check(table)


@pytest.mark.parametrize(
    ("few", "many", "studied", "message"),
    [
        ([], [], "few", "a study is called 'few', like a scenario"),
        (["my_fig1_a", "my_fig1_b"], ["my_fig1"], "x", "the whole of my_fig1_a and my_fig1_b is called"),
        # A figure that its own scenario gives no name.
        (["many_loss_vs_time"], [], "x", "is called 'many_loss_vs_time', like"),
    ],
)
def test_two_things_of_one_name_are_refused(
    mine: Load, few: list[str], many: list[str], studied: str, message: str
) -> None:
    figures = ({"figures": dict.fromkeys(names, "accuracy_vs_time")} for names in (few, many))
    studies = {"regret": {studied: study()}}
    with pytest.raises(ConfigError, match=message):
        check(mine(studies, **dict(zip(("few", "many"), figures, strict=True))))


def test_data_that_are_missing_are_named(load: Load, tmp_path: Path) -> None:
    table = load("demo", data_root=str(tmp_path), experiments=[row("mnist_large_iid_r1", "pause")])
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
    rows = [row("mnist_large_iid_r1", "pause", seeds=[0, 1])]
    table = load("published", scenarios=str(ROOT / "config/scenarios"), experiments=rows)
    message = "results/published/mnist_large_iid_r1 has no run of pause, seed 0; pause, seed 1"
    with pytest.raises(ConfigError, match=message):
        check(table)


def test_a_study_whose_selector_cannot_run_is_refused(mine: Load) -> None:
    many = study(scenario="mnist_large_iid_r1", selectors=["pause_brute"])
    with pytest.raises(ConfigError, match="'pause_brute' would enumerate"):
        check(mine(few={}, studies={"regret": {"mine": many}}))
