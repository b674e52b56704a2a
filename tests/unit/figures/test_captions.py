"""Captions of the report: every template renders whole, and says what it has to."""

from __future__ import annotations

import dataclasses
import io
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jinja2
import pytest

from pausefl.errors import PauseflError
from pausefl.figures import captions
from pausefl.figures.notes import SidecarNotes
from pausefl.registry import FIGURES
from pausefl.settings import scenario as config

REPORT = Path(__file__).parents[3] / "workflow" / "report"

#: What each caption has to say, whatever the scenario.
REQUIRED = {
    "accuracy_vs_time": [
        "moving average over 10 rounds",
        "minimum and maximum",
        "slowest participant",
        "target",
    ],
    "loss_vs_time": ["moving average over 10 rounds", "minimum and maximum", "slowest participant"],
    "leakage_vs_time": ["per coordinate", "minimum and maximum", "slowest participant", "not drawn", "step"],
    "leakage_vs_rounds": ["per coordinate", "minimum and maximum", "counts rounds", "not drawn", "step"],
    "spending_vs_rounds": ["first seed, 0", "holds all users", "added up", "takes part once", "not drawn"],
    "signal_vs_rounds": [
        "half the clamp width",
        "10 % and the 90 % quantile",
        "may still take part",
        "pooled",
    ],
    "privacy": ["median user", "fixed in advance", "not a filter", "Unprotected values"],
    "summary": ["standard deviations", "last 10 rounds", "90 %", "not reached"],
    "partition": ["number of examples", "same for every"],
}

#: What the kinds of figures with bands over seeds begin with.
BANDED = {"accuracy", "loss", "leakage"}

REGRESSION = config.DataSettings(
    "synthetic_regression", 0, test_fraction=0.2, n_examples=100, n_features=3, noise_std=0.1
)


@pytest.fixture
def scenario() -> config.Scenario:
    return config.Scenario(
        name="mnist_large_iid_r1",
        title="MNIST_large *i.i.d.*",
        data=config.DataSettings("mnist", 10),
        partition=config.PartitionSettings("iid", "equal", 20, "equal"),
        network=config.NetworkSettings(311, 17, 0.05, 0.2, 0.7, 0.9, 0.05),
        reward=config.RewardSettings("r1", 100, 2, 5),
        selection=config.SelectionSettings(1, 500, 30),
        model=config.ModelSettings("cnn3", "batch"),
        training=config.TrainingSettings(293, 1, 20, 100, 0.01, "persist"),
        selectors=("pause", "sa_pause"),
        figures={
            "pause_v2_fig8": "accuracy_vs_time",
            "pause_v1_fig6": "accuracy_vs_time",
            "bsfl_fig7b": "loss_vs_time",
            "odd_name": "leakage_vs_time",
        },
        privacy=config.PrivacySettings(37, 0.04, 0.0031),
    )


def render(name: str, snakemake: Any) -> str:
    """Render as Snakemake does, except that a missing variable is an error."""
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    text = (REPORT / f"{name}.rst").read_text(encoding="utf-8")
    return environment.from_string(text).render(snakemake=snakemake, categories={}, files=[])


def words_of(rst: str) -> str:
    """Plain text of a caption; markup that docutils complains about fails the test."""
    core = pytest.importorskip("docutils.core")
    complaints = io.StringIO()
    html = core.publish_parts(rst, writer="html", settings_overrides={"warning_stream": complaints})[
        "html_body"
    ]
    assert complaints.getvalue() == ""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def caption(
    kind: str, scenario: config.Scenario, seeds: tuple[int, ...] = (0, 1, 2), sidecar: str = "nowhere.json"
) -> str:
    facts = captions.caption_facts(scenario, seeds, "MNIST_files (checked)", kind)
    params = SimpleNamespace(caption=facts, notes=SidecarNotes(sidecar))
    return render(kind, SimpleNamespace(params=params))


def has_no_blank(text: str) -> bool:
    """Whether no sentence has a hole where a value should be."""
    return not re.search(r"(= |: |over |, )[.;,)]|\(\s*\)|\bNone\b per|\*\*\s*:|None", text)


