"""What the report shows, in which order, and that nothing it is given is taken for HTML."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from browser import see
from PIL import Image
from worlds import claim, on_runs

import pausefl
from pausefl.analysis.statistics import HOLDS
from pausefl.reproduction.claims.comparison_result import Comparison
from pausefl.reproduction.claims.formats import to_json
from pausefl.reproduction.claims.verdicts import verdict_on
from pausefl.reproduction.figures.captions import Caption
from pausefl.reproduction.report.messages import messages
from pausefl.reproduction.report.page import made_by, render
from pausefl.reproduction.report.parts import ReportParts, ScenarioPart, StudyPart
from pausefl.reproduction.report.sections import sections_of
from pausefl.runs.run_id import RunId
from pausefl.settings import Scenario

ROOT = Path(__file__).parents[3]
#: A claim that PAUSE leaks less.
ORDERED: dict[str, Any] = {
    "metric": "leakage_after_rounds",
    "gap": "ratio",
    "direction": "lower",
    "selectors": ("pause",),
    "against": ("random",),
}
HOSTILE = '<img src=x onerror=alert("1")> & `b` *c*'

#: Writes the results of a scenario.
Write = Callable[..., ScenarioPart]


def picture(path: Path) -> str:
    """A tiny figure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (20, 10)).save(path, dpi=(300, 300))
    return str(path)


def as_json(path: Path, document: Any) -> str:
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
        runs = [RunId(name, "pause", seed) for seed in (0, 1)]
        table = tmp_path / "tables" / f"{name}.md"
        table.parent.mkdir(exist_ok=True)
        table.write_text("| Selector | x |\n| :-- | --: |\n| PAUSE | **1** |\n\nSee D8.\n", "utf-8")
        values = {"selector": ["pause", "random", "fedavg_no_privacy"], "n_seeds": 2, "n_reached": [2, 1, 2]}
        values |= {"seconds_to_target_sd": 0.5, "seconds_reached_mean": 69.0, "fairness_mean": 0.25}
        values |= {"leakage_max_mean": [1.0, 1.0, math.inf], "seconds_to_target_mean": [62.4, math.nan, 30.0]}
        values |= {"target_accuracy": 0.84, "final_accuracy_mean": 0.9, "final_loss_mean": 0.5}
        pd.DataFrame(values).to_csv(table.with_suffix(".csv"), index=False)
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
        "published": True,
        "overview": (),
    }
    return ReportParts(**defaults | changes)


def page_of(**changes: Any) -> str:
    return render(parts(**changes), ROOT / "docs")


def claims(tmp_path: Path, scale: str, words: str = "w", **changes: Any) -> str:
    """A file of one claim with one comparison that holds; texts of it are ``words``."""
    answer = {"gap": 0.5, "low": 0.4, "high": 0.6, "unit": "ratio", "bound": "at most", "p": 0.01}
    compared = Comparison("ordering", "there", words, words, words, HOLDS, note=words, **answer)
    verdict = verdict_on(claim(on_runs("ordering", **ORDERED)), [dataclasses.replace(compared, **changes)])
    path = tmp_path / f"claims-{scale}.json"
    path.write_text(to_json([verdict], scale, "abc"), "utf-8")
    return str(path)


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


def test_a_scenario_has_a_caption_of_its_own_in_place_of_the_usual_words(write: Write) -> None:
    part = write("mine", {"mine_accuracy": "accuracy_vs_time"})
    figures = {"mine_accuracy": {"kind": "accuracy_vs_time", "caption": "Short, *mine* & plain."}}
    own = dataclasses.replace(part, scenario=part.scenario.replace(figures=figures))
    usual, shortened = (page_of(scenarios={"mine": one}) for one in (part, own))
    assert "Trailing means over 10 rounds." in usual
    assert "Trailing means over 10 rounds." not in shortened
    assert "Short, *mine* &amp; plain." in shortened


