"""Numbers of a benchmark, against numpy, scipy and the tables of Demsar's article."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pausefl.analysis.benchmark.comparisons import compare, measures_of, published, ranks, row_of, unranked
from pausefl.analysis.benchmark.figures import Point, cliques, plot_front, plot_ranks, points
from pausefl.analysis.benchmark.page import counts_to_markdown, to_markdown
from pausefl.analysis.benchmark.suite import Cell, Suite, find_suite, settings_digest
from pausefl.errors import ConfigError, PauseflError

NAN, INF = math.nan, math.inf


def suite(*worlds: str, labels: tuple[str, ...] = ("iid",)) -> Suite:
    return find_suite("digits").part(worlds, labels, (10, 11, 12, 13))


def rows(
    cells: dict[str, dict[str, dict[str, list[float]]]], losses: dict[str, str] | None = None
) -> pd.DataFrame:
    """Runs by world, selector and measure; seeds from 10."""
    made = list[dict[str, Any]]()
    for world, selectors in cells.items():
        for selector, values in selectors.items():
            n_seeds = len(next(iter(values.values())))
            for i in range(n_seeds):
                row = {"world": world, "labels": "iid", "selector": selector, "seed": 10 + i}
                row |= {"losses": (losses or {}).get(selector, NAN)}
                blank = {"accuracy": 0.5, "seconds_to_70": 10.0, "spent_max": 5.0}
                made.append(row | blank | {name: one[i] for name, one in values.items()})
    return pd.DataFrame(made)


OURS = {"accuracy": [0.80, 0.84, 0.79, 0.83], "seconds_to_70": [20.0, 24.0, NAN, 21.0]}
CELL = {
    "two_groups": {
        "pause": OURS | {"spent_max": [4.0, 5.0, 6.0, 5.0]},
        "random": {
            "accuracy": [0.70, 0.75, 0.71, 0.72],
            "seconds_to_70": [40.0, 50.0, 45.0, 44.0],
            "spent_max": [2.0, 2.5, 3.0, 2.5],
        },
        "sweep": {
            "accuracy": [0.81, 0.83, 0.80, 0.82],
            "seconds_to_70": [NAN, 26.0, NAN, NAN],
            "spent_max": [2.1, 2.2, 2.3, 2.4],
        },
    }
}


def found(table: pd.DataFrame, measure: str, selector: str) -> pd.Series:
    return table[(table["measure"] == measure) & (table["selector"] == selector)].iloc[0]


def test_differences_are_paired_by_seed_and_corrected_by_holm() -> None:
    table = compare(rows(CELL), suite("two_groups"), "pause")
    cell, p = CELL["two_groups"], {}
    for name in ("random", "sweep"):
        row = found(table, "accuracy", name)
        test = stats.ttest_rel(cell[name]["accuracy"], OURS["accuracy"])
        interval = test.confidence_interval()
        assert row["mean"] == pytest.approx(np.mean(cell[name]["accuracy"]))
        gap = np.subtract(cell[name]["accuracy"], OURS["accuracy"]).mean()
        assert (row["gap"], row["low"], row["high"]) == pytest.approx((gap, interval.low, interval.high))
        assert row["p"] == pytest.approx(test.pvalue)
        p[name] = float(test.pvalue)
    assert p["random"] < p["sweep"]
    assert found(table, "accuracy", "random")["p_holm"] == pytest.approx(2 * p["random"])
    assert found(table, "accuracy", "sweep")["p_holm"] == pytest.approx(max(2 * p["random"], p["sweep"]))
    assert [found(table, "accuracy", name)["verdict"] for name in ("pause", "random", "sweep")] == [
        "equal", "worse", "equal"
    ]  # fmt: skip
    itself = found(table, "accuracy", "pause")
    assert math.isnan(itself["gap"])
    assert math.isnan(itself["p_holm"])


def test_budgets_and_times_are_compared_by_ratios() -> None:
    table = compare(rows(CELL), suite("two_groups"), "pause")
    row = found(table, "spent", "sweep")
    logs = np.log([2.1, 2.2, 2.3, 2.4]) - np.log([4.0, 5.0, 6.0, 5.0])
    test = stats.ttest_1samp(logs, 0)
    interval = test.confidence_interval()
    assert (row["gap"], row["low"], row["high"]) == pytest.approx(
        np.exp([logs.mean(), interval.low, interval.high])
    )
    assert (row["verdict"], row["mean"]) == ("better", pytest.approx(2.25))
    # Equal ratios have no spread, and are decided.
    assert found(table, "spent", "random")["gap"] == pytest.approx(0.5)
    assert found(table, "spent", "random")["p"] == 0


def test_a_seed_that_misses_the_target_is_later_than_all_others() -> None:
    table = compare(rows(CELL), suite("two_groups"), "pause")
    pause, sweep, random = (found(table, "seconds", name) for name in ("pause", "sweep", "random"))
    assert (pause["mean"], pause["n_seeds"], pause["n_reached"]) == (22.5, 4, 3)  # of 20, 21, 24, later
    assert (random["mean"], random["n_reached"]) == (44.5, 4)
    assert (sweep["mean"], sweep["n_reached"]) == (INF, 1)
    # Where PAUSE misses the target, the ratio is at most 45 s over the end of the run, 150 s.
    assert random["bound"] == "at most"
    least = np.exp(np.log([40 / 20, 50 / 24, 45 / 150, 44 / 21]).mean())
    assert random["gap"] == pytest.approx(least)
    assert random["p"] == pytest.approx(min(1, 2 * stats.binom.sf(2, 4, 0.5)))  # three of four are slower


def test_values_that_are_missing_are_no_times_beyond_the_end() -> None:
    """An accuracy that nobody knows says nothing; the other seeds are compared."""
    cell = {"two_groups": {name: dict(one) for name, one in CELL["two_groups"].items()}}
    cell["two_groups"]["random"] = cell["two_groups"]["random"] | {"accuracy": [0.70, NAN, 0.71, 0.72]}
    row = found(compare(rows(cell), suite("two_groups"), "pause"), "accuracy", "random")
    test = stats.ttest_rel([0.70, 0.71, 0.72], [0.80, 0.79, 0.83])
    assert (row["mean"], row["n_reached"], row["bound"]) == (pytest.approx(0.71), 3, "")
    assert row["p"] == pytest.approx(test.pvalue)


def test_selectors_are_paired_where_both_ran() -> None:
    cells = {"two_groups": CELL["two_groups"], "uniform": {"random": CELL["two_groups"]["random"]}}
    few = {"accuracy": [0.9, 0.9], "seconds_to_70": [9.0, 9.0], "spent_max": [1.0, 1.2]}
    cells["two_groups"] = cells["two_groups"] | {"bsfl": few}
    table = compare(rows(cells), suite("two_groups", "uniform"), "pause")
    bsfl = found(table, "accuracy", "bsfl")
    assert bsfl["gap"] == pytest.approx(np.mean([0.1, 0.06]))
    alone = table[(table["world"] == "uniform") & (table["measure"] == "accuracy")].iloc[0]
    assert math.isnan(alone["gap"])  # PAUSE did not run there
    assert alone["verdict"] == "equal"


def test_without_privacy_no_budget_is_compared() -> None:
    endless = {name: one | {"spent_max": [INF] * 4} for name, one in CELL["two_groups"].items()}
    table = compare(rows({"two_groups": endless}), suite("two_groups"), "pause")
    assert set(table["measure"]) == {"accuracy", "seconds"}


def bold(text: str) -> set[str]:
    """Selectors with a bold value in a table of one world."""
    lines = [line for line in text.splitlines() if line.startswith("| ")][2:]
    return {line.split("|")[1].strip() for line in lines if "**" in line}


@pytest.mark.parametrize("reference", ["pause", "random", "sweep"])
def test_bold_is_what_is_better_after_the_correction(reference: str) -> None:
    digits = suite("two_groups")
    table = compare(rows(CELL), digits, reference)
    labels = {"pause": "PAUSE", "random": "Random", "sweep": "Sweep"}
    for name, measured in measures_of(digits).items():
        mine = table[table["measure"] == name]
        better = {
            labels[row["selector"]]
            for _, row in mine.iterrows()
            if row["p_holm"] < 0.05 and ((row["gap"] > 0) if name == "accuracy" else (row["gap"] < 1))
        }
        assert bold(to_markdown(mine, digits, measured, reference, set())) == better
    # Sweep is better than random selection by p = 0.0009, that is 0.0019 corrected.
    assert ("Sweep" in bold(_accuracies(table, digits, reference))) == (reference == "random")


def _accuracies(table: pd.DataFrame, digits: Suite, reference: str) -> str:
    mine = table[table["measure"] == "accuracy"]
    return to_markdown(mine, digits, measures_of(digits)["accuracy"], reference, set())


def test_a_difference_that_is_decided_alone_but_not_among_many_is_not_bold() -> None:
    gaps = [0.010, 0.003, 0.011, 0.004]
    p = stats.ttest_1samp(gaps, 0).pvalue
    assert 0.025 < p < 0.05 < 2 * p
    base = {"accuracy": [0.5] * 4, "seconds_to_70": [9.0] * 4, "spent_max": [1.0] * 4}
    better = base | {"accuracy": [0.5 + gap for gap in gaps]}
    alone = rows({"two_groups": {"pause": base, "random": better}})
    assert bold(_accuracies(compare(alone, suite("two_groups"), "pause"), suite("two_groups"), "pause")) == {
        "Random"
    }
    other = base | {"accuracy": [0.5, 0.6, 0.4, 0.51]}
    many = rows({"two_groups": {"pause": base, "random": better, "sweep": other}})
    assert not bold(_accuracies(compare(many, suite("two_groups"), "pause"), suite("two_groups"), "pause"))


def test_a_table_shows_values_gaps_and_seeds() -> None:
    digits = suite("two_groups")
    table = compare(rows(CELL), digits, "pause")
    measured = measures_of(digits)
    seconds = to_markdown(
        table[table["measure"] == "seconds"], digits, measured["seconds"], "pause", {"sweep"}
    )
    assert "| PAUSE | 22, 3 of 4 seeds |" in seconds
    assert "| Random | 44 (at most 1.27) |" in seconds
    assert "| Sweep ‡ | late, 1 of 4 seeds" in seconds
    accuracy = _accuracies(table, digits, "pause")
    assert "| PAUSE | 81.5 |" in accuracy
    assert "| Random | 72.0 (−9.5, −" in accuracy
    assert "‡" not in accuracy
    endless = {name: dict(one) for name, one in CELL["two_groups"].items()}
    endless["pause"] = endless["pause"] | {"spent_max": [INF] * 4}
    spent = compare(rows({"two_groups": endless}), digits, "pause")
    text = to_markdown(spent[spent["measure"] == "spent"], digits, measured["spent"], "pause", set())
    assert "| PAUSE | ∞ |" in text
    one = compare(rows(CELL).query("seed == 10"), digits, "pause")
    assert "| Random | 70.0 (−10.0) |" in _accuracies(one, digits, "pause")


def test_the_page_counts_cells_where_both_ran() -> None:
    cells = CELL | {"uniform": CELL["two_groups"], "drift": {"random": CELL["two_groups"]["random"]}}
    digits = suite("two_groups", "uniform", "drift")
    text = counts_to_markdown(compare(rows(cells), digits, "pause"), digits, "pause")
    assert "| Random | 2 better, 0 worse, of 2 | 0 better, 0 worse, of 2 | 0 better, 2 worse, of 2 |" in text
    assert "| Sweep | 0 better, 0 worse, of 2 | 0 better, 0 worse, of 2 | 0 better, 2 worse, of 2 |" in text


#: Critical values of Nemenyi's test at 5 % (Demsar 2006, Table 5a), by the number of classifiers.
NEMENYI = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728}


@pytest.mark.parametrize("k", NEMENYI)
def test_ranks_and_the_critical_difference(k: int) -> None:
    rng, names = np.random.default_rng(k), ["pause", "random", "sweep", "bsfl", "tifl"][:k]
    worlds = [*find_suite("digits").worlds]
    cells = {
        world: {
            name: {"accuracy": rng.normal(0.7 + 0.02 * i, 0.03, 4).round(3).tolist()}
            for i, name in enumerate(names)
        }
        for world in worlds
    }
    table, measured = rows(cells), measures_of(suite(*worlds))["accuracy"]
    one = ranks(table, measured, names)
    assert one is not None
    means = np.array([[np.mean(cells[world][name]["accuracy"]) for name in names] for world in worlds])
    by_hand = stats.rankdata(-means, axis=1)
    assert one.mean == pytest.approx(dict(zip(names, by_hand.mean(axis=0), strict=True)))
    assert [*one.mean.values()] == sorted(one.mean.values())
    assert one.n_cells == 6
    assert one.critical == pytest.approx(NEMENYI[k] * math.sqrt(k * (k + 1) / 36), rel=1e-3)
    if k > 2:
        assert one.p == pytest.approx(stats.friedmanchisquare(*means.T).pvalue)
    else:
        assert math.isnan(one.p)


def test_ranks_by_time_are_of_medians_with_late_seeds_last_and_ties_shared() -> None:
    late, early = {"seconds_to_70": [NAN, NAN, NAN, 3.0]}, {"seconds_to_70": [9.0, 9.0, NAN, NAN]}
    cells = {
        "two_groups": {"pause": late, "random": late, "sweep": {"seconds_to_70": [99.0, 98.0, 97.0, NAN]}},
        "uniform": {"pause": {"seconds_to_70": [9.0] * 4}, "random": late, "sweep": early},
    }
    one = ranks(rows(cells), measures_of(suite())["seconds"], ["pause", "random", "sweep"])
    assert one is not None
    # First cell: 2.5, 2.5, 1. Second: 1; half of the seeds of both others are late.
    assert one.mean == {"pause": 1.75, "sweep": 1.75, "random": 2.5}


def test_a_cell_that_a_selector_did_not_run_in_ranks_nobody() -> None:
    cells = {
        "two_groups": {name: {"accuracy": [value]} for name, value in (("pause", 0.6), ("random", 0.5))},
        "drift": {"random": {"accuracy": [0.9]}},
        "uniform": {"pause": {"accuracy": [0.4]}, "random": {"accuracy": [0.3]}},
    }
    measured = measures_of(suite())["accuracy"]
    one = ranks(rows(cells), measured, ["pause", "random"])
    assert one is not None
    assert (one.mean, one.n_cells) == ({"pause": 1.0, "random": 2.0}, 2)
    del cells["uniform"]
    single = ranks(rows(cells), measured, ["pause", "random"])
    assert single is not None
    assert math.isnan(single.critical)
    assert ranks(rows(cells), measured, ["pause"]) is None
    assert ranks(rows({"drift": cells["drift"]}), measured, ["pause", "random"]) is None


def test_oracles_and_those_who_see_losses_have_no_rank() -> None:
    cells = {"two_groups": {one: {"accuracy": [0.5]} for one in ("pause", "genie", "oort", "random")}}
    assert unranked(rows(cells, losses={"oort": "accounted"})) == {"genie", "oort"}
    assert unranked(rows(cells, losses={"pause": "unaccounted"})) == {"genie", "pause"}


def test_bars_join_the_longest_runs_within_the_critical_difference() -> None:
    measured = measures_of(suite())["accuracy"]
    one = ranks(rows(CELL), measured, ["pause", "random"])
    assert one is not None
    ranked = one._replace(mean={"a": 1.0, "b": 1.5, "c": 2.5, "d": 4.0}, critical=1.2)
    assert cliques(ranked) == [(1.0, 1.5), (1.5, 2.5)]
    assert cliques(ranked._replace(critical=0.1)) == []
    assert cliques(ranked._replace(critical=9.0)) == [(1.0, 4.0)]


def test_points_of_the_front_are_medians_and_means_with_bootstrapped_ends() -> None:
    place = points(rows(CELL), "seconds_to_70", 0.7, {"pause", "random", "sweep"})
    assert set(place) == {"pause", "random"}  # Sweep misses the target in three of four seeds
    assert (place["pause"].seconds, place["pause"].spent) == (22.5, 5.0)
    low, high = place["random"].spent_ends
    assert 2.0 <= low < 2.5 < high <= 3.0
    assert place["random"].seconds_ends[1] <= 50
    assert isinstance(place["pause"], Point)
    figure = plot_front(rows(CELL), suite("two_groups"), "iid", "pause")
    assert figure is not None
    assert {text.get_text() for text in figure.axes[0].texts} == {"PAUSE", "Random"}


def test_the_picture_of_ranks_names_all_and_nothing_is_drawn_of_one() -> None:
    digits = suite("two_groups")
    figure = plot_ranks(rows(CELL), digits, "pause")
    assert figure is not None
    assert len(figure.axes) == 3
    said = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert all(name in said for name in ("PAUSE  1.5", "Sweep  1.5", "3.0  Random"))
    assert plot_ranks(rows({"two_groups": {"pause": OURS}}), digits, "pause") is None


def test_published_rows_are_those_that_are_asked_for() -> None:
    part = find_suite("digits").part(["drift", "uniform"], ["iid"], [10, 12])
    table = published(part)
    assert set(table["world"]) == {"drift", "uniform"}
    assert (set(table["labels"]), set(table["seed"])) == ({"iid"}, {10, 12})
    assert len(table) == 2 * (11 + 12)  # nobody is the genie of a drift
    whole = compare(published(find_suite("digits")), find_suite("digits"), "pause")
    row = whole[
        (whole["measure"] == "accuracy") & (whole["world"] == "uniform") & (whole["labels"] == "iid")
    ].set_index("selector").loc["random"]  # fmt: skip
    own = published(find_suite("digits").part(["uniform"], ["iid"], ()))
    accuracy = own.pivot(index="seed", columns="selector", values="accuracy")
    test = stats.ttest_rel(accuracy["random"], accuracy["pause"])
    assert (row["mean"], row["p"]) == pytest.approx((accuracy["random"].mean(), test.pvalue))


def test_rows_of_other_settings_are_not_paired() -> None:
    digits = find_suite("digits").part(["uniform"], ["iid"], ())
    other = digits.replace(changes={**digits.changes, "training": {"n_epochs": 3}})
    with pytest.raises(
        PauseflError, match="'digits_world_uniform_iid' has other settings than the published"
    ):
        published(other)
    with pytest.raises(
        PauseflError, match=r"'none' has no published runs: .*benchmark_none_worlds/runs\.csv is missing"
    ):
        published(digits.replace(name="none"))
    unknown = digits.replace(labels={"iid": "i.i.d.", "dirichlet": "skew"}, seeds=(99,))
    with pytest.raises(PauseflError, match="has no runs of uniform, iid, to compare with"):
        published(unknown)


def test_titles_and_selectors_are_no_settings_and_the_name_of_a_scenario_neither() -> None:
    scenario = find_suite("digits").cells[Cell("uniform", "iid")]
    assert settings_digest(scenario.replace(name="x", title="y")) == settings_digest(scenario)
    training = scenario.training.replace(n_rounds=5)
    assert settings_digest(scenario.replace(training=training)) != settings_digest(scenario)


def test_a_cell_has_the_scenario_of_its_names_with_the_changes() -> None:
    digits = find_suite("digits")
    assert len(digits.cells) == 12
    scenario = digits.cells[Cell("failures", "dirichlet")]
    assert scenario.name == "digits_world_failures_dirichlet"
    assert (scenario.network.n_users, scenario.network.n_selected, scenario.data.source) == (60, 6, "digits")
    assert scenario.network.failures == "random"
    assert find_suite("mnist").cells[Cell("failures", "iid")].name == "world_failures_iid"


def test_a_selector_runs_where_it_can() -> None:
    digits = find_suite("digits")
    can, why = digits.runnable("genie")
    assert {cell.world for cell in why} == {"drift"}
    assert "no expected speeds" in next(iter(why.values()))
    assert len(can) == 10
    assert all(digits.runnable(name)[0] for name in digits.selectors)
    with pytest.raises(ConfigError, match="asks users for losses that no budget pays"):
        digits.runnable("pow_d")
    with pytest.raises(ConfigError, match=r"unknown selector 'pauze'\. Did you mean 'pause'"):
        digits.runnable("pauze")


def test_a_row_has_what_the_run_measured(demo: Any, finish: Any, tmp_path: Any) -> None:
    from pausefl.runs.collected import read_run

    scenario = find_suite("digits").cells[Cell("two_groups", "iid")]
    run = read_run(finish(tmp_path / "run", "pause", n_rounds=6, scenario=demo))
    row = row_of(run, Cell("two_groups", "iid"), demo, 0.55)
    assert (row["world"], row["labels"], row["selector"], row["seed"]) == ("two_groups", "iid", "pause", 0)
    assert row["settings"] == settings_digest(demo) != settings_digest(scenario)
    assert (row["n_rounds"], row["accuracy"]) == (6, pytest.approx(run.rounds["accuracy"].mean()))
    assert row["spent_max"] == pytest.approx(run.rounds["leakage_max"].iloc[-1])
    assert "seconds_to_55" in row
    assert math.isnan(row["losses"])
