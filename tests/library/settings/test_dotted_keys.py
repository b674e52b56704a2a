"""Settings of one's own: single values, scenarios on a shipped base, edited scenarios of the papers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from scenarios import SCENARIOS, configuration

from pausefl.analysis.figures.notes import scale_note
from pausefl.analysis.groups import grouped
from pausefl.errors import ConfigError, PauseflError
from pausefl.reproduction.claims.load import load_claims
from pausefl.reproduction.config import load_config
from pausefl.reproduction.studies import load_studies
from pausefl.runs.run import Run, check_settings
from pausefl.settings import Scenario, load_scenario, with_changes
from pausefl.settings.scenario import as_of_today

ROOT = Path(__file__).parents[3]


@pytest.fixture
def mnist() -> Scenario:
    return load_scenario("mnist_large_iid_r1", SCENARIOS)


def write(folder: Path, name: str, lines: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.yaml").write_text(f"name: {name}\ntitle: Mine\nfigures: {{}}\n{lines}", "utf-8")


def test_settings_are_replaced_by_dotted_key_whatever_their_order(mnist: Scenario) -> None:
    texts = ["network.n_users=10", "network.n_selected=4", "privacy.epsilon_total=5", "training.n_rounds=7"]
    changed = with_changes(mnist, texts)
    assert changed == with_changes(mnist, reversed(texts))
    expected = mnist.replace(
        scale="own",
        network=mnist.network.replace(n_users=10, n_selected=4),
        privacy=mnist.privacy and mnist.privacy.replace(epsilon_total=5),
        training=mnist.training.replace(n_rounds=7),
    )
    assert changed.job_settings() == expected.job_settings()
    before = [300, 15, 10.0, 300]
    assert changed.scale == "own"
    assert changed.changed == dict(zip((text.split("=")[0] for text in texts), before, strict=True))


def test_what_was_changed_twice_says_what_was_there_first(mnist: Scenario) -> None:
    once = with_changes(mnist, ["network.n_users=10", "network.n_selected=4"])
    twice = with_changes(once, ["network.n_users=20", "training.n_rounds=7"])
    assert twice.changed == {"network.n_users": 300, "network.n_selected": 15, "training.n_rounds": 300}
    back = with_changes(twice, ["network.n_users=300"])
    assert back.changed == {"network.n_selected": 15, "training.n_rounds": 300}


def test_a_section_can_go_or_come(mnist: Scenario) -> None:
    without = with_changes(mnist, ["privacy=null", "reward.gamma=0"])
    assert without.privacy is None
    assert "privacy = none" not in scale_note(mnist)
    back = with_changes(without, ["privacy.epsilon_total=3", "privacy.decay=0.1", "privacy.sensitivity=0.01"])
    assert back.privacy.epsilon_total == 3
    assert "privacy = epsilon_total 3, decay 0.1" in scale_note(back)


def test_another_part_by_name_is_another_setting(mnist: Scenario) -> None:
    """The scenario's own name says which file it is; the names of its parts decide what a job computes."""
    vector = ["privacy.mechanism=vector", "privacy.sensitivity=null", "privacy.clip_norm=1"]
    for texts, before in ((["model.name=linear"], "fc"), (vector, "coordinate")):
        changed, (key, value) = with_changes(mnist, texts), texts[0].split("=")
        settings = json.loads(json.dumps(changed.job_settings()))
        run = Run(pd.DataFrame(), pd.DataFrame(), {"scenario": settings, "selector": "pause", "seed": 3})
        assert changed.changed[key] == before
        assert f"{key} = {value}" in scale_note(changed)
        with pytest.raises(PauseflError, match=re.escape(f"{key} = {value}")):
            check_settings([run], mnist.job_settings())


def test_constants_of_a_selector_are_compared_between_its_own_runs(mnist: Scenario) -> None:
    """Whether a run was recorded before or after a constant became a key."""

    def run(selector: str, *texts: str) -> Run:
        scenario = with_changes(mnist, texts).job_settings(selector)
        facts = {"selector": selector, "seed": 0, "n_rounds": 300}
        return Run(pd.DataFrame(), pd.DataFrame(), {"scenario": scenario, **facts})

    old, queue = run("cs_ucb_q"), run("cs_ucb_q", "selection.queue_weight=0.5")
    del old.summary["scenario"]["selection"]["queue_weight"]
    pause = as_of_today(run("pause").summary)
    check_settings([old, queue, run("oort")], pause)
    check_settings([old], as_of_today(queue.summary))
    with pytest.raises(PauseflError, match=r"selection\.queue_weight = 0\.5"):
        check_settings([old], as_of_today(run("cs_ucb_q").summary))
    with pytest.raises(PauseflError, match=r"selection\.utility_cutoff = 0\.05"):
        check_settings([run("oort", "selection.utility_cutoff=0.05")], as_of_today(run("oort").summary))
    assert "selection.queue_weight" not in run("pause").settings
    assert [one.label for one in grouped([run("pause"), run("cs_ucb_q")])] == ["PAUSE", "CS-UCB-Q"]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["network.n_usres=20"], "--set: unknown key 'network.n_usres'. Did you mean 'n_users'?"),
        (
            ["n_users=20"],
            "--set: unknown key 'n_users'. Did you mean 'network.n_users'? Allowed: ",
        ),
        (["budget=5"], "--set: unknown key 'budget'. Did you mean 'privacy.epsilon_total'? Allowed: "),
        (["network.n_users=many"], "--set: network.n_users = 'many' must be a valid integer (Number"),
        (["network.n_users=3"], "--set: network.n_selected = 15 exceeds network.n_users = 3"),
        (["network.n_users"], "--set 'network.n_users' must be KEY=VALUE"),
        (["network.n_users=[1"], "--set 'network.n_users=[1': not valid YAML"),
        (["network.n_users=20", "network.n_users=30"], "--set: network.n_users is given twice"),
        (["name=other"], "--set: name cannot be changed"),
    ],
)
def test_a_wrong_change_is_refused_with_its_key(mnist: Scenario, texts: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        with_changes(mnist, texts)


def test_a_scenario_of_ones_own_stands_on_a_shipped_one_and_says_what_differs(tmp_path: Path) -> None:
    write(tmp_path, "mine", "base: mnist_large_iid_r1\nnetwork: {n_users: 20}\nprivacy: {epsilon_total: 5}\n")
    mine = load_scenario("mine", tmp_path, SCENARIOS)
    assert mine.scale == "own"
    assert (
        scale_note(mine)
        == "Own settings: network.n_users = 20 (base: 300), privacy.epsilon_total = 5 (10.0)."
    )
    with pytest.raises(ConfigError, match="base = 'mnist_large_iid_r1' is not known"):
        load_scenario("mine", tmp_path)


def test_a_folder_of_ones_own_needs_only_ones_own_scenarios(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    write(folder, "few_users", "base: demo_small\nnetwork: {n_users: 8}\n")
    rows = [{"scenario": "few_users", "seeds": [0]}, {"scenario": "demo_small", "seeds": [0]}]
    config = load_config(configuration(*rows, scenarios=str(folder)), shipped=SCENARIOS)
    assert {name: one.scale for name, one in config.scenarios.items()} == {
        "few_users": "own",
        "demo_small": "demo",
    }
    assert list(load_studies(ROOT / "config/studies.yaml", folder, SCENARIOS))
    assert load_claims(ROOT / "config/claims.yaml", SCENARIOS, folder)
