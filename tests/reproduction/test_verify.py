"""Published runs are replayed without training: whoever edits them is found out, by run and round."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from scenarios import changed
from typer.testing import CliRunner

from pausefl import hashing
from pausefl.federated.untrained import partition_without_data
from pausefl.reproduction.verify import main, problems, replayed, trained_again
from pausefl.runs.collected import Collected, Key, read_run, write
from pausefl.runs.run import TABLES, Run
from pausefl.settings import RawData, Scenario, load_scenario

ROOT = Path(__file__).parents[2]
PUBLISHED, SCENARIOS = ROOT / "results" / "published", ROOT / "config" / "scenarios"
NAME = "cifar10_small_iid_r1"
PAUSE, RANDOM = ("pause", 0), ("random", 0)
ROUNDS, LEDGER = TABLES
NO_DATA = RawData(ROOT / "nowhere", False, {})

Tables = dict[Key, dict[str, pd.DataFrame]]


@pytest.fixture
def published(seed_0: Path, tmp_path: Path) -> Path:
    """A published scenario, of seed 0."""
    return Path(shutil.copytree(seed_0, tmp_path / "published" / NAME)).parent


def found(published: Path, scenarios: Path = SCENARIOS) -> list[str]:
    return list(problems(published, scenarios, NO_DATA, lambda line: None))


def edit(published: Path, change: Callable[[Tables], None], name: str = NAME) -> None:
    """Change rows of runs, and make their ``digests`` anew."""
    there = Collected(published / name)
    runs = {key: there.run(key) for key in there.summaries}
    tables = {key: dict(zip(TABLES, (run.rounds, run.ledger), strict=True)) for key, run in runs.items()}
    change(tables)
    changed_runs = []
    for key, own in tables.items():
        summary = runs[key].summary
        made = {name: hashing.of_table(own[name]) for name in TABLES}
        summary = summary | {"digests": summary["digests"] | made}
        changed_runs.append(Run(own[ROUNDS], own[LEDGER], summary))
    write(changed_runs, published / name)


def better(tables: Tables) -> None:
    tables[PAUSE][ROUNDS]["accuracy"] += 0.1


def one_round_faster(tables: Tables) -> None:
    tables[PAUSE][ROUNDS].loc[6:, "elapsed_s"] -= tables[PAUSE][ROUNDS].loc[6, "latency_s"] * 0.4
    tables[PAUSE][ROUNDS].loc[6, "latency_s"] *= 0.6


def worth_more(tables: Tables) -> None:
    tables[PAUSE][ROUNDS].loc[2, "reward"] += 1.0


def another_user(tables: Tables) -> None:
    tables[PAUSE][ROUNDS].at[4, "selection"] = tables[PAUSE][ROUNDS].at[5, "selection"]


def half_spent(tables: Tables) -> None:
    tables[PAUSE][LEDGER][["epsilon_coordinate", "epsilon_update"]] *= 0.5


ALL_WELL = "PASS: all runs are as published and as replayed."


@pytest.mark.slow
def test_every_published_run_is_as_published_and_as_replayed() -> None:
    assert found(PUBLISHED) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (one_round_faster, "column latency_s differs in round 7"),
        (worth_more, "column reward differs in round 3"),
        (half_spent, "differ in the largest budget spent"),
        (another_user, "differ in who took part how often"),
        (better, ""),
    ],
)
def test_what_was_edited_is_named_by_run(
    published: Path, change: Callable[[Tables], None], problem: str
) -> None:
    """Rows of other digests cannot be read. Accuracies are beyond any replay: Git tells, and training."""
    edit(published, change)
    lines = found(published)
    assert len(lines) == bool(problem)
    assert all(line.startswith(f"{NAME}/pause/seed-0: ") and problem in line for line in lines)


def test_without_data_that_say_sizes_of_shares_a_run_is_followed(tmp_path: Path) -> None:
    """Latencies and the account follow from its selections; rewards do not."""
    name = "world_few_there_dirichlet"
    there = Collected(PUBLISHED / name)
    write([there.run(("pause", 10)), there.run(("random", 10))], tmp_path / name)
    lines: list[str] = []
    assert list(problems(tmp_path, SCENARIOS, NO_DATA, lines.append)) == []
    assert lines == [
        f"{name}: 2 runs; their selections and rewards are not replayed: sizes of shares need the data"
    ]

    def change(tables: Tables) -> None:
        tables["pause", 10][ROUNDS].loc[2, "reward"] += 1.0
        tables["random", 10][ROUNDS].loc[6, ["latency_s", "elapsed_s"]] += 0.01
        tables["random", 10][ROUNDS].loc[7, "latency_s"] -= 0.01

    edit(tmp_path, change, name)
    (line,) = found(tmp_path)
    assert line.startswith(f"{name}/random/seed-10: ")
    assert "column latency_s differs in round 7" in line


@pytest.mark.parametrize("selector", ["pause", "random"])
def test_data_that_say_sizes_of_shares_are_read(
    finish: Callable[..., Path], demo: Scenario, tmp_path: Path, selector: str
) -> None:
    text = (SCENARIOS / "demo_small.yaml").read_text("utf-8")
    labels = "labels: dirichlet\n  label_concentration: 0.5"
    text = text.replace("labels: iid", labels).replace("sizes: equal", "sizes: by_labels")
    (scenarios := tmp_path / "scenarios").mkdir()
    (scenarios / "demo_small.yaml").write_text(text, "utf-8")
    run = read_run(finish(tmp_path / "run", selector, scenario=load_scenario("demo_small", scenarios)))
    write([run], (published := tmp_path / "published") / demo.name)
    lines: list[str] = []
    assert list(problems(published, scenarios, NO_DATA, lines.append)) == []
    assert lines == ["demo_small: 1 runs"]
    edit(published, lambda tables: worth_more({PAUSE: tables[selector, 0]}), demo.name)
    (line,) = found(published, scenarios)
    assert "column reward differs in round 3" in line


def test_the_command_names_what_is_wrong_and_fails(published: Path) -> None:
    import typer

    app = typer.Typer()
    app.command()(main)
    arguments = ["--published", str(published), "--scenarios", str(SCENARIOS)]
    done = CliRunner().invoke(app, arguments)
    assert (done.exit_code, done.output) == (0, f"{NAME}: 9 runs\n{ALL_WELL}\n")
    edit(published, one_round_faster)
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1
    assert f"{NAME}/pause/seed-0: column latency_s differs in round 7" in done.output
    (published / NAME / "runs.jsonl").unlink()
    done = CliRunner().invoke(app, arguments)
    assert (done.exit_code, "runs.jsonl: no such file" in done.output) == (1, True)
    shutil.rmtree(published / NAME)
    done = CliRunner().invoke(app, arguments)
    assert (done.exit_code, f"there are no runs in {published}" in done.output) == (1, True)


@pytest.mark.parametrize("selector", ["pause", "clustered_similarity", "power_of_choice"])
def test_a_replay_is_the_run_without_its_training(
    finish: Callable[..., Path], demo: Scenario, tmp_path: Path, selector: str
) -> None:
    """With pseudo-regret, and with an end by a time horizon."""
    scenario = changed(demo, training={"time_horizon_s": 4.0}, selection={"n_candidates": 8})
    finish(tmp_path, selector, 3, 12, scenario=scenario, genie=True)
    rounds, ledger = (pd.read_parquet(tmp_path / name) for name in TABLES)
    assert len(rounds) < 12
    alone = replayed(scenario, partition_without_data(scenario, 3), read_run(tmp_path))
    assert rounds["pseudo_regret"].notna().any()
    columns = [column for column in rounds if column not in ("train_loss", "accuracy", "loss")]
    for ours, theirs in ((alone.rounds[columns], rounds[columns]), (alone.ledger, ledger)):
        pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


def test_own_published_runs_are_replayed_and_trained_too(
    finish: Callable[..., Path], demo: Scenario, tmp_path: Path
) -> None:
    run, published = read_run(finish(tmp_path / "run", "random", n_rounds=5)), tmp_path / "published"
    write([run], published / demo.name)
    assert found(published) == []
    name, raw = published / demo.name / "random/seed-0", RawData(tmp_path, False, {})
    assert [trained_again(name, SCENARIOS, raw, n) for n in (None, 2)] == ["", ""]
    accuracy = run.rounds["accuracy"]
    rounds = run.rounds.assign(accuracy=accuracy.where(run.rounds["round"] != 2))
    write([Run(rounds, run.ledger, run.summary | {"digests": {}})], published / demo.name)
    differ, shorter = (trained_again(name, SCENARIOS, raw, n) for n in (None, 2))
    assert differ.startswith("accuracy from round 2 on (trained on")
    assert shorter == ""  # of fewer rounds the last is evaluated
    rounds = run.rounds.assign(accuracy=accuracy + 0.25)
    trainer = {"hardware": {"processor": "another processor"}, "versions": {"torch": "2.0"}}
    for more, where in (
        ({}, run.summary["hardware"]["processor"]),
        ({"trained_by": trainer}, "another proc"),
    ):
        write([Run(rounds, run.ledger, run.summary | {"digests": {}} | more)], published / demo.name)
        found_by_training = trained_again(name, SCENARIOS, raw)
        assert found_by_training.startswith(f"accuracy from round 1 on, by at most 0.25 (trained on {where}")
