"""Where figures come from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pausefl.errors import PauseflError
from pausefl.project import Project
from pausefl.provenance import job_code
from pausefl.report import lineage
from pausefl.report.lineage import Lineage, explain_run
from pausefl.results.runs import ROUND_COLUMNS
from pausefl.settings import load_scenario, read_yaml
from pausefl.studies import load_studies

ROOT = Path(__file__).parents[3]
SCENARIOS = ROOT / "config/scenarios"
STUDIES = ROOT / "config/studies.yaml"
FIGURE = "demo_small_accuracy"


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, made_up_runs: None) -> Lineage:
    monkeypatch.chdir(ROOT)
    return Lineage(Project.load(read_yaml(Path("config/demo.yaml")), ROOT), tmp_path / "results", STUDIES)


def write_run(results: Path, selector: str, seed: int = 0, **changes: Any) -> Path:
    """A run of six rounds, made by today's code."""
    run = results / f"runs/demo_small/{selector}/seed-{seed}"
    run.mkdir(parents=True)
    summary = {
        "scenario": {"name": "demo_small"},
        "selector": selector,
        "seed": seed,
        "n_rounds": 6,
        "trained": True,
        "timings_s": {"total": 1.0},
        "peak_memory_bytes": 10**8,
        "code_hash": job_code(load_scenario("demo_small", SCENARIOS), selector),
        "hardware": {"processor": "Abacus"},
        "diverged_round": None,
        "resumed_from_rounds": [],
    }
    (run / "summary.json").write_text(json.dumps(summary | changes))
    rounds = dict.fromkeys(ROUND_COLUMNS, [1.0] * 6) | {"round": range(1, 7)}
    pd.DataFrame(rounds).to_parquet(run / "rounds.parquet")
    return run


def write_figure(results: Path, runs: list[Path], **settings: Any) -> None:
    """The metadata of a figure of these runs."""
    scenario = load_scenario("demo_small", SCENARIOS).as_dict()
    for section, values in settings.items():
        scenario[section] |= values
    metadata = {
        "kind": "accuracy_vs_time",
        "runs": [str(Path("results") / run.relative_to(results)) for run in runs],
        "scenario": scenario,
        "dataset_origins": ["digits"],
        "notes": ["One seed of each selector."],
    }
    path = results / "figures/demo_small/accuracy_vs_time.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(metadata))


def test_a_figure_is_traced_to_rows_runs_code_and_deviations(figures: Lineage) -> None:
    runs = [write_run(figures.results, "pause"), write_run(figures.results, "random", seed=1)]
    write_figure(figures.results, runs)
    text = figures.explain(FIGURE)
    assert "Rows of the experiment table: demo_small" in text
    assert "pause, random" in text
    assert f"Runs, in {figures.results}/runs/demo_small:\n" in text
    for selector, seed, run in zip(("pause", "random"), (0, 1), runs, strict=True):
        code = json.loads((run / "summary.json").read_text())["code_hash"]
        assert f"  {selector}: seed {seed}; 6 rounds; code {code}; Abacus\n" in text
    assert "D8: budgets" in text
    assert "Demo: small data" in text
    assert "Notes:\n  One seed of each selector.\n" in text
    assert "changed since" not in text


def test_changes_since_then_are_named(figures: Lineage) -> None:
    changes = {"code_hash": "0" * 16, "diverged_round": 4, "resumed_from_rounds": [3]}
    runs = [write_run(figures.results, "pause", **changes), figures.results / "runs/demo_small/random/seed-0"]
    write_figure(figures.results, runs, training={"learning_rate": 0.5})
    text = figures.explain(FIGURE)
    assert "(changed since: training.learning_rate)" in text
    assert f"code {'0' * 16} (the code has changed since)" in text
    assert "; seed 0 diverged in round 4; seed 0 resumed after rounds 3\n" in text
    assert "  random: seed 0 no longer there\n" in text


