"""Studies of selection alone and audits, run in a small configuration."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from workspace import TINY_STUDIES, Checkout


@pytest.fixture
def copy(everything: Checkout, tmp_path: Path) -> Checkout:
    """A copy of the checkout with studies that a test may change."""
    return everything.copy(tmp_path / "copy")


def test_studies_need_no_data_and_no_runs(checkout: Checkout) -> None:
    checkout.write_config(studies="config/studies.yaml")
    checkout.write_studies(TINY_STUDIES)
    assert {rule.split("_")[0] for rule in checkout.planned("studies")} == {"compute", "plot", "study"}


@pytest.mark.slow
def test_studies_end_in_figures_and_tables(everything: Checkout) -> None:
    for name in (name for kind in TINY_STUDIES.values() for name in kind):
        folder = everything.root / "results/studies" / name
        for extension in ("png", "pdf", "json"):
            assert (folder / f"{name}.{extension}").stat().st_size > 0
        assert list(folder.glob("*.csv")) or list(folder.glob("*.parquet"))
    assert everything.planned("all", "studies", "claims") == {}


@pytest.mark.slow
def test_a_study_of_trained_runs_collects_jobs_and_shares_those_that_are_there(
    finished: Checkout, tmp_path: Path
) -> None:
    checkout = finished.copy(tmp_path / "trained")
    study = {
        "title": "Tiny trained knobs",
        "scenario": "tiny",
        "selectors": ["pause", "random"],
        "seeds": [0],
        "knobs": [{"key": "privacy.epsilon_total", "values": [1]}],
        "variants": {"no_p": {"reward.gamma": 0}},
    }
    checkout.write_config(studies="config/studies.yaml")
    checkout.write_studies({"trained_knobs": {"tiny_trained": study}})
    # Random selection as usual; both with another budget; PAUSE without the privacy term.
    collected = {"compute_trained_knobs": 1, "plot_trained_knobs": 1, "tiny_trained": 1}
    assert checkout.planned("tiny_trained") == {"job": 4, **collected}
    checkout.snakemake("--cores", "2", "tiny_trained")
    folder = checkout.root / "results/studies/tiny_trained"
    summary = pd.read_csv(folder / "summary.csv")
    assert summary["value"].tolist() == ["usual", "1", "no_p"]
    assert (folder / "tiny_trained.png").stat().st_size > 0
    assert checkout.planned("tiny_trained") == {}


@pytest.mark.slow
def test_the_exact_search_has_less_regret(everything: Checkout) -> None:
    growth = pd.read_csv(everything.root / "results/studies/tiny_regret/growth.csv")
    regret = growth[growth.seed == "mean"].set_index("selector").regret
    assert 0 < regret["pause"] < regret["random"]


@pytest.mark.slow
def test_a_title_is_plotted_anew_and_more_seeds_are_simulated_alone(copy: Checkout) -> None:
    copy.edit("config/studies.yaml", "title: Tiny regret", "title: Other title")
    assert copy.planned("tiny_regret") == {}  # figures have no titles unless asked for
    titled = ("--config", "titles=True", "--", "tiny_regret")
    assert copy.planned(*titled) == {"plot_regret": 1}
    study = TINY_STUDIES["regret"]["tiny_regret"] | {"seeds": [0, 1, 2]}
    copy.write_studies(TINY_STUDIES | {"regret": {"tiny_regret": study}})
    assert copy.planned("tiny_regret") == {"compute_regret": 2, "plot_regret": 1}


@pytest.mark.slow
def test_a_selector_that_is_edited_is_simulated_again_and_no_other(copy: Checkout) -> None:
    path = "src/pausefl/selectors/baselines.py"
    copy.edit(path, "np.sort(rng.choice(history.candidates()", "np.sort(rng.choice(+history.candidates()")
    assert copy.planned("tiny_regret") == {"compute_regret": 2, "plot_regret": 1}


@pytest.mark.slow
def test_an_audit_of_noise_that_is_too_small_fails_and_names_the_claims(copy: Checkout) -> None:
    verdict = copy.root / "results/studies/tiny_audit/verdict.txt"
    assert verdict.read_text("utf-8") == "None of 20 claims is refuted.\n"
    path = "src/pausefl/privacy/mechanisms.py"
    copy.edit(path, "return self.sensitivity / epsilon", "return 0.2 * self.sensitivity / epsilon")
    assert copy.planned("tiny_audit") == {"compute_audit": 1, "plot_audit": 1, "study_verdict": 1}
    output = copy.snakemake("--cores", "1", "tiny_audit", ok=False)
    assert "vector (simulated), epsilon 1, one coordinate: " in output
    assert not verdict.exists()
    assert "**VIOLATED: " in (verdict.parent / "summary.md").read_text("utf-8")
