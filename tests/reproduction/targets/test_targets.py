"""Which files the workflow makes for what is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scenarios import row

from pausefl.errors import ConfigError
from pausefl.reproduction.targets import targets
from pausefl.reproduction.targets.project import Project
from pausefl.runs.run_id import RunId

Load = Callable[..., Project]


def files_of(table: Project) -> dict[str, list[str]]:
    """Files of every target."""
    return {name: list(target.files) for name, target in targets.targets(table).items()}


@pytest.mark.parametrize(
    ("scenario", "selector", "absent"),
    [
        ("mnist_large_iid_r1", "fedavg_no_privacy", "leakage|spending|signal"),
        ("bsfl_linear_iid", "pause", "leakage|spending|signal|accuracy"),
        ("mnist_large_iid_r2", "pause", "spending|signal"),
    ],
)
def test_what_does_not_apply_is_left_out(load: Load, scenario: str, selector: str, absent: str) -> None:
    table = load(experiments=[row(scenario, selector)])
    kinds = {asked.kind for one, asked in table.figures.values() if one == scenario}
    assert "loss_vs_time" in kinds
    assert not [kind for kind in kinds if re.search(absent, kind)]


def test_a_figure_s_own_name_is_as_run_and_never_its_other_reading(load: Load) -> None:
    named = files_of(load())
    for figure, shown in (
        ("pause_v2_fig8", ("mnist_large_iid_r1_as_run", "accuracy_vs_time")),
        ("pause_v1_fig9", ("cifar10_large_noniid_r1_v1_as_run", "leakage_vs_time")),
        ("pause_v2_fig8_as_written", ("mnist_large_iid_r1", "accuracy_vs_time")),
    ):
        of, asked = load().figures[figure]
        assert (of, asked.kind) == shown
        assert named[figure] == targets.figure_files(figure)
    # Without its scenario there is no such target, rather than what the text has.
    written = load(experiments=[row("mnist_large_iid_r1", "pause")])
    assert targets.find(written, "pause_v2_fig8_as_written").files
    with pytest.raises(ConfigError, match="unknown target 'pause_v2_fig8', or not part of"):
        targets.find(written, "pause_v2_fig8")


def test_a_figure_in_parts_is_all_of_them_and_needs_runs_and_a_study(load: Load) -> None:
    table = load(experiments=[row("bsfl_linear_iid", "bsfl", seeds=[3])])
    named, whole = files_of(table), targets.find(table, "bsfl_fig5")
    assert list(whole.files) == named["bsfl_fig5_loss"] + named["bsfl_fig5_regret"]
    assert targets.needs(table, whole) == (["bsfl_linear_iid"], ["bsfl_fig5_regret"])
    assert targets.jobs(table, whole) == [RunId("bsfl_linear_iid", "bsfl", 3)]


@pytest.mark.parametrize("root", ["nowhere/raw", "absolute"])
def test_only_official_files_that_are_missing_are_downloaded(load: Load, tmp_path: Path, root: str) -> None:
    if root == "absolute":
        root = str(tmp_path)
    rows = [row("mnist_large_iid_r1", "pause"), row("cifar10_small_iid_r1", "pause")]

    def asked(**changes: Any) -> Project:
        return load(experiments=rows, studies=None, data_root=root, **changes)

    table = asked()
    assert table.downloads == {
        Path(root, "MNIST"): "mnist",
        Path(root, "cifar-10-batches-py"): "cifar10",
    }
    assert table.raw("mnist") == [Path(root, "MNIST")]
    assert table.raw(table.dataset("demo_small")) == []
    assert asked(download=False).downloads == {}
    images = asked(image_folders={"cifar10": "images"})
    (folder,) = [name for name in images.datasets if name.startswith("cifar10-from")]
    assert images.raw(folder) == [Path(root, "images")]
    assert set(images.downloads.values()) == {"mnist"}
