"""What the workflow plans, from the root of the repository's own configuration."""

from __future__ import annotations

import pytest
from workspace import ROOT, Checkout, counted, make_checkout

from pausefl.reproduction.targets.project import Project
from pausefl.settings import read_yaml


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout with the configuration, and published runs, as they are shipped."""
    checkout = make_checkout(tmp_path_factory.mktemp("shipped"))
    (checkout.root / "results").mkdir()
    (checkout.root / "results/published").symlink_to(ROOT / "results/published")
    return checkout


def project(config: str) -> Project:
    """A shipped configuration; tests/reproduction/test_config.py compares its table with the scenarios."""
    return Project.load(read_yaml(ROOT / f"config/{config}.yaml"), ROOT)


def check_rows(planned: dict[str, int], shipped: Project) -> None:
    """The plan makes each row, selector and seed, and what only a study of trained runs asks for."""
    runs = {row for name in shipped.own for row in shipped.experiments[name]}
    studied = {job for study in shipped.studies.of_kind("changes") for job in shipped.runs_of_study(study)}
    assert planned["job"] == len(runs | studied)
    assert planned["tables"] == planned["collect"] == len(shipped.own)


def test_the_default_target_is_the_whole_table_and_its_dry_run_a_page(shipped: Checkout) -> None:
    output = shipped.snakemake("--dry-run", "--cores", "1")
    assert len(output) < 12_500  # 45 scenarios
    planned = counted(output)
    check_rows(planned, project("config"))
    assert planned["job"] > 1000
    assert planned["report"] == planned["overview"] == 1
    assert planned["download"] == 3
    assert "metrics" not in planned  # which Git keeps


def test_the_demo_is_a_configuration(shipped: Checkout) -> None:
    planned = shipped.planned("--configfile", "config/demo.yaml", "--", "default", "metrics")
    check_rows(planned, project("demo"))
    assert (planned["job"], planned["claims"], planned["report"], planned["metrics"]) == (16, 1, 1, 1)


def test_published_runs_are_all_that_is_read(shipped: Checkout) -> None:
    """By the shipped configuration, in a checkout with what Git keeps of runs."""
    planned = shipped.planned("--configfile", "config/published.yaml")
    made = {"tables", "figures", "plot_study", "verdict", "claims", "overview", "report"}
    assert set(planned) == made
    assert planned["tables"] == planned["figures"] == len(project("published").own)
