"""The report: one self-contained HTML file."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from pausefl.claims import words
from pausefl.claims.verdicts import FINDINGS
from pausefl.figures import papers
from pausefl.figures.style import LABELS
from pausefl.report import metadata, pictures, text
from pausefl.report.contents import Contents, selectors_of
from pausefl.report.parts import ReportParts

#: What each scale means.
_SCALES = {
    "paper": "the papers' settings.",
    "reduced": "the papers' settings with less work; how much less is under Configuration.",
    "demo": "a few users and 8 x 8 digits: whether the machinery works, not whether the papers are right.",
    "own": "a user's settings; no experiment of the papers.",
    "any": "studies without a scenario, the same at every scale.",
}


def render(parts: ReportParts) -> str:
    """Render the page.

    Parameters
    ----------
    parts
        What it shows.

    Returns
    -------
    str
        HTML. The same results give the same bytes.
    """
    contents = Contents(parts)
    costs = {name: list(metadata.costs(part, contents.summaries)) for name, part in parts.scenarios.items()}
    judging = jinja2.Template((Path(parts.texts) / "claims.rst").read_text("utf-8"))
    title, introduction = text.titled((Path(parts.texts) / "workflow.rst").read_text("utf-8"))
    first, end, rest = str(introduction).partition("</p>")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pausefl.report", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def linked(html: Any) -> Markup:
        return text.link_deviations(html, contents.deviations)

    environment.filters |= {
        "linked": linked,
        "number": words.number,
        "duration": metadata.duration,
        "interval": lambda compared: words.interval(compared["low"], compared["high"]),
        "p_value": words.p_value,
        "slug": lambda title: title.replace(" ", "-"),
    }
    entries = [entry for section in contents.sections for group in section.groups for entry in group.entries]
    there = {entry.scale or "any" for entry in entries} | set(parts.claims)
    shown = [section for section in contents.sections if section.groups]
    return environment.get_template("page.html.jinja").render(
        title=title,
        introduction=linked(Markup(first + end)),
        reading=linked(Markup(rest)),
        parts=parts,
        contents=contents,
        sections=shown,
        absent=[
            f"{section.title}, {section.not_run}"
            for section in contents.sections
            if not section.groups and section.key in papers.CONTENTS
        ],
        scales=[(name, meaning) for name, meaning in _SCALES.items() if name in there],
        seeds=sorted({run.seed for run in contents.summaries}),
        claims=[_claims(contents, document, judging) for document in contents.claims],
        scenarios=_scenarios(contents),
        ledger=linked(text.markdown(_without_title(contents.ledger), 2)),
        costs=costs,
        wall_hours=math.fsum(rows[0].wall_hours for rows in costs.values()),
        core_hours=math.fsum(rows[0].core_hours for rows in costs.values()),
        environments=metadata.environments(contents.summaries),
    )


def _claims(contents: Contents, document: dict[str, Any], judging: jinja2.Template) -> dict[str, Any]:
    """The findings at one scale, with how many claims have which."""
    counts = Counter(claim["finding"] for claim in document["claims"])
    return {
        "scale": document["scale"],
        "counts": [(finding, counts[finding]) for finding in FINDINGS if counts[finding]],
        "claims": document["claims"],
        "caption": contents.restructured(
            judging.render(snakemake={"wildcards": {"scale": document["scale"]}})
        ),
    }


def _scenarios(contents: Contents) -> list[dict[str, Any]]:
    """Rows of the experiment table with the settings of each scenario; each partition is shown once."""
    first: dict[str, str] = {}
    rows = []
    for name, part in contents.parts.scenarios.items():
        path = part.partition
        shared = None if path is None else first.setdefault(path, name)
        rows.append(
            {
                "name": name,
                "settings": part.settings,
                "selectors": [LABELS.get(selector, selector) for selector in selectors_of(part)],
                "seeds": sorted({run.seed for run in part.runs}),
                "n_jobs": len(part.runs),
                "yaml": metadata.settings_text(part.settings),
                "reductions": metadata.reductions(part.settings),
                "picture": pictures.pixels(Path(path)) if path is not None and shared == name else None,
                "caption": contents.caption(part.captions["partition"]),
                "shared": shared,
            }
        )
    return rows


def _without_title(markdown: str) -> str:
    """A document without its first heading."""
    first, _, rest = markdown.partition("\n")
    return rest if first.startswith("# ") else markdown
