"""Verdicts, missing runs, what is written of them, and the claims as they are shipped."""

from __future__ import annotations

import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from worlds import SCALE, World, claim, on_runs, on_study

from pausefl.claims import page, words
from pausefl.claims.comparisons import Comparison
from pausefl.claims.load import KINDS, load_claims, places, scales
from pausefl.claims.statistics import FAILS, HOLDS, NOT_RUN, UNDECIDED
from pausefl.claims.verdicts import Judged, evaluate, judged
from pausefl.errors import ConfigError, PauseflError
from pausefl.settings import SCALES, load_config, read_yaml
from pausefl.studies import load_studies

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "config" / "scenarios"
SHIPPED = load_claims(ROOT / "config" / "claims.yaml", FOLDER)
LOWER = on_runs(
    "ordering",
    metric="leakage_after_rounds",
    gap="ratio",
    direction="lower",
    selectors=("pause",),
    against=("random",),
)


def compared(outcome: str, p: float = 0.001, **keys: Any) -> Comparison:
    return Comparison("ordering", "s", "?", "!", outcome, p=p, **keys)


def of(*comparisons: Comparison) -> Judged:
    return judged(claim(LOWER), comparisons, SCALE)


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([HOLDS, HOLDS], "supported"),
        ([HOLDS, FAILS], "mixed"),
        ([HOLDS, UNDECIDED], "undecided"),
        ([HOLDS, NOT_RUN], "supported"),
        ([UNDECIDED, UNDECIDED], "undecided"),
        ([FAILS, UNDECIDED], "contradicted"),
        ([FAILS, NOT_RUN], "contradicted"),
        ([NOT_RUN, NOT_RUN], "not run"),
        ([], "not run"),
    ],
)
def test_findings(outcomes: list[str], expected: str) -> None:
    assert of(*map(compared, outcomes)).finding == expected


def test_one_seed_neither_supports_a_claim_nor_takes_its_support_away() -> None:
    one_seed = compared(UNDECIDED, p=math.nan, seeds=(0,), gap=2.0, unit="ratio", measure="leakage")
    both = of(compared(HOLDS, seeds=(0, 1, 2), gap=0.5, unit="ratio", measure="leakage"), one_seed)
    assert both.finding == "supported"
    assert words.outcomes(both) == "1 hold"
    assert words.effect(both) == "leakage: 0.5 times"
    told = words.covered(both.coverage)
    assert told == "1 of 2 comparisons (1 more of one seed), 3 seeds, demo scale"
    alone = of(one_seed, compared(NOT_RUN))
    assert alone.finding == "undecided"
    assert words.effect(alone) == "leakage: 2 times"
    assert words.covered(alone.coverage) == "1 of 2 comparisons, one seed, demo scale"
    prints = {("ours", 0): "a", ("theirs", 0): "b"}
    twice = [compared(UNDECIDED, seeds=(0,), prints=prints)] * 2
    assert words.covered(of(*twice).coverage) == "2 of 2 comparisons (1 repeats others), one seed, demo scale"
    assert (
        words.covered(of(*twice, compared(HOLDS)).coverage)
        == "1 of 3 comparisons (2 more of one seed), demo scale"
    )
    assert of(compared(HOLDS), compared(UNDECIDED, seeds=(0, 1))).finding == "undecided"
    assert of(compared(FAILS, seeds=(0,)), compared(HOLDS)).finding == "mixed"  # checked, not estimated


@pytest.mark.parametrize(("outcome", "seeds"), [(UNDECIDED, (0,)), (NOT_RUN, ())])
def test_a_claim_of_two_parts_is_supported_only_if_both_have_a_vote(
    outcome: str, seeds: tuple[int, ...]
) -> None:
    rises = Comparison("collapse", "s", "accuracy gained: fedavg", "points > 10", outcome, seeds=seeds)
    stays = Comparison("collapse", "s", "accuracy lost: pause", "points < 10", HOLDS, seeds=(0, 1, 2))
    assert of(rises, stays).finding == "undecided"
    elsewhere = replace(rises, where="t", outcome=HOLDS, seeds=(0, 1, 2))
    assert of(rises, stays, elsewhere).finding == "supported"
    assert of(rises, replace(stays, outcome=FAILS)).finding == "contradicted"


