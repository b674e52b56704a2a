"""Where figures come from."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from pausefl.data.dataset import Dataset
from pausefl.data.partition import make_partition
from pausefl.errors import PauseflError
from pausefl.federated.checkpoint import Saving
from pausefl.federated.job import Job, run_job
from pausefl.provenance import study_code
from pausefl.report import lineage
from pausefl.settings import load_config, load_scenario, read_yaml
from pausefl.settings.studies import load_studies, settings_of
from pausefl.streams import Streams

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
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> lineage.Project:
    monkeypatch.chdir(ROOT)
    config = load_config(read_yaml(Path("config/demo.yaml")))
    return lineage.Project(config, SCENARIOS, STUDIES, tmp_path / "results")


def draw(results: Path, runs: list[Path], **settings: Any) -> None:
    """The sidecar of a figure of these runs."""
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
    sidecar = results / "figures/demo_small/accuracy_vs_time.json"
    sidecar.parent.mkdir(parents=True)
    sidecar.write_text(json.dumps(metadata))


def test_a_figure_is_traced_to_rows_runs_code_and_deviations(
    make_run: MakeRun, project: lineage.Project, tmp_path: Path
) -> None:
    runs = [make_run("pause"), make_run("random", seed=1)]
    draw(tmp_path / "results", runs)
    said = lineage.explain(FIGURE, project)
    assert "Rows of the experiment table: demo_small" in said
    assert "pause, random" in said
    for run in runs:
        code = json.loads((run / "summary.json").read_text())["code_hash"]
        assert f"{run}: 6 rounds, code {code}, " in said
    assert "D8: budgets" in said
    assert "Demo: small data" in said
    assert "Notes:\n  One seed of each selector.\n" in said
    assert "changed since" not in said


def test_what_is_no_longer_as_it_was_is_said(
    make_run: MakeRun, project: lineage.Project, tmp_path: Path
) -> None:
    runs = [make_run("pause"), make_run("random")]
    draw(tmp_path / "results", runs, training={"learning_rate": 0.5})
    summary = json.loads((runs[0] / "summary.json").read_text())
    (runs[0] / "summary.json").write_text(json.dumps(summary | {"code_hash": "0" * 16, "diverged_round": 4}))
    shutil.rmtree(runs[1])
    said = lineage.explain(FIGURE, project)
    assert "(changed since: training.learning_rate)" in said
    assert f"code {'0' * 16} (the code has changed since)" in said
    assert "diverged in round 4" in said
    assert f"{runs[1]}: no longer exists" in said


@pytest.mark.parametrize(
    ("wrong", "nearest"),
    [
        ("demo_smal_accuracy", "demo_small_accuracy"),
        ("pause_v2_table2", "pause_v2_table1"),
        ("bsfl_fg5", "bsfl_fig5"),
    ],
)
def test_unknown_figures_are_refused_with_the_nearest_of_all(
    wrong: str, nearest: str, project: lineage.Project
) -> None:
    with pytest.raises(PauseflError, match=f"unknown figure '{wrong}'. Did you mean .*'{nearest}'"):
        lineage.explain(wrong, project)


@pytest.mark.parametrize("name", [FIGURE, "pause_v2_table1", "bsfl_fig2"])
def test_undrawn_figures_are_refused(name: str, project: lineage.Project) -> None:
    with pytest.raises(PauseflError, match=f"make the figure with snakemake --cores 2 {name}"):
        lineage.explain(name, project)


def draw_study(results: Path, name: str, **metadata: Any) -> Path:
    """The sidecar of the figure of a study as it is configured, with the code of today."""
    studies = load_studies(STUDIES, SCENARIOS)
    kind, study = studies.kind(name), studies.study(name)
    selectors = study.scenario.selectors if hasattr(study, "scenario") else ()
    data = [f"results/studies/{name}/there.csv", f"results/studies/{name}/lost.csv"]
    if kind == "regret":
        code: dict[str, Any] = {"code_hashes": {s: study_code(kind, study, s) for s in selectors}}
    else:
        code = {"code_hash": study_code(kind, study)}
    document = {"study": settings_of(study) | {"anneals": True}, "data": data, "notes": []} | code | metadata
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
        ("privacy_audit", ["audit; in the papers: Nowhere", "Seeds: 0\n", "D8: "]),
        ("pause_v2_fig1", ["generalization; in the papers: PAUSE v1 and v2, Fig. 1", "D71: "]),
    ],
)
def test_a_study_is_traced_to_settings_code_and_files(
    name: str, words: list[str], project: lineage.Project
) -> None:
    folder = draw_study(project.results, name)
    said = lineage.explain(name, project)
    for phrase in [*words, f"Settings: {STUDIES}, {name}", f"  {folder / 'there.csv'}\n"]:
        assert phrase in said, phrase
    assert f"{folder / 'lost.csv'}: no longer exists" in said
    assert "changed since" not in said
    assert "Notes:\n  none" in said


def test_a_study_whose_settings_or_code_are_others_says_so(project: lineage.Project) -> None:
    study = settings_of(load_studies(STUDIES, SCENARIOS).study("bsfl_fig4"))
    study["n_instances"] = 3
    draw_study(project.results, "bsfl_fig4", study=study, code_hash="0" * 16, notes=["Mind this."])
    said = lineage.explain("bsfl_fig4", project)
    assert "bsfl_fig4 (changed since: n_instances)" in said
    assert f"Code: {'0' * 16} (the code has changed since)" in said
    assert "Notes:\n  Mind this." in said


def test_a_figure_in_parts_is_explained_part_by_part(project: lineage.Project) -> None:
    draw_study(project.results, "bsfl_fig5_regret")
    said = lineage.explain("bsfl_fig5", project)
    assert "bsfl_fig5_regret.png" in said
    assert "make the figure with snakemake --cores 2 bsfl_fig5_loss" in said
    with pytest.raises(PauseflError, match=r"bsfl_fig6_loss.*bsfl_fig6_accuracy"):
        lineage.explain("bsfl_fig6", project)


def test_a_figure_of_an_earlier_version_is_to_be_drawn_anew(project: lineage.Project) -> None:
    folder = draw_study(project.results, "bsfl_fig4")
    (folder / "bsfl_fig4.json").write_text('{"study": {}}', "utf-8")
    with pytest.raises(PauseflError, match="is of an earlier version: make the figure again"):
        lineage.explain("bsfl_fig4", project)
