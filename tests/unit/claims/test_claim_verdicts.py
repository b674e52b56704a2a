"""Verdicts, missing runs, what is written of them, and the claims as they are shipped."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from worlds import SCALE, World, claim, on_runs, on_study

from pausefl.claims import page
from pausefl.claims.findings import Finding
from pausefl.claims.statistics import FAILS, HOLDS, NOT_RUN, UNDECIDED
from pausefl.claims.verdicts import evaluate, verdict
from pausefl.errors import ConfigError, PauseflError
from pausefl.settings import load_config, read_yaml
from pausefl.settings.claims import SCALES, ClaimTest, load_claims, places, scales
from pausefl.settings.studies import load_studies

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "config" / "scenarios"
SHIPPED = load_claims(ROOT / "config" / "claims.yaml", FOLDER)
LOWER = on_runs(
    "ordering",
    metric="leakage_max",
    gap="ratio",
    direction="lower",
    selectors=("pause",),
    against=("random",),
)


def finding(outcome: str, n_seeds: int = 3, **keys: Any) -> Finding:
    return Finding("bound", "s", "?", "!", outcome, seeds=tuple(range(n_seeds)), **keys)


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([HOLDS, HOLDS], "reproduced"),
        ([HOLDS, FAILS], "partly"),
        ([HOLDS, UNDECIDED], "partly"),
        ([HOLDS, NOT_RUN], "partly"),
        ([FAILS, UNDECIDED], "not reproduced"),
        ([FAILS, NOT_RUN], "not reproduced"),
        ([NOT_RUN, NOT_RUN], "not run"),
        ([], "not run"),
    ],
)
def test_verdicts(outcomes: list[str], expected: str) -> None:
    assert verdict(finding(outcome) for outcome in outcomes) == expected


def test_one_seed_and_missing_runs_are_partly_at_best() -> None:
    assert verdict([finding(HOLDS), finding(HOLDS, n_seeds=1)]) == "partly"
    assert verdict([finding(HOLDS, n_missing=1)]) == "partly"
    assert verdict([finding(HOLDS, n_seeds=0)]) == "reproduced"  # drawn instances have no seeds


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
    (judged,) = evaluate([claim(LOWER)], records, SCALE, partial=True)
    assert judged.verdict == "partly"
    assert judged.findings[0].seeds == (0,)
    assert records.missing == {"s/random/seed-1", "s/pause/seed-2"}


def test_nothing_run_is_not_a_pass(world: World) -> None:
    world.plan("pause", 0)
    world.plan("random", 0)
    (judged,) = evaluate([claim(LOWER)], world.records(), SCALE, partial=True)
    assert judged.verdict == "not run"


def test_a_missing_study_is_an_error(world: World) -> None:
    world.study("study")
    test = on_study("regret", selectors=("pause",), law="linear", margin=0.1)
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
        metric="leakage_max",
        gap="difference",
        direction="lower",
        selectors=("pause",),
        against=("fastest",),
    )
    judged = evaluate([claim(LOWER, untrained)], ordered.records(), SCALE)
    document = json.loads(page.to_json(judged, SCALE, "abc"))
    (told,) = document["claims"]
    assert (document["scale"], told["verdict"], told["n_hold"], told["seeds"]) == (SCALE, "partly", 1, "3")
    first, second = told["tests"]
    assert (first["outcome"], first["n_seeds"], first["unit"]) == (HOLDS, 3, "ratio")
    assert first["gap"] == pytest.approx(0.505, abs=0.001)
    assert first["low"] < first["gap"] < first["high"] < 1
    assert (second["outcome"], second["gap"], second["low"]) == (NOT_RUN, None, None)
    frame = page.to_frame(judged, SCALE)
    assert frame["outcome"].tolist() == [HOLDS, NOT_RUN]
    assert frame["runs"][0].split()[0] == "s/pause/seed-0"
    text = page.to_markdown(judged, SCALE)
    assert "| C0 | something is so | somewhere | **partly** | 1 hold, 1 not run | 3 |" in text
    assert re.search(r"C0 +partly +1 hold, 1 not run +3 +something is so", page.to_text(judged, SCALE))


def test_every_claim_is_shipped_with_tests_at_the_papers_scale() -> None:
    assert [one.id for one in SHIPPED] == [f"C{i}" for i in range(1, 14)]
    assert all(any(test.applies("paper") for test in one.tests) for one in SHIPPED)


@pytest.mark.parametrize(("config", "scale"), [("config", "paper"), ("demo", "demo")])
def test_a_shipped_configuration_has_every_run_that_its_claims_need(config: str, scale: str) -> None:
    document = read_yaml(ROOT / f"config/{config}.yaml")
    loaded = load_config({**document, "scenarios": str(FOLDER), "studies": None})
    studies = load_studies(ROOT / "config/studies.yaml", FOLDER)
    assert scales(SHIPPED, loaded.scenarios, studies.names() if config == "config" else ()) == [scale]
    scenarios, named = places(SHIPPED, scale)
    assert scenarios <= loaded.scenarios.keys()
    assert named <= set(studies.names())
    table = {(row.scenario, row.selector) for row in loaded.experiments}
    for test in (test for one in SHIPPED for test in one.tests):
        for scenario in test.scenarios.get(scale, ()):
            assert {(scenario, selector) for selector in (*test.selectors, *test.against)} <= table
        for study in test.studies.get(scale, ()):
            kind = next(k for k in ("regret", "comparison", "runtime") if study in getattr(studies, k))
            assert set(test.selectors) <= set(getattr(studies, kind)[study].scenario.selectors)


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ({"kind": "ordring"}, "Did you mean 'ordering'?"),
        ({"kind": "bound"}, "kind = 'bound' needs the key 'scenarios'"),
        ({"kind": "exactness", "rewards": ["r1"], "n_instances": 3, "margin": 1}, "margin is no key of"),
        ({"kind": "bound", "scenarios": {"demo": ["demo_smal"]}}, "Did you mean 'demo_small'?"),
        ({"kind": "limit", "selectors": ["puase"], "n_instances": 1, "at_least": 1}, "Did you mean 'pause'?"),
        ({"kind": "regret", "studies": {"paper": ["s"]}, "selectors": ["pause"], "law": "power"}, "law = "),
        (
            {
                "kind": "ordering",
                "scenarios": {"demo": ["demo_small"]},
                "selectors": ["pause"],
                "metric": "leakage_max",
                "gap": "ratio",
                "direction": "lower",
            },
            "needs the key 'against' or 'reference'",
        ),
        (
            {"kind": "bound", "scenarios": {"demo": ["demo_small"], "paper": ["demo_large"]}},
            "lists 'demo_large' at scale 'paper'; its file says 'demo'",
        ),
        (
            {
                "kind": "share",
                "selectors": ["alsa"],
                "at_least": 0.9,
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
    drawn = ClaimTest(kind="exactness", rewards=("r1",), n_instances=1)
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
