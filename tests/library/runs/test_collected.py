"""Collected and published runs: the same, bit for bit; what was cut, edited or swapped is refused by name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pausefl.analysis.compare import compare
from pausefl.errors import PauseflError
from pausefl.runs.collected import (
    LINES,
    Collected,
    exists,
    read_collected,
    read_run,
    run_folder,
    runs_in,
    write,
)
from pausefl.runs.run import TABLES
from pausefl.runs.run_id import RunId

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "results" / "published"
NAME = "cifar10_small_iid_r1"
ROUNDS, LEDGER = TABLES


def experiments_of(folder: Path) -> list[RunId]:
    """All collected runs of a scenario."""
    return [RunId(folder.name, *key) for key in Collected(folder).summaries]


@pytest.mark.parametrize("name", sorted(path.parent.name for path in PUBLISHED.glob(f"*/{LINES}")))
def test_every_published_run_is_whole(name: str) -> None:
    runs = runs_in(PUBLISHED / name)
    assert [(run.selector, run.seed) for run in runs] == sorted(Collected(PUBLISHED / name).summaries)
    assert runs


def test_what_is_published_is_written_again_with_the_same_lines(tmp_path: Path) -> None:
    runs = runs_in(PUBLISHED / NAME)
    write(reversed(runs), tmp_path / NAME)
    assert (tmp_path / NAME / LINES).read_bytes() == (PUBLISHED / NAME / LINES).read_bytes()
    for ours, theirs in zip(runs_in(tmp_path / NAME), runs, strict=True):
        assert ours.rounds.equals(theirs.rounds)
        assert ours.ledger.equals(theirs.ledger)


def test_a_folder_of_collected_runs_is_compared_as_all_of_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = compare(folder)
    named = [line[3:] for line in text.splitlines() if line[1:3] == ": "]
    assert named == [str(run_folder(folder.parent, one)) for one in experiments_of(folder)]
    assert len(named) == 9
    monkeypatch.chdir(folder)
    assert compare(Path()) == text
    assert read_run(Path("pause/seed-0")).selector == "pause"


Change = Callable[[pd.DataFrame], pd.DataFrame]


def at(selector: str, seed: int = 0) -> Callable[[pd.DataFrame], pd.Series]:
    """Which rows are those of a run."""
    return lambda table: (table["selector"] == selector) & (table["seed"] == seed)


def one_bit(column: str) -> Change:
    """The first value that a run has in a column, changed by its last bit."""

    def change(table: pd.DataFrame) -> pd.DataFrame:
        row = table.index[at("pause")(table) & table[column].notna()][0]
        table.loc[row, column] = np.nextafter(table.loc[row, column], 0)
        return table

    return change


def swapped(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of two selectors under each other's names."""
    others = {"pause": "random", "random": "pause"}
    return table.assign(selector=table["selector"].map(lambda one: others.get(one, one)))


def one_more_use(table: pd.DataFrame) -> pd.DataFrame:
    """A user of a run who has taken part once more."""
    table.loc[table.index[at("pause")(table)][0], "participations"] += 1
    return table


@pytest.fixture
def folder(seed_0: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(seed_0, tmp_path / "published" / NAME))


@pytest.mark.parametrize(
    ("file", "change"),
    [
        (ROUNDS, swapped),
        (LEDGER, swapped),
        (ROUNDS, lambda table: table.drop(table.index[at("pause")(table)][-1])),
        (LEDGER, lambda table: table.drop(table.index[at("pause")(table)][-1])),
        (ROUNDS, one_bit("latency_s")),
        (ROUNDS, one_bit("train_loss")),
        (LEDGER, one_more_use),
        (ROUNDS, lambda table: pd.concat([table, table[at("pause")(table)]])),
        (ROUNDS, lambda table: table.drop(columns="reward")),
    ],
)
def test_changed_rows_are_refused_by_name(folder: Path, file: str, change: Change) -> None:
    path, experiments = folder / file, experiments_of(folder)
    change(pd.read_parquet(path)).to_parquet(path, index=False)
    with pytest.raises(PauseflError, match=r"(pause/seed-0|rounds\.parquet).*git restore"):
        read_run(folder / "pause" / "seed-0")
    with pytest.raises(PauseflError, match=rf"(?s)'{NAME}': \d of 9 runs cannot be used:"):
        read_collected(folder, experiments)
    if "reward" in pd.read_parquet(path):
        read_run(folder / "fastest" / "seed-0")