def test_every_caption_has_facts_and_every_kind_a_caption() -> None:
    assert {path.stem for path in REPORT.glob("*.rst")} >= {*captions.CAPTIONS, "workflow"}


@pytest.mark.parametrize("kind", captions.CAPTIONS)
def test_caption_is_whole(kind: str, scenario: config.Scenario) -> None:
    text = words_of(caption(kind, scenario))
    assert has_no_blank(text.replace("None:", "")), text
    for words in [
        *REQUIRED[kind],
        "3 seeds",
        "(0, 1, 2)",
        "MNIST_files (checked)",
        "MNIST_large *i.i.d.*",
        "311",
    ]:
        assert words in text, words
    assert "deviation ledger" in text
    if kind != "partition":
        for words in ("17 selected", "293 rounds", "ε = 37 per coordinate", "sensitivity 0.0031", "D8:"):
            assert words in text, words


@pytest.mark.parametrize("kind", captions.CAPTIONS)
def test_caption_without_privacy_or_figures(kind: str, scenario: config.Scenario) -> None:
    bare = dataclasses.replace(scenario, privacy=None, figures={}, selectors=("random",))
    text = words_of(caption(kind, bare, seeds=(4,)))
    assert has_no_blank(text.replace("None:", "")), text
    assert "1 seed (4)" in text
    assert "papers. none." in re.sub(r"\s+", " ", text)
    assert "none that bears on this" in text
    assert "budget of" not in text


VECTOR = config.PrivacySettings(
    37, mechanism="vector", clip_norm=0.5, schedule="uniform", n_participations=60, sampler="secure"
)


@pytest.mark.parametrize("kind", [kind for kind in captions.CAPTIONS if kind != "partition"])
def test_captions_say_what_is_protected_and_how(kind: str, scenario: config.Scenario) -> None:
    text = words_of(caption(kind, dataclasses.replace(scenario, privacy=VECTOR)))
    assert has_no_blank(text.replace("None:", "")), text
    assert "ε = 37 for its updates as a whole, which are clipped to L1 norm 0.5" in text
    assert "spread evenly over 60 participations; there are no more" in text
    assert "no run can be repeated exactly" in text
    assert "D8" not in text
    assert "per coordinate" not in text
    listed = config.PrivacySettings(37, sensitivity=0.1, schedule="listed", budgets=(30.0, 7.0))
    text = words_of(caption(kind, dataclasses.replace(scenario, privacy=listed)))
    assert "ε = 37 per coordinate; sensitivity 0.1 per coordinate. It is spread over 2 participations" in text
    assert "D8" in text


def test_captions_of_a_regression_speak_of_no_accuracy(scenario: config.Scenario) -> None:
    linear = dataclasses.replace(scenario, data=REGRESSION)
    assert captions.is_regression(linear)
    assert not captions.is_regression(scenario)
    for kind in ("summary", "loss_vs_time"):
        text = words_of(caption(kind, linear))
        assert "mean squared error" in text
        assert "mean squared error" not in words_of(caption(kind, scenario))
        assert "slowest participant" in text
    assert "best accuracy" not in words_of(caption("summary", linear))


def test_facts_are_exactly_these(scenario: config.Scenario) -> None:
    assert captions.caption_facts(scenario, [2, 0, 2], "files", "accuracy_vs_time") == {
        "title": r"MNIST\_large \*i.i.d.\*",
        "scale": "",
        "seeds": [0, 2],
        "n_rounds": 293,
        "n_users": 311,
        "n_selected": 17,
        "epsilon_total": 37,
        "privacy": "Each user has a budget of ε = 37 per coordinate; sensitivity 0.0031 per coordinate.",
        "leakage": captions._LEAKAGE["coordinate"],
        "protected": "coordinate",
        "signal": "half the clamp width",
        "few_users": False,
        "regression": False,
        "origin": "files",
        "paper_figures": "PAUSE v2, Fig. 8; PAUSE v1, Fig. 6",
        "deviations": [
            f"{name}: {words}"
            for name, words, _ in captions._DEVIATIONS
            if name in {"D1", "D2", "D3", "D4", "D8", "D9", "D10"}
        ],
    }


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
    scenario = dataclasses.replace(scenario, figures={key: "loss_vs_time", "bsfl_fig1": "other"})
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
    assert captions.wholes(names) == {
        "bsfl_fig5": ["bsfl_fig5_loss", "bsfl_fig5_regret"],
        "reduced_bsfl_fig6": ["reduced_bsfl_fig6_loss"],
    }


