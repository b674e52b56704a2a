"""What the workflow plans, from the root of the repository's own configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from workspace import ROOT, Checkout, make_checkout

from pausefl.settings import load_scenario


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout with the configuration as it is shipped."""
    return make_checkout(tmp_path_factory.mktemp("shipped"))


def rows(name: str) -> list[dict[str, Any]]:
    """The experiment table of a shipped configuration; by default a row has its scenario's selectors."""
    table = yaml.safe_load((ROOT / f"config/{name}.yaml").read_text("utf-8"))["experiments"]
    folder = ROOT / "config/scenarios"
    return [{"selectors": load_scenario(row["scenario"], folder).selectors} | row for row in table]


@pytest.mark.parametrize(("target", "config"), [((), "config"), (("all",), "config"), (("demo",), "demo")])
def test_plan_has_one_job_a_row_and_seed(shipped: Checkout, target: tuple[str, ...], config: str) -> None:
    planned = shipped.planned(*target)
    table = rows(config)
    assert planned["job"] == sum(len(row["selectors"]) * len(row["seeds"]) for row in table)
    assert planned["table"] == len(table)


def test_demo_configuration_alone_plans_the_demo(shipped: Checkout) -> None:
    planned = shipped.planned("--configfile", "config/demo.yaml")
    assert planned.pop("write_metrics") == 1
    assert planned == shipped.planned("demo")


def test_a_scenario_is_a_target(shipped: Checkout) -> None:
    planned = shipped.planned("mnist_large_iid_r1")
    assert (planned["job"], planned["partition"], planned["table"]) == (40, 5, 1)


def test_a_figure_of_a_paper_is_a_target(shipped: Checkout) -> None:
    planned = shipped.planned("pause_v2_fig8")
    assert planned["plot_figure"] == 1


def test_every_figure_of_the_papers_is_a_target_under_its_number(shipped: Checkout) -> None:
    targets = set(shipped.snakemake("--list-target-rules").split())
    numbers = {"pause_v2": range(1, 16), "pause_v1": range(2, 10), "bsfl": range(2, 11)}
    wanted = {f"{paper}_fig{n}" for paper, figures in numbers.items() for n in figures}
    assert wanted | {"pause_v2_table1"} <= targets
    reduced = set(shipped.snakemake("--configfile", "config/reduced.yaml", "--list-target-rules").split())
    trained = {"pause_v2": [*range(2, 8), *range(10, 16)], "bsfl": [6, 7, 9, 10]}
    assert {f"reduced_{paper}_fig{n}" for paper, figures in trained.items() for n in figures} <= reduced


def test_a_figure_in_parts_asks_for_all_of_them(shipped: Checkout) -> None:
    planned = shipped.planned("bsfl_fig5")
    assert planned["plot_figure"] == planned["plot_regret"] == 1
    assert planned["compute_regret"] == 20
    assert shipped.planned("bsfl_fig6")["plot_figure"] == 2


def test_the_figures_of_the_reward_need_nothing_else(shipped: Checkout) -> None:
    planned = shipped.planned("pause_v2_fig1", "bsfl_fig2")
    assert {rule: n for rule, n in planned.items() if rule not in ("pause_v2_fig1", "bsfl_fig2")} == {
        "compute_generalization": 2,
        "plot_generalization": 2,
    }


def test_selectors_share_a_partition(shipped: Checkout) -> None:
    shared = shipped.planned("mnist_large_iid_r1", "mnist_large_iid_r1_v1")
    assert shared["partition"] == 5


def test_a_variant_shares_the_partitions_of_its_base(shipped: Checkout) -> None:
    planned = shipped.planned("cifar10_small_iid_r1", "cifar10_small_iid_r1_group")
    assert (planned["job"], planned["partition"], planned["table"]) == (45 + 15, 5, 2)


def test_every_shipped_scenario_is_in_a_shipped_table() -> None:
    """But for the variants with group normalisation, of which one is, at full scale and reduced."""
    listed = {str(row["scenario"]) for name in ("config", "demo", "reduced") for row in rows(name)}
    files = {path.stem for path in Path(ROOT / "config/scenarios").glob("*.yaml")}
    variants = {name for name in files if name.endswith("_group")}
    assert listed == files - variants | {"cifar10_small_iid_r1_group", "reduced_cifar10_small_iid_r1_group"}
