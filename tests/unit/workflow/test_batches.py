"""Which jobs share a process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pausefl.project import Project
from pausefl.settings import Experiment, read_yaml
from pausefl.workflow.batches import Steps, rules
from pausefl.workflow.plan import asked, job_estimate, seconds_together, shipped_rates

ROOT = Path(__file__).parents[3]
SMALL = {"scenario": "demo_large", "selectors": ["pause", "random", "fedavg"], "seeds": [0, 1]}


def project(*rows: dict[str, Any], name: str = "config", **changes: Any) -> Project:
    document = read_yaml(ROOT / f"config/{name}.yaml") | ({"experiments": list(rows)} if rows else {})
    return Project.load(document | changes, ROOT)


def batches(table: Project) -> set[frozenset[Experiment]]:
    """All batches, but those of the demo."""
    return {
        frozenset(Experiment(scenario, selector, seed) for selector in own.selectors)
        for own in rules(table).values()
        for scenario in own.scenarios
        for seed in own.seeds
        if scenario in table.own or scenario not in table.demo
    }


def test_small_jobs_of_a_scenario_and_seed_are_together_and_all_others_alone() -> None:
    table = project(name="config")
    found, rates = batches(table), shipped_rates()
    studied = [job for study in table.studies for job in table.runs_of_study(study)]
    jobs = {job for job in (*table.config.experiments, *studied) if job.scenario not in table.demo}
    small = {job for job in jobs if job_estimate(table, job, rates).seconds <= 20}
    together = [job for batch in found for job in batch]
    assert len(together) == len(set(together)) > 900
    assert set(together) <= small
    # A small job is alone if it is the only one of its scenario and seed.
    alone = small - set(together)
    assert len({(job.scenario, job.seed) for job in alone}) == len(alone)
    assert all(len({(job.scenario, job.seed) for job in batch}) == 1 for batch in found)


def test_another_seed_is_another_batch_and_changes_none() -> None:
    before = batches(project(SMALL, studies=None))
    after = batches(project(SMALL | {"seeds": [0, 1, 2]}, studies=None))
    (new,) = after - before
    assert before < after
    assert {job.seed for job in new} == {2}


def test_seeds_with_other_selectors_have_rules_of_their_own() -> None:
    more = {"scenario": "demo_large", "selectors": ["fastest"], "seeds": [1]}
    own = [one for one in rules(project(SMALL, more, studies=None)).values() if "demo_large" in one.scenarios]
    assert own == [
        Steps(("pause", "random", "fedavg"), ("demo_large",), (0,)),
        Steps(("pause", "random", "fedavg", "fastest"), ("demo_large",), (1,)),
    ]


def test_a_name_like_that_of_a_seed_stays_itself_in_the_path_of_a_log() -> None:
    own = Steps(("seed_first:Mine", "random"), ("demo_large",), (0,))
    assert own.about == "{scenario}/seed_first.Mine_and_1_more/seed-{seed}"
    assert own.runs[0] == "results/runs/{scenario}/seed_first.Mine/seed-{seed}"


def test_a_study_adds_batches_and_changes_none_of_the_table() -> None:
    assert batches(project(name="config", studies=None)) <= batches(project(name="config"))


def test_a_batch_starts_once_and_asks_for_the_memory_of_its_largest_job() -> None:
    table, rates = project(name="config"), shipped_rates()
    jobs = [Experiment("mnist_large_iid_r1", name, 0) for name in ("pause", "random")]
    alone = sum(job_estimate(table, job, rates).seconds for job in jobs)
    assert seconds_together(table, jobs, rates) == pytest.approx(alone - rates["start_s"])
    assert asked(table, jobs, rates) == (5, 1500)  # the least time
    large = Experiment("cifar10_small_iid_r1", "pause", 0)
    minutes, memory = asked(table, [*jobs, large], rates)
    assert minutes > asked(table, [large], rates)[0]
    assert memory == 4000
