"""Publishing: the same runs make the same bytes, one more run is one more line, and nothing is lost."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.errors import PauseflError
from pausefl.federated.job import Job
from pausefl.federated.run import run_job
from pausefl.results.published import (
    FILES,
    LINES,
    TABLES,
    RunFiles,
    read_study,
)
from pausefl.results.publishing import publish_runs, publish_study, write_table
from pausefl.results.runs import read_run
from pausefl.settings import Experiment, Scenario

NAME = "demo_small"
PAUSE, LATER, RANDOM, UNTRAINED = (
    Experiment(NAME, *key) for key in (("pause", 2), ("pause", 10), ("random", 0), ("fastest", 0))
)


@pytest.fixture(scope="module")
def made(
    demo: Scenario,
    digits: Dataset,
    share_out: Callable[..., Partition],
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[Experiment, Path]:
    """Four finished runs, of which one was not trained."""
    runs = {}
    for run in (PAUSE, LATER, RANDOM, UNTRAINED):
        runs[run] = tmp_path_factory.mktemp("runs") / run.selector / f"seed-{run.seed}"
        job = Job(demo, run.selector, run.seed, 4, run != UNTRAINED, device="cpu")
        run_job(job, digits, share_out(demo, run.seed), runs[run])
    return runs


@pytest.fixture
def own(made: dict[Experiment, Path], tmp_path: Path) -> dict[Experiment, Path]:
    """Copies of them, to be changed."""
    return {
        run: Path(shutil.copytree(folder, tmp_path / "runs" / run.selector / f"seed-{run.seed}"))
        for run, folder in made.items()
    }


def contents(published: Path) -> dict[str, bytes]:
    """All that was published, by file."""
    return {str(path.relative_to(published)): path.read_bytes() for path in published.rglob("*.*")}


def edit(folder: Path, **changes: object) -> None:
    """Change the summary of a run."""
    path = folder / "summary.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), "utf-8")


def test_published_runs_are_read_as_they_were(made: dict[Experiment, Path], tmp_path: Path) -> None:
    published = tmp_path / "published"
    assert publish_runs(made, published) == [
        f"{NAME}: 4 added (fastest, seed 0; pause, seed 2; pause, seed 10; random, seed 0)"
    ]
    assert sorted(contents(published)) == sorted(f"{NAME}/{file}" for file in FILES)
    for run, folder in made.items():
        files = RunFiles.of(published / NAME / run.selector / f"seed-{run.seed}")
        for name in TABLES:
            pd.testing.assert_frame_equal(files.table(name), pd.read_parquet(folder / name), check_exact=True)
        assert files.summary() == json.loads((folder / "summary.json").read_text("utf-8"))
        read_run(files.folder)
    assert "accuracy" not in RunFiles.of(published / NAME / "fastest" / "seed-0").table("rounds.parquet")


def test_the_order_of_publishing_is_not_seen(made: dict[Experiment, Path], tmp_path: Path) -> None:
    publish_runs(made, tmp_path / "published")
    wanted = contents(tmp_path / "published")
    for i, order in enumerate(permutations(made)):
        if i % 5 == 0:
            published = tmp_path / str(i) / "published"
            for run in order:
                publish_runs({run: made[run]}, published)
            assert contents(published) == wanted


def test_one_more_run_is_one_more_line(made: dict[Experiment, Path], tmp_path: Path) -> None:
    published = tmp_path / "published"
    path = published / NAME / LINES
    publish_runs({run: made[run] for run in (RANDOM, LATER)}, published)
    before = path.read_text("utf-8").splitlines()
    publish_runs({run: made[run] for run in (PAUSE, RANDOM)}, published)
    after = path.read_text("utf-8").splitlines()
    assert len(after) == 3
    assert [line for line in after if line in before] == before
    (line,) = set(after) - set(before)
    assert line.startswith('{"selector":"pause","seed":2,')


def test_a_run_that_is_there_is_left(
    own: dict[Experiment, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one with the same numbers and settings that took another time under other code."""
    published = tmp_path / "published"
    publish_runs(own, published)
    wanted = contents(published)
    edit(own[PAUSE], code_hash="0" * 16, peak_memory_bytes=1)
    with monkeypatch.context() as patched:
        patched.setattr("pausefl.results.publishing.write_table", pytest.fail)
        assert publish_runs(own, published) == [f"{NAME}: 4 there already"]
    assert contents(published) == wanted
    assert publish_runs(own, published, replace=True) == [
        f"{NAME}: 1 replaced (pause, seed 2), 3 there already"
    ]
    changed = (published / NAME / LINES).read_text("utf-8").splitlines()
    assert len(set(changed) - set(wanted[f"{NAME}/{LINES}"].decode().splitlines())) == 1