def test_a_run_that_a_table_lacks_is_refused_and_named_by_all(folder: Path) -> None:
    path = folder / ROUNDS
    table = pd.read_parquet(path)
    table[~at("pause")(table)].to_parquet(path, index=False)
    for selector in ("pause", "random"):
        with pytest.raises(PauseflError, match=f"{path} lacks pause, seed 0, which other files here have"):
            read_run(folder / selector / "seed-0")


def edited(folder: Path, change: Callable[[dict[str, dict[str, Any]]], None]) -> None:
    """Change the lines of the runs, by selector."""
    lines = [json.loads(line) for line in (folder / LINES).read_text("utf-8").splitlines()]
    by_selector = {line["selector"]: line for line in lines}
    change(by_selector)
    (folder / LINES).write_text("".join(f"{json.dumps(line)}\n" for line in by_selector.values()), "utf-8")


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines["pause"].update(n_rounds=7),
        lambda lines: lines["pause"].pop("timings_s"),
        lambda lines: (lines["pause"].update(selector="random"), lines["random"].update(selector="pause")),
        lambda lines: lines["pause"]["digests"].update({ROUNDS: "0" * 64}),
    ],
)
def test_a_line_that_does_not_fit_its_rows_is_refused(folder: Path, change: Callable[..., None]) -> None:
    edited(folder, change)
    with pytest.raises(PauseflError, match=r"git restore|no run of pause, seed 0"):
        read_run(folder / "pause" / "seed-0")


def test_a_line_that_is_missing_double_or_of_another_scenario_is_refused(folder: Path) -> None:
    text = (folder / LINES).read_text("utf-8")
    lines = {json.loads(line)["selector"]: line for line in text.splitlines()}
    (folder / LINES).write_text(text.replace(f"{lines['pause']}\n", ""), "utf-8")
    with pytest.raises(PauseflError, match=f"{LINES} lacks pause, seed 0, which other files here have"):
        read_run(folder / "random" / "seed-0")
    with pytest.raises(PauseflError, match=f"{LINES} has no run of pause, seed 0"):
        read_run(folder / "pause" / "seed-0")
    (folder / LINES).write_text(f"{text}{lines['pause']}\n", "utf-8")
    with pytest.raises(PauseflError, match=f"{LINES} has two lines of pause, seed 0"):
        read_run(folder / "pause" / "seed-0")
    other = (PUBLISHED / "cifar10_small_iid_r2" / LINES).read_text("utf-8").splitlines()
    pause = next(line for line in other if json.loads(line)["selector"] == "pause")
    (folder / LINES).write_text(text.replace(lines["pause"], pause), "utf-8")
    with pytest.raises(
        PauseflError, match="the line of pause, seed 0 belongs to scenario 'cifar10_small_iid_r2'"
    ):
        read_run(folder / "pause" / "seed-0")
    for line in ("{", "[]", '{"selector": "pause", "seed": 0}'):
        (folder / LINES).write_text(f"{text}{line}\n", "utf-8")
        with pytest.raises(PauseflError, match=f"{LINES}: line 10 is not that of a run; .*git restore"):
            read_run(folder / "random" / "seed-0")


def test_what_is_read_follows_the_files(folder: Path) -> None:
    """They are kept in memory from run to run, and what a reader does to a run stays with that reader."""
    run = run_folder(folder.parent, RunId(NAME, "pause", 0))
    mine = read_run(run)
    mine.summary["scenario"]["network"]["latency_std"] = 9.0
    mine.rounds["reward"] = 0.0
    mine.ledger.loc[0, "participations"] = 0
    again = read_run(run)
    assert (again.seed, again.rounds["reward"].any(), exists(run)) == (0, True, True)
    edited(folder, lambda lines: lines.pop("pause") and None)
    assert not exists(run)
