"""From a figure back to its runs, and two runs side by side."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

from pausefl.data.dataset import Dataset
from pausefl.data.partition import make_partition
from pausefl.errors import PauseflError
from pausefl.federated.checkpoint import Saving
from pausefl.federated.job import Job, run_job
from pausefl.results import lineage as lookback
from pausefl.settings import load_config, load_scenario, read_yaml
from pausefl.settings.studies import load_studies, settings_of
from pausefl.streams import Streams
from pausefl.studies.code import study_code

ROOT = Path(__file__).parents[3]
SCENARIOS = ROOT / "config/scenarios"
STUDIES = ROOT / "config/studies.yaml"
FIGURE = "demo_small_accuracy"
MakeRun = Callable[..., Path]


@pytest.fixture
def make_run(digits: Dataset, tmp_path: Path) -> Iterator[MakeRun]:
    def run(selector: str, seed: int = 0, n_rounds: int = 6) -> Path:
        scenario = load_scenario("demo_small", SCENARIOS)
        partition = make_partition(
            digits.train_y, scenario.data, scenario.partition, scenario.network.n_users, Streams(seed)
        )
        out = tmp_path / f"results/runs/demo_small/{selector}/seed-{seed}"
        out.mkdir(parents=True)
        job = Job(scenario, selector, seed, n_rounds, device="cpu")
        run_job(job, digits, partition, out, lambda _: None, Saving())
        return out

    threads = torch.get_num_threads()
    yield run
    torch.set_num_threads(threads)


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> lookback.Sources:
    monkeypatch.chdir(ROOT)
    config = load_config(read_yaml(Path("config/demo.yaml")))
    return lookback.Sources(config, SCENARIOS, STUDIES, tmp_path / "results", ROOT / "workflow/report")


def draw(results: Path, runs: list[Path], **settings: Any) -> None:
    """The sidecar of a figure of these runs."""
    scenario = load_scenario("demo_small", SCENARIOS).as_dict()
    for section, values in settings.items():
        scenario[section] |= values
    facts = {
        "kind": "accuracy_vs_time",
        "runs": [str(Path("results") / run.relative_to(results)) for run in runs],
        "scenario": scenario,
        "caption": {"paper_figures": "none", "origin": "digits", "deviations": ["D8: per coordinate"]},
        "notes": ["One seed of each selector."],
    }
    sidecar = results / "figures/demo_small/accuracy_vs_time.json"
    sidecar.parent.mkdir(parents=True)
    sidecar.write_text(json.dumps(facts))


def test_a_figure_is_traced_to_rows_runs_code_and_deviations(
    make_run: MakeRun, sources: lookback.Sources, tmp_path: Path
) -> None:
    runs = [make_run("pause"), make_run("random", seed=1)]
    draw(tmp_path / "results", runs)
    said = lookback.explain(FIGURE, sources)
    assert "Rows of the experiment table: demo_small" in said
    assert "pause, random" in said
    for run in runs:
        code = json.loads((run / "summary.json").read_text())["code_hash"]
        assert f"{run}: 6 rounds, code {code}, " in said
    assert "D8: per coordinate" in said
    assert "Demo: small data" in said
    assert "Notes:\n  One seed of each selector.\n" in said
    assert "changed since" not in said


def test_what_is_no_longer_as_it_was_is_said(
    make_run: MakeRun, sources: lookback.Sources, tmp_path: Path
) -> None:
    runs = [make_run("pause"), make_run("random")]
    draw(tmp_path / "results", runs, training={"learning_rate": 0.5})
    summary = json.loads((runs[0] / "summary.json").read_text())
    (runs[0] / "summary.json").write_text(json.dumps(summary | {"code_hash": "0" * 16, "diverged_round": 4}))
    shutil.rmtree(runs[1])
    said = lookback.explain(FIGURE, sources)
    assert "(changed since: training.learning_rate)" in said
    assert f"code {'0' * 16} (the code has changed since)" in said
    assert "diverged in round 4" in said
    assert f"{runs[1]}: not there any more" in said


@pytest.mark.parametrize(
    ("wrong", "nearest"),
    [
        ("demo_smal_accuracy", "demo_small_accuracy"),
        ("pause_v2_table2", "pause_v2_table1"),
        ("bsfl_fg5", "bsfl_fig5"),
    ],
)
def test_unknown_figures_are_refused_with_the_nearest_of_all(
    wrong: str, nearest: str, sources: lookback.Sources
) -> None:
    with pytest.raises(PauseflError, match=f"unknown figure '{wrong}'. Did you mean .*'{nearest}'"):
        lookback.explain(wrong, sources)


@pytest.mark.parametrize("name", [FIGURE, "pause_v2_table1", "bsfl_fig2"])
def test_undrawn_figures_are_refused(name: str, sources: lookback.Sources) -> None:
    with pytest.raises(PauseflError, match=f"draw the figure with snakemake --cores 2 {name}"):
        lookback.explain(name, sources)


def draw_study(results: Path, name: str, **facts: Any) -> Path:
    """The sidecar of the figure of a study as it is configured, with the code of today."""
    studies = load_studies(STUDIES, SCENARIOS)
    kind, study = studies.kind(name), studies.study(name)
    selectors = study.scenario.selectors if hasattr(study, "scenario") else ()
    data = [f"results/studies/{name}/there.csv", f"results/studies/{name}/lost.csv"]
    if kind == "regret":
        code: dict[str, Any] = {"code_hashes": {s: study_code(kind, [s]) for s in selectors}}
    else:
        code = {"code_hash": study_code(kind, selectors)}
    document = {"study": settings_of(study) | {"anneals": True}, "data": data, "notes": []} | code | facts
    folder = results / "studies" / name
    folder.mkdir(parents=True)
    (folder / "there.csv").touch()
    (folder / f"{name}.json").write_text(json.dumps(document), "utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "pause_v2_table1",
            ["runtime; in the papers: PAUSE v2, Table I", "mnist_large_iid_r1.yaml", "D36: "],
        ),
        ("bsfl_fig4", ["comparison; in the papers: BSFL, Section V-C", "selectors: alsa, sa_bsfl", "D35: "]),
        ("bsfl_fig3", ["graphs; in the papers: BSFL, Section V", "D7: "]),
        (
            "bsfl_fig5_regret",
            ["regret; in the papers: PAUSE v2, Theorem 3", "Seeds: 0, 1, 2", "D11: ", "D30"],
        ),
        ("annealing_gap_r1", ["optimality_gap; in the papers: Nowhere", "Seeds: 0, 1, 2, 3, 4", "D31: "]),
        ("privacy_audit", ["audit; in the papers: Nowhere", "Seeds: 0", "D8: "]),
        ("pause_v2_fig1", ["generalization; in the papers: PAUSE v1 and v2, Fig. 1", "D71: "]),
    ],
)
def test_a_study_is_traced_to_settings_code_and_files(
    name: str, words: list[str], sources: lookback.Sources
) -> None:
    folder = draw_study(sources.results, name)
    said = lookback.explain(name, sources)
    for phrase in [*words, f"Settings: {STUDIES}, {name}", f"  {folder / 'there.csv'}\n"]:
        assert phrase in said, phrase
    assert f"{folder / 'lost.csv'}: not there any more" in said
    assert "changed since" not in said
    assert "nothing to warn of" in said


def test_a_study_whose_settings_or_code_are_others_says_so(sources: lookback.Sources) -> None:
    study = settings_of(load_studies(STUDIES, SCENARIOS).study("bsfl_fig4"))
    study["n_instances"] = 3
    draw_study(sources.results, "bsfl_fig4", study=study, code_hash="0" * 16, notes=["Mind this."])
    said = lookback.explain("bsfl_fig4", sources)
    assert "bsfl_fig4 (changed since: n_instances)" in said
    assert f"Code: {'0' * 16} (the code has changed since)" in said
    assert "Notes:\n  Mind this." in said


def test_a_figure_in_parts_is_explained_part_by_part(sources: lookback.Sources) -> None:
    draw_study(sources.results, "bsfl_fig5_regret")
    said = lookback.explain("bsfl_fig5", sources)
    assert "bsfl_fig5_regret.png" in said
    assert "draw the figure with snakemake --cores 2 bsfl_fig5_loss" in said
    with pytest.raises(PauseflError, match=r"bsfl_fig6_loss.*bsfl_fig6_accuracy"):
        lookback.explain("bsfl_fig6", sources)


def test_a_figure_of_an_earlier_version_is_to_be_drawn_anew(sources: lookback.Sources) -> None:
    folder = draw_study(sources.results, "bsfl_fig4")
    (folder / "bsfl_fig4.json").write_text('{"study": {}}', "utf-8")
    with pytest.raises(PauseflError, match="is of an earlier version: draw the figure anew"):
        lookback.explain("bsfl_fig4", sources)


def test_two_runs_are_laid_side_by_side(make_run: MakeRun) -> None:
    first, second = make_run("pause"), make_run("fedavg")
    said = lookback.compare(first, second)
    assert f"A: {first}\nB: {second}" in said
    rows = {line.split("  ")[1].strip(): line.split() for line in said.splitlines() if line.startswith("  ")}
    assert rows["selector"][1:] == ["pause", "fedavg"]
    assert "seed" not in rows
    elapsed = [pd.read_parquet(run / "rounds.parquet").elapsed_s.iloc[-1] for run in (first, second)]
    assert rows["simulated time (s)"][-2:] == [f"{seconds:.2f}" for seconds in elapsed]
    assert "First difference: selection in round 1" in said


def test_a_run_is_identical_to_itself(make_run: MakeRun) -> None:
    run = make_run("pause")
    said = lookback.compare(run, run)
    assert "Their first 6 rounds are identical." in said
    assert "nothing" in said


def test_the_first_difference_is_found(make_run: MakeRun, tmp_path: Path) -> None:
    run, changed = make_run("pause"), tmp_path / "changed"
    shutil.copytree(run, changed)
    rounds = pd.read_parquet(run / "rounds.parquet")
    rounds.loc[3, "accuracy"] += 0.1
    rounds.to_parquet(changed / "rounds.parquet")
    assert lookback.compare(run, changed).endswith("First difference: accuracy in round 4.")


def test_what_is_no_run_cannot_be_compared(tmp_path: Path) -> None:
    with pytest.raises(PauseflError, match="is not a finished run: it has no summary"):
        lookback.compare(tmp_path, tmp_path)
