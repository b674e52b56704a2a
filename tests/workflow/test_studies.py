"""Studies of selection alone, audits and verdicts on claims, in a small configuration."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from workspace import TINY_CLAIMS, TINY_STUDIES, Checkout


@pytest.fixture
def copy(everything: Checkout, tmp_path: Path) -> Checkout:
    """A copy of the checkout with studies that a test may change."""
    return everything.copy(tmp_path / "copy")


def test_studies_need_no_data_and_no_runs(checkout: Checkout) -> None:
    checkout.write_config(studies="config/studies.yaml")
    checkout.write_studies(TINY_STUDIES)
    assert checkout.planned("studies") == {"study": 10, "plot_study": 10, "verdict": 1}


@pytest.mark.slow
def test_studies_end_in_figures_and_tables(everything: Checkout) -> None:
    results = everything.root / "results"
    for name in (name for kind in TINY_STUDIES.values() for name in kind):
        for extension in ("png", "pdf", "json"):
            assert (results / f"figures/{name}.{extension}").stat().st_size > 0
        folder = results / "studies" / name
        assert list(folder.glob("*.csv")) or list(folder.glob("*.parquet"))
    assert (results / "verdicts/tiny_audit.txt").read_text("utf-8") == "None of 20 claims is refuted.\n"
    assert everything.planned("all", "studies") == {}


@pytest.mark.slow
def test_a_study_of_trained_runs_collects_jobs_and_shares_those_that_are_there(
    finished: Checkout, tmp_path: Path
) -> None:
    checkout = finished.copy(tmp_path / "trained")
    study = {
        "title": "Tiny trained changes",
        "scenario": "tiny",
        "selectors": ["pause", "random"],
        "seeds": [0],
        "knobs": [{"key": "privacy.epsilon_total", "values": [1]}],
        "variants": {"no_p": {"reward.gamma": 0}},
        "train": True,
    }
    checkout.write_config(studies="config/studies.yaml")
    checkout.write_studies({"changes": {"tiny_trained": study}})
    output = checkout.snakemake("--cores", "2", "tiny_trained")
    # Random selection as usual; both with another budget; PAUSE without the privacy term.
    assert len(re.findall(r"^\d+ of \d+  job ", output, re.M)) == 4
    summary = pd.read_csv(checkout.root / "results/tables/tiny_trained/summary.csv")
    assert summary["value"].tolist() == ["usual", "1", "no_p"]
    assert (checkout.root / "results/figures/tiny_trained.png").stat().st_size > 0
    assert checkout.planned("tiny_trained") == {}


@pytest.mark.slow
def test_an_edit_or_a_loss_makes_what_depends_on_it_again(copy: Checkout) -> None:
    study = TINY_STUDIES["regret"]["tiny_regret"] | {"seeds": [0, 1, 2], "title": "Other title"}
    copy.write_studies(TINY_STUDIES | {"regret": {"tiny_regret": study}})
    assert copy.planned("studies") == {"study": 1, "plot_study": 1}
    copy.write_studies(TINY_STUDIES)
    shutil.rmtree(copy.root / "results/studies/tiny_regret")  # the figure is still there
    assert copy.planned("tiny_regret") == {"study": 1, "plot_study": 1}
    # A baseline; four studies have one. What shows results may use any selector's look.
    path = "src/pausefl/selectors/baselines.py"
    copy.edit(path, "np.sort(rng.choice(history.candidates()", "np.sort(rng.choice(+history.candidates()")
    assert copy.planned("studies") == {"study": 4, "plot_study": 10, "verdict": 1}


@pytest.mark.slow
def test_an_audit_of_noise_that_is_too_small_fails_and_names_the_claims(copy: Checkout) -> None:
    path = "src/pausefl/privacy/mechanisms.py"
    copy.edit(path, "return self.sensitivity / epsilon", "return 0.2 * self.sensitivity / epsilon")
    output = copy.snakemake("--cores", "1", "tiny_audit", ok=False)
    assert "vector (simulated), epsilon 1, one coordinate: " in output
    assert not (copy.root / "results/verdicts/tiny_audit.txt").exists()
    bounds = pd.read_csv(copy.root / "results/studies/tiny_audit/audit.csv")
    assert bounds["violated"].any()


@pytest.mark.slow
def test_the_claims_are_judged_and_written_down(everything: Checkout) -> None:
    folder = everything.root / "results/claims"
    assert {path.name for path in (folder / "demo").iterdir()} == {"claims.json", "claims.md"}
    demo, paper = (
        json.loads((folder / scale / "claims.json").read_text("utf-8")) for scale in ("demo", "paper")
    )
    verdicts, others = ({one["id"]: one["finding"] for one in each["claims"]} for each in (demo, paper))
    assert (verdicts["T1"], verdicts["T3"]) == ("supported", "not run")
    assert verdicts["T2"] != "not run"
    (one,) = demo["claims"][0]["comparisons"]
    assert one["seeds"] == [0, 1]
    assert "tiny/fedavg/seed-1" in one["runs"]
    # A study of selection stands in for runs that are not there.
    assert others == {"T1": "undecided", "T2": "not run", "T3": "not run"}
    assert paper["claims"][0]["comparisons"][0]["note"] == "selection alone"


def test_what_a_claim_needs_is_a_target(checkout: Checkout) -> None:
    checkout.write_claims(TINY_CLAIMS)
    assert checkout.planned("claim_T1") == {"prepare": 1, "partition": 2, "job": 4, "collect": 1}
