"""A job leaves three readable files behind, or says at once why it cannot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from pausefl.data.dataset import Dataset
from pausefl.errors import PauseflError
from pausefl.federated.simulation import Simulation
from pausefl.settings import Scenario

Start = Callable[..., Path]
ALONE = [
    "round",
    "selection",
    "latency_s",
    "elapsed_s",
    "leakage_max",
    "leakage_mean",
    "reward",
    "pseudo_regret",
]
TRAINED = ["train_loss", "accuracy", "loss"]


@pytest.fixture
def start(finish: Callable[..., Path], tmp_path: Path) -> Start:
    """Run three rounds of the demo and return the folder."""

    def run(folder: str = "out", selector: str = "pause", **changes: Any) -> Path:
        return finish(tmp_path / folder, selector, **changes)

    return run


def told(folder: Path) -> dict[str, Any]:
    """The summary, which is strict JSON: without infinity or NaN."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads((folder / "summary.json").read_text("utf-8"), parse_constant=refuse)


@pytest.mark.parametrize("train", [True, False])
def test_files_columns_and_types(start: Start, train: bool) -> None:
    out = start("a/new/folder", train=train)
    assert {path.name for path in out.iterdir()} == {"rounds.parquet", "ledger.parquet", "summary.json"}
    rounds = pq.read_schema(out / "rounds.parquet")
    assert rounds.names == ALONE + TRAINED * train
    assert rounds.field("round").type == pa.int64()
    assert rounds.field("selection").type == pa.list_(pa.int64())
    others = [name for name in rounds.names if name not in ("round", "selection")]
    assert {rounds.field(name).type for name in others} == {pa.float64()}
    ledger = pq.read_schema(out / "ledger.parquet")
    assert {name: str(ledger.field(name).type) for name in ledger.names} == {
        "user": "int64",
        "participations": "int64",
        "epsilon_coordinate": "double",
        "epsilon_update": "double",
        "values_unprotected": "int64",
    }
    assert pq.read_metadata(out / "rounds.parquet").num_rows == 3
    assert pq.read_metadata(out / "ledger.parquet").num_rows == 12


def test_the_summary_tells_what_ran_where_and_how_long(start: Start, demo: Scenario) -> None:
    summary = told(start())
    assert summary["scenario"] == json.loads(json.dumps(demo.job_settings("pause")))
    asked = [summary[key] for key in ("selector", "seed", "n_rounds", "trained", "device", "n_threads")]
    assert asked == ["pause", 0, 3, True, "cpu", 1]
    assert "digits" in summary["dataset_origin"]
    assert summary["label_shares"]["asked"] is None
    assert 0.1 < summary["label_shares"]["smallest"] < summary["label_shares"]["largest"] < 0.4
    assert summary["diverged_round"] is None
    # An index names all builds of a version alike; the build tells itself: 2.13.0+cu130.
    assert summary["versions"]["torch"] in (torch.__version__, torch.__version__.partition("+")[0])
    assert len(summary["code_hash"]) == 16
    timings = summary["timings_s"]
    assert set(timings) == {"selection", "training", "noise", "evaluation", "saving", "total"}
    assert summary["resumed_from_rounds"] == []
    parts = sum(seconds for stage, seconds in timings.items() if stage != "total")
    assert 0 < parts <= timings["total"]
    assert summary["peak_memory_bytes"] > 10**7
    assert summary["hardware"]["cores"] >= 1
    assert told(start("without_privacy", "fedavg_no_privacy"))["scenario"] == summary["scenario"]


def test_accuracy_by_class_is_that_of_the_last_model(start: Start, digits: Dataset) -> None:
    out = start()
    by_class = told(out)["class_accuracy"]
    shares = np.bincount(digits.test_y) / len(digits.test_y)
    last = pd.read_parquet(out / "rounds.parquet").accuracy.iloc[-1]
    assert len(by_class) == 10
    assert np.dot(shares, by_class) == pytest.approx(last)
    assert np.ptp(by_class) > 0.01
    assert told(start("alone", train=False))["class_accuracy"] is None


def test_a_job_that_fails_while_writing_leaves_the_folder_as_it_was(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = start()
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def full_disk(*_: object, **__: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "write_text", full_disk)
    with pytest.raises(
        PauseflError, match=r"cannot write the results to .*No space left .* run the same command"
    ):
        start(n_rounds=1)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        ("file", r"cannot write to output folder .*/file: \w+"),
        ("file/out", r"cannot write to output folder .*/file/out: \w+"),
        ("out\udcff", r"out\\udcff': its name must be UTF-8"),  # tables could not be read from there
        ("taken", r".*/taken/ledger\.parquet"),
    ],
)
def test_a_folder_that_cannot_have_results_is_named_before_anything_runs(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: str, message: str
) -> None:
    monkeypatch.delattr(Simulation, "run")
    (tmp_path / "file").write_text("taken")
    (tmp_path / "taken/ledger.parquet").mkdir(parents=True)
    with pytest.raises(PauseflError, match=message):
        start(folder)
    assert (tmp_path / "file").read_text() == "taken"
