"""The report: one HTML file that needs no other, and nothing of the network."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from pausefl.figures.style import LABELS
from pausefl.report import facts, papers, text
from pausefl.report.contents import Contents, selectors_of
from pausefl.report.sources import Sources

#: Verdicts in the order in which they are counted.
_VERDICTS = ("reproduced", "partly", "not reproduced", "not run")

#: What a scale means.
_SCALES = {
    "paper": "the papers' settings.",
    "reduced": "the papers' settings with less work; how much less is under Configuration.",
    "demo": "a few users and 8 x 8 digits: whether the machinery works, not whether the papers are right.",
    "any": "studies without a scenario, the same at every scale.",
}


def render(sources: Sources) -> str:
    """Make the page.

    Parameters
    ----------
    sources
        What it shows.

    Returns
    -------
    str
        HTML; the same for the same results.

    Raises
    ------
    PauseflError
        If a caption names a fact that is not there.
    """
    contents = Contents(sources)
    costs = {name: list(facts.costs(part, contents.summaries)) for name, part in sources.scenarios.items()}
    title, introduction = text.titled(Path(sources.captions) / "workflow.rst")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pausefl.report", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def linked(words: Any) -> Markup:
        return text.link_deviations(words, contents.deviations)

    environment.filters |= {
        "linked": linked,
        "number": facts.number,
        "duration": facts.duration,
        "interval": facts.interval,
        "slug": lambda words: words.replace(" ", "-"),
    }
    entries = [entry for section in contents.sections for group in section.groups for entry in group.entries]
    there = {entry.scale or "any" for entry in entries} | set(sources.claims)
    shown = [section for section in contents.sections if section.groups]
    return environment.get_template("page.html.jinja").render(
        title=title,
        introduction=linked(introduction),
        sources=sources,
        contents=contents,
        sections=shown,
        absent=[
            f"{section.title}, {section.not_run}"
            for section in contents.sections
            if not section.groups and section.key in papers.CONTENTS
        ],
        scales=[(name, words) for name, words in _SCALES.items() if name in there],
        seeds=sorted({run.seed for run in contents.summaries}),
        claims=[_claims(contents, document) for document in contents.claims],
        scenarios=_scenarios(contents),
        ledger=linked(text.markdown(_without_title(contents.ledger), 2)),
        costs=costs,
        wall_hours=math.fsum(rows[0].wall_hours for rows in costs.values()),
        core_hours=math.fsum(rows[0].core_hours for rows in costs.values()),
        environments=facts.environments(contents.summaries),
    )


def _claims(contents: Contents, document: dict[str, Any]) -> dict[str, Any]:
    """The verdicts at one scale, with their summary in words."""
    counts = Counter(claim["verdict"] for claim in document["claims"])
    rows = [
        {
            **claim,
            "tally": facts.tally(test["outcome"] for test in claim["tests"]),
            "gaps": facts.gaps(claim["tests"]),
        }
        for claim in document["claims"]
    ]
    return {
        "scale": document["scale"],
        "missing": document["missing"],
        "counts": [(verdict, counts[verdict]) for verdict in _VERDICTS if counts[verdict]],
        "claims": rows,
        "caption": contents.caption("claims", {"wildcards": {"scale": document["scale"]}}),
    }


def _scenarios(contents: Contents) -> list[dict[str, Any]]:
    """The experiment table, and the settings of every scenario; each partition is shown once."""
    first: dict[str, str] = {}
    rows = []
    for name, part in contents.sources.scenarios.items():
        path = part.partition
        shared = None if path is None else first.setdefault(path, name)
        rows.append(
            {
                "name": name,
                "settings": part.settings,
                "selectors": [LABELS.get(selector, selector) for selector in selectors_of(part)],
                "seeds": sorted({run.seed for run in part.runs}),
                "n_jobs": len(part.runs),
                "yaml": facts.settings_text(part.settings),
                "reductions": facts.reductions(part.settings),
                "picture": text.picture(Path(path)) if path is not None and shared == name else None,
                "caption": contents.partition_caption(part),
                "shared": shared,
            }
        )
    return rows


def _without_title(markdown: str) -> str:
    """A document without its first heading, which the page has itself."""
    first, _, rest = markdown.partition("\n")
    return rest if first.startswith("# ") else markdown
