"""Verdicts, missing runs, what is written of them, and the claims as they are shipped."""

from __future__ import annotations

import json
import math
import re
import shutil
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from worlds import SCALE, World, claim, on_runs

from pausefl.analysis.statistics import FAILS, HOLDS, NOT_RUN, UNDECIDED
from pausefl.errors import ConfigError, PauseflError
from pausefl.reproduction.claims import formats
from pausefl.reproduction.claims.comparison_result import Comparison
from pausefl.reproduction.claims.load import KINDS, Alternative, load_claims, places
from pausefl.reproduction.claims.verdicts import Verdict, judge_claims, verdict_on
from pausefl.reproduction.claims.words import describe
from pausefl.settings import load_scenario

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "config" / "scenarios"
ORDERED: dict[str, Any] = {
    "metric": "leakage_after_rounds",
    "gap": "ratio",
    "direction": "lower",
    "selectors": ("pause",),
    "against": ("random",),
}
LOWER = on_runs("ordering", **ORDERED)


def compared(outcome: str, p: float = 0.001, **keys: Any) -> Comparison:
    return Comparison("ordering", "s", "?", "", "!", outcome, p=p, **keys)


def of(*comparisons: Comparison) -> Verdict:
    return verdict_on(claim(LOWER), comparisons)


ONE_SEED = compared(UNDECIDED, p=math.nan, seeds=(0,), gap=2.0, unit="ratio", measure="leakage")
CHANCE, MANY = compared(FAILS, p=0.04), [compared(UNDECIDED, p=0.6)] * 19


@pytest.mark.parametrize(
    ("comparisons", "expected"),
    [
        ([], "not run"),
        ([compared(NOT_RUN)] * 2, "not run"),
        ([compared(HOLDS)] * 2, "supported"),
        ([compared(HOLDS), compared(FAILS)], "mixed"),
        ([compared(HOLDS), compared(UNDECIDED)], "supported so far"),
        ([compared(HOLDS), compared(UNDECIDED), compared(UNDECIDED, test=1)], "undecided"),
        ([compared(HOLDS), compared(UNDECIDED), compared(HOLDS, test=1), ONE_SEED], "supported so far"),
        ([compared(UNDECIDED)] * 2, "undecided"),
        ([compared(FAILS), compared(UNDECIDED)], "contradicted"),
        # One seed decides nothing: neither does it take support away, nor is the claim supported in all.
        ([compared(HOLDS), ONE_SEED], "supported so far"),
        ([ONE_SEED, compared(NOT_RUN)], "undecided"),
        ([compared(FAILS, seeds=(0,)), compared(HOLDS)], "mixed"),  # certain, not estimated
        # At 5 % one of twenty true comparisons fails by chance: a failure has to survive Holm's correction.
        ([CHANCE, *MANY], "undecided"),
        ([compared(FAILS, p=0.002), *MANY], "contradicted"),
        ([compared(FAILS, p=0.002), compared(HOLDS, p=0.001), *MANY], "mixed"),
        ([compared(FAILS, p=math.nan), CHANCE, *MANY], "contradicted"),
        # Alone, two hold, or two more fail.
        ([compared(FAILS, p=1e-6), compared(HOLDS, p=0.04), compared(HOLDS, p=0.03)], "mixed"),
        ([compared(FAILS, p=1e-6), compared(FAILS, p=0.04), compared(FAILS, p=0.03)], "contradicted"),
        # Every part of a claim, which is a test or a topic of it, needs a vote.
        ([compared(HOLDS), replace(ONE_SEED, test=1)], "undecided"),
        ([compared(HOLDS), compared(NOT_RUN, test=1)], "undecided"),
        ([compared(HOLDS), replace(compared(NOT_RUN), topic="more")], "undecided"),
        ([compared(HOLDS), compared(NOT_RUN, test=1), compared(HOLDS, test=1)], "supported"),
    ],
)
def test_findings(comparisons: list[Comparison], expected: str) -> None:
    assert of(*comparisons).finding == expected


def test_where_some_are_open_it_is_said_how_many_hold_after_a_correction() -> None:
    """Of 0.02, 0.03 and 0.2, Holm keeps none; of 0.002, 0.03 and 0.2 one."""
    for least, kept in ((0.02, 0), (0.002, 1)):
        some = (compared(HOLDS, p=least), compared(HOLDS, p=0.03), compared(UNDECIDED, p=0.2))
        verdict = of(*some)
        assert (verdict.finding, verdict.coverage["holds_corrected"]) == ("supported so far", kept)
        assert describe(verdict)["count"] == f"2 hold ({kept} after Holm's correction), 0 fail, 1 open"
    assert describe(of(compared(HOLDS, p=0.04)))["count"] == "1 hold, 0 fail, 0 open"