def test_a_selector_has_one_line_that_says_why_its_runs_have_several_hashes(
    figures: Lineage, monkeypatch: pytest.MonkeyPatch
) -> None:
    today = str(job_code(load_scenario("demo_small", SCENARIOS), "pause"))
    made_by = {0: today, 1: "a" * 16, 2: "a" * 16, 5: "a" * 16, 3: "b" * 16}
    runs = [write_run(figures.results, "pause", seed, code_hash=code) for seed, code in made_by.items()]
    write_figure(figures.results, runs)
    monkeypatch.setattr(lineage, "current_codes", lambda *_: {"pause": [today, "a" * 16]})
    (line,) = [line for line in figures.explain(FIGURE).splitlines() if "pause: " in line]
    assert line == (
        f"  pause: seeds 0–3, 5; 6 rounds; code {today} of seed 0 (today's), {'a' * 16} of seeds 1–2, 5"
        f" (counts as today's), {'b' * 16} of seed 3 (the code has changed since);"
        " Abacus"
    )


def test_definitions_that_differ_from_those_of_a_run_are_named(figures: Lineage) -> None:
    scenario = load_scenario("demo_small", SCENARIOS)
    code = job_code(scenario, "pause", genie=True)
    made = {"scenario": scenario.job_settings(), "device": None, "code_hash": code, "code": code.parts}
    run = write_run(figures.results, "pause", **made)
    assert explain_run(run).endswith(f"Code: {code}, as today")

    then = dict(code.parts)
    then["pausefl.streams:Streams"] = "01234567"
    then["pausefl.streams:Gone"] = "89abcdef"
    then["pausefl.elsewhere:mean_latencies"] = then.pop("pausefl.bandit.latency:mean_latencies")
    del then["pausefl.files:locked"]
    run = write_run(figures.results, "pause", 1, **made | {"code_hash": "0" * 16, "code": then})
    assert explain_run(run).splitlines()[1:] == [
        f"Code: {'0' * 16}, since then:",
        "  changed: pausefl.streams:Streams",
        "  added: pausefl.files:locked",
        "  removed: pausefl.streams:Gone",
    ]
    earlier = write_run(figures.results, "pause", 2, **made | {"code_hash": "0" * 16, "code": None})
    with pytest.raises(PauseflError, match="does not say which definitions"):
        explain_run(earlier)


def test_unknown_figures_are_refused_with_the_nearest_of_all(figures: Lineage) -> None:
    for wrong, nearest in (
        ("demo_smal_accuracy", "demo_small_accuracy"),
        ("pause_v2_table2", "pause_v2_table1"),
        ("bsfl_fg5", "bsfl_fig5"),
    ):
        with pytest.raises(PauseflError, match=f"'{wrong}'.*'{nearest}'"):
            figures.explain(wrong)


@pytest.mark.parametrize("name", [FIGURE, "pause_v2_table1", "bsfl_fig2"])
def test_of_a_figure_that_is_not_made_it_says_what_will_run(name: str, figures: Lineage) -> None:
    text = figures.explain(name)
    assert text.startswith(f"{name} is not made yet")
    assert f"snakemake --cores 2 {name}" in text
    assert f"pausefl plan {name}" in text


def test_jobs_that_will_run_are_listed_with_those_that_are_finished(figures: Lineage) -> None:
    folder = figures.results / "runs/demo_small/pause/seed-1"
    folder.mkdir(parents=True)
    settings = load_scenario("demo_small", SCENARIOS).job_settings()
    (folder / "summary.json").write_text(json.dumps({"scenario": settings}), "utf-8")
    other = folder.with_name("seed-2")
    other.mkdir()
    (other / "summary.json").write_text(json.dumps({"scenario": settings | {"privacy": None}}), "utf-8")
    text = figures.explain(FIGURE)
    assert f"Jobs, in {figures.results}/runs/demo_small:\n" in text
    assert "  pause: seeds 0, 1, 2; finished: 1\n" in text
    assert "  fedavg: seeds 0, 1, 2; finished: none\n" in text
    assert "Demo: small data" in text
    assert "config/scenarios/demo_small.yaml" in text