def test_other_numbers_or_settings_are_refused_unless_asked_for(
    own: dict[Experiment, Path], made: dict[Experiment, Path], tmp_path: Path
) -> None:
    published = tmp_path / "published"
    publish_runs({run: own[run] for run in (PAUSE, RANDOM)}, published)
    wanted = contents(published)
    path = own[PAUSE] / "rounds.parquet"
    rounds = pd.read_parquet(path)
    rounds.loc[1, "train_loss"] = np.nextafter(rounds.loc[1, "train_loss"], 0)
    rounds.to_parquet(path, index=False)
    with pytest.raises(PauseflError, match=r"rounds.parquet differ from what summary.json"):
        publish_runs(own, published, replace=True)
    summary = json.loads((own[PAUSE] / "summary.json").read_text("utf-8"))
    edit(own[PAUSE], digests={})
    words = f"'{NAME}': published already with other settings or numbers: pause, seed 2; .*republish"
    with pytest.raises(PauseflError, match=words):
        publish_runs(own, published)
    assert contents(published) == wanted
    publish_runs(own, published, replace=True)
    read = RunFiles.of(published / NAME / "pause" / "seed-2").table("rounds.parquet")
    pd.testing.assert_frame_equal(read, rounds, check_exact=True)
    summary["scenario"]["reward"]["gamma"] += 1
    shutil.copy(made[PAUSE] / "rounds.parquet", path)
    edit(own[PAUSE], **summary)
    with pytest.raises(PauseflError, match="published already with other settings or numbers: pause, seed 2"):
        publish_runs(own, tmp_path / "published")


def test_nothing_is_written_beside_damaged_runs(made: dict[Experiment, Path], tmp_path: Path) -> None:
    published = tmp_path / "published"
    publish_runs({RANDOM: made[RANDOM]}, published)
    path = published / NAME / "rounds.parquet"
    rounds = pd.read_parquet(path)
    rounds.assign(accuracy=0.5).to_parquet(path, index=False)
    wanted = contents(published)
    with pytest.raises(PauseflError, match=r"random/seed-0: files of different runs.*git restore"):
        publish_runs({PAUSE: made[PAUSE]}, published)
    assert contents(published) == wanted


@pytest.mark.parametrize("n", [0, 1, 300])
def test_a_table_keeps_its_values_and_types(tmp_path: Path, n: int) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "round": np.arange(n),
            "selection": [rng.permutation(300)[:15] for _ in range(n)],
            "elapsed_s": rng.random(n).cumsum(),
            "accuracy": np.where(np.arange(n) % 5 == 0, rng.random(n), np.nan),
            "leakage_max": np.repeat(np.inf, n),
            "pseudo_regret": np.full(n, np.nan),
            "name": ["pause"] * n,
            "zero": np.where(np.arange(n) % 2, 0.0, -0.0),
            "reached": np.arange(n) % 3 == 0,
        }
    )
    table.to_parquet(tmp_path / "plain.parquet", index=False)
    write_table(pa.Table.from_pandas(table, preserve_index=False), tmp_path / "small.parquet")
    ours, theirs = (pd.read_parquet(tmp_path / f"{name}.parquet") for name in ("plain", "small"))
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True)
    assert np.signbit(ours["zero"]).equals(np.signbit(theirs["zero"]))
    if n == 300:
        assert (tmp_path / "small.parquet").stat().st_size < (tmp_path / "plain.parquet").stat().st_size


def test_runs_of_a_study_are_one_table(tmp_path: Path) -> None:
    source, target = tmp_path / "study", tmp_path / "published" / "studies" / "study"
    files = [f"{selector}/seed-{seed}.parquet" for selector in ("random", "pause") for seed in (10, 9)]
    for i, name in enumerate(files):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        key = {"selector": Path(name).parent.name, "seed": int(Path(name).stem[5:])}
        table = pd.DataFrame({**key, "round": [1, 2], "regret": [i, i + 0.1], "reached": [None, 2]})
        table.astype({"reached": "Int64"}).to_parquet(source / name, index=False)
    (source / "fits.csv").write_text("law,a\nroot,0.1\n", "utf-8")
    assert publish_study(source, [*files, "fits.csv"], target) == [
        "study study: wrote runs.parquet, fits.csv"
    ]
    assert sorted(contents(target)) == ["fits.csv", "runs.parquet"]
    table = pd.read_parquet(target / "runs.parquet")
    assert table[["selector", "seed"]].drop_duplicates().to_numpy().tolist() == [
        ["pause", 9],
        ["pause", 10],
        ["random", 9],
        ["random", 10],
    ]
    for name in files:
        read = read_study(target, name)
        assert read is not None
        plain = pd.read_parquet(source / name).astype({"reached": float})
        pd.testing.assert_frame_equal(read, plain, check_exact=True)
    wanted = contents(target)
    assert publish_study(source, [*reversed(files), "fits.csv"], target) == ["study study: there already"]
    (source / "fits.csv").write_text("law,a\nroot,0.2\n", "utf-8")
    with pytest.raises(
        PauseflError, match=r"'study': published already with other values: fits.csv; .*republish"
    ):
        publish_study(source, [*files, "fits.csv"], target)
    assert contents(target) == wanted
    assert publish_study(source, [*files, "fits.csv"], target, replace=True) == [
        "study study: wrote fits.csv"
    ]
    assert (target / "fits.csv").read_text("utf-8") == "law,a\nroot,0.2\n"
