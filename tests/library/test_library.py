"""The library's interface: the numbers of the command, selectors of one's own, and what the page says."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import pausefl
from pausefl.cli import app
from pausefl.errors import ConfigError
from pausefl.selectors import SELECTORS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "use.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def scenario() -> pausefl.Scenario:
    """Twelve users, three selected, six rounds."""
    return pausefl.change(pausefl.load_scenario("demo_small"), {"training.n_rounds": 6})


class Everyone(pausefl.Selector):
    """All who are available."""

    def __call__(self, history: pausefl.History, rng: np.random.Generator) -> Any:
        return np.flatnonzero(history.available)


class Rotation(pausefl.Selector):
    """User after user, from a start that `observe` moves."""

    def __init__(self, start: int = 0) -> None:
        self.start = start
        self.seen: list[int] = []

    def __call__(self, history: pausefl.History, rng: np.random.Generator) -> Any:
        return (self.start + np.arange(history.n_selected)) % len(history.available)

    def observe(self, feedback: pausefl.Feedback, history: pausefl.History) -> None:
        self.start += history.n_selected
        self.seen += feedback.users.tolist()


def first(history: pausefl.History, rng: np.random.Generator) -> Any:
    return history.candidates()[: history.n_selected]


@pytest.mark.parametrize("selector", ["pause", "sa_pause"])
def test_a_registered_selector_has_the_numbers_of_the_command(
    selector: str, scenario: pausefl.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    train = selector != "sa_pause"
    ours = pausefl.run(scenario, selector, 3, train=train, genie=True, device="cpu")
    ours.save(tmp_path / "library")
    arguments = ["--scenario", "demo_small", "--selector", selector, "--seed", "3", "--genie"]
    arguments += ["--set", "training.n_rounds=6", "--device", "cpu", "--out", str(tmp_path / "command")]
    done = CliRunner().invoke(app, ["run", *arguments, *([] if train else ["--no-train"])])
    assert done.exit_code == 0, done.output
    for file in ("rounds.parquet", "ledger.parquet"):
        assert (tmp_path / "library" / file).read_bytes() == (tmp_path / "command" / file).read_bytes()
    theirs = pausefl.read_run(tmp_path / "command")
    timed = {"timings_s": None, "peak_memory_bytes": None, "resumed_from_rounds": None}
    assert {**ours.summary, **timed} == {**theirs.summary, **timed}
    assert ours.rounds.equals(theirs.rounds)
    assert ours.ledger.equals(theirs.ledger)


def test_a_selector_of_ones_own_runs_as_a_registered_one_does(scenario: pausefl.Scenario) -> None:
    registered = pausefl.run(scenario, "fedavg", device="cpu")
    ours = pausefl.run(scenario, Everyone, device="cpu")
    assert ours.rounds.equals(registered.rounds)
    assert ours.ledger.equals(registered.ledger)
    assert (ours.selector, ours.summary["code_hash"]) == ("Everyone", None)
    assert "All who are available" in ours.summary["selector_source"]
    assert "selector_source" not in registered.summary


def test_class_object_and_function_are_one_selector(scenario: pausefl.Scenario) -> None:
    class First(pausefl.Selector):
        def __call__(self, history: pausefl.History, rng: np.random.Generator) -> Any:
            return first(history, rng)

    runs = [pausefl.run(scenario, each, train=False, name="one") for each in (First, First(), first)]
    assert {run.selector for run in runs} == {"one"}
    assert runs[0].rounds.equals(runs[1].rounds)
    assert runs[0].rounds.equals(runs[2].rounds)
    assert runs[0].rounds["selection"].map(list).tolist() == [[0, 1, 2]] * 6


def test_an_object_remembers_within_a_run_only(scenario: pausefl.Scenario) -> None:
    rotation = Rotation(start=3)
    runs = [pausefl.run(scenario, rotation, seed, train=False) for seed in (0, 1)]
    for run in runs:
        expected = [sorted((3 + 3 * t + np.arange(3)) % 12) for t in range(6)]
        assert run.rounds["selection"].map(list).tolist() == expected
    assert rotation.seen == []


def test_a_selector_declares_what_it_needs(scenario: pausefl.Scenario) -> None:
    shapes = []

    class Looks(Rotation):
        needs_updates = True
        private = False

        def observe(self, feedback: pausefl.Feedback, history: pausefl.History) -> None:
            shapes.append(feedback.updates.shape)

    run = pausefl.run(scenario, Looks, n_rounds=2, device="cpu")
    assert np.isinf(run.rounds["leakage_max"]).all()
    assert len(shapes) == 2
    assert shapes[0][0] == 3
    with pytest.raises(ConfigError, match="cannot run without"):
        pausefl.run(scenario, Looks, train=False)

    class Waits(Looks):
        def __init__(self, round_latency_max: float) -> None:
            self.most = round_latency_max

    with pytest.raises(ConfigError, match=r"'Waits' needs network\.round_latency_max"):
        pausefl.run(scenario, Waits)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ([0.0, 1.0, 2.0], "type float64"),
        (None, r"shape \(\)"),
        ([0, 1, 12], "ids from 0 to 12, of 12 users"),
        ([4, 4, 5], "user 4 twice"),
        ([], "returned nobody"),
    ],
)
def test_wrong_ids_are_refused(returned: Any, message: str, scenario: pausefl.Scenario) -> None:
    def wrong(history: pausefl.History, rng: np.random.Generator) -> Any:
        return returned

    with pytest.raises(pausefl.PauseflError, match=message) as caught:
        pausefl.run(scenario, wrong, train=False)
    assert "selector 'wrong' returned" in str(caught.value)
    assert "in round 1" in str(caught.value)
    assert "wrong" not in SELECTORS


def test_users_without_budget_are_refused(scenario: pausefl.Scenario) -> None:
    def same(history: pausefl.History, rng: np.random.Generator) -> Any:
        return [0, 1, 2]

    uniform = {"privacy.schedule": "uniform", "privacy.n_participations": 3, "privacy.decay": None}
    short = pausefl.change(scenario, uniform)
    with pytest.raises(pausefl.PauseflError, match="user 0, who is away or has no budget left, in round 4"):
        pausefl.run(short, same, train=False)


def test_the_history_cannot_be_changed_by_mistake(scenario: pausefl.Scenario) -> None:
    def careless(history: pausefl.History, rng: np.random.Generator) -> Any:
        speed = history.mean_speed
        speed[history.participations == 0] = 1.0
        return np.argsort(-speed)[: history.n_selected]

    with pytest.raises(ValueError, match="read-only"):
        pausefl.run(scenario, careless, train=False)


def test_what_is_no_selector_is_refused(scenario: pausefl.Scenario) -> None:
    with pytest.raises(ConfigError, match="Did you mean 'pause'"):  # before data are looked for
        pausefl.run(pausefl.load_scenario("mnist_large_iid_r1"), "pase", data_root="none", download=False)
    for nothing in (3, dict):
        with pytest.raises(ConfigError, match="is no selector"):
            pausefl.run(scenario, nothing)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="'random' is the name of a registered selector"):
        pausefl.run(scenario, first, name="random")
    with pytest.raises(ConfigError, match="needs a name of letters"):
        pausefl.run(scenario, lambda history, rng: history.candidates()[:3])
    with pytest.raises(ConfigError, match="registered under its name"):
        pausefl.run(scenario, "pause", name="mine")
    with pytest.raises(ConfigError, match="'demo_small' must be what"):
        pausefl.run("demo_small", "pause")  # type: ignore[arg-type]


@pytest.mark.usefixtures("default_signals")
def test_ctrl_c_stops_after_the_round(scenario: pausefl.Scenario) -> None:
    rounds = []

    def press(t: int) -> None:
        rounds.append(t)
        if t == 2:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt, match="stopped after round 2"):
        pausefl.run(scenario, first, train=False, on_round=press)
    assert rounds == [1, 2]
    assert "first" not in SELECTORS


def example(name: str, folder: Path) -> None:
    """Run an example of the page as a script in a folder."""
    (code,) = re.findall(rf"^<!-- {name} -->\n```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    (folder / "example.py").write_text(code, encoding="utf-8")
    environment = os.environ | {"MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "example.py"], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_tensorboard_shows_runs(tmp_path: Path) -> None:
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    example("tensorboard", tmp_path)
    for selector in ("pause", "random"):
        events = reading.EventAccumulator(str(tmp_path / "watched" / selector)).Reload()
        shown = [(event.step, event.value) for event in events.Scalars("accuracy")]
        assert [step for step, _ in shown] == list(range(1, 21))
        assert 0 < shown[-1][1] < 1
        assert len(events.Scalars("leakage_max")) == 20


def test_runs_are_saved_read_and_collected(scenario: pausefl.Scenario, tmp_path: Path) -> None:
    runs = [pausefl.run(scenario, "random", 5, device="cpu"), pausefl.run(scenario, first, train=False)]
    assert repr(runs[0]) == "Run(demo_small, random, seed 5, 6 rounds)"
    runs[1].save(tmp_path / "a" / "first")
    read = pausefl.read_run(tmp_path / "a" / "first")
    assert read.rounds.equals(runs[1].rounds)
    assert read.summary == json.loads(json.dumps(runs[1].summary))
    with pytest.raises(pausefl.PauseflError, match="already has a run"):
        runs[0].save(tmp_path / "a" / "first")
    with pytest.raises(pausefl.PauseflError, match=r"rounds\.parquet is missing"):
        pausefl.read_run(tmp_path)
    table = pausefl.collect(runs)
    assert table.columns[:4].tolist() == ["scenario", "selector", "seed", "round"]
    assert table.groupby(["selector", "seed"]).size().to_dict() == {("first", 0): 6, ("random", 5): 6}
    assert table["accuracy"].isna().tolist() == [False] * 6 + [True] * 6
    other = pausefl.run(scenario, first, n_rounds=np.int64(4), n_threads=np.int64(1), train=False)
    with pytest.raises(ConfigError, match="n_rounds = 10000001 must be at most 10000000"):
        pausefl.run(scenario, first, n_rounds=10**7 + 1, train=False)
    assert pausefl.collect([runs[1], other])["round"].tolist() == [1, 2, 3, 4, 5, 6, 1, 2, 3, 4]
    with pytest.raises(pausefl.PauseflError, match="no runs"):
        pausefl.collect([])


def test_scenarios_by_name_from_a_file_and_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "demo_small" in pausefl.scenario_names()
    file = tmp_path / "few.yaml"
    file.write_text(
        "name: few\ntitle: Few\nbase: demo_small\nnetwork:\n  n_users: 8\nfigures: {}\n", encoding="utf-8"
    )
    few = pausefl.load_scenario(file)
    assert (few.name, few.network.n_users) == ("few", 8)
    demo = pausefl.load_scenario("demo_small")
    changed = pausefl.change(demo, {"network.n_users": 20, "privacy.epsilon_total": 5})
    assert (changed.network.n_users, changed.scale, demo.network.n_users) == (20, "own", 12)
    with pytest.raises(ConfigError, match=r"change: unknown key 'network.n_user'. Did you mean"):
        pausefl.change(demo, {"network.n_user": 20})
    for values in (None, [("network.n_users", 20)], {3: 4}):
        with pytest.raises(ConfigError, match="must be a mapping of dotted keys"):
            pausefl.change(demo, values)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"'demo_small' must be what pausefl\.load_scenario returns"):
        pausefl.change("demo_small", {})  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="Did you mean 'demo_small'"):
        pausefl.load_scenario("demo_smal")
    file.rename("a-few.yaml")
    with pytest.raises(ConfigError, match=r"'a-few\.yaml': a scenario needs a name of letters, digits and"):
        pausefl.load_scenario("a-few.yaml")
    with pytest.raises(ConfigError, match=r"no scenario file none\.yaml"):
        pausefl.load_scenario("none.yaml")


def test_the_import_is_cheap() -> None:
    code = "import sys, pausefl; print({'numpy', 'pandas', 'pydantic', 'torch'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_the_page_lists_the_interface() -> None:
    table = PAGE.split("## Names")[1].split("\n## ")[0]
    assert sorted(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == pausefl.__all__
    assert all(getattr(pausefl, name).__doc__ for name in pausefl.__all__)
    with pytest.raises(AttributeError, match="no attribute 'job'"):
        pausefl.job  # noqa: B018


@pytest.mark.slow
def test_the_example_of_the_page_draws_its_picture(tmp_path: Path) -> None:
    compare = pytest.importorskip("matplotlib.testing.compare")
    example("notebook", tmp_path)
    drawn, shown = tmp_path / "by_speed.png", ROOT / "docs" / "images" / "by_speed.png"
    # Trained numbers may differ in the last digits between processors.
    assert compare.compare_images(str(shown), str(drawn), tol=2) is None
