"""Scenarios: what is refused, and that the shipped files say what the papers say."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from scenarios import SCENARIOS

from pausefl.errors import ConfigError
from pausefl.federated.runnable import check_runnable
from pausefl.reproduction.authors_archive import LOGGED
from pausefl.settings import (
    ModelSettings,
    Scenario,
    load_scenario,
    read_yaml,
    scenario_names,
)
from pausefl.settings.scenario import as_of_today

ROOT = Path(__file__).parents[3]
NAMES = scenario_names(SCENARIOS)

#: K, m, (budget, sensitivity), exploitation, annealing iterations, model, data, reward, labels, Dirichlet.
PAPERS: dict[str, tuple[Any, ...]] = {
    "cifar10_small_iid_r1": (30, 5, (40, 0.012), 1, 500, "cnn3", "cifar10", "r1", "iid", None),
    "cifar10_small_iid_r2": (30, 5, (40, 0.012), 1, 500, "cnn3", "cifar10", "r2", "iid", None),
    "cifar10_small_noniid_r1": (30, 5, (100, 0.012), 1, 500, "cnn3", "cifar10", "r1", "dominant", 3),
    "mnist_large_iid_r1": (300, 15, (10, 0.003), 3, 3000, "fc", "mnist", "r1", "iid", 2),
    "mnist_large_iid_r1_v1": (300, 15, (20, 0.003), 3, 3000, "fc", "mnist", "r1", "iid", 2),
    "cifar10_large_noniid_r1": (300, 15, (10, 0.012), 3, 3000, "cnn3", "cifar10", "r1", "dominant", 3),
    "cifar10_large_noniid_r2": (300, 15, (10, 0.012), 3, 3000, "cnn3", "cifar10", "r2", "dominant", 3),
    "cifar10_large_noniid_r1_cnn5": (300, 15, (15, 0.012), 3, 3000, "cnn5", "cifar10", "r1", "dominant", 3),
    "mnist_small_authors": (30, 5, (200, 0.003), 1, 500, "fc", "mnist", "r1", "iid", None),
    "mnist_large_authors": (300, 15, (100, 0.003), 3, 3000, "fc", "mnist", "r1", "iid", None),
    "cifar10_small_authors": (30, 5, (100, 0.012), 1, 500, "cnn3", "cifar10", "r1", "iid", None),
    "bsfl_linear_iid": (20, 5, None, 1, None, "linear", "synthetic_regression", "bsfl", "iid", None),
    "bsfl_linear_noniid": (20, 5, None, 1, None, "linear", "synthetic_regression", "bsfl", "iid", 3),
    "bsfl_fashion_iid": (500, 25, None, 1, 3000, "cnn_bsfl", "fashion_mnist", "bsfl", "stratified", None),
    "bsfl_fashion_noniid": (500, 25, None, 1, 3000, "cnn_bsfl", "fashion_mnist", "bsfl", "dominant", 3),
    "bsfl_cifar10_iid": (500, 25, None, 1, 3000, "cnn_bsfl", "cifar10", "bsfl", "stratified", None),
    "bsfl_cifar10_noniid": (500, 25, None, 1, 3000, "cnn_bsfl", "cifar10", "bsfl", "dominant", 3),
}


def shipped(name: str = "demo_small") -> dict[str, Any]:
    return read_yaml(SCENARIOS / f"{name}.yaml")


def changed(changes: dict[str, Any], name: str = "demo_small") -> dict[str, Any]:
    """A shipped scenario with ``{"network.n_users": 3}``-like changes."""
    document = shipped(name)
    for path, value in changes.items():
        *parents, key = path.split(".")
        place = document
        for parent in parents:
            place = place[parent]
        place[key] = value
    return document


def test_every_scenario_file_loads_and_can_run_with_all_its_selectors() -> None:
    for name in NAMES:
        scenario = load_scenario(name, SCENARIOS)
        assert Scenario.read(scenario.as_dict(), "scenario") == scenario
        # Without privacy, selectors that weigh budgets are left out.
        assert "pause" in scenario.selectors or "_queue_" in name or scenario.privacy is None
        check_runnable(scenario, scenario.selectors)


@pytest.mark.parametrize("name", PAPERS)
def test_values_are_those_of_the_papers(name: str) -> None:
    s = load_scenario(name, SCENARIOS)
    found = (
        s.network.n_users,
        s.network.n_selected,
        (s.privacy.epsilon_total, s.privacy.sensitivity) if s.privacy else None,
        s.selection.exploitation,
        s.selection.n_iterations,
        s.model.name,
        s.data.source,
        s.reward.name,
        s.partition.labels,
        s.partition.size_concentration,
    )
    assert found == PAPERS[name]
    assert s.partition.sizes == ("equal" if s.partition.size_concentration is None else "dirichlet")
    assert (s.reward.alpha, s.reward.beta) == (100, 2)
    assert s.training.n_rounds == (300 if s.privacy else s.training.horizon / s.network.latency_floor)
    often = s.data.source == "mnist" or s.model.name == "linear" or name.endswith("_authors")
    assert (s.training.evaluate_every, s.training.evaluate_all_until) == ((1, 1) if often else (3, 20))
    rate = 0.001 if s.model.name == "cnn_bsfl" else 0.01  # at 0.01 it learns nothing (D30)
    assert (s.training.batch_size, s.training.max_batches, s.training.learning_rate) == (20, 100, rate)
    if s.privacy:
        divisor = 70 if name == "mnist_large_authors" else 30
        assert (s.privacy.decay, s.reward.gamma, s.selection.temperature_divisor) == (0.04, 5, divisor)
    else:
        assert (s.network.round_latency_max, s.reward.gamma) == (1.2, 0)


R2 = {"name": "r2", "alpha": 100, "beta": 2, "gamma": 5, "overlap_penalty": 0, "overlap_latency": 0}

#: Changes of the smaller demonstration, and what the message says: the key, its value or what it needs.
WRONG: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"network.n_selectd": 3}, ("'network.n_selectd'", "'n_selected'")),
    ({"network.n_selected": 13}, ("network.n_selected = 13", "network.n_users = 12")),
    ({"network.n_users": "12"}, ("network.n_users = '12'", "integer")),
    ({"network.latency_floor": 0.3}, ("latency_floor", "fast_latency_max")),
    ({"privacy.epsilon_total": math.inf}, ("epsilon_total = inf", "privacy: null")),
    ({"privacy.sampler": "secur"}, ("privacy.sampler = 'secur'", "'secure'")),
    ({"reward.gamma": math.nan}, ("reward.gamma = nan",)),
    ({"reward.name": "r3"}, ("reward.name = 'r3'", "bsfl, r1, r2")),
    ({"reward.name": "r2"}, ("'r2'", "reward.n_clusters", "reward.overlap_penalty")),
    ({"reward": R2 | {"n_clusters": 13}}, ("reward.n_clusters = 13", "network.n_users = 12")),
    ({"reward.n_clusters": 4}, ("n_clusters is for name 'r2', and reward.name is 'r1'", "n_clusters=null)")),
    (
        {"reward.overlap_penalty": 0.1, "reward.clusters": "index"},
        ("clusters, overlap_penalty are for name 'r2'", "reward.clusters=random", "overlap_penalty=null"),
    ),
    (
        {"data.n_features": 3},
        ("n_features is for source 'synthetic_regression', and data.source is 'digits'",),
    ),
    ({"data.folder": "pets", "data.image_size": 8}, ("folder, image_size are for source 'imagefolder'",)),
    ({"data.noise_std": 0}, ("--set data.noise_std=null",)),
    ({"partition.dominant_share": 0.3}, ("is for labels 'dominant', and partition.labels is 'iid'",)),
    ({"partition.label_concentration": 1}, ("is for labels 'dirichlet'",)),
    ({"partition.size_concentration": 1}, ("is for sizes 'dirichlet', and partition.sizes is 'equal'",)),
    ({"partition.listed_sizes": [5] * 12}, ("listed_sizes is for sizes 'listed'", "listed_sizes=null")),
    ({"training.momentum": 0.9}, ("training", "momentum = 0.9 is for optimizer 'sgd', not 'adam'")),
    ({"data.test_fraction": None}, ("'digits'", "data.test_fraction")),
    ({"data.source": "imagefolder"}, ("'imagefolder'", "data.folder")),
    ({"data.n_train": 100, "partition.min_size": 20}, ("12 users", "20")),
    ({"partition.sizes": "dirichlet"}, ("partition.sizes = 'dirichlet'", "size_concentration")),
    ({"partition.labels": "dominant"}, ("partition.labels = 'dominant'", "dominant_share")),
    (
        {"partition.sizes": "listed", "partition.listed_sizes": [50] * 30},
        ("partition.listed_sizes has 30 values", "network.n_users is 12"),
    ),
    ({"partition.labels": "stratified", "partition.sizes": "equal_floored"}, ("needs sizes = 'equal'",)),
    ({"selection.n_iterations": None}, ("'sa_pause'", "selection.n_iterations")),
    ({"selectors": ["puase"]}, ("selectors.0 = 'puase'", "'pause'")),
    ({"selectors": []}, ("selectors = []",)),
    ({"privacy.sensitivity": None}, ("'coordinate'", "privacy.sensitivity")),
    ({"privacy.mechanism": "vector", "privacy.clip_norm": 1}, ("'vector'", "privacy.sensitivity")),
    ({"privacy.decay": None}, ("'geometric'", "privacy.decay")),
    ({"privacy.schedule": "uniform", "privacy.n_participations": 9}, ("privacy.decay",)),
    ({"privacy.schedule": "listed"}, ("privacy.schedule = 'listed'", "geometric, uniform")),
]


@pytest.mark.parametrize(("changes", "words"), WRONG, ids=[str(changes) for changes, _ in WRONG])
def test_a_wrong_scenario_is_refused(changes: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as error:
        Scenario.read(changed(changes), "scenario")
    assert [word for word in words if word not in str(error.value)] == []


def test_keys_that_are_null_or_usual_and_those_of_a_folder_in_place_of_the_source_may_be_there() -> None:
    usual = {"reward.clusters": "random", "reward.n_clusters": None, "partition.dominant_share": None}
    other = {"data.source": "mnist", "data.image_size": 8}  # of image_folders, which the configuration has
    scenario = Scenario.read(changed(usual | other), "scenario")
    assert (scenario.reward.clusters, scenario.data.image_size) == ("random", 8)
    with pytest.raises(ConfigError, match=r"folder is for source 'imagefolder', and data\.source is 'mnist'"):
        Scenario.read(changed(other | {"data.folder": "pets"}), "scenario")


def test_a_missing_key_is_named() -> None:
    document = shipped()
    del document["network"]["n_users"]
    with pytest.raises(ConfigError, match=re.escape("demo.yaml: missing key 'network.n_users'")):
        Scenario.read(document, "demo.yaml")


def test_a_model_of_images_is_refused_for_data_without() -> None:
    scenario = load_scenario("bsfl_linear_iid", SCENARIOS)
    for model, norm in (("cnn3", "batch"), ("cnn_bsfl", "none")):
        wrong = scenario.replace(model=ModelSettings(name=model, norm=norm))
        with pytest.raises(ConfigError, match=f"model '{model}' needs images, which data.source 'synthetic"):
            check_runnable(wrong, ["bsfl"])
    check_runnable(scenario.replace(model=ModelSettings(name="fc", norm="none")), ["bsfl"])


def test_a_normalisation_the_model_does_not_have_is_refused() -> None:
    scenario = Scenario.read(changed({"model.norm": "batch"}), "scenario")
    with pytest.raises(ConfigError, match=r"'batch' does not apply to model 'fc'\. Allowed: none\."):
        check_runnable(scenario, ["pause"])


def test_a_scenario_in_a_file_of_another_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text(
        (SCENARIOS / "demo_small.yaml").read_text(encoding="utf-8"), encoding="utf-8"
    )
    with pytest.raises(ConfigError, match=r"name = 'demo_small' must equal the file's name, 'other'"):
        load_scenario("other", tmp_path)


def variant(folder: Path, lines: str, base: str = "whole") -> Scenario:
    """Load ``variant.yaml``, some lines on a base; ``whole.yaml`` beside it is the smaller demonstration."""
    whole = (SCENARIOS / "demo_small.yaml").read_text(encoding="utf-8")
    text = whole.replace("name: demo_small", "name: whole").replace("demo_small", "whole")
    (folder / "whole.yaml").write_text(text, encoding="utf-8")
    head = f"name: variant\ntitle: Variant\nbase: {base}\n"
    (folder / "variant.yaml").write_text(head + lines, encoding="utf-8")
    return load_scenario("variant", folder)


def test_a_variant_is_its_base_but_for_what_it_says(tmp_path: Path) -> None:
    lines = "network: {n_selected: 2, latency_std: 0.5}\nselectors: [pause]\nprivacy: null\nfigures: {}\n"
    found = variant(tmp_path, lines)
    whole = load_scenario("whole", tmp_path)
    assert found == whole.replace(
        name="variant",
        title="Variant",
        network=whole.network.replace(n_selected=2, latency_std=0.5),
        selectors=("pause",),
        privacy=None,
        figures={},
        scale="own",
        changed=found.changed,
    )
    assert set(found.changed) == {"network.n_selected", "network.latency_std", "privacy"}
    assert whole.figures
    assert whole.privacy is not None
    assert "base" not in found.as_dict()


@pytest.mark.parametrize(
    ("lines", "base", "words"),
    [
        ("", "whoel", ("base = 'whoel'", "'whole'")),
        ("", "variant", ("base = 'variant'",)),
        ("network: {n_users: 2}\nfigures: {}", "whole", ("network.n_selected",)),
    ],
)
def test_a_wrong_variant_is_refused(lines: str, base: str, words: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        variant(tmp_path, lines, base)
    assert [word for word in ("variant.yaml", *words) if word not in str(error.value)] == []


def test_a_base_has_no_base(tmp_path: Path) -> None:
    variant(tmp_path, "figures: {}\n")
    text = (tmp_path / "variant.yaml").read_text(encoding="utf-8")
    third = text.replace("name: variant", "name: third").replace("base: whole", "base: variant")
    (tmp_path / "third.yaml").write_text(third, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"third\.yaml: base = 'variant' has a base itself"):
        load_scenario("third", tmp_path)


def test_budgets_of_whole_updates_are_those_of_their_coordinates() -> None:
    """One has the budget of the papers' scenario, the other its noise; both clip to its largest L1 norm."""
    base = load_scenario("mnist_large_iid_r1", SCENARIOS).privacy
    update, total = (
        load_scenario(f"mnist_large_iid_r1_{n}", SCENARIOS).privacy for n in ("update", "update_sum")
    )
    n_coordinates = 784 * 32 + 32 + 32 * 16 + 16 + 16 * 10 + 10
    assert n_coordinates == 25_818
    assert update.clip_norm == total.clip_norm == pytest.approx(n_coordinates * base.sensitivity / 2)
    assert update.epsilon_total == base.epsilon_total
    assert total.epsilon_total == n_coordinates * base.epsilon_total


