"""Numbers of the benchmark's worlds on pages, computed another way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pausefl.analysis.formats import change
from pausefl.reproduction.pages.numbers import Numbers
from pausefl.reproduction.pages.published import Published

STUDY = "benchmark_digits_worlds"
RUNS = Path(__file__).parents[3] / "results/published/studies" / STUDY / "runs.csv"


@pytest.fixture(scope="module")
def numbers(published: Published) -> Numbers:
    return Numbers(published)


@pytest.fixture(scope="module")
def cell() -> pd.DataFrame:
    """One row a seed, with the columns of selectors below measures."""
    runs = pd.read_csv(RUNS)
    own = runs[(runs["world"] == "drift") & (runs["labels"] == "iid")]
    return own.pivot(index="seed", columns="selector", values=["accuracy", "spent_max", "n_rounds"])


def interval(values: pd.Series) -> tuple[float, float, float]:
    half = stats.t.ppf(0.975, 9) * values.std(ddof=1) / np.sqrt(10)
    return values.mean(), values.mean() - half, values.mean() + half


def test_values_and_gaps_of_a_cell(numbers: Numbers, cell: pd.DataFrame) -> None:
    accuracy, spent = cell["accuracy"], np.log(cell["spent_max"])
    value = f"{100 * accuracy['sweep'].mean():.1f}"
    assert numbers.worlds_value(STUDY, "drift", "iid", "accuracy", "sweep") == value
    mean, low, high = np.exp(interval(spent["sweep"] - spent["pause"]))
    shown = numbers.worlds_gap(STUDY, "drift", "iid", "spent", "sweep", "pause")
    assert shown == f"{mean:.2f} ({low:.2f} to {high:.2f})"


def test_brief_tables_have_means(numbers: Numbers, cell: pd.DataFrame) -> None:
    head, _, *rows = numbers.worlds_brief(STUDY, "iid", "pause", "sweep").splitlines()
    place = head.split(" | ").index("Drift")
    (sweep,) = (row for row in rows if row.startswith("| Sweep"))
    means = f"{100 * cell['accuracy']['sweep'].mean():.1f} · {cell['spent_max']['sweep'].mean():.1f}"
    assert sweep.split(" | ")[place] == means


def test_accuracy_against_another_is_bold_where_it_differs(numbers: Numbers) -> None:
    table = numbers.worlds_against(STUDY, "pause", "sweep", "tifl").splitlines()
    assert len(table) == 2 + 12
    (row,) = (line for line in table if line.startswith("| Few online | i.i.d."))
    sweep, tifl = (cell.strip() for cell in row.strip("|").split("|")[2:])
    runs = pd.read_csv(RUNS)
    own = runs[(runs["world"] == "few_there") & (runs["labels"] == "iid")]
    by = own.pivot(index="seed", columns="selector", values="accuracy")
    mean, low, high = 100 * np.array(interval(by["sweep"] - by["pause"]))
    assert sweep == f"**{mean:+.1f} ({low:+.1f} to {high:+.1f})**".replace("-", "−")
    assert not tifl.startswith("**")


def test_the_average_takes_seeds_as_the_sample(numbers: Numbers) -> None:
    runs = pd.read_csv(RUNS)
    by = runs.pivot(index=["seed", "world", "labels"], columns="selector", values="accuracy")
    mean, low, high = 100 * np.array(interval((by["cs_ucb"] - by["pause"]).groupby("seed").mean()))
    shown = f"{mean:+.1f} ({low:+.1f} to {high:+.1f})".replace("-", "−")
    assert numbers.worlds_average(STUDY, "cs_ucb", "pause") == shown


def test_the_rule_of_the_sweep_is_that_of_the_page(numbers: Numbers, cell: pd.DataFrame) -> None:
    table = numbers.worlds_rule(STUDY, "sweep", "pause").splitlines()
    assert len(table) == 2 + 12
    (row,) = (line for line in table if line.startswith("| Drift | i.i.d."))
    spent, rounds = (
        np.exp(np.log(cell[name]["sweep"] / cell[name]["pause"]).mean()) for name in ("spent_max", "n_rounds")
    )
    assert spent > 0.7  # which misses the rule
    assert rounds > 0.95
    assert f"*{spent:.3f}*" in row
    assert f"| {rounds:.3f} |" in row
    assert row.endswith("| no |")
    assert numbers.worlds_won(STUDY, "sweep", "pause") == "0 of 12"
    by = pd.read_csv(RUNS).pivot(index=["world", "labels", "seed"], columns="selector", values="accuracy")
    cells = (100 * (by["sweep"] - by["pause"])).groupby(["world", "labels"])
    n_not_bounded = sum(interval(values)[1] <= -1 for _, values in cells)
    assert numbers.worlds_not_bounded(STUDY, "sweep", "pause") == f"{n_not_bounded} of 12"


def test_ranges_and_counts_are_over_cells(numbers: Numbers) -> None:
    runs = pd.read_csv(RUNS).set_index(["world", "labels", "seed"])
    by = {name: runs[runs["selector"] == name]["spent_max"] for name in ("sweep", "pause")}
    ratios = np.exp(np.log(by["sweep"] / by["pause"]).groupby(["world", "labels"]).mean())
    least, most = 100 * (1 - ratios.max()), 100 * (1 - ratios.min())
    assert numbers.worlds_less_range(STUDY, "spent", "sweep", "pause") == f"{least:.0f} to {most:.0f} % less"
    assert numbers.worlds_count(STUDY, "spent", "sweep", "pause", "better") == "12 of 12"


def test_text_at_a_time_is_that_of_its_rounds(numbers: Numbers) -> None:
    rounds = pd.read_parquet(RUNS.parents[2] / "shakespeare/rounds.parquet")
    own = rounds[(rounds["selector"] == "sweep") & (rounds["elapsed_s"] <= 200)]
    n_seeds = own["seed"].nunique()
    n_rounds = len(own) / n_seeds
    spent = own.groupby("seed")["leakage_max"].max().mean()
    (row,) = (line for line in numbers.at_time("shakespeare", 200).splitlines() if "Sweep" in line)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:3] == ["Sweep", str(n_seeds), f"{n_rounds:.0f}"]
    assert cells[5] == f"{spent:.1f}"
    assert cells[4].split()[0] == f"{float(cells[3]) - 39.3:+.1f}"  # PAUSE's


def test_runs_of_another_scenario_stand_beside_those_of_the_same_seeds(numbers: Numbers) -> None:
    """The other scenario has five seeds of random selection, this one three of PAUSE."""
    table = numbers.at_time("cifar10_large_noniid_r1_as_run", 100, {"cifar10_small_iid_r1": ["random"]})
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()[2:]]
    (row,) = (row for row in rows if row[0] == "Random")
    assert row[1] == "3"
    assert "(" in row[4]  # which has an interval


def test_who_takes_part_most_often_is_counted_within_the_time(numbers: Numbers) -> None:
    rounds = pd.read_parquet(RUNS.parents[2] / "world_two_groups_iid/rounds.parquet")
    own = rounds[(rounds["selector"] == "cs_ucb") & (rounds["seed"] == 10) & (rounds["elapsed_s"] <= 150)]
    assert numbers.most_often("world_two_groups_iid", 10, "cs_ucb") == str(
        own["selection"].explode().value_counts().max()
    )


def test_ratios_are_written_as_changes() -> None:
    assert change(0.61) == "39 % less"
    assert change(1.28) == "28 % more"
    assert change(0.7, 0.6, 0.65) == "30 to 40 % less"
    with pytest.raises(ValueError, match=r"from 0.91 to 1.27 have no one direction"):
        change(1.27, 0.91)
