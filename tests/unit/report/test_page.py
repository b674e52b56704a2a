"""What the report shows, in which order, and that nothing it is given is taken for HTML."""

from __future__ import annotations

import base64
import dataclasses
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pausefl.claims.words import interval, number, p_value
from pausefl.figures.words import MOST_WORDS, Caption
from pausefl.report.contents import sections_of
from pausefl.report.page import costs, duration, environments, jobs_of, reductions, render, settings_text
from pausefl.report.parts import ReportParts, ScenarioPart, StudyPart
from pausefl.settings import Experiment, Scenario, load_scenario

ROOT = Path(__file__).parents[3]
HOSTILE = '<img src=x onerror=alert("1")> & `b` *c*'

#: Writes the results of a scenario.
Write = Callable[..., ScenarioPart]


def picture(path: Path) -> str:
    """A figure whose PDF is not the same as that of any other path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('<svg width="2pt" height="1pt" viewBox="0 0 2 1"></svg>', "utf-8")
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
        for kind in figures.values():
            stem = tmp_path / "figures" / name / kind
            paths[kind] = picture(stem.with_suffix(".svg"))
            as_json(stem.with_suffix(".json"), {"kind": kind, "notes": notes})
        runs = {}
        for seed in (0, 1):
            folder = tmp_path / "anywhere" / name / f"seed-{seed}"
            summary = {
                "timings_s": {"total": 1800.0},
                "n_threads": 2,
                "peak_memory_bytes": (seed + 1) * 10**8,
                "device": "cpu",
                "versions": {"python": "3.12", "torch": HOSTILE},
                "hardware": {"processor": "Abacus", "cores": 2, "system": "Linux"},
                "code_hash": f"hash{seed}",
                "dataset_origin": "some digits",
            }
            as_json(folder / "summary.json", summary)
            runs[Experiment(name, "pause", seed)] = str(folder)
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
            None,
            "some digits",
            None,
        )

    return scenario_part


def parts(**changes: Any) -> ReportParts:
    defaults: dict[str, Any] = {"name": "all", "scenarios": {}, "studies": {}, "claims": {}, "overview": ()}
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
        "check": False,
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


def test_figures_are_by_paper_and_number_and_the_papers_scale_comes_first(write: Write) -> None:
    accuracy, leakage = "accuracy_vs_time", "leakage_vs_time"
    scenarios = {
        "small": write("small", {"demo_small_accuracy": accuracy}, scale="demo"),
        "reduced_nine": write(
            "reduced_nine",
            {"reduced_pause_v2_fig9": accuracy, "reduced_pause_v2_fig3": leakage},
            scale="reduced",
            reduced={"training.n_rounds": 300},
        ),
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
    assert [group.heading for group in groups] == ["Fig. 3", "Fig. 9", "Fig. 10"]
    assert [entry.owner for entry in groups[1].entries] == ["nine", "reduced_nine"]
    assert sections["pause_v2"].not_run == "Figs. 1, 2, 4 to 8 and 11 to 15, Table I, Theorem 3"
    assert sections["pause_v2"].reduced_only == "Fig. 3"
    assert sections["pause_v1"].not_run == "Figs. 1 to 9"


def test_every_picture_is_there_once_and_linked_from_where_it_is_again(write: Write) -> None:
    part = write(
        "nine", {"pause_v1_fig2": "accuracy_vs_time", "pause_v2_fig2": "accuracy_vs_time"}, scale="paper"
    )
    page = render(parts(scenarios={"nine": part}))
    pdf = Path(part.figures["accuracy_vs_time"]).with_suffix(".pdf")
    encoded = base64.b64encode(pdf.read_bytes()).decode()
    assert page.count(encoded) == 1
    assert 'The same picture as <a href="#figure-pause_v2_fig2">PAUSE v2, Fig. 2, as run</a>' in page
    assert page.index(encoded) < page.index('href="#figure-pause_v2_fig2"') < page.index("<h2>Configuration")
    assert page.count('id="table-nine-summary"') == 1


def test_kinds_that_no_paper_has_are_shown_too(write: Write) -> None:
    part = write("nine", {"pause_v2_fig9": "accuracy_vs_time", "unnamed": "loss_vs_time"}, scale="paper")
    part = dataclasses.replace(
        part, settings={**part.settings, "figures": {"pause_v2_fig9": "accuracy_vs_time"}}
    )
    sections = {section.key: section for section in sections_of(parts(scenarios={"nine": part}))}
    (entry,) = sections["beyond"].entries
    assert (entry.id, entry.shows) == ("figure-nine-loss_vs_time", "test loss against simulated time")


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
    heads = ['id="claims-paper"', 'id="claims-demo"', 'id="figures"', 'id="configuration"', 'id="deviations"']
    positions = [page.index(head) for head in [*heads, 'id="cost"', 'id="environment"']]
    assert positions == sorted(positions)
    assert '<a href="#figure-pause_v2_fig8">there</a>' in page
    assert "<td>elsewhere</td>" in page
    assert '<span class="badge mixed">mixed</span>' in page
    assert '<span class="badge not-run">not run</span> </td>\n<td class="words">time: 0.4' in page
    assert page.count("it does not; time: 0.5 times") == 2
    assert "Needed: time: ratio &lt; 1. Comparisons: 1 hold. Covers: 1 of 2 figures. Fails: this" in page
    assert "<td>at most 0.5</td>\n<td>0.4 to 0.6</td>" in page


def test_scale_and_seeds_are_said_once_and_captions_are_short(write: Write) -> None:
    reduced = load_scenario("reduced_cifar10_small_iid_r1", ROOT / "config/scenarios")
    part = write("nine", {"reduced_pause_v2_fig2": "accuracy_vs_time"}, base=reduced, notes=("Old.",))
    page = render(parts(scenarios={"nine": part}))
    (article,) = re.findall(r"<article.*?</article>", page, re.DOTALL)
    assert "Old." in article
    shown = re.sub(r"<details.*?</details>|<[^>]*>", " ", article, flags=re.DOTALL)
    assert len(re.findall("reduced scale", shown)) == 1
    assert "Reduced:" not in shown  # the picture says it
    assert "Old." not in shown  # so it does with notes
    assert len(re.findall(r"\bseeds?\b", shown)) == 1
    captions = re.findall(r"<figcaption>(.*?)(?:<details|</figcaption>)", page, re.DOTALL)
    assert captions
    assert all(3 < len(re.sub("<[^>]*>", " ", words).split()) <= MOST_WORDS for words in captions)


def test_the_authors_runs_come_before_the_figures(write: Write, tmp_path: Path) -> None:
    base = load_scenario("mnist_large_authors", ROOT / "config/scenarios")
    part = write("mnist_large_authors", {"authors_large": "accuracy_vs_time"}, base=base)
    table = pd.DataFrame({"inside": [True, False, pd.NA, True], "n_seeds": [3, 3, 1, 3]})
    table["selector"] = ["pause", "pause", "random", "fedavg"]
    table.to_csv(tmp_path / "authors.csv", index=False)
    (tmp_path / "authors.md").write_text("| Selector | Run |\n| :-- | --: |\n| PAUSE | 7 ✗ |\n", "utf-8")
    part = dataclasses.replace(
        part,
        tables={**part.tables, "authors": str(tmp_path / "authors.md")},
        archive=str(tmp_path / "authors.csv"),
    )
    path = claims(tmp_path, "paper")
    page = render(
        parts(scenarios={"mnist_large_authors": part, "other": write("other", {})}, claims={"paper": path})
    )
    positions = [page.index(f'<section id="{name}">') for name in ("claims", "beside", "figures")]
    assert positions == sorted(positions)
    text = " ".join(re.sub("<[^>]*>", " ", page).split())
    assert "archived logs of 3 runs with their code" in text
    assert "Of 3 of their numbers, 2 lie in the range of our seeds" in text
    assert "there 2 times on average" in text  # 3 times (3 - 1) / (3 + 1), rounded
    assert page.count("7 ✗") == 1
    assert 'The same picture as <a href="#beside-mnist_large_authors">' in page
    assert "Beside the authors" not in render(parts(scenarios={"other": write("other", {})}))


def test_the_page_opens_with_conclusions_picture_and_questions(write: Write, tmp_path: Path) -> None:
    svg = picture(tmp_path / "overview.svg")
    values = {"question": "time", "measured": "m", "source": "as written", "value": 0.25, "unit": "times"}
    table = pd.DataFrame([values | {"low": 0.2, "high": 0.3, "n_seeds": 3, "of": 0, "bound": ""}])
    table.to_csv(tmp_path / "questions.csv", index=False)
    (tmp_path / "questions.md").write_text("| Question |\n| :-- |\n| **Why?** |\n", "utf-8")
    files = (svg, str(tmp_path / "questions.csv"), str(tmp_path / "questions.md"))
    part = write("there", {"pause_v2_fig8": "accuracy_vs_time"}, scale="paper")
    page = render(
        parts(scenarios={"there": part}, overview=files, claims={"paper": claims(tmp_path, "paper")})
    )
    order = ["in 0.25 times random selection", 'id="overview"', "Why?", 'id="claims"', 'id="figures"']
    positions = [page.index(words) for words in order]
    assert positions == sorted(positions)


def test_a_scenario_of_ones_own_misses_nothing_of_the_papers(write: Write) -> None:
    page = render(parts(name="mine", scenarios={"mine": write("mine", {"mine": "accuracy_vs_time"})}))
    for words in ("PAUSE v2", "Not run", "not run", 'href="#claims"', "Verdicts", 'id="overview"'):
        assert words not in page.split('<section id="configuration">')[0], words
    assert "<h1>A title</h1>" in page
    # FedAvg, which is faster, is not private.
    assert "<li>PAUSE is first at 84 % accuracy, after 62 s.</li>" in page


def test_the_demo_says_what_its_verdicts_are_worth(write: Write, tmp_path: Path) -> None:
    path = claims(tmp_path, "demo")
    page = render(
        parts(name="demo", scenarios={"tiny": write("tiny", {}, scale="demo")}, claims={"demo": path})
    )
    assert page.index("<li>Toy data test the machinery") < page.index('class="claims demo"')
    assert "They say nothing of the papers." in page
    assert "Not run for this report" not in page


def test_warnings_are_shown_with_links_into_the_ledger(write: Write) -> None:
    part = write(
        "mine", {"mine_accuracy": "accuracy_vs_time"}, notes=("One seed: no band (D45).", "Old & new")
    )
    page = render(parts(scenarios={"mine": part}))
    assert '<p class="note">One seed: no band (<a href="#D45">D45</a>).</p>' in page
    assert '<p class="note">Old &amp; new</p>' in page
    assert 'See <a href="#D8">D8</a>.' in page


def test_a_study_has_its_figure_caption_and_table(tmp_path: Path) -> None:
    figure = picture(tmp_path / "s.svg")
    as_json(tmp_path / "s.json", {"study": {}})
    (tmp_path / "s.md").write_text("| a |\n| - |\n| b |\n", "utf-8")
    study = StudyPart(
        "graphs",
        "A *study*",
        "",
        Caption("See *this*.", "And D7."),
        ("bsfl_fig3",),
        figure,
        str(tmp_path / "s.md"),
    )
    own = dataclasses.replace(study, figures=("own_graphs",))
    page = render(parts(studies={"bsfl_fig3": study, "own_graphs": own}))
    assert "<figcaption><p>See <em>this</em>.</p>" in page
    assert '<p>And <a href="#D7">D7</a>.</p>' in page
    assert "A title" not in page  # the heading says it
    assert page.index('id="bsfl-fig3"') < page.index('id="beyond-own_graphs"')
    assert "No job was run for this report." in page


def test_a_figure_that_two_papers_share_is_in_both(tmp_path: Path) -> None:
    figure = picture(tmp_path / "s.svg")
    as_json(tmp_path / "s.json", {"study": {}})
    study = StudyPart("graphs", "A", "", Caption("B.", "C."), ("pause_v2_fig1",), figure, None)
    sections = sections_of(parts(studies={"pause_v2_fig1": study}))
    (first,), (second,) = (section.groups.values() for section in sections if section.groups)
    assert [first.heading, second.heading] == ["Fig. 1", "Fig. 1"]
    assert second.entries[0].same_as is first.entries[0]
    assert (first.entries[0].id, first.entries[0].where) == ("figure-pause_v2_fig1", "PAUSE v2, Fig. 1")


def test_costs_are_of_cores_and_the_largest_memory(write: Write) -> None:
    jobs = jobs_of(parts(scenarios={"mine": write("mine", {"mine_accuracy": "accuracy_vs_time"})}))
    everything, row = costs(jobs)["mine"]
    assert everything == row | {"selector": "all"}
    assert row == {
        "selector": "PAUSE",
        "n_jobs": 2,
        "wall_hours": 1.0,
        "core_hours": 2.0,
        "peak_bytes": 2 * 10**8,
        "devices": "CPU, 2 threads",
    }


def test_what_the_jobs_were_made_with_and_how_many(write: Write) -> None:
    made = environments(jobs_of(parts(scenarios={"mine": write("mine", {})})))
    assert made["Machine"] == [("Abacus, 2 cores, Linux", 2)]
    assert made["Code"] == [("hash0 (PAUSE)", 1), ("hash1 (PAUSE)", 1)]


def test_what_a_reduced_scenario_has_less_of() -> None:
    scenario = load_scenario("reduced_cifar10_small_iid_r1", ROOT / "config/scenarios")
    lines = reductions(scenario.as_dict())
    assert "training.n_rounds: 100 instead of 300" in lines
    assert "n_rounds: 100" in settings_text(scenario.as_dict())


def test_numbers_of_claims_in_words() -> None:
    assert [number(value) for value in (None, float("nan"), -0.00325, 12345.6, 0.9996)] == [
        *("–", "–", "−0.00325", "12,346"),
        "1",
    ]
    assert [interval(*ends) for ends in ((1.5, 2.5), (-1.0, 7.0), (None, None))] == [
        *("1.5 to 2.5", "−1 to 7"),
        "–",
    ]
    assert [p_value(p) for p in (None, 1e-9, 0.0321)] == ["–", "< 0.0001", "0.032"]
    assert [duration(hours) for hours in (0.001, 0.1, 3)] == ["3.6 s", "6.0 min", "3.0 h"]
