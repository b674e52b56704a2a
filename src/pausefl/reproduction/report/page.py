"""The report: one HTML file, which ``page.html.jinja`` lays out; pictures of figures are files beside it."""

from __future__ import annotations

import json
import math
import re
import subprocess
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd

import pausefl
from pausefl.analysis.formats import number, p_value, rounded
from pausefl.analysis.tables import time_to_target
from pausefl.reproduction.claims.verdicts import FINDINGS
from pausefl.reproduction.figures import papers
from pausefl.reproduction.figures.papers import AS_RUN, AS_WRITTEN
from pausefl.reproduction.report import dots, messages, text
from pausefl.reproduction.report.charts import AXES, legend
from pausefl.reproduction.report.demo import demo
from pausefl.reproduction.report.messages import LEDGER
from pausefl.reproduction.report.parts import ReportParts, ScenarioPart
from pausefl.reproduction.report.pictures import beside, within
from pausefl.reproduction.report.sections import Shown, sections_of
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


def render(parts: ReportParts, docs: Path, n_threads: int = 1) -> str:
    """HTML of a report; ``docs`` is the folder of the documentation.

    The same results give the same bytes at the same commit, whatever the number of threads.
    """
    ledger = (docs / LEDGER).read_text("utf-8")
    linked = partial(text.link_deviations, known=set(re.findall(r"^\| (D\d+) +\|", ledger, re.MULTILINE)))
    introduction, reading = (_HERE / "introduction.md").read_text("utf-8").split("\n\n", 1)
    sections = sections_of(parts)
    claims = [read_json(Path(path)) for path in parts.claims.values()]
    groups = [group for section in sections for group in section.groups.values()]
    figures = [shown for group in groups for shown in group.figures]
    overview = {Path(path).name: path for path in parts.overview}
    of_demo, documented = demo(parts), bool(overview) and parts.published
    embedded = [path for path in overview.values() if path.endswith(".png")]
    embedded += [str(docs / name) for name in messages.files(docs) if documented and name.endswith(".png")]
    embedded += of_demo.pictures if of_demo else []
    partitions = {name: part.partition for name, part in parts.scenarios.items() if part.partition}
    with ThreadPoolExecutor(n_threads) as pool:
        pictures = dict(zip(embedded, pool.map(within, map(Path, embedded)), strict=True))
        linked_to = sorted({*(shown.path for shown in figures), *partitions.values()})
        files = dict(zip(linked_to, pool.map(beside, map(Path, linked_to)), strict=True))
    known_scales = {shown.scale or "any" for shown in figures} | set(parts.claims)
    # Of a single scenario, or of other scenarios than the papers', nobody misses the papers' figures.
    complete = bool(claims) and any(section.groups for section in sections if section.key in papers.CONTENTS)
    figure_of = {shown.owner: shown for shown in reversed(figures)}
    title_of = partial(_title_of, figure_of=figure_of)
    charts = json.loads(Path(overview["charts.json"]).read_text("utf-8")) if overview else []
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
        "within": pictures.__getitem__,
        "of_docs": lambda name: pictures[str(docs / name)],
        "beside": files.__getitem__,
        "notes": lambda path: read_json(Path(path).with_suffix(".json")).get("notes", ()),
        "number": rounded,
        "interval": _interval,
        "p_value": p_value,
        "slug": lambda title: title.replace(" ", "-"),
        "strips": partial(dots.strips, title_of=title_of),
        "title_of": title_of,
    }
    environment.globals |= {"counted": _counted, "dots": dots, "SETTINGS": papers.SETTINGS}
    return environment.get_template("page.html.jinja").render(
        title=_title(parts),
        made_by=made_by(docs.parent),
        introduction=introduction,
        reading=reading,
        parts=parts,
        runs=[run for part in parts.scenarios.values() for run in part.runs],
        conclusions=conclusions(parts),
        answers=next((one["headlines"] for one in claims if one["scale"] == "paper"), []) if overview else [],
        told=messages.told(docs) if documented else None,
        demo=of_demo,
        opening=messages.OPENING,
        ranks=messages.RANKS,
        overview=overview,
        charts=charts,
        legend=legend(charts),
        axes=AXES,
        of_papers=bool({"paper", "any"} & known_scales),
        complete=complete,
        partitions=partitions,
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
        figure_of=figure_of,
        selectors=_selectors(parts),
        numbers=["To the target (s)", *(head for head, _ in _NUMBERS.values())],
        ledger=linked(text.markdown(ledger.partition("\n")[2], 2)),
    )


def made_by(root: Path) -> str:
    """The version of pausefl; in a checkout with Git also the commit, its date, and whether files differ."""
    words = f"pausefl {pausefl.__version__}"
    if not (root / ".git").exists():
        return words
    git = ["git", "-C", str(root)]
    try:
        log = subprocess.run(
            [*git, "log", "-1", "--format=commit %h of %cs"], capture_output=True, check=True
        )
        changed = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return words
    return f"{words}, {log.stdout.decode().strip()}{' with uncommitted changes' if changed.stdout else ''}"


def _title_of(name: str, figure_of: Mapping[str, Shown]) -> str:
    """What a scenario or study that a comparison is on is called."""
    return figure_of[name].title if name in figure_of else name or "random instances"


def _selectors(parts: ReportParts) -> dict[str, list[dict[str, Any]]]:
    """By scenario, a row for each of its selectors: means over seeds."""
    return {
        name: [
            {
                "selector": LABELS[row["selector"]],
                "n_seeds": row["n_seeds"],
                "numbers": [
                    time_to_target(row),
                    *(number(row.get(column, math.nan), form) for column, (_, form) in _NUMBERS.items()),
                ],
            }
            for _, row in pd.read_csv(part.summary).iterrows()
        ]
        for name, part in parts.scenarios.items()
    }


def _interval(compared: Mapping[str, Any]) -> str:
    """The interval of a comparison; a dash without one."""
    ends = [rounded(compared["low"]), rounded(compared["high"])]
    return "–" if "–" in ends else " to ".join(ends)


def _counted(judged: Mapping[str, Any]) -> dict[str, list[tuple[str, int]]]:
    """By reading, each finding that claims have, and how many."""
    found = {
        AS_WRITTEN: judged["claims"],
        AS_RUN: [one["as_run"] for one in judged["claims"] if one["as_run"]],
    }
    counts = {reading: Counter(one["finding"] for one in told) for reading, told in found.items()}
    return {
        reading: [(finding, of[finding]) for finding in FINDINGS if of[finding]]
        for reading, of in counts.items()
    }


def _title(parts: ReportParts) -> str:
    """What a report is called: the title of its scenario or study if it is on one alone."""
    if parts.name == "demo":
        n_runs = sum(len(part.runs) for part in parts.scenarios.values())
        return f"You trained {n_runs} model{'s' * (n_runs != 1)}"
    titles = [part.settings["title"] for part in parts.scenarios.values()]
    titles += [study.title for study in parts.studies.values()]
    return titles[0] if len(titles) == 1 else "Who should train next?"


def conclusions(parts: ReportParts) -> list[str]:
    """Sentences that open the page of few scenarios: what each shows."""
    if parts.overview or len(parts.scenarios) > MOST_SCENARIOS:
        return []
    shown = {part.settings["title"]: _conclusion(part) for part in parts.scenarios.values()}
    alone = len(shown) == 1
    return [text if alone else f"{title}: {text}" for title, text in shown.items() if text]


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