def test_a_repeat_has_no_vote() -> None:
    first = {(0, 0): "a", (1, 0): "b", (0, 1): "c", (1, 1): "d"}
    shorter = {key: value for key, value in first.items() if key[1] == 0}
    fails = [compared(FAILS, p=0.04, prints=prints) for prints in (shorter, first, first)]
    verdict = of(*fails, compared(HOLDS, prints=shorter | {(1, 0): "x"}))
    assert [each.repeats for each in verdict.comparisons] == ["s: ?", "", "s: ?", ""]
    assert (verdict.coverage["repeats"], verdict.finding) == (2, "mixed")  # 0.04 survives beside one other
    assert of(*[compared(FAILS, p=0.04)] * 3, compared(HOLDS)).finding == "undecided"
    by_chance = of(*MANY, compared(FAILS, p=0.04, prints=first), compared(FAILS, p=0.04, prints=shorter))
    assert [each.outcome for each in by_chance.comparisons[-2:]] == [UNDECIDED] * 2
    unlike = compared(HOLDS, prints=first, measure="another")
    assert of(compared(HOLDS, prints=first), unlike).coverage["repeats"] == 0


@pytest.mark.parametrize(
    ("metric", "gained", "round_s", "repeats"),
    [
        ("leakage_after_rounds", 0.2, 2.0, 1),
        ("accuracy_in_time", 0.2, 1.0, 0),
        ("accuracy_in_time", 0.1, 1.0, 1),
        ("accuracy_in_time", 0.1, 2.0, 0),
        ("mean_round_s", 0.2, 2.0, 0),
    ],
)
def test_runs_repeat_others_if_all_that_matters_is_the_same(
    world: World, metric: str, gained: float, round_s: float, repeats: int
) -> None:
    """Two scenarios with the same selections, and maybe other accuracies and times."""
    for seed, (place, more, seconds) in product((0, 1), (("s", 0.1, 1.0), ("t", gained, round_s))):
        world.add("pause", seed, [0.5 + more] * 20, scenario=place, round_s=seconds)
        world.add("random", seed, [0.5] * 20, scenario=place, round_s=seconds)
    test = LOWER.replace(metric=metric, gap="difference", scenarios={SCALE: ("s", "t")})
    (one,) = judge_claims([claim(test)], world.records(), SCALE)
    assert one.coverage["repeats"] == repeats


def test_a_claim_is_judged_with_other_values_of_a_setting(world: World) -> None:
    """The runs of one selector come from other scenarios, those of all others stay."""
    for seed, (place, rival) in product(range(3), (("s", 2.0), ("t", 0.5))):
        world.add("pause", seed, scenario=place, leakage=1.0 + 0.01 * seed)
        world.add("random", seed, scenario=place, leakage=rival)
    other = Alternative(label="half", selector="random", scenarios={"s": "t"})
    claimed = claim(LOWER.replace(scenarios={"paper": ("s",)})).replace(alternatives=(other,))
    assert places([claimed], "paper")[0] == {"s", "t"}
    (one, *_) = judge_claims([claimed], world.records(), "paper")
    assert (one.finding, one.others["half"].finding) == ("supported", "contradicted")
    told = describe(one)
    assert told["count"] == "1 hold, 0 fail, 0 open"
    assert told["others"] == "with half contradicted (0 hold, 1 fail, 0 open)"
    runs = one.others["half"].comparisons[0].runs
    assert set(runs) == {f"{run}/seed-{seed}" for run in ("s/pause", "t/random") for seed in range(3)}


@pytest.fixture
def ordered(world: World) -> World:
    """PAUSE leaks less in each of three seeds."""
    for seed in range(3):
        world.add("pause", seed, leakage=1.0 + 0.01 * seed)
        world.add("random", seed, leakage=2.0)
    return world