def test_a_failure_has_to_survive_holms_correction() -> None:
    """At 5 % one of twenty true comparisons fails by chance."""
    chance, many = compared(FAILS, p=0.04), [compared(UNDECIDED, p=0.6)] * 19
    one = of(chance, *many)
    assert one.finding == "undecided"
    assert one.comparisons[0].outcome == UNDECIDED
    assert "fails alone, but not among 20 tests (Holm)" in one.comparisons[0].note
    assert of(compared(FAILS, p=0.002), *many).finding == "contradicted"
    assert of(compared(FAILS, p=0.002), compared(HOLDS, p=0.001), *many).finding == "mixed"
    assert of(compared(FAILS, p=1e-6), compared(HOLDS, p=0.04)).finding == "mixed"
    weak = of(compared(FAILS, p=1e-6), compared(HOLDS, p=0.04), compared(HOLDS, p=0.03))
    assert [each.outcome for each in weak.comparisons] == [FAILS, UNDECIDED, UNDECIDED]
    assert weak.finding == "contradicted"
    certain = of(Comparison("bound", "s", "?", "!", FAILS), chance, *many)
    assert certain.finding == "contradicted"
    assert of(*[compared(HOLDS, p=0.04)] * 20).finding == "supported"  # nothing fails


def test_the_effect_is_of_what_is_first_wanted() -> None:
    higher = [compared(HOLDS, gap=gap, unit="ratio", measure="leakage") for gap in (1.1, 1.2, 1.9)]
    lower = Comparison("ordering", "s", "?", "lower", HOLDS, gap=0.5, unit="ratio", measure="leakage")
    assert words.effect(of(*higher, lower)) == "leakage: 1.1 to 1.9 times"
    told = [replace(each, question="leakage: pause", bound="at least") for each in higher]
    assert words.effect(of(*told)) == "leakage, pause: at least 1.1 to at least 1.9 times"
    assert words.effect(of(compared(NOT_RUN))) == "–"


def test_a_repeat_has_no_vote() -> None:
    first = {("ours", 0): "a", ("theirs", 0): "b", ("ours", 1): "c", ("theirs", 1): "d"}
    shorter = {key: value for key, value in first.items() if key[1] == 0}
    other = shorter | {("theirs", 0): "x"}
    fails = [compared(FAILS, p=0.04, prints=prints) for prints in (shorter, first, first)]
    one = of(*fails, compared(HOLDS, prints=other))
    assert [bool(each.repeats) for each in one.comparisons] == [True, False, True, False]
    assert one.comparisons[0].repeats == "s: ?"
    assert one.coverage.repeats == 2
    assert one.finding == "mixed"  # two tests, not four: 0.04 survives beside one other
    assert of(*[compared(FAILS, p=0.04)] * 3, compared(HOLDS)).finding == "undecided"
    unlike = compared(HOLDS, prints=first, measure="another")
    assert not any(each.repeats for each in of(compared(HOLDS, prints=first), unlike).comparisons)


@pytest.fixture
def ordered(world: World) -> World:
    """PAUSE leaks less in each of three seeds."""
    for seed in range(3):
        world.add("pause", seed, leakage=1.0 + 0.01 * seed)
        world.add("random", seed, leakage=2.0)
    return world


