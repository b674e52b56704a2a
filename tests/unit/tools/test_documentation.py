"""The documentation's tables, and what DVC compares, say what the published runs say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd

from pausefl.claims.page import side_by_side, to_json
from pausefl.claims.words import describe
from pausefl.results.dvc_metrics import NUMBERS, curves_text, findings, numbers
from pausefl.tools.documentation import PublishedVerdicts, pages

ROOT = Path(__file__).parents[3]


def test_the_pages_hold_what_is_made(published: PublishedVerdicts) -> None:
    """If this fails: make docs."""
    for path, text in pages(published, ROOT).items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, path


def test_notes_stand_beside_the_verdicts(published: PublishedVerdicts) -> None:
    """What is said of C9 and C11 is said because their comparisons came out so."""
    found = {claim.id: one for claim, one, _ in side_by_side(published.judged)}
    failing = {id_: told for id_, one in found.items() if (told := describe(one)["failing"])}
    assert failing == {
        "C9": "a logarithm is not visible by round 100,000",
        "C11": "not reproducible as described",
    }
    at_the_papers = [each for each in found["C11"].comparisons if each.measure == "share won, κ = 1"]
    assert [round(100 * each.gap) for each in at_the_papers] == [83, 84]
    assert all(
        re.search(r"are won, [\d,]+ tied, [\d,]+ lost", each.note) for each in found["C11"].comparisons
    )


def test_what_dvc_compares_is_of_the_published_runs(published: PublishedVerdicts) -> None:
    """If this fails: snakemake --cores all --configfile config/published.yaml -- metrics."""
    metrics, plots = ROOT / "results/metrics", ROOT / "results/plots"
    for scale, judged in {"paper": published.judged}.items():
        there = json.loads((metrics / "claims" / f"{scale}.json").read_text("utf-8"))
        assert there == findings(json.loads(to_json(judged, scale, ""))["claims"]), scale
    assert {path.stem for path in plots.glob("*.csv")} == set(published.records.scenarios)
    for name in published.records.scenarios:
        jobs = dict.fromkeys(one.selector for one in published.records.experiments if one.scenario == name)
        runs = {selector: published.records.runs(name, selector, trained=True) for selector in jobs}
        assert {path.stem for path in (metrics / name).glob("*.json")} == set(jobs), name
        for selector, own in runs.items():
            found = [run.outcome for _, run in sorted(own.items()) if run]
            means = numbers({f"{key}_mean": np.mean([one[key] for one in found]) for key in NUMBERS})
            path = metrics / name / f"{selector}.json"
            assert json.loads(path.read_text("utf-8")) == means, path
        curve = curves_text(pd.concat([run.rounds for own in runs.values() for run in own.values() if run]))
        assert (plots / f"{name}.csv").read_text("utf-8") == curve, name
