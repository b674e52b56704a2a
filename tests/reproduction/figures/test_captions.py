"""Captions of the report: every one renders, and has the numbers and deviations that belong to it."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from pausefl.analysis.figures.kinds import figures_of
from pausefl.reproduction.figures import captions
from pausefl.reproduction.figures.captions import MOST_WORDS
from pausefl.reproduction.figures.deviations import DEVIATIONS, applying
from pausefl.reproduction.report.text import markdown
from pausefl.reproduction.studies import load_studies
from pausefl.reproduction.studies.words import caption as caption_of
from pausefl.settings import load_scenario, scenario_names
from pausefl.settings import scenario as config

ROOT = Path(__file__).parents[3]
SCENARIOS = ROOT / "config/scenarios"
STUDIES = load_studies(ROOT / "config/studies.yaml", SCENARIOS)
CAPTIONS = captions.KINDS


def words_of(text: str) -> str:
    """Plain text of Markdown."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markdown(text))).split())


def caption(kind: str, scenario: config.Scenario, seeds: tuple[int, ...] = (0, 1, 2)) -> str:
    made = captions.caption(kind, scenario, seeds, "MNIST_files (*checked*)")
    return words_of(f"{made.shown}\n\n{made.details}").replace(" .", ".").replace(" ,", ",")


@pytest.mark.parametrize("kind", CAPTIONS)
def test_a_caption_states_the_scenario(kind: str, scenario: config.Scenario) -> None:
    text = caption(kind, scenario)
    wanted = ["0, 1, 2", "MNIST_files (*checked*)", "311 users", "deviation ledger"]
    wanted += ["17 selected", "293 rounds", "ε = 37 per coordinate", "sensitivity 0.0031", "D8:"]
    assert [words for words in wanted if words not in text] == []


@pytest.mark.parametrize("kind", CAPTIONS)
def test_every_shipped_scenario_has_captions_of_few_words(kind: str) -> None:
    for name in scenario_names(SCENARIOS):
        caption = captions.caption(kind, load_scenario(name, SCENARIOS), (3,), "files")
        assert 3 < len(words_of(caption.shown).split()) <= MOST_WORDS
        assert "3" in caption.details


@pytest.mark.parametrize("kind", CAPTIONS)
def test_a_caption_without_privacy_or_figures(kind: str, scenario: config.Scenario) -> None:
    text = caption(kind, scenario.replace(privacy=None, figures={}, selectors=("random",)), seeds=(4,))
    assert "ε = " not in text
    assert not re.search(r"D\d+:", text)


VECTOR = config.PrivacySettings(
    epsilon_total=37,
    mechanism="vector",
    clip_norm=0.5,
    schedule="uniform",
    n_participations=60,
    sampler="secure",
)


def test_a_caption_says_what_is_protected_and_how(scenario: config.Scenario) -> None:
    text = caption("leakage_vs_time", scenario.replace(privacy=VECTOR))
    assert [words for words in ("ε = 37", "L1 norm 0.5", "60 participations") if words not in text] == []
    assert "D8" not in text
    assert "per coordinate" not in text
    coordinate = config.PrivacySettings(epsilon_total=37, decay=0.04, sensitivity=0.1)
    text = caption("leakage_vs_time", scenario.replace(privacy=coordinate))
    wanted = ["ε = 37 per coordinate", "sensitivity 0.1", "D8"]
    assert [words for words in wanted if words not in text] == []


def test_a_caption_says_which_share_pays_for_losses(scenario: config.Scenario) -> None:
    assert scenario.privacy is not None
    paid = scenario.replace(privacy=scenario.privacy.replace(loss_share=0.1, loss_bound=2.0))
    words = "A share of 0.1 of each budget pays for the training loss"
    assert words in caption("leakage_vs_time", paid)
    assert words not in caption("leakage_vs_time", scenario)


@pytest.mark.parametrize("kind", CAPTIONS)
def test_captions_say_what_was_changed(kind: str, scenario: config.Scenario) -> None:
    settings = {"training.n_rounds": 900, "training.max_batches": 100}
    other = scenario.replace(scale="own", changed=settings)
    assert "900" in caption(kind, other)
    assert "900" not in caption(kind, scenario)


def ids(scenario: config.Scenario, kind: str = "leakage_vs_time") -> list[str]:
    return [text.split(":")[0] for text in applying(captions.deviations_of(kind), scenario)]


def test_only_deviations_that_apply(scenario: config.Scenario) -> None:
    assert ids(scenario) == ["D1", "D2", "D3", "D4", "D8", "D9", "D10"]
    assert "D9" not in ids(scenario.replace(model=config.ModelSettings(name="cnn3", norm="group")))
    assert "D9" not in ids(scenario.replace(model=config.ModelSettings(name="fc", norm="none")))
    assert "D10" not in ids(scenario.replace(name="cifar10_small_iid_r1"))
    assert "D1" not in ids(scenario.replace(selectors=("pause",)))
    assert ids(scenario.replace(privacy=None)) == ["D1", "D2", "D4"]
    by_gain = scenario.replace(name="s", selectors=("pause", "sa_pause_best_gain"))
    assert ids(by_gain) == ["D3", "D8", "D9", "D77"]


@pytest.mark.parametrize("name", STUDIES)
def test_the_caption_of_a_study_renders_with_its_deviations(name: str) -> None:
    study = STUDIES[name]
    named = study.in_scenario and load_scenario(study.in_scenario.name, SCENARIOS)
    figures = figures_of(named) if named else {}
    caption = caption_of(study, figures)
    text = words_of(caption.details)
    assert re.findall(r"D\d+: ", text)


def test_every_deviation_is_in_the_ledger() -> None:
    ledger = (ROOT / "docs/deviations.md").read_text("utf-8")
    assert {name for kind in CAPTIONS for name in captions.deviations_of(kind)} <= set(DEVIATIONS)
    assert all(f"| {name} |" in ledger for name in DEVIATIONS)
