"""The documentation's tables, and what DVC compares, say what the published runs say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from pausefl.claims.page import to_json
from pausefl.results.dvc_metrics import NUMBERS, curves_text, findings, numbers
from pausefl.tools.documentation import PublishedVerdicts, pages

ROOT = Path(__file__).parents[3]


def test_the_pages_hold_what_is_made(published: PublishedVerdicts) -> None:
    """If this fails: make docs."""
    for path, text in pages(published, ROOT).items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, path


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
