"""The verdicts on the papers' claims, from a tiny configuration."""

from __future__ import annotations

import json

import pytest
from workspace import TINY_CLAIMS, Checkout

JSON = "results/claims/demo/claims.json"


@pytest.mark.slow
def test_the_claims_are_judged_and_written_down(everything: Checkout) -> None:
    folder = (everything.root / JSON).parent
    names = {path.name for path in folder.iterdir()}
    assert names == {f"claims.{ending}" for ending in ("json", "md")}
    demo, paper = (
        json.loads((folder.parent / scale / "claims.json").read_text("utf-8")) for scale in ("demo", "paper")
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
