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
from pausefl.claims.load import KINDS, load_checks, load_claims, places, scales
from pausefl.claims.records import Records
from pausefl.claims.statistics import FAILS, HOLDS, NOT_RUN, UNDECIDED
from pausefl.claims.verdicts import Judged, evaluate, judged
from pausefl.errors import ConfigError, PauseflError
from pausefl.settings import SCALES, load_config, load_scenario, read_yaml
from pausefl.studies import Studies, load_studies

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
    return Comparison("ordering", "s", "?", "", "!", outcome, p=p, **keys)


def of(*comparisons: Comparison) -> Judged:
    return judged(claim(LOWER), comparisons)


def counts(one: Judged) -> str:
    return words.outcomes(one.coverage)


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
    assert counts(both) == "1 hold, 0 fail, 0 open; 1 of one seed"
    assert words.effect(both) == "leakage: 0.5 times"
    assert words.covered(both.coverage) == "3 seeds"
    alone = of(one_seed, compared(NOT_RUN))
    assert alone.finding == "undecided"
    assert words.effect(alone) == "leakage: 2 times"
    assert (counts(alone), words.covered(alone.coverage)) == ("1 of one seed, 1 not run", "one seed")
    prints = {("ours", 0): "a", ("theirs", 0): "b"}
    twice = [compared(UNDECIDED, seeds=(0,), prints=prints)] * 2
    assert counts(of(*twice)) == "1 of one seed, 1 repeated"
    assert counts(of(*twice, compared(HOLDS))) == "1 hold, 0 fail, 0 open; 1 of one seed, 1 repeated"
    assert of(compared(HOLDS), compared(UNDECIDED, seeds=(0, 1))).finding == "undecided"
    assert of(compared(FAILS, seeds=(0,)), compared(HOLDS)).finding == "mixed"  # checked, not estimated


@pytest.mark.parametrize(("outcome", "seeds"), [(UNDECIDED, (0,)), (NOT_RUN, ())])
def test_a_claim_of_two_parts_is_supported_only_if_both_have_a_vote(
    outcome: str, seeds: tuple[int, ...]
) -> None:
    rises = Comparison("collapse", "s", "accuracy gained", "fedavg", "points > 10", outcome, seeds=seeds)
    stays = Comparison("collapse", "s", "accuracy lost", "pause", "points < 10", HOLDS, seeds=(0, 1, 2))
    assert of(rises, stays).finding == "undecided"
    elsewhere = replace(rises, where="t", outcome=HOLDS, seeds=(0, 1, 2))
    assert of(rises, stays, elsewhere).finding == "supported"
    assert of(rises, replace(stays, outcome=FAILS)).finding == "contradicted"
    assert "No vote on accuracy gained: s" in words.why(of(rises, stays))
    first, second = compared(HOLDS), replace(compared(outcome, seeds=seeds), test=1)
    assert of(first, second).finding == "undecided"  # another test is another part


def test_a_failure_has_to_survive_holms_correction() -> None:
    """At 5 % one of twenty true comparisons fails by chance."""
    chance, many = compared(FAILS, p=0.04), [compared(UNDECIDED, p=0.6)] * 19
    one = of(chance, *many)
    assert one.finding == "undecided"
    assert one.comparisons[0].outcome == UNDECIDED
    assert "fails alone, but not among 20 tests (Holm)" in one.comparisons[0].note
    assert "1 would fail if tested alone, not among 20: s. 19 cannot be told from the limit: s" in words.why(
        one
    )
    assert of(compared(FAILS, p=0.002), *many).finding == "contradicted"
    assert of(compared(FAILS, p=0.002), compared(HOLDS, p=0.001), *many).finding == "mixed"
    assert of(compared(FAILS, p=1e-6), compared(HOLDS, p=0.04)).finding == "mixed"
    weak = of(compared(FAILS, p=1e-6), compared(HOLDS, p=0.04), compared(HOLDS, p=0.03))
    assert [each.outcome for each in weak.comparisons] == [FAILS, UNDECIDED, UNDECIDED]
    assert weak.finding == "mixed"  # alone, two hold
    other = of(compared(FAILS, p=1e-6), compared(FAILS, p=0.04), compared(FAILS, p=0.03))
    assert [each.outcome for each in other.comparisons] == [FAILS, UNDECIDED, UNDECIDED]
    assert other.finding == "contradicted"
    certain = of(Comparison("bound", "s", "?", "", "!", FAILS), chance, *many)
    assert certain.finding == "contradicted"
    assert of(*[compared(HOLDS, p=0.04)] * 20).finding == "supported"  # nothing fails


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
    shown = {
        "Fig. 1": {"of": ("s",)},
        "Fig. 2": {"of": ("t",)},
        "Fig. 3": {"of": ("s",), "lacks": ("pause",)},
    }
    claimed = claim(LOWER.replace(against=("random", "fastest"))).replace(figures=shown, failing="as if")
    found = evaluate([claimed], ordered.records(), SCALE)
    document = json.loads(page.to_json(found, SCALE, "abc"))
    (told,) = document["claims"]
    assert (document["scale"], told["finding"], told["as_run"]) == (SCALE, "supported", None)
    assert told["outcomes"] == "1 hold, 0 fail, 0 open; 1 not run"
    assert told["effect"] == "leakage after equally many rounds, PAUSE against Random: 0.505 times"
    assert told["needed"] == "leakage after equally many rounds: ratio < 1"
    assert told["coverage"]["text"] == "1 of 3 figures, 3 seeds"
    assert (told["coverage"]["holds"], told["coverage"]["not_run"]) == (1, 1)
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
    text = page.to_markdown(found)
    assert f"| C0 | something is so | **supported**; {told['effect']} |" in text
    assert f"| {told['needed']} | {told['outcomes']} | 1 of 3 figures, 3 seeds |" in text
    assert re.search(
        rf"C0 +supported +{told['outcomes']} +{told['effect']} +something is so",
        page.to_text(found, SCALE),
    )
    failed = evaluate([claimed.replace(tests=(LOWER.replace(direction="higher"),))], ordered.records(), SCALE)
    assert "| **contradicted**; as if; leakage after" in page.to_markdown(failed)
    assert f"| Fails: {told['effect']} (Fig. 1) |" in page.to_markdown(failed)


