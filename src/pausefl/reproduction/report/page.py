"""The report: one self-contained HTML file, which ``page.html.jinja`` lays out."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd

from pausefl.analysis.formats import number, p_value, rounded
from pausefl.analysis.tables import time_to_target
from pausefl.reproduction.claims import headlines
from pausefl.reproduction.claims.verdicts import FINDINGS
from pausefl.reproduction.figures import papers
from pausefl.reproduction.report import text
from pausefl.reproduction.report.charts import AXES, legend
from pausefl.reproduction.report.parts import ReportParts, ScenarioPart
from pausefl.reproduction.report.pictures import figure
from pausefl.reproduction.report.sections import sections_of
from pausefl.runs.reading import read_json
from pausefl.selectors import LABELS

#: Folder of the page's template and texts.
_HERE = Path(__file__).parent

#: Up to so many scenarios have a sentence each at the top of a page.
MOST_SCENARIOS = 3

#: What each scale means.
_SCALES = {
    "paper": "the papers' settings.",
    "demo": "a few users and 8 x 8 digits: whether the machinery works, not whether the papers are right.",
    "own": "a user's settings; no experiment of the papers.",
    "any": "studies without a scenario, the same at every scale.",
}

#: Columns of the table of selectors, of the table ``summary``: their heads, and how numbers are written.
_NUMBERS = {
    "final_accuracy_mean": ("Accuracy at the end", ".1%"),
    "final_loss_mean": ("Loss at the end", ".3g"),
    "mean_round_s_mean": ("Mean round (s)", ".3f"),
    "leakage_max_mean": ("Budget spent (ε)", ".1f"),
    "fairness_mean": ("Fairness", ".2f"),
}


def render(parts: ReportParts, ledger: str, n_threads: int = 1) -> str:
    """HTML of a report, with the ledger of deviations (Markdown).

    The same results give the same bytes, whatever the number of threads.
    """
    linked = partial(text.link_deviations, known=set(re.findall(r"^\| (D\d+) +\|", ledger, re.MULTILINE)))
    title, introduction, reading = (_HERE / "introduction.md").read_text("utf-8").split("\n\n", 2)
    sections = sections_of(parts)
    claims = [read_json(Path(path)) for path in parts.claims.values()]
    groups = [group for section in sections for group in section.groups.values()]
    figures = [shown for group in groups for shown in group.figures]
    overview = {Path(path).name: path for path in parts.overview}
    charts = json.loads(Path(overview["charts.json"]).read_text("utf-8")) if overview else []
    drawn = sorted({shown.path for shown in figures} | {path for path in overview.values() if ".png" in path})
    with ThreadPoolExecutor(n_threads) as pool:
        pictures = dict(zip(drawn, pool.map(figure, map(Path, drawn)), strict=True))
    known_scales = {shown.scale or "any" for shown in figures} | set(parts.claims)
    # Of a single scenario, or of other scenarios than the papers', nobody misses the papers' figures.
    complete = bool(claims) and any(section.groups for section in sections if section.key in papers.CONTENTS)
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pausefl.reproduction.report", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "linked": linked,
        "caption": lambda words: linked(text.markdown(words)),
        "table": lambda path: linked(text.markdown(Path(path).read_text("utf-8"), 5)),
        "picture": pictures.__getitem__,
        "notes": lambda path: read_json(Path(path).with_suffix(".json")).get("notes", ()),
        "number": rounded,
        "interval": _interval,
        "p_value": p_value,
        "slug": lambda title: title.replace(" ", "-"),
    }
    environment.globals |= {"counted": _counted}
    return environment.get_template("page.html.jinja").render(
        title=_title(parts) or title.removeprefix("# "),
        introduction=introduction,
        reading=reading,
        parts=parts,
        runs=[run for part in parts.scenarios.values() for run in part.runs],
        conclusions=conclusions(parts),
        overview=overview,
        charts=charts,
        legend=legend(charts),
        axes=AXES,
        of_papers=bool({"paper", "any"} & known_scales),
        complete=complete,
        papers=papers.CONTENTS,
        sections=[section for section in sections if section.groups],
        absent=[
            f"{section.title}, {section.not_run}"
            for section in sections
            if complete and not section.groups and section.key in papers.CONTENTS
        ],
        scales=[(name, meaning) for name, meaning in _SCALES.items() if name in known_scales],
        claims=claims,
        judging=(_HERE / "claims.md").read_text("utf-8"),
        # The figure that shows a picture first, and the first figure of a scenario or study.
        first={shown.path: shown for shown in reversed(figures)},
        found={shown.owner: shown.id for shown in reversed(figures)},
        selectors=list(_selectors(parts)),
        numbers=["To the target (s)", *(head for head, _ in _NUMBERS.values())],
        ledger=linked(text.markdown(ledger.partition("\n")[2], 2)),
    )


def _selectors(parts: ReportParts) -> Iterator[dict[str, Any]]:
    """A row for each selector of a scenario: means over its seeds."""
    for name, part in parts.scenarios.items():
        reading = next(filter(None, map(papers.reading, part.settings["figures"])), "–")
        for _, row in pd.read_csv(part.summary).iterrows():
            cells = [number(row.get(column, math.nan), form) for column, (_, form) in _NUMBERS.items()]
            yield {
                "scenario": name,
                "reading": reading,
                "selector": LABELS[row["selector"]],
                "n_seeds": row["n_seeds"],
                "numbers": [time_to_target(row), *cells],
            }


def _interval(compared: Mapping[str, Any]) -> str:
    """The interval of a comparison; a dash without one."""
    ends = [rounded(compared["low"]), rounded(compared["high"])]
    return "–" if "–" in ends else " to ".join(ends)


def _counted(judged: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Each finding that claims have, and how many."""
    counts = Counter(claim["finding"] for claim in judged["claims"])
    return [(finding, counts[finding]) for finding in FINDINGS if counts[finding]]