def test_a_figure_of_a_paper_shows_what_its_authors_ran_first(write: Write, tmp_path: Path) -> None:
    written = write("a", {"pause_v2_fig8_as_written": "accuracy_vs_time"}, scale="paper")
    ran = write("b", {"pause_v2_fig8": "accuracy_vs_time"}, scale="paper")
    page = page_of(scenarios={"a": written, "b": ran}, claims={"paper": claims(tmp_path, "paper")})
    first, second = (
        page.index(f'id="figure-{name}"') for name in ("pause_v2_fig8", "pause_v2_fig8_as_written")
    )
    assert first < second < page.index("<b>Not run:</b>") < page.index("<b>Not run for this report:</b>")


def test_selectors_are_one_table_with_the_seeds_that_reach_the_target(write: Write) -> None:
    page = page_of(scenarios={"a": write("a", {"pause_v2_fig8_as_written": "accuracy_vs_time"})})
    row = r"<td>Random</td><td>2</td>\s*"
    row += r"<td>69.0 \(1 of 2\)</td>(\s*<td>\S+</td>){5}\s*</tr>"
    assert re.search(row, page)
    assert '<option value="a">A title</option>' in page


def test_the_first_sentence_names_who_is_first_only_where_somebody_learns(write: Write) -> None:
    part = write("a", {})
    first = "PAUSE has the least mean time to 84 % accuracy, 62 s"
    assert first in page_of(scenarios={"a": part})
    nobody = pd.read_csv(part.summary).assign(target_accuracy=math.nan, seconds_to_target_mean=math.nan)
    nobody.to_csv(part.summary, index=False)
    page = page_of(scenarios={"a": part})
    assert "Nobody learns: accuracies are hardly above the start." in page
    assert "has the least" not in page


def test_the_demo_says_what_was_trained_and_what_is_next(write: Write) -> None:
    part = write("demo_small", {"demo_small_target": "time_to_target"}, "Digits, 12 users", scale="demo")
    page = page_of(
        name="demo",
        scenarios={"demo_small": dataclasses.replace(part, partition=part.figures["demo_small_target"][1])},
    )
    assert "<h1>You trained 2 models</h1>" in page
    assert "<li><b>2 models</b> in “Digits, 12 users”: PAUSE with two seeds.</li>" in page
    assert page.count("data:image/avif") == 2
    assert "make figures" in page
    assert "has the least mean time" not in page


def test_a_report_on_the_papers_figures_has_the_findings_of_the_documentation(tmp_path: Path) -> None:
    page = with_curves(tmp_path, {"title": "T", "readings": {}})
    titles = [message.title for message in messages((ROOT / "docs/findings.md").read_text("utf-8"))]
    assert len(titles) > 3
    for title in titles:
        assert f"<h2>{title}</h2>" in page


