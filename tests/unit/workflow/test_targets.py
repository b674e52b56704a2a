"""Which files the workflow makes for what is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pausefl.project import Project
from pausefl.workflow import contents, paths, publication, targets

Load = Callable[..., Project]


def row(scenario: str, *selectors: str, seeds: list[int] | None = None) -> dict[str, Any]:
    return {"scenario": scenario, "selectors": list(selectors), "seeds": seeds or [0]}


def files_of(table: Project) -> dict[str, list[str]]:
    """Files of every target."""
    return {name: list(target.files) for name, target in targets.targets(table).items()}


@pytest.fixture
def table(load: Load) -> Project:
    return load(experiments=[row("mnist_large_iid_r1", "pause", "fedavg_no_privacy", seeds=[0, 1])])


def test_one_of_admits_names_and_nothing_else() -> None:
    assert re.fullmatch(paths.one_of(["a.b", "ab"]), "a.b")
    assert not re.fullmatch(paths.one_of(["a.b"]), "axb")
    assert not re.fullmatch(paths.one_of([]), "")


def test_a_scenario_ends_in_runs_tables_figures_and_one_partition(table: Project) -> None:
    files = targets.of_scenario(table, "mnist_large_iid_r1")
    assert len(files) == len(set(files))
    assert [path for path in files if path.startswith("results/runs/")] == [
        f"results/runs/mnist_large_iid_r1/{selector}/seed-{seed}/{file}"
        for selector in ("pause", "fedavg_no_privacy")
        for seed in (0, 1)
        for file in ("rounds.parquet", "ledger.parquet", "summary.json")
    ]
    assert "results/tables/mnist_large_iid_r1/privacy.csv" in files
    assert "results/figures/mnist_large_iid_r1/leakage_vs_time.pdf" in files
    pictures = [path for path in files if path.startswith("data/partitions/mnist/")]
    assert [path.rpartition("/")[2] for path in pictures] == ["seed-0.png"]


@pytest.mark.parametrize(
    ("scenario", "selector", "absent"),
    [
        ("mnist_large_iid_r1", "fedavg_no_privacy", "leakage|spending|signal|privacy"),
        ("bsfl_linear_iid", "pause", "leakage|spending|signal|privacy|accuracy"),
        ("mnist_large_iid_r2", "pause", "spending|signal"),
    ],
)
def test_what_does_not_apply_is_left_out(load: Load, scenario: str, selector: str, absent: str) -> None:
    table = load(experiments=[row(scenario, selector)])
    names = [Path(path).name for path in targets.of_scenario(table, scenario)]
    assert "loss_vs_time.png" in names
    assert not [name for name in names if re.search(absent, name)]


def test_published_runs_are_read_and_have_no_partitions(load: Load) -> None:
    table = load("published")
    files = targets.of_scenario(table, "mnist_large_iid_r1")
    assert all(path.startswith("results/") for path in files)
    runs = [path for path in files if path.startswith("results/published/")]
    names = ("rounds.parquet", "ledger.parquet", "runs.jsonl")
    assert runs == [f"results/published/mnist_large_iid_r1/{name}" for name in names]


def test_a_regret_study_has_a_file_for_each_run(table: Project) -> None:
    files = targets.of_study(table, "bsfl_fig5_regret")
    assert sum(path.endswith(".parquet") for path in files) == 4 * 5
    assert {"fits.csv", "growth.csv"} < {Path(path).name for path in files}


def test_an_audit_ends_in_a_verdict_and_no_other_study_does(table: Project) -> None:
    files = [path for name in table.studies for path in targets.of_study(table, name)]
    verdicts = [path for path in files if path.endswith("verdict.txt")]
    assert verdicts == [f"results/studies/privacy_audit{suffix}/verdict.txt" for suffix in ("", "_secure")]


def test_instant_studies_are_not_published(load: Load) -> None:
    table = load("published")
    assert paths.study_data(table, "pause_v2_fig1") == ["results/studies/pause_v2_fig1/generalization.csv"]
    assert paths.study_data(table, "bsfl_fig4")[0] == "results/published/studies/bsfl_fig4/runs.parquet"
    assert "pause_v2_fig1" not in publication.studies(load())


def test_everything_has_a_name(table: Project) -> None:
    named = files_of(table)
    for target in ("demo", "studies", "mnist_large_iid_r1", "pause_v2_fig8_as_written", "claim_C3"):
        assert named[target], target
    assert named["pause_v2_fig8_as_written"] == paths.figure("mnist_large_iid_r1", "accuracy_vs_time")
    assert set(named["bsfl_fig4"]) == set(targets.of_study(table, "bsfl_fig4"))


def test_a_figure_s_own_name_is_as_run_and_never_its_other_reading(load: Load) -> None:
    named = files_of(load())
    for figure, scenario, kind in (
        ("pause_v2_fig8", "mnist_large_iid_r1_as_run", "accuracy_vs_time"),
        ("pause_v2_fig6", "cifar10_small_noniid_r1_as_run", "accuracy_vs_time"),
        ("pause_v2_fig6_dirichlet", "cifar10_small_noniid_r1_as_run_dirichlet", "accuracy_vs_time"),
        ("pause_v1_fig9", "cifar10_large_noniid_r1_v1_as_run", "leakage_vs_time"),
    ):
        assert named[figure] == paths.figure(scenario, kind)
    # Without its scenario there is no such target, rather than what the text has.
    written = files_of(load(experiments=[row("mnist_large_iid_r1", "pause")]))
    assert "pause_v2_fig8_as_written" in written
    assert "pause_v2_fig8" not in written


def test_a_scenario_as_run_has_the_table_beside_the_authors(load: Load) -> None:
    table = load(experiments=[row("mnist_large_iid_r1_as_run", "pause"), row("mnist_large_iid_r1", "pause")])
    for scenario, there in (("mnist_large_iid_r1_as_run", True), ("mnist_large_iid_r1", False)):
        files = targets.of_scenario(table, scenario)
        assert (f"results/tables/{scenario}/authors.csv" in files) == there


def test_a_figure_in_parts_is_all_of_them(load: Load) -> None:
    table = load(experiments=[row("bsfl_linear_iid", "bsfl")])
    named = files_of(table)
    assert named["bsfl_fig5"] == named["bsfl_fig5_loss"] + named["bsfl_fig5_regret"]


def test_a_claim_needs_its_runs_at_the_scales_that_there_are(table: Project) -> None:
    for claim in table.claims:
        needed = targets.claim_inputs(table, "paper", [claim])
        assert set(needed) <= set(targets.claim_inputs(table, "paper"))
    named = files_of(table)
    assert "claims" in named


def test_a_study_of_selection_stands_in_for_runs_that_are_not_there(table: Project) -> None:
    assert "selection_cifar10_small_iid_r1" in targets.claim_studies(table, "paper")


@pytest.mark.parametrize("report", ["all", "demo", "mnist_large_iid_r1", "bsfl_fig4"])
def test_a_report_reads_what_the_workflow_makes_or_brings(table: Project, report: str) -> None:
    made = {
        *files_of(table)["all"],
        *files_of(table)["demo"],
        *[path for scale in (*table.scales, *table.demo_scales) for path in paths.claims(scale)],
        *[path for name in table.studies for path in targets.of_study(table, name)],
    }
    others = [path for path in contents.inputs(table, report) if path not in made]
    assert others
    assert all(Path(path).is_relative_to(table.root) for path in others)


def test_raw_files_are_relative_where_the_data_root_is(load: Load, tmp_path: Path) -> None:
    table = load(experiments=[row("mnist_large_iid_r1", "pause")], data_root="nowhere/raw")
    files = paths.downloads(table)["mnist"]
    assert files == paths.raw(table, "mnist")
    assert "nowhere/raw/MNIST/raw/train-images-idx3-ubyte" in files
    elsewhere = load(experiments=[row("mnist_large_iid_r1", "pause")], data_root=str(tmp_path))
    assert all(Path(path).is_relative_to(tmp_path) for path in paths.raw(elsewhere, "mnist"))


def test_files_that_are_there_are_not_downloaded(load: Load, tmp_path: Path) -> None:
    table = load(experiments=[row("mnist_large_iid_r1", "pause")], data_root=str(tmp_path))
    for path in map(Path, paths.downloads(table)["mnist"]):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert "mnist" not in paths.downloads(table)


def test_a_storage_is_asked_for_official_files_alone(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row("mnist_large_iid_r1", "pause"), row("cifar10_small_iid_r1", "pause")]
    table = load(experiments=rows, data_root="nowhere/raw", image_folders={"cifar10": "images"})
    files = paths.raw(table, "mnist", stored=True)
    monkeypatch.chdir(tmp_path)
    for path in map(Path, files):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert paths.downloads(table) == {}
    assert paths.downloads(table, stored=True) == {"mnist": files}
    (folder,) = [name for name in table.datasets if name.startswith("cifar10-from")]
    assert not paths.official(table, folder)
    by_hand = load(experiments=rows[:1], data_root="elsewhere", download=False)
    assert paths.downloads(by_hand, stored=True) == {}
    assert paths.raw(by_hand, "mnist", stored=True)[0] == "elsewhere/MNIST/raw/train-images-idx3-ubyte"
    absolute = load(experiments=rows[:1], data_root=str(tmp_path))
    assert not paths.official(absolute, "mnist")


def test_a_scenario_of_the_papers_that_was_edited_is_run_and_not_judged(load: Load, tmp_path: Path) -> None:
    shipped = Path(__file__).parents[3] / "config/scenarios/mnist_large_iid_r1.yaml"
    text = shipped.read_text("utf-8")
    studies = "selection: {mine: {title: M, scenario: mnist_large_iid_r1, selectors: [pause], seeds: [0]}}"
    (tmp_path / "studies.yaml").write_text(studies, "utf-8")
    for new, scales in (("n_users: 300", ["paper"]), ("n_users: 30", [])):
        (tmp_path / "mnist_large_iid_r1.yaml").write_text(text.replace("n_users: 300", new), "utf-8")
        table = load(
            scenarios=str(tmp_path),
            studies=str(tmp_path / "studies.yaml"),
            experiments=[row("mnist_large_iid_r1", "pause")],
        )
        assert table.scales == scales
        assert bool(targets.claim_scenarios(table, "paper")) == bool(scales)
        assert targets.claim_studies(table, "paper") == (["mine"] if scales else [])
        assert "results/runs/mnist_large_iid_r1/pause/seed-0/rounds.parquet" in files_of(table)["all"]