def test_settings_recorded_with_keys_that_are_gone_are_read_if_they_ask_for_what_is_done_now() -> None:
    scenario = load_scenario("demo_small", SCENARIOS)
    now = scenario.job_settings("pause")
    recorded = now | {"training": now["training"] | {"proximal": 0.0, "precision": "float32"}}
    assert as_of_today({"scenario": recorded, "selector": "pause"}) == now
    recorded["training"]["proximal"] = 0.1
    assert as_of_today({"scenario": recorded, "selector": "pause"}) == recorded


def test_a_constant_that_became_a_key_has_the_value_that_it_had() -> None:
    """In settings that were recorded without it, and only of the selector that is made from it."""
    scenario = load_scenario("bsfl_linear_noniid", SCENARIOS)
    recorded = scenario.job_settings("pause")
    assert "queue_weight" not in recorded["selection"]
    before = as_of_today({"scenario": recorded, "selector": "cs_ucb_q"})
    assert before["selection"]["queue_weight"] == 0.5
    assert scenario.job_settings("cs_ucb_q")["selection"]["queue_weight"] == 0.1
    assert as_of_today({"scenario": recorded, "selector": "pause"}) == recorded
    now = {"scenario": scenario.job_settings("cs_ucb_q"), "selector": "cs_ucb_q"}
    assert as_of_today(now) == now["scenario"]


