"""What the report shows, in which order, and that nothing it is given is taken for HTML."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PIL import Image

from pausefl.figures.captions import Caption
from pausefl.report.contents import sections_of
from pausefl.report.page import render
from pausefl.report.parts import ReportParts, ScenarioPart, StudyPart
from pausefl.settings import Experiment, Scenario

ROOT = Path(__file__).parents[3]
HOSTILE = '<img src=x onerror=alert("1")> & `b` *c*'

#: Writes the results of a scenario.
Write = Callable[..., ScenarioPart]


def picture(path: Path) -> str:
    """A figure whose PDF is not the same as that of any other path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (2, 1)).save(path, dpi=(300, 300))
    path.with_suffix(".pdf").write_bytes(b"%PDF-" + str(path).encode())
    return str(path)


def as_json(path: Path, document: dict[str, Any]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), "utf-8")
    return str(path)


@pytest.fixture
def write(tmp_path: Path, demo: Scenario) -> Write:
    """Write the results of a scenario that is the demo but for its name, title, scale and figures."""

    def scenario_part(
        name: str,
        figures: dict[str, str],
        title: str = "A title",
        notes: tuple[str, ...] = (),
        base: Scenario = demo,
        **changes: Any,
    ) -> ScenarioPart:
        scenario = base.replace(name=name, title=title, figures=figures, **changes)
        paths = {}
        for figure, kind in figures.items():
            stem = tmp_path / "figures" / name / kind
            paths[figure] = kind, picture(stem.with_suffix(".png"))
            as_json(stem.with_suffix(".json"), {"kind": kind, "notes": notes})
        runs = [Experiment(name, "pause", seed) for seed in (0, 1)]
        table = tmp_path / "tables" / f"{name}.md"
        table.parent.mkdir(exist_ok=True)
        table.write_text("| Selector | x |\n| :-- | --: |\n| PAUSE | **1** |\n\nSee D8.\n", "utf-8")
        values = {"selector": ["pause", "random", "fedavg_no_privacy"], "n_seeds": 2}
        values |= {"leakage_max_mean": [1.0, 1.0, math.inf], "seconds_to_target_mean": [62.4, 70.0, 30.0]}
        pd.DataFrame(values | {"target_accuracy": 0.84, "final_loss_mean": 0.5}).to_csv(
            table.with_suffix(".csv"), index=False
        )
        return ScenarioPart(
            scenario,
            scenario.as_dict(),
            runs,
            paths,
            {"summary": str(table)},
            str(table.with_suffix(".csv")),
            "some digits",
        )

    return scenario_part


def parts(**changes: Any) -> ReportParts:
    defaults: dict[str, Any] = {
        "name": "all",
        "scenarios": {},
        "studies": {},
        "claims": {},
        "checks": "",
        "overview": (),
    }
    return ReportParts(**defaults | {"ledger": str(ROOT / "docs/deviations.md")} | changes)


def claims(tmp_path: Path, scale: str, **changes: Any) -> str:
    comparisons = [
        {
            "kind": "ordering",
            "where": "there",
            "question": "who",
            "wanted": "ratio < 1",
            "outcome": "holds",
            "gap": 0.5,
            "low": 0.4,
            "high": 0.6,
            "unit": "ratio",
            "bound": "at most",
            "p": 0.01,
            "repeats": "",
            "n_seeds": 2,
            "n_missing": 0,
            "note": "",
            "scale": scale,
            **changes,
        }
    ]
    claim: dict[str, Any] = {
        "id": "C1",
        "sentence": "It works.",
        "place": "Fig. 1",
        "finding": "mixed",
        "failing": "it does not",
        "effect": "time: 0.5 times",
        "needed": "time: ratio < 1",
        "why": "Fails: this",
        "authors": "–",
        "note": "",
        "as_run": None,
    }
    claim |= {"outcomes": "1 hold", "coverage": {"text": "1 of 2 figures"}, "comparisons": comparisons}
    if scale == "paper":
        claim |= {
            "as_run": claim
            | {"finding": "not run", "failing": "", "effect": "–", "authors": "time: 0.4 times"}
        }
    return as_json(tmp_path / f"claims-{scale}.json", {"scale": scale, "claims": [claim]})


def test_figures_are_by_paper_and_number(write: Write) -> None:
    accuracy, leakage = "accuracy_vs_time", "leakage_vs_time"
    scenarios = {
        "small": write("small", {"demo_small_accuracy": accuracy}, scale="demo"),
        "nine": write("nine", {"pause_v2_fig9": accuracy, "pause_v2_fig10": leakage}, scale="paper"),
        "six": write("six", {"bsfl_fig6_loss": "loss_vs_time"}, scale="paper"),
        "mine": write("mine", {"mine_accuracy": accuracy}, scale="paper"),
        "theirs": write("theirs", {"authors_mnist": accuracy}, scale="paper"),
    }
    sections = {section.key: section for section in sections_of(parts(scenarios=scenarios))}
    assert [key for key, section in sections.items() if section.groups] == [
        *("pause_v2", "bsfl", "authors", "own", "demo")
    ]
    groups = list(sections["pause_v2"].groups.values())
    assert [group.heading for group in groups] == ["Fig. 9", "Fig. 10"]
    assert sections["pause_v2"].not_run == "Figs. 1 to 8 and 11 to 15, Table I, Theorem 3"
    assert sections["pause_v1"].not_run == "Figs. 1 to 9"


