"""The verdicts on the papers' claims, from a tiny configuration."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from workspace import TINY_STUDIES, Checkout, make_checkout

pytestmark = pytest.mark.slow

CLAIMS: list[dict[str, Any]] = [
    {
        "id": "T1",
        "sentence": "No user leaks more than its budget.",
        "place": "here",
        "tests": [{"kind": "bound", "scenarios": {"demo": ["tiny"]}}],
    },
    {
        "id": "T2",
        "sentence": "PAUSE has little regret.",
        "place": "there",
        "tests": [
            {
                "kind": "regret",
                "law": "logarithmic",
                "selectors": ["pause"],
                "studies": {"demo": ["tiny_regret"]},
            }
        ],
    },
    {
        "id": "T3",
        "sentence": "Nobody has run this.",
        "place": "elsewhere",
        "tests": [{"kind": "bound", "scenarios": {"paper": ["mnist_large_iid_r1"]}}],
    },
]
JSON = "results/claims/demo/claims.json"


def write(checkout: Checkout, claims: list[dict[str, Any]]) -> None:
    (checkout.root / "config/claims.yaml").write_text(yaml.safe_dump({"claims": claims}), "utf-8")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout whose claims were judged, with the runs and the study they need; not to be changed."""
    checkout = make_checkout(tmp_path_factory.mktemp("claims"))
    checkout.write_scenario()
    checkout.write_config(studies="config/studies.yaml")
    (checkout.root / "config/studies.yaml").write_text(
        yaml.safe_dump({"regret": TINY_STUDIES["regret"]}), "utf-8"
    )
    write(checkout, CLAIMS)
    checkout.snakemake("--cores", "2", "claims")
    return checkout


def test_the_claims_are_judged_and_written_down(finished: Checkout) -> None:
    document = json.loads((finished.root / JSON).read_text("utf-8"))
    verdicts = {claim["id"]: claim["verdict"] for claim in document["claims"]}
    assert (verdicts["T1"], verdicts["T3"]) == ("reproduced", "not run")
    assert verdicts["T2"] != "not run"
    (test,) = document["claims"][0]["tests"]
    assert test["seeds"] == [0, 1]
    assert "tiny/fedavg/seed-1" in test["runs"]
    folder = (finished.root / JSON).parent
    assert {path.name for path in folder.iterdir()} == {
        f"claims.{ending}" for ending in ("json", "csv", "md")
    }
    assert finished.planned("claims") == {}


def test_a_lost_run_or_another_claim_is_judged_again(finished: Checkout, tmp_path: Path) -> None:
    shutil.copytree(finished.root, tmp_path / "copy")
    copy = Checkout(tmp_path / "copy")
    (copy.root / "results/runs/tiny/pause/seed-1/rounds.parquet").unlink()
    assert {rule: n for rule, n in copy.planned("claims").items() if rule in ("job", "check_claims")} == {
        "job": 1,
        "check_claims": 1,
    }
    write(finished, [CLAIMS[0] | {"sentence": "Nobody leaks more than the budget."}, *CLAIMS[1:]])
    assert finished.planned(JSON) == {"check_claims": 1}
    write(finished, CLAIMS)


def test_the_demo_ends_in_its_claims(checkout: Checkout) -> None:
    assert checkout.planned("demo")["check_claims"] == 1
    assert "check_claims" not in checkout.planned()


def test_claims_without_runs_to_test_them_on_are_no_target(checkout: Checkout) -> None:
    assert "claims" not in checkout.snakemake("--list-target-rules").split()