# The scenarios as run have the settings of the authors' logs

V1, BEST_GAIN = "sa_pause_v1", "sa_pause_best_gain"

#: By scenario: alpha, beta, gamma, zeta; Delta, eps_bar; annealer, J, kappa; rounds, simulated seconds.
LOGS = {
    "cifar10_small_iid_r1_as_run": ((100, 2, 5, 1), (0.012, 40), (V1, 1000, 70), (300, None)),
    "cifar10_small_iid_r2_as_run": ((100, 2, 5, 1), (0.012, 40), (BEST_GAIN, 100, 1), (300, 600)),
    "cifar10_small_noniid_r1_as_run": ((20, 2, 40, 1), (0.012, 100), (V1, 500, 70), (400, None)),
    "cifar10_small_noniid_r1_as_run_dirichlet": ((20, 2, 40, 1), (0.012, 100), (V1, 500, 70), (400, None)),
    "mnist_large_iid_r1_as_run": ((20, 1, 10, 2), (0.003, 10), (BEST_GAIN, 100, 1), (400, 200)),
    "mnist_large_iid_r1_v1_as_run": ((20, 1, 10, 3), (0.003, 20), (V1, 3000, 70), (300, None)),
    "cifar10_large_noniid_r1_as_run": ((10, 2, 20, 1), (0.004, 10), (BEST_GAIN, 100, 1), (600, 300)),
    "cifar10_large_noniid_r2_as_run": ((10, 2, 20, 1), (0.004, 10), (BEST_GAIN, 100, 1), (600, 300)),
    "cifar10_large_noniid_r1_v1_as_run": ((10, 2, 10, 4), (0.004, 10), (V1, 4000, 70), (500, None)),
    "cifar10_large_noniid_r1_cnn5_as_run": ((10, 2, 40, 2), (0.004, 15), (BEST_GAIN, 100, 1), (800, 400)),
}