def test_missing_runs_are_an_error_that_names_them(ordered: World) -> None:
    shutil.rmtree(ordered.folder / "runs/s/random/seed-1")
    shutil.rmtree(ordered.folder / "runs/s/pause/seed-2")
    with pytest.raises(PauseflError, match="2 results are missing") as error:
        evaluate([claim(LOWER)], ordered.records(), SCALE)
    assert "s/random/seed-1" in str(error.value)
    assert "s/pause/seed-2" in str(error.value)
    records = ordered.records()
    (one,) = evaluate([claim(LOWER)], records, SCALE, partial=True)
    assert one.finding == "undecided"  # one seed is left
    assert one.comparisons[0].seeds == (0,)
    assert one.coverage.lacking == 1
    assert "1 lacks runs" in words.covered(one.coverage)
    assert records.missing == {"s/random/seed-1", "s/pause/seed-2"}


def test_a_missing_study_is_an_error(world: World) -> None:
    world.study("study")
    test = on_study("regret", selectors=("pause",), law="linear", margin=0.1, reason="?")
    with pytest.raises(PauseflError, match=r"study study: fits\.csv"):
        evaluate([claim(test)], world.records(), SCALE)


def test_a_run_cut_short_is_refused(ordered: World) -> None:
    path = ordered.folder / "runs/s/random/seed-1/rounds.parquet"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(PauseflError, match="random, seed 1"):
        evaluate([claim(LOWER)], ordered.records(), SCALE, partial=True)


def test_what_is_written(ordered: World) -> None:
    untrained = on_runs(
        "ordering",
        metric="leakage_after_rounds",
        gap="ratio",
        direction="lower",
        selectors=("pause",),
        against=("fastest",),
    )
    claimed = claim(LOWER, untrained).replace(figures={"Fig. 1": ("s",), "Fig. 2": ("t",)})
    found = evaluate([claimed], ordered.records(), SCALE)
    document = json.loads(page.to_json(found, SCALE, "abc"))
    (told,) = document["claims"]
    assert (document["scale"], told["finding"], told["outcomes"]) == (SCALE, "supported", "1 hold")
    assert told["effect"] == "leakage after equally many rounds, pause against random: 0.505 times"
    covered = "1 of 2 comparisons, 1 of 2 figures, 3 seeds, demo scale"
    assert told["coverage"]["text"] == covered
    assert (told["coverage"]["made"], told["coverage"]["planned"]) == (1, 2)
    first, second = told["comparisons"]
    assert (first["outcome"], first["n_seeds"], first["unit"]) == (HOLDS, 3, "ratio")
    assert first["gap"] == pytest.approx(0.505, abs=0.001)
    assert first["low"] < first["gap"] < first["high"] < 1
    assert first["p"] < 0.05
    assert (second["outcome"], second["gap"], second["low"]) == (NOT_RUN, None, None)
    frame = page.to_frame(found, SCALE)
    assert frame["outcome"].tolist() == [HOLDS, NOT_RUN]
    assert frame["finding"].unique() == "supported"
    assert frame["runs"][0].split()[0] == "s/pause/seed-0"
    row = f"| **supported** | {told['effect']} | {covered} |"
    assert row in page.to_markdown(found, SCALE)
    assert re.search(
        rf"C0 +supported +{told['effect']} +{covered} +something is so", page.to_text(found, SCALE)
    )


def test_every_claim_is_tested_at_the_papers_scale_and_on_its_figures() -> None:
    named = [f"C{i}" for i in range(1, 22)]
    assert [one.id for one in SHIPPED] == [*named[:4], "C5a", "C5b", "C5c", *named[5:]]
    assert all(any(test.applies("paper") for test in one.tests) for one in SHIPPED)
    for one in SHIPPED:
        tested = {name for scale in SCALES for names in places([one], scale) for name in names}
        assert all(tested & set(names) for names in one.figures.values()), one.id


