"""Captions of figures and tables of scenarios. Their words are in ``figures.yaml``; here is what they need.

The words are Jinja templates of Markdown. Their first paragraph is what stands below the picture; the others
are details, folded in the report. Conventions:

- ``*Setting.*`` opens a paragraph; there is bold, code and ``- item``, no HTML, heading or nested list.
- A float is written shortly (``90.0`` as 90), a tuple with commas.
- ``{{ title|plain }}`` is for what a user wrote: Markdown finds no markup in it; ``{{ 0.1|percent }}`` is 10.
- ``{% include "deviations" %}`` and other keys of ``figures.yaml`` are shared sentences.
- Conditions inside a paragraph stand on a line with words. Blank lines and spaces that they leave over go.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from pausefl.analysis.figures.kinds import FIGURES, MOST_LINES, FigureSettings, figures_of
from pausefl.analysis.figures.notes import scale_note
from pausefl.analysis.outcomes import WINDOW
from pausefl.privacy import ACCOUNTANTS, MECHANISMS, SAMPLERS, SCHEDULES
from pausefl.reproduction.authors_archive import ARCHIVED, LOGGED, TABLE_KINDS, log_of, logged
from pausefl.reproduction.figures import papers
from pausefl.reproduction.figures.deviations import applying
from pausefl.selectors import SELECTORS
from pausefl.settings import Scenario, read_yaml

#: Most words below a picture.
MOST_WORDS = 50

#: What of a scenario has a caption.
KINDS = (*FIGURES, *TABLE_KINDS)

#: The caption of a kind that has no words of its own.
_PLAIN = '{{ shows[:1]|upper }}{{ shows[1:] }}.\n\n{% include "runs" %}'

#: Deviations that can bear on the results of runs (`pausefl.reproduction.figures.deviations` knows when each
#: one does), and on what depends on evaluations, too.
_OF_RUNS = ("D1", "D2", "D3", "D4", "D8", "D9", "D10", "D77")
_EVALUATED = ("accuracy_vs_time", "loss_vs_time", "time_to_target", "summary")

#: Column of the rounds of which a kind of figure shows the authors' runs, too.
_OF_AUTHORS = {
    "accuracy_vs_time": "accuracy",
    "leakage_vs_time": "leakage_max",
    "leakage_vs_rounds": "leakage_max",
    "loss_vs_time": "loss",
}


@dataclass(frozen=True)
class Caption:
    """A caption of a figure or a table, as Markdown."""

    #: What is shown, in few words: at most `MOST_WORDS`.
    shown: str
    #: What else there is to say, with the deviations from the papers.
    details: str


def caption(
    kind: str, scenario: Scenario, seeds: Collection[int], origin: str, window: int | None = None
) -> Caption:
    """Caption of a scenario's figure or table: one of `KINDS`.

    ``seeds`` has the seed of each run that is shown; ``origin`` says where the data came from, and ``window``
    over how many rounds an accuracy or a loss is smoothed, if not over `WINDOW`.
    """
    column = _OF_AUTHORS.get(kind, "")
    places = [] if scenario.scale == "own" else places_of(figures_of(scenario), [kind])
    return caption_from(
        f'{{% include "{kind}" %}}' if kind in _words() else _PLAIN,
        shows={**FIGURES, **TABLE_KINDS}[kind].shows,
        kind=kind,
        scale=scale_note(scenario),
        regression=scenario.is_regression,
        a_line_each=scenario.network.n_users <= MOST_LINES,
        origin=origin,
        place="; ".join(places) or "none",
        deviations=applying(deviations_of(kind), scenario),
        of_authors=column,
        window=window or WINDOW,
        **_authors(kind, column, scenario),
        **values_of(scenario, seeds),
    )


def deviations_of(kind: str) -> tuple[str, ...]:
    """Deviations that can bear on a figure or table of some kind."""
    return (*_OF_RUNS, "D68") if kind in _EVALUATED else _OF_RUNS


def values_of(scenario: Scenario, seeds: Collection[int]) -> dict[str, Any]:
    """What the shared words of a caption need to know of a scenario and the seed of each run.

    ``classes`` are of its selectors; ``seeds`` has each once, ``all_seeds`` their number in words, up to
    which some selectors have fewer; ``protected`` is what the ε are for; ``guarantees``, sentences on what a
    user may spend.
    """
    runs, privacy, guarantees = Counter(seeds), scenario.privacy, []
    number = "one seed" if len(runs) == 1 else f"{len(runs)} seeds"
    if privacy is not None:
        noise = MECHANISMS[privacy.mechanism], SCHEDULES[privacy.schedule], SAMPLERS[privacy.sampler]
        parts = *noise, ACCOUNTANTS[privacy.accountant]
        guarantees = [part.caption.format(**vars(privacy)) for part in parts if part.caption]
    return {
        "scenario": scenario,
        "classes": [SELECTORS[name] for name in scenario.selectors],
        "seeds": tuple(sorted(runs)),
        "all_seeds": f"up to {number}" if len(set(runs.values())) > 1 else number,
        "protected": scenario.protects,
        "privacy": privacy,
        "guarantees": guarantees,
    }


def _authors(kind: str, column: str, scenario: Scenario) -> dict[str, Any]:
    """What there is of the authors' runs, for a figure that would show ``column`` of them."""
    log = None
    if scenario.name in LOGGED:
        shown = column and any(run[column].notna().any() for run in logged(scenario).values())
        log = {"seed": log_of(scenario.name)["seed"], "shown": shown}
    own = [
        name for name, shown in figures_of(scenario).items() if shown.kind == kind and papers.place_of(name)
    ]
    return {
        "archived": scenario.name in ARCHIVED,
        "log": log,
        "in_papers": own and scenario.scale == "paper",
        "elsewhere": [papers.as_run(name) for name in own if papers.reading(name) == papers.AS_WRITTEN],
    }


def places_of(figures: Mapping[str, FigureSettings], kinds: Collection[str]) -> list[str]:
    """The papers' figures among those of some kinds, in words and each once."""
    names = (papers.in_words(name) for name, shown in figures.items() if shown.kind in kinds)
    return list(dict.fromkeys(filter(None, names)))


def caption_from(text: str, **values: Any) -> Caption:
    """Caption with the words of a template; arguments and errors as for `render`."""
    shown, _, details = render(text, **values).partition("\n\n")
    return Caption(shown, details)


def render(text: str, **values: Any) -> str:
    """Markdown of a template with values for its names.

    Raises
    ------
    jinja2.UndefinedError
        If a name in it has no value.
    """
    rendered = _environment().from_string(text).render(values).strip()
    lines = re.sub(r"[ \t]*\n[ \t]*", "\n", rendered)
    return re.sub(r" {2,}", " ", re.sub(r"\n{3,}", "\n\n", lines))


def plain(text: str) -> str:
    """A text in which Markdown finds no markup."""
    return re.sub(r"([\\`*_\[\]<>&|])", r"\\\1", text)


@cache
def _words() -> dict[str, str]:
    """Captions, and sentences that they share, by name."""
    return dict(read_yaml(Path(__file__).with_name("figures.yaml")))


@cache
def _environment() -> jinja2.Environment:
    words = jinja2.Environment(
        loader=jinja2.DictLoader(_words()),
        undefined=jinja2.StrictUndefined,
        finalize=_shortly,
    )
    words.filters |= {"plain": plain, "percent": lambda share: 100 * share}
    return words


def _shortly(value: Any) -> Any:
    if isinstance(value, tuple):
        return ", ".join(str(_shortly(one)) for one in value)
    return f"{value:.10g}" if isinstance(value, float) else value
