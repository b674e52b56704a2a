"""The documentation's tables, and what DVC compares, say what the published runs say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pausefl.claims.load import load_claims
from pausefl.results.dvc_metrics import NUMBERS, curves_text, findings, numbers
from pausefl.tools.documentation import SCALES, PublishedVerdicts, pages

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def published() -> PublishedVerdicts:
    return PublishedVerdicts(ROOT)


def test_the_pages_hold_what_is_made(published: PublishedVerdicts) -> None:
    """If this fails: make docs."""
    for path, text in pages(published, ROOT).items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, path


def test_every_claim_has_a_row_with_a_command_and_a_status(published: PublishedVerdicts) -> None:
    claims = load_claims(ROOT / "config/claims.yaml", ROOT / "config/scenarios")
    rows = published.table().splitlines()[2:]
    assert [row.split(" | ")[0].strip("| ") for row in rows] == [claim.id for claim in claims]
    for claim, row in zip(claims, rows, strict=True):
        assert f"`make claim ID={claim.id}`" in row
        assert re.search(r"\*\*(supported|mixed|undecided|contradicted|not run)\*\*", row)


def test_the_findings_of_the_summary_are_those_of_the_pages(published: PublishedVerdicts) -> None:
    rows = published.summary().splitlines()[2:]
    for claim, row in zip(published.claims, rows, strict=True):
        finding, effect, coverage = row.strip("| ").split(" | ")[-3:]
        there = [published.page(scale) for scale in SCALES]
        (page,) = [one for one in there if f"| {finding} | {effect} | {coverage} |" in one][:1]
        assert f"## {claim.id}: {finding.strip('*')}\n" in page


def test_what_dvc_compares_is_of_the_published_runs(published: PublishedVerdicts) -> None:
    """If this fails: snakemake --cores all --configfile config/published.yaml -- metrics."""
    metrics, plots = ROOT / "results/metrics", ROOT / "results/plots"
    for scale, judged in published.judged.items():
        there = json.loads((metrics / "claims" / f"{scale}.json").read_text("utf-8"))
        assert there == findings({"finding": one.finding} for one in judged), scale
    assert {path.stem for path in plots.glob("*.csv")} == set(published.records.scenarios)
    for name in published.records.scenarios:
        runs = published.records.trained(name)
        assert runs is not None
        assert {path.stem for path in (metrics / name).glob("*.json")} == set(runs.seeds), name
        for selector, seeds in runs.seeds.items():
            found = [runs.found[selector, seed].outcome for seed in seeds]
            means = numbers({f"{key}_mean": np.mean([one[key] for one in found]) for key in NUMBERS})
            path = metrics / name / f"{selector}.json"
            assert json.loads(path.read_text("utf-8")) == means, path
        curve = curves_text(pd.concat([run.rounds for run in runs.found.values()]))
        assert (plots / f"{name}.csv").read_text("utf-8") == curve, name
