"""Places of the templates have the numbers of the published runs and studies, computed another way."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pausefl.errors import ConfigError
from pausefl.reproduction.pages.numbers import Numbers, evaluate, filled
from pausefl.reproduction.pages.published import Published
from pausefl.settings import read_yaml

PUBLISHED = Path(__file__).parents[3] / "results" / "published"
IID = "benchmark_mnist_iid"


@pytest.fixture(scope="module")
def numbers(published: Published) -> Numbers:
    return Numbers(published)


@pytest.fixture(scope="module")
def runs() -> pd.DataFrame:
    return pd.read_csv(PUBLISHED / "studies" / IID / "runs.csv")


def test_a_paired_difference_of_a_benchmark(numbers: Numbers, runs: pd.DataFrame) -> None:
    of = runs.set_index(["selector", "seed"])["accuracy"]
    gaps = 100 * (of["tifl"] - of["pause"])
    half = 2.262157 * gaps.std() / math.sqrt(10)  # Student's t of nine degrees of freedom
    ends = (gaps.mean(), gaps.mean() - half, gaps.mean() + half)
    mean, low, high = (f"{one:+.1f}".replace("-", "−") for one in ends)
    assert numbers.benchmark_paired(IID, "accuracy", "tifl", "pause") == f"{mean} ({low} to {high})"


def test_changes_of_a_benchmark(numbers: Numbers, runs: pd.DataFrame) -> None:
    spent = {name: one["spent_max"].sum() / 10 for name, one in runs.groupby("selector")}
    less = 100 * (1 - spent["cs_ucb"] / spent["pause"])
    assert numbers.benchmark_change(IID, "spent_max", "cs_ucb", "pause") == f"{less:.0f} % less"
    seconds = runs.pivot(index="seed", columns="selector", values="seconds_to_80").fillna(math.inf)
    earlier = seconds["tifl"] < seconds["random"]
    assert numbers.benchmark_earlier(IID, "tifl", "random") == f"{earlier.sum()} of 10"
    slow = runs[runs["selector"] == "pause"]["slow_share"].sum() / 10
    assert numbers.benchmark_slow_share(IID, "pause") == f"{100 * slow:.0f} %"


def test_who_is_most_accurate_at_equal_budget(numbers: Numbers, runs: pd.DataFrame) -> None:
    """Among selectors that get so far under every seed, do not know latencies and do not choose on noise."""
    ranked = runs[runs["losses"].isna() & ~runs["selector"].isin(["genie", "fastest"])]
    means = ranked.groupby("selector")["accuracy_at_4"].apply(
        lambda one: one.mean() if one.notna().all() else 0.0
    )
    first, second, third = numbers.most_accurate_at(IID, 4).split(" %")[:3]
    best = np.sort(means.to_numpy())[::-1][:3]
    shown = [float(words.rpartition(" ")[2]) for words in (first, second, third)]
    assert shown == pytest.approx(100 * best, abs=0.051)


def test_where_another_is_when_a_long_run_ends(numbers: Numbers) -> None:
    curves = pd.read_parquet(PUBLISHED / "studies/mnist_long_as_run/curves.parquet")
    then = []
    for seed in range(5):
        pause, random = (
            curves[(curves["selector"] == name) & (curves["seed"] == seed) & (curves["value"] == "1000")]
            for name in ("pause", "random")
        )
        then.append(random[random["elapsed_s"] <= pause["elapsed_s"].max()]["accuracy"].iloc[-1])
    shown = float(numbers.long_run_meanwhile("random", "pause", "as run"))
    assert abs(shown - 100 * np.mean(then)) < 1  # the line between two rounds


def test_accuracies_of_two_scenarios_are_compared_under_the_seeds_of_both(numbers: Numbers) -> None:
    """One has seeds 0 to 4 of PAUSE, the other 0 to 2."""
    scenarios = ["cifar10_large_noniid_r1", "cifar10_large_noniid_r1_as_run"]
    ends = []
    for scenario in scenarios:
        rounds = pd.read_parquet(PUBLISHED / scenario / "rounds.parquet")
        own = rounds[(rounds["selector"] == "pause") & (rounds["seed"] < 3)].sort_values("round")
        ends.append(100 * own.groupby("seed").tail(10).groupby("seed")["accuracy"].mean())
    gaps = ends[1] - ends[0]
    half = 4.302653 * gaps.std() / math.sqrt(3)  # Student's t of two degrees of freedom
    shown = (f"{one:+.1f}".replace("-", "−") for one in (gaps.mean(), gaps.mean() - half, gaps.mean() + half))
    mean, low, high = shown
    table = numbers.final_accuracy_gaps("pause", ["As written", "As run"], {"Fig. 10": scenarios})
    head, _, row = table.splitlines()
    assert head == "|  | Seeds | As written (%) | As run (%) | Difference (points) |"
    assert row == f"| Fig. 10 | 3 | {ends[0].mean():.1f} | {ends[1].mean():.1f} | {mean} ({low} to {high}) |"


def test_a_table_of_a_benchmark(numbers: Numbers, runs: pd.DataFrame) -> None:
    *_, last = numbers.benchmark_table(IID, "pause", "random").splitlines()
    random = runs[runs["selector"] == "random"]
    cells = [cell.strip() for cell in last.strip("|").split("|")]
    rounds = sorted(random["rounds_to_80"].fillna(math.inf))
    assert cells[:3] == [
        "Random",
        f"{(rounds[4] + rounds[5]) / 2:.0f}",
        f"{random['mean_round_s'].mean():.2f}",
    ]
    assert cells[4:6] == [f"{100 * random['accuracy'].mean():.1f}", f"{random['spent_max'].mean():.1f}"]


def test_who_chooses_on_noise_is_on_no_front(numbers: Numbers) -> None:
    for study in (IID, "benchmark_mnist_noniid"):
        front = numbers.front(study)
        assert "Oort" not in front
        assert "rpow-d" not in front
        assert "Genie" not in front


def test_every_number_is_in_a_page_and_every_place_has_a_number(published: Published) -> None:
    templates = [path.read_text("utf-8") for path in (published.root / "docs/templates").rglob("*.md")]
    places = {name for text in templates for name in re.findall(r"\{\{(\w+)\}\}", text)}
    named = read_yaml(published.root / "docs/numbers.yaml").keys()
    assert places - named == {"summary", "up"}
    assert named <= places


def test_a_place_without_a_number_is_refused() -> None:
    assert filled("{{one}} and {{one}}", {"one": "1.2"}) == "1.2 and 1.2"
    with pytest.raises(ConfigError, match=r"no number 'onn'.*'one'"):
        filled("{{onn}}", {"one": "1.2"})


def test_a_number_that_cannot_be_made_is_named(published: Published, tmp_path: Path) -> None:
    for asked in ("[gap, C3a, nowhere, nothing]", "[nothing_of_ours]", "[finding]"):
        (tmp_path / "numbers.yaml").write_text(f"mine: {asked}\n", "utf-8")
        with pytest.raises(ConfigError, match=r"numbers\.yaml: mine cannot be made"):
            evaluate(published, tmp_path / "numbers.yaml")
