"""The verdicts on the papers' claims, from a tiny configuration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from workspace import TINY_CLAIMS, Checkout

JSON = "results/claims/demo/claims.json"


@pytest.mark.slow
def test_the_claims_are_judged_and_written_down(everything: Checkout) -> None:
    document = json.loads((everything.root / JSON).read_text("utf-8"))
    verdicts = {claim["id"]: claim["finding"] for claim in document["claims"]}
    assert (verdicts["T1"], verdicts["T3"]) == ("supported", "not run")
    assert verdicts["T2"] != "not run"
    (one,) = document["claims"][0]["comparisons"]
    assert one["seeds"] == [0, 1]
    assert "tiny/fedavg/seed-1" in one["runs"]
    folder = (everything.root / JSON).parent
    assert {path.name for path in folder.iterdir()} == {
        f"claims.{ending}" for ending in ("json", "csv", "md")
    }


@pytest.mark.slow
def test_a_study_of_selection_stands_in_for_runs_that_are_not_there(everything: Checkout) -> None:
    document = json.loads((everything.root / "results/claims/paper/claims.json").read_text("utf-8"))
    verdicts = {claim["id"]: claim["finding"] for claim in document["claims"]}
    assert verdicts == {"T1": "supported", "T2": "not run", "T3": "not run"}


@pytest.mark.slow
def test_a_lost_run_or_another_claim_is_judged_again(everything: Checkout, tmp_path: Path) -> None:
    copy = everything.copy(tmp_path / "copy")
    claims = [TINY_CLAIMS[0] | {"sentence": "Nobody leaks more than the budget."}, *TINY_CLAIMS[1:]]
    copy.write_claims(claims)
    assert copy.planned(JSON) == {"check_claims": 1}
    copy.write_claims(TINY_CLAIMS)
    (copy.root / "results/runs/tiny/pause/seed-1/rounds.parquet").unlink()
    planned = copy.planned("claims")
    assert planned["check_claims"] == 1


def test_claims_without_runs_to_test_them_on_are_no_target(checkout: Checkout) -> None:
    """No claim that is shipped is tested on the tiny scenario."""
    assert "claims" not in checkout.listed("--list-target-rules")