def test_missing_runs_are_an_error_that_names_them(ordered: World) -> None:
    missing = {"s/random/seed-1", "s/pause/seed-2"}
    for name in missing:
        shutil.rmtree(ordered.folder / "runs" / name)
    with pytest.raises(PauseflError, match="2 results are missing") as error:
        judge_claims([claim(LOWER)], ordered.records(), SCALE)
    assert all(name in str(error.value) for name in missing)
    records = ordered.records()
    (one,) = judge_claims([claim(LOWER)], records, SCALE, partial=True)
    assert (one.finding, one.comparisons[0].seeds) == ("undecided", (0,))  # one seed is left
    assert (one.coverage["lacking"], records.missing) == (1, missing)


def test_the_document_has_gaps_with_intervals_and_null_for_none(ordered: World) -> None:
    claimed = claim(LOWER.replace(against=("random", "fastest")))
    verdicts = judge_claims([claimed], ordered.records(), SCALE)
    (told,) = json.loads(formats.to_json(verdicts, SCALE, "abc"))["claims"]
    assert (told["finding"], told["as_run"]) == ("supported", None)
    first, second = told["comparisons"]
    assert (first["outcome"], first["n_seeds"], first["unit"]) == (HOLDS, 3, "ratio")
    assert first["gap"] == pytest.approx(0.505, abs=0.001)
    assert first["low"] < first["gap"] < first["high"] < 1
    assert first["runs"][0] == "s/pause/seed-0"
    assert (second["outcome"], second["gap"], second["low"]) == (NOT_RUN, None, None)


def test_a_claim_is_judged_as_run_beside_its_reading_as_written(world: World) -> None:
    """As run, the annealer of the log stands for SA-PAUSE, and what is not run is no pass."""
    as_run = load_scenario("mnist_large_iid_r1_as_run", FOLDER)
    test = KINDS["ordering"](
        kind="ordering",
        scenarios={"paper": ("s",), "as_run": (as_run.name,)},
        **ORDERED
        | {"selectors": ("sa_pause",), "against": ("pause", "clustered_similarity")}
        | {"metric": "mean_round_s", "direction": "higher"},
    )
    for seed in range(2):
        for selector, place in (("sa_pause", "s"), ("sa_pause_best_gain", as_run.name)):
            world.add(selector, seed, scenario=place, round_s=2.0)
            world.add("pause", seed, scenario=place, round_s=1.0 + 0.1 * seed)
    records = replace(world.records(), logs={as_run.name: as_run})
    written, run = judge_claims([claim(test)], records, "paper")
    assert [len(one.comparisons) for one in (written, run)] == [2, 1]  # the log has no such sampling
    assert (written.reading, run.reading, run.finding) == ("as written", "as run", "supported")
    (one,) = run.comparisons
    assert one.question == "mean round: SA-PAUSE (best gain) against PAUSE"
    assert one.authors == pytest.approx((200.02 / 330) / (200.22 / 360), rel=0.01)
    assert math.isnan(written.comparisons[0].authors)
    (told,) = json.loads(formats.to_json((written, run), "paper", "abc"))["claims"]
    assert (told["finding"], told["as_run"]["finding"]) == ("supported", "supported")


HERE = {"scenarios": {"demo": ["demo_small"]}}
WHOLE = {"kind": "ordering"} | ORDERED | HERE


@pytest.mark.parametrize(
    ("test", "message"),
    [
        (WHOLE, "claim 'C1' is there twice"),
        (WHOLE | {"share": 1}, "unknown key 'claims.0.tests.0.share'."),
        (WHOLE | {"selectors": ["puase"]}, "Did you mean 'pause'?"),
        (WHOLE | {"margin": 1}, "margin needs the key 'reason'"),
        (
            {key: value for key, value in WHOLE.items() if key != "against"},
            "needs the key 'against' or 'reference'",
        ),
        (
            WHOLE | {"scenarios": {"demo": ["demo_small"], "paper": ["demo_large"]}},
            f"lists 'demo_large' at scale 'paper'; {FOLDER}/demo_large.yaml says 'demo'",
        ),
    ],
)
def test_mistakes_in_the_claims_are_named(tmp_path: Path, test: dict[str, Any], message: str) -> None:
    path = tmp_path / "claims.yaml"
    test = {key: list(value) if isinstance(value, tuple) else value for key, value in test.items()}
    one = {"id": "C1", "sentence": "it is so", "place": "somewhere", "tests": [test]}
    path.write_text(yaml.safe_dump({"claims": [one] * (2 if "twice" in message else 1)}), encoding="utf-8")
    with pytest.raises(ConfigError, match=re.escape(message)):
        load_claims(path, FOLDER)
