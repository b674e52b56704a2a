"""Publishing: the same runs make the same bytes, one more run is one more line, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pausefl.errors import PauseflError
from pausefl.reproduction.publishing import publish_runs, publish_study
from pausefl.runs.collected import LINES, read_runs, run_folder, write, write_table
from pausefl.runs.run import Run
from pausefl.runs.run_id import RunId

NAME = "demo_small"
PAUSE, LATER, RANDOM, UNTRAINED = (
    RunId(NAME, *key) for key in (("pause", 2), ("pause", 10), ("random", 0), ("fastest", 0))
)

Runs = dict[RunId, Run]


@pytest.fixture(scope="module")
def made(finish: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Four finished runs, of which one was not trained."""
    root = tmp_path_factory.mktemp("runs")
    return read_runs(
        {
            run: finish(run_folder(root, run), run.selector, run.seed, 4, train=run != UNTRAINED)
            for run in (RANDOM, LATER, UNTRAINED, PAUSE)
        }
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where they are published."""
    return tmp_path / "published" / NAME


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def with_summary(run: Run, **changes: object) -> Run:
    return replace(run, summary=run.summary | changes)


def test_neither_order_nor_steps_are_seen_and_published_is_what_was_collected(
    made: Runs, tmp_path: Path
) -> None:
    """Whoever publishes what is collected, or was published, copies its bytes."""
    collected = tmp_path / "collected" / NAME
    write(made.values(), collected)
    wanted = contents(collected)
    keys = [(line["selector"], line["seed"]) for line in map(json.loads, wanted[LINES].splitlines())]
    assert keys == [("fastest", 0), ("pause", 2), ("pause", 10), ("random", 0)]
    write(reversed(made.values()), collected)
    assert contents(collected) == wanted
    for i, order in enumerate(([0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2])):
        published = tmp_path / str(i) / NAME
        for k in order:
            publish_runs([[*made.values()][k]], published)
        assert contents(published) == wanted
    again = read_runs({run: run_folder(collected.parent, run) for run in made})
    said = publish_runs(again.values(), tmp_path / "published" / NAME)
    added = "fastest, seed 0; pause, seed 2; pause, seed 10; random, seed 0"
    assert said == f"{NAME}: 4 added ({added})"
    assert contents(tmp_path / "published" / NAME) == wanted


def test_a_run_that_is_there_is_left(made: Runs, folder: Path) -> None:
    """Also one with the same numbers and settings that took another time under other code."""
    publish_runs(made.values(), folder)
    files = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    other = with_summary(made[PAUSE], code_hash="0" * 16, peak_memory_bytes=1)
    assert publish_runs((made | {PAUSE: other}).values(), folder) == f"{NAME}: 4 there already"
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()} == files


@pytest.mark.parametrize("changed", ["rounds", "ledger", "settings", "length"])
def test_other_numbers_or_settings_are_refused(made: Runs, folder: Path, changed: str) -> None:
    publish_runs([made[PAUSE], made[RANDOM]], folder)
    wanted, run = contents(folder), made[PAUSE]
    rounds, ledger, scenario = run.rounds.copy(), run.ledger.copy(), run.summary["scenario"]
    rounds.loc[1, "train_loss"] = np.nextafter(rounds.loc[1, "train_loss"], 0)
    ledger.loc[0, "values_unprotected"] += 1
    reward = scenario["reward"] | {"gamma": scenario["reward"]["gamma"] + 1}
    other = {
        "rounds": replace(run, rounds=rounds),
        "ledger": replace(run, ledger=ledger),
        "settings": with_summary(run, scenario=scenario | {"reward": reward}),
        "length": replace(run, rounds=run.rounds[:3]),
    }[changed]
    words = f"{folder} has other settings or numbers of pause, seed 2; nothing was published"
    with pytest.raises(PauseflError, match=words):
        publish_runs([made[LATER], other], folder)
    assert contents(folder) == wanted


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
    write_table(table, tmp_path / "small.parquet")
    ours, theirs = (pd.read_parquet(tmp_path / f"{name}.parquet") for name in ("plain", "small"))
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True)
    assert np.signbit(ours["zero"]).equals(np.signbit(theirs["zero"]))
    if n == 300:
        assert (tmp_path / "small.parquet").stat().st_size < (tmp_path / "plain.parquet").stat().st_size


def test_a_study_is_published_once(tmp_path: Path) -> None:
    source, target = tmp_path / "study", tmp_path / "published" / "studies" / "study"
    source.mkdir()
    runs = pd.DataFrame({"selector": ["pause", "random"], "seed": 9, "regret": [0.1, np.nan]})
    runs.to_parquet(source / "runs.parquet", index=False)
    (source / "fits.csv").write_text("law,a\nroot,0.1\n", "utf-8")
    (source / "study.png").write_bytes(b"a picture is made again")
    assert publish_study(source, target) == "study study: wrote fits.csv, runs.parquet"
    assert sorted(contents(target)) == ["fits.csv", "runs.parquet"]
    pd.testing.assert_frame_equal(pd.read_parquet(target / "runs.parquet"), runs, check_exact=True)
    wanted = contents(target)
    (source / "fits.csv").write_text("law,a\nroot,0.10\n", "utf-8")  # the same value
    assert publish_study(source, target) == "study study: there already"
    runs.assign(regret=0.2).to_parquet(source / "runs.parquet", index=False)
    (source / "more.csv").write_text("law,a\nroot,0.2\n", "utf-8")
    with pytest.raises(
        PauseflError, match=f"{target} has other settings or numbers of runs.parquet; nothing"
    ):
        publish_study(source, target)
    assert contents(target) == wanted