def test_there_is_one_for_every_log() -> None:
    files = {path.stem for path in SCENARIOS.glob("*_as_run*.yaml")}
    assert files == set(LOGS) == set(LOGGED)


@pytest.mark.parametrize("name", LOGS)
def test_the_settings_are_those_of_the_logs(name: str) -> None:
    as_run = load_scenario(name, SCENARIOS)
    reward, privacy, selection, training = as_run.reward, as_run.privacy, as_run.selection, as_run.training
    weights, budget, (annealer, *search), ends = LOGS[name]
    assert (reward.alpha, reward.beta, reward.gamma, selection.exploitation) == weights
    assert (privacy.sensitivity, privacy.epsilon_total) == budget
    assert annealer in as_run.selectors
    assert [selection.n_iterations, selection.temperature_divisor] == search
    assert (training.n_rounds, training.time_horizon_s) == ends


def test_the_penalties_of_r2_are_those_of_the_logs() -> None:
    """In the objective 0.05 and 0.01 an overlap, which alpha multiplies here."""
    for name, n_clusters, penalty in (
        ("cifar10_small_iid_r2_as_run", 6, 0.05),
        ("cifar10_large_noniid_r2_as_run", 20, 0.01),
    ):
        reward = load_scenario(name, SCENARIOS).reward
        assert (reward.name, reward.clusters, reward.n_clusters) == ("r2", "index", n_clusters)
        assert reward.alpha * reward.overlap_penalty == pytest.approx(penalty)
        assert reward.overlap_latency == penalty
    others = [name for name in LOGS if "_r2_" not in name]
    assert {load_scenario(name, SCENARIOS).reward.name for name in others} == {"r1"}
