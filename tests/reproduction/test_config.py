"""Configurations: what is refused, and what the shipped ones ask for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from scenarios import SCENARIOS, configuration, row

from pausefl.errors import ConfigError
from pausefl.reproduction.config import check_table, load_config
from pausefl.runs.run_id import RunId
from pausefl.settings import load_scenario, read_yaml, scenario_names

ROOT = Path(__file__).parents[2]


def test_every_scenario_of_the_papers_and_ours_is_in_the_table_with_all_its_selectors() -> None:
    """But for enumeration, which finds what the exact search finds."""
    document = read_yaml(ROOT / "config" / "config.yaml") | {"scenarios": str(SCENARIOS)}
    rows: dict[str, list[str]] = {}
    for job in load_config(document).experiments:
        if job.seed == 0:
            rows.setdefault(job.scenario, []).append(job.selector)
    assert rows.pop("cifar10_small_iid_r1_group") == ["pause", "random", "fedavg"]
    others = re.compile("demo_|world_|shakespeare$|.*_group$|.*_rivals$|.*_no_privacy$")
    assert set(rows) == {name for name in scenario_names(SCENARIOS) if not others.match(name)}
    for name, selectors in rows.items():
        assert selectors == [s for s in load_scenario(name, SCENARIOS).selectors if s != "pause_brute"], name


def test_a_row_without_selectors_has_those_of_its_scenario() -> None:
    document = configuration({"scenario": "demo_small", "seeds": [3, 1]})
    listed = load_scenario("demo_small", SCENARIOS).selectors
    expected = [RunId("demo_small", selector, seed) for selector in listed for seed in (3, 1)]
    assert list(load_config(document).experiments) == expected


def test_rows_of_a_scenario_have_no_job_twice() -> None:
    rows = row("demo_small", "pause", seeds=[0, 1]), row("demo_small", "random", "pause", seeds=[1])
    with pytest.raises(ConfigError, match="'demo_small' have pause with seed 1 twice"):
        load_config(configuration(*rows))


@pytest.mark.parametrize(
    ("changes", "others", "words"),
    [
        ({"scenario": "demo_smal"}, {}, ("'demo_smal'", "'demo_small'")),
        ({"selectors": ["puase"]}, {}, ("experiments.0.selectors.0 = 'puase'", "'pause'")),
        ({"selectors": ["pause", "pause"]}, {}, ("experiments.0.selectors = ['pause', 'pause']",)),
        ({"seeds": [-1]}, {}, ("experiments.0.seeds.0 = -1",)),
        ({"seed": [0]}, {}, ("'experiments.0.seed'", "'seeds'")),
        ({}, {"download": "yes"}, ("download = 'yes'",)),
        ({}, {"image_folders": {"cifr10": "images"}}, ("'cifr10'", "'cifar10'")),
        ({}, {"runs": "publishd"}, ("runs = 'publishd'", "'published'")),
        ({}, {"experiments": []}, ("experiments = []",)),
    ],
)
def test_a_wrong_row_or_key_is_refused(
    changes: dict[str, Any], others: dict[str, Any], words: tuple[str, ...]
) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(configuration(row("demo_small", "pause") | changes, **others))
    assert [word for word in words if word not in str(error.value)] == []


def test_a_selector_that_cannot_run_is_refused_with_the_reason() -> None:
    with pytest.raises(ConfigError, match=r"selector 'cs_ucb' needs network\.round_latency_max"):
        check_table(load_config(configuration(row("demo_small", "cs_ucb"))))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("mine", "name: mnist_large_iid_r1", "name: mine"),
        ("mnist_large_iid_r1", "n_users: 300", "n_users: 30"),
    ],
)
def test_only_the_papers_settings_can_call_themselves_the_papers(
    tmp_path: Path, name: str, old: str, new: str
) -> None:
    text = (SCENARIOS / "mnist_large_iid_r1.yaml").read_text("utf-8")
    (tmp_path / f"{name}.yaml").write_text(text.replace(old, new), "utf-8")
    with pytest.raises(ConfigError, match=rf"{name}\.yaml: scale = 'paper' .* leave scale out"):
        load_config(configuration(row(name, "pause"), scenarios=str(tmp_path)), shipped=SCENARIOS)
    (tmp_path / "mnist_large_iid_r1.yaml").write_text(text.replace("title: MNIST", "title: Mine"), "utf-8")
    load_config(configuration(row("mnist_large_iid_r1", "pause"), scenarios=str(tmp_path)), shipped=SCENARIOS)