def test_findings_are_counted() -> None:
    found = [of(compared(HOLDS)), replace(of(compared(HOLDS)), finding="mixed"), of(compared(HOLDS))]
    assert page.summary_line(found) == "2 supported, 1 mixed"


def test_a_claim_is_judged_as_run_beside_its_reading_as_written(world: World) -> None:
    """As run, the annealer of the log stands for SA-PAUSE, and what is not run is no pass."""
    as_run = load_scenario("mnist_large_iid_r1_as_run", FOLDER)
    faster = {"metric": "mean_round_s", "gap": "ratio", "direction": "higher"}
    test = KINDS["ordering"](
        kind="ordering",
        scenarios={"paper": ("s",), "as_run": (as_run.name,)},
        selectors=("sa_pause",),
        against=("pause", "clustered_similarity"),
        **faster,
    )
    for seed in range(2):
        for selector, place in (("sa_pause", "s"), ("sa_pause_best_gain", as_run.name)):
            world.add(selector, seed, scenario=place, round_s=2.0)
            world.add("pause", seed, scenario=place, round_s=1.0 + 0.1 * seed)
    records = replace(world.records(), logs={as_run.name: as_run})
    written, run = evaluate([claim(test)], records, "paper")
    assert [len(one.comparisons) for one in (written, run)] == [2, 1]  # the log has no such sampling
    assert (written.reading, run.reading, run.finding) == ("as written", "as run", "supported")
    (compared_,) = run.comparisons
    assert compared_.question == "mean round: SA-PAUSE (best gain) against PAUSE"
    assert compared_.authors == pytest.approx((200.02 / 330) / (200.22 / 360), rel=0.01)
    assert words.authors(run) == "mean round: 1.09 times"
    assert math.isnan(written.comparisons[0].authors)
    (told,) = json.loads(page.to_json((written, run), "paper", "abc"))["claims"]
    assert (told["finding"], told["as_run"]["finding"]) == ("supported", "supported")
    assert "| **supported**; mean round" in page.to_markdown((written, run))
    records = Records({}, (), Studies({}), world.folder, world.folder, logs={as_run.name: as_run})
    _, nothing = evaluate([claim(test)], records, "paper")
    assert (nothing.finding, counts(nothing)) == ("not run", "1 not run")
    assert "| **not run**, 12 core-hours | mean round: 1.09 times |" in page.to_markdown(
        (written, nothing), {"C0": 12.0}
    )


def test_every_claim_is_tested_at_the_papers_scale_and_on_its_figures() -> None:
    named = [f"C{i}" for i in range(1, 22)]
    parts = {"C5": ["C5a", "C5b", "C5c"], "C13": ["C13a", "C13b"]}
    checks = [check.id for check in load_checks(ROOT / "config/claims.yaml")]
    assert checks == ["C1", "C2", "C7", "C12", "C18", "C19", "C21"]
    wanted = [id_ for name in named for id_ in parts.get(name, [name]) if name not in checks]
    assert [one.id for one in SHIPPED] == wanted
    assert all(any(test.applies("paper") for test in one.tests) for one in SHIPPED)
    for one in SHIPPED:
        tested = {name for scale in SCALES for names in places([one], scale) for name in names}
        assert all(tested & set(figure.of) for figure in one.figures.values()), one.id


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
        whole = [
            {(scenario, selector) for selector in selectors} <= table for scenario in test.scenarios_at(scale)
        ]
        assert all(whole) if config == "config" else any(whole) or not whole  # the demo is short
        for study in test.studies_at(scale):
            if studies[study].kind != "graphs":
                assert set(test.selectors) <= set(studies[study].scenario.selectors)


#: A test of claims, but for its scenarios.
ORDERED: dict[str, Any] = {
    "kind": "ordering",
    "metric": "leakage_after_rounds",
    "gap": "ratio",
    "direction": "lower",
    "selectors": ["pause"],
    "against": ["random"],
}


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ({"kind": "ordring"}, "Did you mean 'ordering'?"),
        (ORDERED, "missing key 'claims.0.tests.0.scenarios' (Scenarios whose runs are compared"),
        (
            ORDERED | {"scenarios": {"demo": ["demo_small"]}, "share": 1},
            "unknown key 'claims.0.tests.0.share'.",
        ),
        (ORDERED | {"scenarios": {"demo": ["demo_smal"]}}, "Did you mean 'demo_small'?"),
        (ORDERED | {"scenarios": {"demo": ["demo_small"]}, "selectors": ["puase"]}, "Did you mean 'pause'?"),
        (ORDERED | {"scenarios": {"demo": ["demo_small"]}, "margin": 1}, "margin needs the key 'reason'"),
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
            ORDERED | {"scenarios": {"demo": ["demo_small"], "paper": ["demo_large"]}},
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