@pytest.mark.parametrize("kind", captions.CAPTIONS)
def test_captions_say_what_was_reduced(kind: str, scenario: config.Scenario) -> None:
    changed = {"training.n_rounds": 900, "training.max_batches": 100}
    reduced = dataclasses.replace(scenario, scale="reduced", reduced=changed)
    said = "Reduced: 293 rounds (full scale: 900), at most 100 mini-batches (100)."
    text = words_of(caption(kind, reduced))
    # Users share the same data whatever is reduced of the training.
    assert (said in text) == (kind != "partition")
    assert "Reduced" not in words_of(caption(kind, scenario))
    assert "Demo: " in words_of(caption(kind, dataclasses.replace(scenario, scale="demo")))


@pytest.mark.parametrize("kind", FIGURES)
def test_captions_have_the_notes_of_the_figure(kind: str, scenario: config.Scenario, tmp_path: Path) -> None:
    sidecar = tmp_path / "figure.json"
    sidecar.write_text(json.dumps({"notes": ["One seed only (4).", "Diverged: *all*."]}), "utf-8")
    text = words_of(caption(kind, scenario, seeds=(4,), sidecar=str(sidecar)))
    assert "One seed only (4). Diverged: *all*." in text
    assert "One seed only" not in words_of(caption(kind, scenario, seeds=(4,)))


@pytest.mark.parametrize("kind", [kind for kind in FIGURES if kind.split("_")[0] in BANDED])
def test_of_one_seed_no_band_is_told(kind: str, scenario: config.Scenario) -> None:
    text = words_of(caption(kind, scenario, seeds=(4,)))
    assert "of 1 seed (4), so there are no bands" in text
    assert "minimum and maximum" not in text


def ids(scenario: config.Scenario, kind: str = "leakage_vs_time") -> list[str]:
    facts = captions.caption_facts(scenario, [0], "files", kind)
    return [text.split(":")[0] for text in facts["deviations"]]


def test_only_deviations_that_apply(scenario: config.Scenario) -> None:
    assert ids(scenario) == ["D1", "D2", "D3", "D4", "D8", "D9", "D10"]
    assert ids(scenario, "partition") == []
    assert "D9" not in ids(dataclasses.replace(scenario, model=config.ModelSettings("cnn3", "group")))
    assert "D9" not in ids(dataclasses.replace(scenario, model=config.ModelSettings("fc", "batch")))
    assert "D10" not in ids(dataclasses.replace(scenario, name="cifar10_small_iid_r1"))
    assert "D1" not in ids(dataclasses.replace(scenario, selectors=("pause",)))
    assert ids(dataclasses.replace(scenario, privacy=None)) == ["D1", "D2", "D4"]


def test_facts_cannot_be_blank(scenario: config.Scenario) -> None:
    with pytest.raises(PauseflError, match="where their data came from"):
        captions.caption_facts(scenario, [0], " ", "summary")
    with pytest.raises(PauseflError, match="at least one seed"):
        captions.caption_facts(scenario, [], "files", "summary")
    with pytest.raises(PauseflError, match="Did you mean 'partition'"):
        captions.caption_facts(scenario, [0], "files", "partitions")


def test_workflow_description_names_every_deviation() -> None:
    text = words_of(render("workflow", SimpleNamespace(config={})))
    assert has_no_blank(text), text
    for name in ("D1", "D2", "D3", "D4", "D8", "D9", "D10", "D11"):
        assert name in text