def _title(parts: ReportParts) -> str:
    """The title of the one scenario or study that a report is on; empty if it is on more."""
    if parts.name == "demo":
        return "The demo"
    titles = [part.settings["title"] for part in parts.scenarios.values()]
    titles += [study.title for study in parts.studies.values()]
    return titles[0] if len(titles) == 1 else ""


def conclusions(parts: ReportParts) -> list[str]:
    """Sentences that open the page: comparisons of claims, else what few scenarios show."""
    if parts.overview and "paper" in parts.claims:
        return headlines.sentences(read_json(Path(parts.claims["paper"]))["headlines"])
    toy = "Toy data test the machinery: whether it works, not whether the papers are right."
    found = [toy] if parts.name == "demo" else []
    if len(parts.scenarios) > MOST_SCENARIOS:
        return found
    shown = {part.settings["title"]: _conclusion(part) for part in parts.scenarios.values()}
    alone = len(shown) == 1
    return found + [text if alone else f"{title}: {text}" for title, text in shown.items() if text]


def _conclusion(part: ScenarioPart) -> str:
    """Who of a scenario has the least mean time to the target accuracy, or loss, and who is next.

    Where some are private, they are of these. Where there is no target, that nobody learns. Empty where
    there is nothing to say.
    """
    table = pd.read_csv(part.summary)
    if table["final_accuracy_mean"].notna().any() and table["target_accuracy"].isna().all():
        return "Nobody learns: accuracies are hardly above the start."
    if (private := np.isfinite(table["leakage_max_mean"])).any():
        table = table[private]
    table = table[table["n_seeds"] == table["n_seeds"].max()]
    for column in ("seconds_to_target_mean", "final_loss_mean"):
        ranked = table.dropna(subset=column).sort_values(column).head(2).to_dict("records")
        if not ranked:
            continue
        what, values = "loss at the end", [rounded(row[column]) for row in ranked]
        if column != "final_loss_mean":
            what = f"time to {100 * ranked[0]['target_accuracy']:.0f} % accuracy"
            values = [f"{row[column]:.0f} s" for row in ranked]
        names = [LABELS[row["selector"]] for row in ranked]
        mean, seeds = ("mean ", "") if ranked[0]["n_seeds"] > 1 else ("", " (one seed)")
        following = f"; next is {names[1]}, {values[1]}" if len(ranked) > 1 else ""
        return f"{names[0]} has the least {mean}{what}, {values[0]}{following}{seeds}."
    return ""