def test_nothing_of_the_configuration_or_the_runs_is_html(write: Write, tmp_path: Path) -> None:
    part = write("mine", {"mine_accuracy": "accuracy_vs_time"}, title=HOSTILE, notes=(HOSTILE,))
    path = claims(tmp_path, "demo", question=HOSTILE, note=HOSTILE, where=HOSTILE, wanted=HOSTILE)
    page = render(parts(name=HOSTILE, scenarios={"mine": part}, claims={"demo": path}))
    assert "onerror" in page
    assert not re.search(r"<[^>&]*onerror", page)
    assert page.count("<img ") == 1


def test_claims_come_first_scale_by_scale_and_link_to_their_figures(write: Write, tmp_path: Path) -> None:
    part = write("there", {"pause_v2_fig8": "accuracy_vs_time"}, scale="paper")
    paths = {
        "paper": claims(tmp_path, "paper"),
        "demo": claims(tmp_path, "demo", where="elsewhere", gap=None),
    }
    page = render(parts(scenarios={"there": part}, claims=paths))
    heads = ['id="claims-paper"', 'id="claims-demo"', 'id="selectors"', 'id="figures"', 'id="deviations"']
    positions = [page.index(head) for head in heads]
    assert positions == sorted(positions)
    assert '<a href="#figure-pause_v2_fig8">there</a>' in page
    assert "<td>elsewhere</td>" in page
    assert '<span class="badge mixed">mixed</span>' in page
    assert '<span class="badge not-run">not run</span> </td>\n<td class="words">time: 0.4' in page
    assert page.count("it does not; time: 0.5 times") == 2
    assert "Needed: time: ratio &lt; 1. Comparisons: 1 hold. Covers: 1 of 2 figures. Fails: this" in page
    assert "<td>at most 0.5</td>\n<td>0.4 to 0.6</td>" in page


def test_the_page_opens_with_conclusions_picture_and_questions(write: Write, tmp_path: Path) -> None:
    png = picture(tmp_path / "overview.png")
    values = {"question": "time", "measured": "m", "source": "as written", "value": 0.25, "unit": "times"}
    table = pd.DataFrame([values | {"low": 0.2, "high": 0.3, "n_seeds": 3, "of": 0, "bound": ""}])
    table.to_csv(tmp_path / "questions.csv", index=False)
    (tmp_path / "questions.md").write_text("| Question |\n| :-- |\n| **Why?** |\n", "utf-8")
    files = (png, str(tmp_path / "questions.csv"), str(tmp_path / "questions.md"))
    part = write("there", {"pause_v2_fig8": "accuracy_vs_time"}, scale="paper")
    whole = parts(scenarios={"there": part}, overview=files, claims={"paper": claims(tmp_path, "paper")})
    page = render(whole)
    assert render(whole, 3) == page
    order = ["in 0.25 times random selection", 'id="overview"', "Why?", 'id="claims"', 'id="figures"']
    positions = [page.index(words) for words in order]
    assert positions == sorted(positions)


def test_a_study_has_its_figure_and_caption(tmp_path: Path) -> None:
    figure = picture(tmp_path / "s.png")
    as_json(tmp_path / "s.json", {"study": {}})
    study = StudyPart("A *study*", "", Caption("See *this*.", "And D7."), ("bsfl_fig3",), figure)
    own = dataclasses.replace(study, figures=("own_graphs",))
    page = render(parts(studies={"bsfl_fig3": study, "own_graphs": own}))
    assert "<figcaption><p>See <em>this</em>.</p>" in page
    assert '<p>And <a href="#D7">D7</a>.</p>' in page
    assert "A title" not in page  # the heading says it
    assert page.index('id="bsfl-fig3"') < page.index('id="beyond-own_graphs"')


def test_selectors_of_all_scenarios_are_in_one_table(write: Write) -> None:
    page = render(parts(scenarios={"here": write("here", {"here_accuracy": "accuracy_vs_time"})}))
    table = page.partition('<table class="sortable">')[2].partition("</table>")[0]
    rows = [re.sub(r"<[^>]*>|\s+", " ", row).split() for row in table.split("<tr>")[2:]]
    assert [row[0] for row in rows] == ["here"] * 3
    assert rows[0][1:] == ["PAUSE", "2", "–", "0.5", "62.4", "–", "1.0"]
    assert rows[2][-1] == "∞"
    assert '<a href="#figure-here_accuracy">here</a>' in table
