"""What a configuration names, and where the workflow's own files are found."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from scenarios import row

from pausefl.errors import ConfigError, DataError
from pausefl.reproduction.targets.checks import check
from pausefl.reproduction.targets.project import Project
from pausefl.reproduction.targets.targets import jobs, targets
from pausefl.runs.run_id import RunId

ROOT = Path(__file__).parents[3]

Load = Callable[..., Project]


def test_the_demo_is_there_besides_the_configuration(load: Load) -> None:
    table = load(experiments=[row("mnist_large_iid_r1", "pause", seeds=[3, 1])])
    assert list(table.scenarios) == ["demo_small", "demo_large", "mnist_large_iid_r1"]
    assert table.seeds("mnist_large_iid_r1") == [1, 3]
    assert table.seeds("demo_small") == [0, 1, 2]


def test_scenarios_with_the_same_data_share_a_partition(load: Load) -> None:
    table = load(experiments=[row("mnist_large_iid_r1", "pause"), row("mnist_large_iid_r1_v1", "pause")])
    own = {key: one for key, one in table.divided.items() if one.name in table.scenarios}
    of_mnist = [dataset for dataset, _ in own if dataset == "mnist"]
    assert len(of_mnist) == 1
    assert {table.dataset(name) for name in table.scenarios} == {"digits-test0.2", "mnist"}


def test_the_first_job_of_the_table_trains_for_those_that_train_the_same(load: Load) -> None:
    r1, r2 = "mnist_large_iid_r1", "mnist_large_iid_r2"
    blind = row(r2, "pause", "random", "clustered_similarity", seeds=[0, 1])
    table = load(experiments=[row(r1, "pause", "random", "clustered_similarity"), blind])
    assert table.trained_by(RunId(r2, "random", 0)) == RunId(r1, "random", 0)
    assert table.trained_by(RunId(r2, "clustered_similarity", 0)) is not None
    assert table.trained_by(RunId(r2, "pause", 0)) is None  # looks at the reward
    assert table.trained_by(RunId(r2, "random", 1)) is None  # not in the table under R1
    assert table.trained_by(RunId(r1, "random", 0)) is None
    other_way = load(experiments=[blind, row(r1, "random")])
    assert other_way.trained_by(RunId(r1, "random", 0)) == RunId(r2, "random", 0)
    budget = load(experiments=[row(r1, "random"), row("mnist_large_iid_r1_v1", "random")])
    assert budget.trained_by(RunId("mnist_large_iid_r1_v1", "random", 0)) is None


def test_claims_and_their_scenarios_are_the_users_first_then_the_shipped_ones(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "config/scenarios"
    folder.mkdir(parents=True)
    own = "name: few\ntitle: Few users\nbase: demo_small\nnetwork: {n_users: 8}\nfigures: {}\n"
    (folder / "few.yaml").write_text(own, "utf-8")
    keys = "metric: mean_round_s, gap: ratio, direction: lower, selectors: [pause], against: [random]"
    test = f"{{kind: ordering, {keys}, scenarios: {{own: [few], demo: [demo_large]}}}}"
    claims = f"claims: [{{id: M1, sentence: It is so., place: ours, tests: [{test}]}}]\n"
    monkeypatch.chdir(tmp_path)
    shipped = load(experiments=[row("few", "pause")])
    assert "C3a" in {claim.id for claim in shipped.claims}
    (tmp_path / "config/claims.yaml").write_text(claims, "utf-8")
    table = load(experiments=[row("few", "pause")])
    assert [claim.id for claim in table.claims] == ["M1"]
    assert table.scales == ["own"]
    (folder / "demo_large.yaml").write_text(own.replace("few", "demo_large"), "utf-8")
    with pytest.raises(ConfigError, match=r"'demo_large' at scale 'demo'; .*demo_large.yaml says 'own'"):
        load(experiments=[row("few", "pause")])


def test_a_study_of_trained_runs_adds_jobs_and_nothing_else(load: Load) -> None:
    table = load(experiments=[row("mnist_large_iid_r1", "pause")])
    study = table.studies.of_kind("changes")["mnist_knobs"]
    runs = table.runs_of_study("mnist_knobs")
    assert {one.scenario for one in runs} == {one.name for one in study.scenarios.values()}
    assert RunId("mnist_large_iid_r1_epsilon_total_1", "random", 0) in runs
    assert table.runs_of_study("bsfl_fig4") == []
    named = targets(table)
    assert jobs(table, named["mnist_knobs"]) == runs
    assert jobs(table, named["studies"]) == []


def test_a_partition_that_cannot_be_made_is_refused(load: Load, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "config/scenarios", tmp_path / "scenarios")
    path = tmp_path / "scenarios/demo_small.yaml"
    path.write_text(path.read_text("utf-8").replace("n_users: ", "n_users: 99"), "utf-8")
    table = load(scenarios=str(tmp_path / "scenarios"), experiments=[row("demo_small", "pause")])
    with pytest.raises(DataError, match="training examples cannot give"):
        check(table)