@pytest.mark.parametrize(("config", "scale"), [("config", "paper"), ("demo", "demo")])
def test_a_shipped_configuration_has_every_run_that_its_claims_need(config: str, scale: str) -> None:
    document = read_yaml(ROOT / f"config/{config}.yaml")
    loaded = load_config({**document, "scenarios": str(FOLDER), "studies": None})
    studies = load_studies(ROOT / "config/studies.yaml", FOLDER)
    assert scales(SHIPPED, loaded.scenarios, studies if config == "config" else ()) == [scale]
    scenarios, named = places(SHIPPED, scale)
    assert scenarios <= loaded.scenarios.keys()
    assert named <= set(studies)
    table = {(row.scenario, row.selector) for row in loaded.experiments}
    for test in (test for one in SHIPPED for test in one.tests):
        selectors = {*getattr(test, "selectors", ()), *getattr(test, "against", ())}
        for scenario in test.scenarios_at(scale):
            assert {(scenario, selector) for selector in selectors} <= table
        for study in test.studies_at(scale):
            if studies[study].kind != "graphs":
                assert set(test.selectors) <= set(studies[study].scenario.selectors)


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ({"kind": "ordring"}, "Did you mean 'ordering'?"),
        ({"kind": "bound"}, "missing key 'claims.0.tests.0.scenarios' (Scenarios whose runs are compared"),
        (
            {"kind": "exactness", "rewards": ["r1"], "n_instances": 3, "margin": 1},
            "unknown key 'claims.0.tests.0.margin'. Allowed: ",
        ),
        ({"kind": "bound", "scenarios": {"demo": ["demo_smal"]}}, "Did you mean 'demo_small'?"),
        (
            {"kind": "limit", "selectors": ["puase"], "n_instances": 1, "at_least": 1},
            "Did you mean 'pause'?",
        ),
        (
            {"kind": "limit", "selectors": ["pause"], "n_instances": 1, "at_least": 1},
            "at_least needs the key 'reason'",
        ),
        (
            {"kind": "cost", "studies": {"paper": ["s"]}, "selectors": ["pause"], "law": "linear"},
            "claims.0.tests.0.law = 'linear' is not known. Did you mean 'linearithmic'?",
        ),
        (
            {
                "kind": "ordering",
                "scenarios": {"demo": ["demo_small"]},
                "selectors": ["pause"],
                "metric": "leakage_after_rounds",
                "gap": "ratio",
                "direction": "lower",
            },
            "needs the key 'against' or 'reference'",
        ),
        (
            {"kind": "bound", "scenarios": {"demo": ["demo_small"], "paper": ["demo_large"]}},
            f"lists 'demo_large' at scale 'paper'; {FOLDER}/demo_large.yaml says 'demo'",
        ),
        (
            {
                "kind": "share",
                "selectors": ["alsa"],
                "at_least": 0.9,
                "reason": "?",
                "studies": {"paper": ["bsfl_fig4"], "demo": ["bsfl_fig4"]},
            },
            "only one",
        ),
    ],
)
def test_mistakes_in_the_claims_are_named(tmp_path: Path, test: dict[str, Any], message: str) -> None:
    path = tmp_path / "claims.yaml"
    one = {"id": "C1", "sentence": "it is so", "place": "somewhere", "tests": [test]}
    path.write_text(yaml.safe_dump({"claims": [one]}), encoding="utf-8")
    with pytest.raises(ConfigError, match=re.escape(message)):
        load_claims(path, FOLDER)


def test_a_test_without_places_is_part_of_a_claim_at_every_scale() -> None:
    drawn = KINDS["exactness"](kind="exactness", rewards=("r1",), n_instances=1)
    assert all(drawn.applies(scale) for scale in SCALES)
    assert [scale for scale in SCALES if LOWER.applies(scale)] == ["demo"]


def test_a_missing_study_of_selection_is_an_error_where_nothing_else_was_to_be_run(world: World) -> None:
    world.simulate("pause", 0)
    world.simulate("random", 0)
    (world.folder / "studies/selection_s/rounds.parquet").unlink()
    with pytest.raises(PauseflError, match=r"study selection_s: rounds\.parquet"):
        evaluate([claim(LOWER)], world.records(), SCALE)
    world.plan("pause", 0)
    world.plan("random", 0)
    with pytest.raises(PauseflError, match="2 results are missing") as error:
        evaluate([claim(LOWER)], world.records(), SCALE)
    assert "s/pause/seed-0" in str(error.value)
