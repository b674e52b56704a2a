"""The published side of the benchmark: its jobs, the rows that they give, and the same page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from worlds import trained, write_run

from pausefl.analysis.benchmark.suite import find_suite, settings_digest
from pausefl.errors import ConfigError
from pausefl.reproduction.studies import load_studies, study_of
from pausefl.reproduction.studies.worlds import Worlds
from pausefl.runs.run_id import RunId

ROOT = Path(__file__).parents[3]


def small(*selectors: str) -> Worlds:
    """Two worlds, two seeds."""
    part = find_suite("digits").part(["uniform", "drift"], ["iid"], [10, 11])
    return Worlds(title="Two worlds", benchmark=part.replace(selectors=selectors), reference="pause")


def test_the_file_of_studies_names_benchmarks() -> None:
    studies = load_studies(ROOT / "config/studies.yaml", ROOT / "config/scenarios")
    digits = studies["benchmark_digits_worlds"]
    assert isinstance(digits, Worlds)
    assert digits.seeds == tuple(range(10, 20))
    assert sum(len(keys) for _, keys in digits.runs) == 1420 == len(_published())
    again = study_of("worlds", json.loads(json.dumps(digits.settings())))
    assert again.settings() == digits.settings()
    with pytest.raises(ConfigError, match=r"unknown benchmark 'digit'\. Did you mean 'digits'"):
        study_of("worlds", {"title": "x", "benchmark": "digit", "reference": "pause"})


def _published() -> pd.DataFrame:
    return pd.read_csv(ROOT / "results/published/studies/benchmark_digits_worlds/runs.csv")


def test_it_has_the_jobs_that_can_run() -> None:
    study = small("pause", "genie")
    jobs = {scenario.name: keys for scenario, keys in study.runs}
    assert jobs == {
        "digits_world_uniform_iid": [("pause", 10), ("pause", 11), ("genie", 10), ("genie", 11)],
        "digits_world_drift_iid": [("pause", 10), ("pause", 11)],  # which has no genie
    }
    assert study.trained
    assert study.beyond
    assert [part.__name__ for part in study.parts()] == ["Pause", "Genie"]


@pytest.mark.usefixtures("made_up_runs")
def test_runs_become_rows_pictures_and_a_page(tmp_path: Path) -> None:
    study, folders = small("pause", "random", "sweep"), dict[RunId, Path]()
    rng = np.random.default_rng(0)
    for scenario, keys in study.runs:
        for i, (selector, seed) in enumerate(keys):
            run = RunId(scenario.name, selector, seed)
            accuracy = np.clip(np.linspace(0.3, 0.8 + 0.01 * i, 40) + rng.normal(0, 0.01, 40), 0, 1)
            rounds = trained(accuracy.tolist(), leakage=2.0 + i)
            folders[run] = write_run(tmp_path / "runs", run, rounds, n_rounds=40)
    lines = list[str]()
    tables = study.compute(lines.append, folders)
    table = tables["runs.csv"]
    order = [(row.selector, row.world, row.seed) for row in table.itertuples()]
    assert order == [
        (selector, world, seed)
        for selector in ("pause", "random", "sweep")
        for world in ("uniform", "drift")
        for seed in (10, 11)
    ]
    assert lines == ["pause: 2 cells", "random: 2 cells", "sweep: 2 cells"]
    [pause] = table.query("selector == 'pause' and world == 'drift' and seed == 11").to_dict("records")
    assert (pause["n_rounds"], pause["spent_max"]) == (40, 3.0)
    drift = next(scenario for scenario, _ in study.runs if "drift" in scenario.name)
    assert pause["settings"] == settings_digest(drift)
    plotted = study.plot(tables)
    study.write(tables, plotted, tmp_path / "page")
    assert "PAUSE in the selection benchmark" in (tmp_path / "page/index.html").read_text("utf-8")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "page/runs.csv"), table)


def test_published_rows_have_this_order() -> None:
    """So that a reader who makes them again can compare the files."""
    study: Any = load_studies(ROOT / "config/studies.yaml", ROOT / "config/scenarios")[
        "benchmark_digits_worlds"
    ]
    order = [
        (selector, cell.world, cell.labels)
        for selector in study.benchmark.selectors
        for cell, names in study.cells.items()
        if selector in names
    ]
    assert [
        *_published()[["selector", "world", "labels"]].drop_duplicates().itertuples(index=False, name=None)
    ] == order