def test_a_figure_without_a_row_needs_one(figures: Lineage) -> None:
    text = figures.explain("pause_v2_fig8")
    assert "none; a row of mnist_large_iid_r1_as_run in the configuration is needed" in text
    assert "snakemake" not in text


def write_study(results: Path, name: str, **metadata: Any) -> Path:
    """The metadata of the figure of a study as it is configured, made by today's code."""
    studies = load_studies(STUDIES, SCENARIOS)
    study = studies[name]
    data = [f"results/studies/{name}/there.csv", f"results/studies/{name}/lost.csv"]
    code = {"code_hashes": study.codes()} if study.by_run() else {"code_hash": study.code()}
    document = {"study": study.settings(), "data": data, "notes": []} | code | metadata
    folder = results / "studies" / name
    folder.mkdir(parents=True)
    (folder / "there.csv").touch()
    (folder / f"{name}.json").write_text(json.dumps(document), "utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pause_v2_table1", ["runtime", "PAUSE v2, Table I", "mnist_large_iid_r1.yaml", "D36: "]),
        ("bsfl_fig4", ["comparison", "BSFL, Section V-C", "alsa, sa_bsfl", "D35: "]),
        ("bsfl_fig5_regret", ["regret", "PAUSE v2, Theorem 3", "0, 1, 2", "D11: ", "D30"]),
    ],
)
def test_a_study_is_traced_to_settings_code_and_files(name: str, words: list[str], figures: Lineage) -> None:
    folder = write_study(figures.results, name)
    text = figures.explain(name)
    for phrase in [*words, f"Settings: {STUDIES}, {name}", f"  {folder / 'there.csv'}\n"]:
        assert phrase in text, phrase
    assert f"{folder / 'lost.csv'}: no longer exists" in text
    assert "changed since" not in text
    assert "Notes:\n  none" in text


def test_changes_of_a_study_are_named(figures: Lineage) -> None:
    study = load_studies(STUDIES, SCENARIOS)["bsfl_fig4"].settings()
    study["n_instances"] = 3
    write_study(figures.results, "bsfl_fig4", study=study, code_hash="0" * 16, notes=["Mind this."])
    text = figures.explain("bsfl_fig4")
    assert "bsfl_fig4 (changed since: n_instances)" in text
    assert f"Code: {'0' * 16} (the code has changed since)" in text
    assert "Notes:\n  Mind this." in text


def test_a_study_of_which_no_code_is_recorded_says_so(figures: Lineage) -> None:
    write_study(figures.results, "bsfl_fig4", code_hash=None, code_hashes={"": [""]})
    assert "Code: not recorded (the code has changed since)" in figures.explain("bsfl_fig4")


def test_a_figure_in_parts_is_explained_part_by_part(figures: Lineage) -> None:
    write_study(figures.results, "bsfl_fig5_regret")
    text = figures.explain("bsfl_fig5")
    assert "bsfl_fig5_regret.png" in text
    assert "bsfl_fig5_loss is not made yet" in text


def test_a_figure_of_an_earlier_version_is_refused(figures: Lineage) -> None:
    folder = write_study(figures.results, "bsfl_fig4")
    (folder / "bsfl_fig4.json").write_text('{"study": {}}', "utf-8")
    with pytest.raises(PauseflError, match="is of an earlier version: make the figure again"):
        figures.explain("bsfl_fig4")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"notes": []}', '{"notes": [], "kind": 1, "scenario": 2}'])
def test_damaged_metadata_of_a_figure_is_refused(figures: Lineage, text: str) -> None:
    path = figures.results / "figures/demo_small/accuracy_vs_time.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(PauseflError, match="snakemake --cores"):
        figures.explain(FIGURE)
