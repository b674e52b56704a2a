"""Captions of the report: every template renders whole, and says what it has to."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest

from pausefl import registry
from pausefl.errors import PauseflError
from pausefl.figures import captions, papers
from pausefl.registry import FIGURES, TABLES
from pausefl.settings import load_scenario
from pausefl.settings import scenario as config
from pausefl.settings.studies import load_studies

ROOT = Path(__file__).parents[3]
SCENARIOS = ROOT / "config/scenarios"
STUDIES = load_studies(ROOT / "config/studies.yaml", SCENARIOS)
CAPTIONS = (*FIGURES, *TABLES, "partition")
RECORDS = (*FIGURES.values(), *TABLES.values(), *registry.STUDIES.values())


def changed(settings: Any, **changes: Any) -> Any:
    return settings.replace(**changes)


def words_of(rst: str) -> str:
    """Plain text of a caption; markup that docutils complains about fails the test."""
    core = pytest.importorskip("docutils.core")
    complaints = io.StringIO()
    html = core.publish_parts(rst, writer="html", settings_overrides={"warning_stream": complaints})[
        "html_body"
    ]
    assert complaints.getvalue() == ""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def caption(kind: str, scenario: config.Scenario, seeds: tuple[int, ...] = (0, 1, 2)) -> str:
    return words_of(captions.caption(kind, scenario, seeds, "MNIST_files (checked)"))


@pytest.mark.parametrize("kind", CAPTIONS)
def test_a_caption_states_the_scenario(kind: str, scenario: config.Scenario) -> None:
    text = caption(kind, scenario)
    wanted = ["0, 1, 2", "MNIST_files (checked)", "MNIST_large *i.i.d.*", "311 users", "deviation ledger"]
    if kind != "partition":
        wanted += ["17 selected", "293 rounds", "ε = 37 per coordinate", "sensitivity 0.0031", "D8:"]
    assert [words for words in wanted if words not in text] == []


@pytest.mark.parametrize("kind", CAPTIONS)
def test_a_caption_without_privacy_or_figures(kind: str, scenario: config.Scenario) -> None:
    text = caption(kind, changed(scenario, privacy=None, figures={}, selectors=("random",)), seeds=(4,))
    assert "In the papers. none." in text
    assert "none that bears on this" in text
    assert "budget of" not in text
    assert "means over" not in text


VECTOR = config.PrivacySettings(
    epsilon_total=37,
    mechanism="vector",
    clip_norm=0.5,
    schedule="uniform",
    n_participations=60,
    sampler="secure",
)
LISTED = config.PrivacySettings(epsilon_total=37, sensitivity=0.1, schedule="listed", budgets=(30.0, 7.0))


@pytest.mark.parametrize("kind", [*FIGURES, *TABLES])
def test_a_caption_says_what_is_protected_and_how(kind: str, scenario: config.Scenario) -> None:
    text = caption(kind, changed(scenario, privacy=VECTOR))
    for words in (
        "ε = 37 for its updates as a whole",
        "L1 norm 0.5",
        "60 participations",
        "repeated exactly",
    ):
        assert words in text
    assert "D8" not in text
    assert "per coordinate" not in text
    text = caption(kind, changed(scenario, privacy=LISTED))
    assert "ε = 37 per coordinate; sensitivity 0.1 per coordinate. It is spread over 2 participations" in text
    assert "D8" in text


def test_a_regression_has_a_squared_error_and_no_accuracy(
    scenario: config.Scenario, regression: config.DataSettings
) -> None:
    linear = changed(scenario, data=regression)
    for kind in ("summary", "loss_vs_time"):
        assert "squared error" in caption(kind, linear)
        assert "squared error" not in caption(kind, scenario)
    assert "best accuracy" not in caption("summary", linear)


def test_users_are_lines_or_quantiles(scenario: config.Scenario) -> None:
    few = changed(scenario, network=changed(scenario.network, n_users=captions.MOST_LINES, n_selected=5))
    assert "Each thin line is one user" in caption("spending_vs_rounds", few)
    assert "The pale band holds all users" in caption("spending_vs_rounds", scenario)


def test_fedavg_is_mentioned_where_it_runs(scenario: config.Scenario) -> None:
    assert "FedAvg takes all users" not in caption("summary", scenario)
    assert "FedAvg takes all users" in caption("summary", changed(scenario, selectors=("pause", "fedavg")))


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("pause_v2_fig10", "PAUSE v2, Fig. 10"),
        ("bsfl_fig7b", "BSFL, Fig. 7b"),
        ("bsfl_fig7_loss", "BSFL, Fig. 7"),
        ("reduced_pause_v2_fig10", "PAUSE v2, Fig. 10, reduced"),
        ("reduced_bsfl_fig7_loss", "BSFL, Fig. 7, reduced"),
        ("authors_mnist_small_loss", "none, but the authors' released runs"),
        ("group_cifar10_loss", "none, but a setting of the papers with group normalisation"),
        ("reduced_group_cifar10_loss", "none, but a setting of the papers with group normalisation, reduced"),
        ("beyond_mnist_loss", "none"),
        ("demo_small_loss", "none"),
        ("privacy_mnist_large_iid_r1_signal", "none"),
        ("odd_name", "odd name"),
    ],
)
def test_paper_figures(key: str, name: str, scenario: config.Scenario) -> None:
    scenario = changed(scenario, figures={key: "loss_vs_time", "bsfl_fig1": "leakage_vs_time"})
    assert captions.paper_figures(scenario, "loss_vs_time") == name
    assert captions.paper_figures(scenario, "summary") == "none"


def test_figures_in_parts() -> None:
    names = [
        "bsfl_fig5_loss",
        "pause_v2_fig8",
        "bsfl_fig5_regret",
        "reduced_bsfl_fig6_loss",
        "demo_small_loss",
    ]
    assert papers.wholes(names) == {
        "bsfl_fig5": ["bsfl_fig5_loss", "bsfl_fig5_regret"],
        "reduced_bsfl_fig6": ["reduced_bsfl_fig6_loss"],
    }


@pytest.mark.parametrize("kind", CAPTIONS)
def test_captions_say_what_was_reduced(kind: str, scenario: config.Scenario) -> None:
    settings = {"training.n_rounds": 900, "training.max_batches": 100}
    reduced = changed(scenario, scale="reduced", reduced=settings)
    said = "Reduced: 293 rounds (full scale: 900), at most 100 mini-batches (100)."
    text = caption(kind, reduced)
    # Users share the same data whatever is reduced of the training.
    assert (said in text) == (kind != "partition")
    assert "Reduced" not in caption(kind, scenario)
    assert "Demo: " in caption(kind, changed(scenario, scale="demo"))


def ids(scenario: config.Scenario, kind: str = "leakage_vs_time") -> list[str]:
    return [text.split(":")[0] for text in captions.scenario_deviations(kind, scenario)]


def test_only_deviations_that_apply(scenario: config.Scenario) -> None:
    assert ids(scenario) == ["D1", "D2", "D3", "D4", "D8", "D9", "D10"]
    assert ids(scenario, "partition") == []
    assert "D9" not in ids(changed(scenario, model=config.ModelSettings(name="cnn3", norm="group")))
    assert "D9" not in ids(changed(scenario, model=config.ModelSettings(name="fc", norm="none")))
    assert "D10" not in ids(changed(scenario, name="cifar10_small_iid_r1"))
    assert "D1" not in ids(changed(scenario, selectors=("pause",)))
    assert ids(changed(scenario, privacy=None)) == ["D1", "D2", "D4"]


def test_deviations_of_evaluations(scenario: config.Scenario) -> None:
    seldom = changed(scenario, training=changed(scenario.training, evaluate_every=5, precision="bfloat16"))
    assert {"D67", "D68"} <= set(ids(seldom, "accuracy_vs_time"))
    assert "D68" not in ids(seldom, "leakage_vs_time")
    assert not {"D67", "D68"} & set(ids(scenario, "accuracy_vs_time"))


def test_captions_cannot_be_blank(scenario: config.Scenario) -> None:
    with pytest.raises(PauseflError, match="where their data came from"):
        captions.caption("summary", scenario, [0], " ")
    with pytest.raises(PauseflError, match="at least one seed"):
        captions.caption("summary", scenario, [], "files")
    with pytest.raises(PauseflError, match="Did you mean 'partition'"):
        captions.caption("partitions", scenario, [0], "files")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("bsfl_fig5_regret", ["20 users, 5 selected", "rounds from 1000 on", "Theorem 3", "D1:", "D30:"]),
        ("pause_v2_theorem3_large", ["ζ = 1.0", "per coordinate", "D5:", "D11:", "D49:"]),
        ("annealing_gap_r1", ["15 selected in each of 300 rounds", "ζ = 3.0", "D31:", "D36:", "D8:"]),
        ("selection_cifar10_small_iid_r1", ["In the papers. PAUSE v2, Fig. 4; PAUSE v1, Fig. 3", "D25:"]),
        ("bsfl_fig4", ["alsa against sa_bsfl", "25 of 500 users", "(1, 30, 1000)", "α = 100,", "D35:"]),
        ("bsfl_fig3", ["4 of 8 users", "1000 instances", "D7:"]),
        ("pause_v2_table1", ["10 % of K users", "3000 iterations", "more than 2 s", "Table I", "D36:"]),
        ("privacy_audit", ["coordinate, vector", "100,000 trials", "99 %", "simulated", "D8:"]),
        ("bsfl_fig2", ["5 of 20 users", "β = 1, 2, 3, 5", "D71:"]),
    ],
)
def test_captions_of_studies(name: str, words: list[str]) -> None:
    study = STUDIES.study(name)
    figures = load_scenario(study.scenario.name, SCENARIOS).figures if hasattr(study, "scenario") else {}
    text = words_of(captions.study_caption(STUDIES.kind(name), study, figures))
    assert [phrase for phrase in (study.title, *words) if phrase not in text] == []


def test_a_study_lists_the_deviations_that_apply() -> None:
    exact = STUDIES.study("annealing_gap_r1")
    exact = changed(exact, scenario=changed(exact.scenario, selectors=("pause",), privacy=None))
    assert [text.split(":")[0] for text in captions.study_deviations("optimality_gap", exact)] == [
        "D31",
        "D36",
    ]


def test_every_deviation_is_in_the_ledger() -> None:
    ledger = (ROOT / "docs/deviations.md").read_text("utf-8")
    listed = {name for record in RECORDS for name in record.deviations}
    assert listed <= set(captions.DEVIATIONS)
    assert all(f"| {name} |" in ledger for name in captions.DEVIATIONS)