def test_a_report_names_the_version_and_the_commit_it_is_made_at(tmp_path: Path) -> None:
    version = f"pausefl {pausefl.__version__}"
    assert made_by(tmp_path) == version

    def git(*words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        return subprocess.run(
            ["git", "-C", tmp_path, *who, *words], check=True, capture_output=True, text=True
        ).stdout

    git("init", "--quiet")
    assert made_by(tmp_path) == version  # no commit yet
    (tmp_path / "x").write_text("1", "utf-8")
    git("add", "x")
    git("commit", "--quiet", "-m", "x", "--date", "2026-01-02T03:04:05Z")
    commit, date = git("log", "-1", "--format=%h %cs").split()
    assert made_by(tmp_path) == f"{version}, commit {commit} of {date}"
    (tmp_path / "x").write_text("2", "utf-8")
    assert made_by(tmp_path) == f"{version}, commit {commit} of {date} with uncommitted changes"


def with_curves(tmp_path: Path, chart: dict[str, Any]) -> str:
    """A page with one chart."""
    shown = [picture(tmp_path / "overview.png")]
    return page_of(overview=[*shown, as_json(tmp_path / "charts.json", [chart])])


def test_curves_of_both_readings_are_in_the_page(tmp_path: Path) -> None:
    reading = {"ends": {"elapsed_s": 9.0, "round": 3}, "selectors": {"pause": {"round": [[1, 2, None]]}}}
    chart = {"title": HOSTILE, "readings": {"as run": reading, "as written": reading}}
    page = with_curves(tmp_path, chart)
    (inlined,) = re.findall('<script type="application/json">(.*?)</script>', page)
    assert json.loads(inlined) == [chart]
    assert "<button aria-pressed" in page
    assert not re.search(r"<[^>&]*onerror", page)


@pytest.mark.browser
def test_a_reader_switches_selectors_seeds_reading_and_axis(tmp_path: Path) -> None:
    def reading(*names: str) -> dict[str, Any]:
        # The second seed ends before the last point.
        own = {"elapsed_s": [[0, 500, 1000], [0, 700, None]], "round": [[None, 500, 1000], [0, 100, 200]]}
        return {"ends": {"elapsed_s": 40.0, "round": 300}, "selectors": dict.fromkeys(names, own)}

    chart = {"title": "T", "readings": {"as run": reading("pause"), "as written": reading("pause", "random")}}
    steps = ("", "seeds.value = 'each'", "reading.value = 'as written'", "axis.value = 'round'")
    tries = ";".join(f"{step}; axis.onchange(); say()" for step in (*steps, "pause.click()"))
    script = """<script>
        const [reading, axis, seeds] = document.querySelectorAll('.choices select');
        const pause = document.querySelector('.choices button');
        const points = (line) => line.getAttribute('points').split(' ').length / 2;
        const say = () => document.body.append(`[${[...document.querySelectorAll('polyline')].map(points)}]`);
        TRIES</script>"""
    seen = see(with_curves(tmp_path, chart) + script.replace("TRIES", tries), 1280, tmp_path)
    assert seen.problems() == []
    # Points of each line: the mean, seeds, both selectors, over rounds, random alone.
    assert "[2][3,2][3,2,3,2][2,3,2,3][2,3]" in seen.text


def test_nothing_of_the_configuration_or_the_runs_is_html(write: Write, tmp_path: Path) -> None:
    part = write("mine", {"mine_accuracy": "accuracy_vs_time"}, title=HOSTILE, notes=(HOSTILE,))
    path = claims(tmp_path, "demo", HOSTILE, where=HOSTILE)
    page = page_of(name=HOSTILE, scenarios={"mine": part}, claims={"demo": path})
    assert "onerror" in page
    assert not re.search(r"<[^>&]*onerror", page)
    assert page.count("<img ") == 1
    assert "mine/accuracy_vs_time.png" in page


def test_claims_have_their_findings_and_link_to_their_figures(write: Write, tmp_path: Path) -> None:
    part = write("there", {"pause_v2_fig8": "accuracy_vs_time"}, scale="paper")
    paths = {scale: claims(tmp_path, scale) for scale in ("paper", "demo")}
    page = page_of(scenarios={"there": part}, claims=paths)
    assert page.index('id="claims-paper"') < page.index('id="claims-demo"') < page.index('id="figures"')
    assert '<a href="#figure-pause_v2_fig8">A title</a>' in page
    assert '<span class="badge supported">supported</span>' in page
    assert "<td>at most 0.5</td>\n<td>0.4 to 0.6</td>" in page


def test_a_claim_that_is_compared_with_the_authors_settings_alone_is_shown(tmp_path: Path) -> None:
    path = Path(claims(tmp_path, "paper"))
    document = json.loads(path.read_text("utf-8"))
    (one,) = document["claims"]
    as_run = {key: one[key] for key in one if key not in ("id", "sentence", "place", "note", "as_run")}
    document["claims"] = [one | {"comparisons": [], "finding": "not run", "as_run": as_run}]
    path.write_text(json.dumps(document), "utf-8")
    page = page_of(claims={"paper": str(path)})
    assert f'id="claim-paper-{one["id"]}"' in page
    assert "<b>Not run:</b>" not in page


def test_a_study_has_its_figure_and_caption(tmp_path: Path) -> None:
    figure = picture(tmp_path / "s.png")
    as_json(tmp_path / "s.json", {"study": {}})
    study = StudyPart("A *study*", "", Caption("See *this*.", "And D7."), ("bsfl_fig3",), figure)
    own = dataclasses.replace(study, figures=("own_graphs",))
    page = page_of(studies={"bsfl_fig3": study, "own_graphs": own})
    assert "<figcaption>\n<p>See <em>this</em>.</p>" in page
    assert '<p>And <a href="#D7">D7</a>.</p>' in page
    assert "A title" not in page  # the heading says it
    assert page.index('id="bsfl-fig3"') < page.index('id="beyond-own_graphs"')
