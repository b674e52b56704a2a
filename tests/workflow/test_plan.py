"""What the workflow plans, from the root of the repository's own configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from workspace import ROOT, Checkout, counted, make_checkout

from pausefl.project import Project
from pausefl.settings import Experiment, load_scenario, read_yaml


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout with the configuration as it is shipped."""
    return make_checkout(tmp_path_factory.mktemp("shipped"))


def rows(name: str) -> list[dict[str, Any]]:
    """The experiment table of a shipped configuration; by default a row has its scenario's selectors."""
    table = read_yaml(ROOT / f"config/{name}.yaml")["experiments"]
    folder = ROOT / "config/scenarios"
    return [{"selectors": load_scenario(row["scenario"], folder).selectors} | row for row in table]


def check_rows(planned: dict[str, int], config: str) -> None:
    """The plan makes each row, selector and seed, and what only a study of trained runs asks for."""
    table = rows(config)
    runs = {
        Experiment(row["scenario"], name, seed)
        for row in table
        for name in row["selectors"]
        for seed in row["seeds"]
    }
    project = load_experiments(config)
    studies = project.studies.of_kind("trained_knobs")
    studied = {job for study in studies for job in project.runs_of_study(study)}
    assert planned["job"] == len(runs | studied)
    assert tables(planned) == len(table)


def tables(planned: dict[str, int]) -> int:
    """For how many scenarios tables are made: those with the same tables have a rule."""
    return sum(n for rule, n in planned.items() if rule.startswith("table"))


def load_experiments(config: str) -> Project:
    return Project.load(read_yaml(ROOT / f"config/{config}.yaml"), ROOT)


def test_the_default_target_is_the_whole_table_and_its_dry_run_a_page(shipped: Checkout) -> None:
    output = shipped.snakemake("--dry-run", "--cores", "1")
    assert len(output) < 12_500  # 45 scenarios
    planned = counted(output)
    check_rows(planned, "config")
    assert "write_metrics" not in planned  # which Git keeps


def test_the_demo_is_a_target_and_a_configuration(shipped: Checkout) -> None:
    planned = shipped.planned("demo")
    check_rows(planned, "demo")
    assert planned["check_claims"] == 1
    assert shipped.planned("--configfile", "config/demo.yaml") == planned
    assert shipped.planned("--configfile", "config/demo.yaml", "--", "metrics")["write_metrics"] == 1


def test_scenarios_share_partitions(shipped: Checkout) -> None:
    """One seed has one partition, whatever the selector, the reward or the normalisation."""
    names = (
        "mnist_large_iid_r1",
        "mnist_large_iid_r1_v1",
        "cifar10_small_iid_r1",
        "cifar10_small_iid_r1_group",
    )
    planned = shipped.planned(*names)
    project = load_experiments("config")
    assert planned["job"] == len({job for name in names for job in project.experiments[name]})
    assert (planned["partition"], tables(planned)) == (5 + 5, 4)


def test_a_figure_in_parts_needs_runs_and_studies(shipped: Checkout) -> None:
    planned = shipped.planned("bsfl_fig5")
    assert planned["plot_figures_without_accuracy_budget_spending"] == planned["plot_regret"] == 1
    assert planned["compute_regret"] == 20


def test_the_figures_of_the_reward_need_nothing_else(shipped: Checkout) -> None:
    planned = shipped.planned("pause_v2_fig1", "bsfl_fig2")
    assert {rule: n for rule, n in planned.items() if rule not in ("pause_v2_fig1", "bsfl_fig2")} == {
        "compute_generalization": 2,
        "plot_generalization": 2,
    }


def test_every_figure_of_the_papers_is_a_target_with_its_number_and_a_title(shipped: Checkout) -> None:
    there = shipped.listed("--list-target-rules")
    assert [name for name, title in there.items() if not 3 <= len(title) <= 200] == []
    assert there["pause_v2_fig8"].startswith("test accuracy against simulated time: MNIST, large network")
    numbers = {"pause_v2": range(1, 16), "pause_v1": range(2, 10), "bsfl": range(2, 11)}
    wanted = {f"{paper}_fig{n}" for paper, figures in numbers.items() for n in figures}
    assert wanted | {"pause_v2_table1"} <= set(there)


def test_every_shipped_scenario_is_in_a_shipped_table() -> None:
    """But for the variants with group normalisation, of which one is."""
    listed = {str(row["scenario"]) for name in ("config", "demo") for row in rows(name)}
    files = {path.stem for path in Path(ROOT / "config/scenarios").glob("*.yaml")}
    variants = {name for name in files if name.endswith("_group")}
    assert listed == files - variants | {"cifar10_small_iid_r1_group"}
