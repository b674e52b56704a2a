"""Tables from runs on disk: numbers one can work out by hand, and refusal of incomplete sets of runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from markdown_it import MarkdownIt
from worlds import trained, untrained, write_run

from pausefl.analysis import tables
from pausefl.analysis.markdown import table, to_latex
from pausefl.analysis.outcomes import moving_average, seconds_to_target, target_accuracy
from pausefl.errors import PauseflError
from pausefl.runs.collected import read_runs
from pausefl.runs.run import rounds_of, split_by_run
from pausefl.runs.run_id import RunId

WriteRun = Callable[..., tuple[RunId, Path]]


@pytest.fixture
def write(tmp_path: Path, made_up_runs: None) -> WriteRun:
    """Write one run with rounds of one second each; returns what `read_runs` wants of it."""

    def one(
        selector: str,
        seed: int,
        accuracy: Sequence[float] | None,
        *,
        n_rounds: int = 20,
        round_s: float = 1.0,
        leakage: float = 2.0,
        diverged_round: int | None = None,
    ) -> tuple[RunId, Path]:
        rounds = untrained(n_rounds, round_s, leakage)
        if accuracy is not None:
            rounds = trained(accuracy, 1.0, round_s, leakage)
        experiment = RunId("s", selector, seed)
        timings = {"selection": 0.04, "training": 5.0, "noise": 1.0, "evaluation": 1.0, "total": 7.5}
        summary = {"n_rounds": n_rounds, "timings_s": timings, "diverged_round": diverged_round}
        return experiment, write_run(tmp_path, experiment, rounds, peak_memory_bytes=250_000_000, **summary)

    return one


def summary_of(*runs: tuple[RunId, Path]) -> pd.DataFrame:
    read = read_runs(dict(runs))
    return tables.summarise(rounds_of(read.values()), {key: run.summary for key, run in read.items()})


def row_of(table: pd.DataFrame, selector: str) -> pd.Series:
    return table[table["selector"] == selector].iloc[0]


def test_every_unusable_run_is_listed(write: WriteRun, tmp_path: Path) -> None:
    runs = dict([write("pause", seed, [0.5] * 20) for seed in range(5)])
    folders = list(runs.values())
    runs[RunId("s", "random", 0)] = tmp_path / "nowhere"
    (folders[1] / "rounds.parquet").write_bytes(b"not a parquet file")
    (folders[2] / "summary.json").write_text("{", encoding="utf-8")
    pd.read_parquet(folders[3] / "rounds.parquet").iloc[:7].to_parquet(folders[3] / "rounds.parquet")
    (folders[4] / "summary.json").write_text((folders[0] / "summary.json").read_text(), encoding="utf-8")
    with pytest.raises(PauseflError) as error:
        read_runs(runs)
    message = str(error.value)
    assert "5 of 6 runs" in message
    assert "pause, seed 0: " not in message
    assert f"random, seed 0: {tmp_path / 'nowhere' / 'rounds.parquet'}" in message
    assert f"pause, seed 1: {folders[1] / 'rounds.parquet'}" in message
    assert f"pause, seed 2: {folders[2] / 'summary.json'}" in message
    assert "pause, seed 3" in message
    assert "7 rounds" in message
    assert "a run of pause, seed 0" in message


def test_runs_must_belong_together(write: WriteRun) -> None:
    first, second = write("pause", 0, [0.5] * 20), write("random", 0, [0.5] * 30, n_rounds=30)
    with pytest.raises(PauseflError, match=r"20 rounds: pause/seed-0; 30 rounds: random/seed-0"):
        read_runs(dict([first, second]))
    with pytest.raises(PauseflError, match="one scenario, got s, t"):
        read_runs(dict([first, (RunId("t", "pause", 0), second[1])]))
    with pytest.raises(PauseflError, match="no runs"):
        read_runs({})


def test_moving_average_skips_gaps_and_forgets_explosions() -> None:
    assert moving_average(np.array([1.0, math.nan, 3.0]))[2] == 2.0
    assert math.isnan(moving_average(np.array([math.nan, 1.0]))[0])
    exploded = np.concatenate([[1e300, math.inf], np.ones(12)])
    assert moving_average(exploded)[-1] == 1.0


def test_summary_by_hand(write: WriteRun) -> None:
    # Accuracy 0.02 t: the average over rounds t-9 .. t is 0.02 (t - 4.5), so 0.31 at the end.
    ramp = [0.02 * t for t in range(1, 21)]
    fall = [0.8] * 10 + [0.1] * 10
    table = summary_of(
        write("pause", 0, ramp, round_s=2.0),
        write("fastest", 0, fall),
        write("fedavg_no_privacy", 0, [0.9] * 20, leakage=math.inf),
    )
    pause, fastest = row_of(table, "pause"), row_of(table, "fastest")
    assert pause["final_accuracy"] == pytest.approx(0.31)
    assert pause["target_accuracy"] == pytest.approx(0.9 * 0.31)
    # 0.02 (t - 4.5) >= 0.279 first at t = 19, of two seconds each.
    assert pause["seconds_to_target"] == 38.0
    assert pause["elapsed_s"] == 40.0
    assert pause["mean_round_s"] == 2.0
    assert pause["selection_ms_per_round"] == pytest.approx(2.0)
    assert pause["wall_s"] == 7.5
    assert pause["peak_memory_mb"] == 250.0
    assert fastest["best_accuracy"] == pytest.approx(0.8)
    assert fastest["final_accuracy"] == pytest.approx(0.1)
    assert fastest["seconds_to_target"] == 1.0
    assert table["diverged_round"].isna().all()


def lasting(selector: str, accuracy: Sequence[float], seconds: Sequence[float]) -> pd.DataFrame:
    """Rounds of one run that last so many seconds."""
    names = {"scenario": "s", "selector": selector, "seed": 0}
    columns = {"latency_s": seconds, "elapsed_s": np.cumsum(seconds), "accuracy": accuracy, "loss": 1.0}
    return pd.DataFrame(columns).assign(**names, round=range(1, len(accuracy) + 1), leakage_max=1.0)


def test_an_accuracy_of_exactly_the_target_reaches_it() -> None:
    run = lasting("pause", [0.25] * 2 + [0.5] * 12, [1.0] * 14)
    assert seconds_to_target(run, 0.25) == 1.0
    assert seconds_to_target(run, 0.5) == 12.0
    assert math.isnan(seconds_to_target(run, 0.501))


@pytest.mark.parametrize("order", [("pause", "random"), ("random", "pause")])
def test_the_target_is_of_the_time_when_the_first_run_ends(order: tuple[str, str]) -> None:
    """Random has more at its end, 40 s, and less after 10 s, when PAUSE ends."""
    runs = {
        "pause": lasting("pause", [0.4] * 10, [1.0] * 10),
        "random": lasting("random", [0.2] * 10 + [0.8] * 30, [1.0] * 40),
    }
    assert target_accuracy(split_by_run(pd.concat([runs[name] for name in order]))) == pytest.approx(0.36)


def test_sparse_evaluation(write: WriteRun) -> None:
    accuracy = [0.1 * (t // 5) if t % 5 == 0 else math.nan for t in range(1, 21)]
    run = summary_of(write("pause", 0, accuracy)).iloc[0]
    # Evaluated at 5, 10, 15, 20; a window of 10 rounds holds two evaluations: (0.3 + 0.4) / 2.
    assert run["final_accuracy"] == pytest.approx(0.35)
    assert run["seconds_to_target"] == 20.0


def test_a_selector_with_fewer_seeds_sets_no_target(write: WriteRun) -> None:
    table = summary_of(
        write("pause", 0, [0.5] * 20),
        write("pause", 1, [0.4] * 20),
        write("random", 0, [0.3] * 20),
        write("random", 1, [0.3] * 20),
        write("sa_pause_v1", 0, [0.6] * 20),
    )
    assert table["target_accuracy"].unique() == pytest.approx([0.9 * 0.45])


def test_where_nobody_learns_there_is_no_target(write: WriteRun) -> None:
    cases = [("pause", 0.25), ("random", 0.28)]
    table = summary_of(*(write(name, seed, [0.25, end] * 10) for name, end in cases for seed in (0, 1)))
    assert table["target_accuracy"].isna().all()
    text = tables.to_markdown(tables.by_selector(table))
    assert "There is no target: accuracies are hardly above the start." in text
    assert "not reached" not in text
    assert "**" not in text


def test_nothing_is_bold_since_means_alone_do_not_say_which_is_the_best(write: WriteRun) -> None:
    table = summary_of(
        *(
            write(name, seed, [0.1] + [end] * 19)
            for name, end in (("pause", 0.9), ("random", 0.5))
            for seed in (0, 1)
        )
    )
    assert "**" not in tables.to_markdown(tables.by_selector(table))


def test_a_diverged_run_ends_at_chance_level_and_says_so(write: WriteRun) -> None:
    table = summary_of(
        write("fedavg", 0, [0.1] + [0.6] * 7 + [0.1] * 12, diverged_round=9),
        write("fedavg", 1, [0.1] + [0.6] * 19),
        write("pause", 0, [0.1] + [0.5] * 19),
        write("pause", 1, [0.1] + [0.5] * 19),
    )
    assert table.loc[table["selector"] == "fedavg", "final_accuracy"].tolist() == pytest.approx([0.1, 0.6])
    assert table["target_accuracy"].unique() == pytest.approx([0.45])
    text = tables.to_markdown(tables.by_selector(table))
    assert "35.0 ± 35.4, diverged (1 of 2 seeds)" in text


def test_across_seeds_by_hand(write: WriteRun) -> None:
    table = summary_of(
        write("random", 0, [0.2] * 20),
        write("pause", 0, [0.4] * 20, round_s=1.0),
        write("pause", 1, [0.6] * 20, round_s=3.0),
    )
    across = tables.by_selector(table)
    assert across["selector"].tolist() == ["pause", "random"]
    pause, random = row_of(across, "pause"), row_of(across, "random")
    assert pause["final_accuracy_mean"] == pytest.approx(0.5)
    assert pause["final_accuracy_sd"] == pytest.approx(math.sqrt(0.02))
    assert pause["mean_round_s_mean"] == pytest.approx(2.0)
    # The target is 0.45, which seed 0 never reaches: no mean over the lucky seed alone.
    assert (pause["n_seeds"], pause["n_reached"]) == (2, 1)
    assert math.isnan(pause["seconds_to_target_mean"])
    assert tables.time_to_target(pause) == "3.0 (1 of 2)"
    assert tables.time_to_target(random) == "not reached"
    assert math.isnan(random["final_accuracy_sd"])


def test_a_regression_has_a_loss_and_no_accuracy(write: WriteRun) -> None:
    runs = dict([write("pause", seed, [math.nan] * 20) for seed in (0, 1)])
    runs |= dict([write("bsfl", seed, [math.nan] * 20) for seed in (0, 1)])
    for (selector, seed), folder in {(e.selector, e.seed): f for e, f in runs.items()}.items():
        rounds = pd.read_parquet(folder / "rounds.parquet")
        loss = np.arange(20.0, 0, -1) + seed if selector == "pause" else np.full(20, 0.25)
        rounds.assign(loss=loss).to_parquet(folder / "rounds.parquet")
    table = summary_of(*runs.items())
    assert table["final_accuracy"].isna().all()
    assert table["target_accuracy"].isna().all()
    assert table["seconds_to_target"].isna().all()
    # The last ten of 20, 19, … 1 have mean 5.5.
    assert row_of(table, "pause")["final_loss"] == pytest.approx(5.5)
    across = tables.by_selector(table)
    assert row_of(across, "pause")["final_loss_mean"] == pytest.approx(6.0)
    assert row_of(across, "pause")["n_reached"] == 0
    rows = tables.to_markdown(across).splitlines()[2:4]
    assert rows[0].startswith("| `pause` | – | – | 6.0000 ± 0.7071 | – | 1.000 ± 0.000 |")
    assert rows[1].startswith("| `bsfl` | – | – | 0.2500 ± 0.0000 | – |")


def test_cells_stay_in_their_columns() -> None:
    html = MarkdownIt("commonmark").enable("table").render(table(["a", "b"], [["x|y", "two\nlines"]], "lr"))
    assert '<td style="text-align:left">x|y</td>' in html
    assert '<td style="text-align:right">two lines</td>' in html


def test_a_page_is_a_table_for_latex() -> None:
    page = "**Demo.**\n\n"
    page += "| Selector | Leakage (ε) | % |\n| :-- | --: | --: |\n| `a_b` | **1 ± 2** |  |\n\nA note."
    lines = to_latex(page).splitlines()
    assert lines[:2] == ["% Demo.", "% A note."]
    assert lines[2] == r"\begin{tabular}{lrr}"
    assert r"Selector & Leakage ($\varepsilon$) & \% \\" in lines
    assert r"\texttt{a\_b} & \textbf{1 $\pm$ 2} &  \\" in lines
