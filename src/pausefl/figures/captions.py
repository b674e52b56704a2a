"""Captions of figures and tables of scenarios.

The words are in `pausefl.figures.words`, a file for each kind; this module has the values that they need.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from pausefl.figures import papers, words
from pausefl.figures.deviations import applying
from pausefl.figures.kinds import FIGURES, MOST_LINES, TABLES
from pausefl.figures.notes import scale_note
from pausefl.figures.words import Caption
from pausefl.privacy import MECHANISMS, SAMPLERS, SCHEDULES
from pausefl.results.archive import ARCHIVED, LOGGED
from pausefl.selectors import SELECTORS
from pausefl.settings import Scenario

#: What of a scenario has a caption.
RECORDS = {**FIGURES, **TABLES}


def caption(kind: str, scenario: Scenario, seeds: Collection[int], origin: str) -> Caption:
    """Caption of a scenario's figure or table: a ``kind`` of `RECORDS`.

    ``seeds`` has the seed of each run that is shown; ``origin`` says where the data came from.
    """
    record = RECORDS[kind]
    places = [] if scenario.scale == "own" else places_of(scenario.figures, kind)
    return words.caption(
        f"{kind}.md.jinja",
        kind=kind,
        scale=scale_note(scenario),
        regression=scenario.is_regression,
        a_line_each=scenario.network.n_users <= MOST_LINES,
        origin=origin,
        place="; ".join(places) or "none",
        deviations=applying(record.deviations, scenario),
        of_authors=record.of_authors,
        **_authors(kind, record.of_authors, scenario),
        **values_of(scenario, seeds),
    )


def values_of(scenario: Scenario, seeds: Collection[int]) -> dict[str, Any]:
    """What the shared words of a caption need to know of a scenario and the seed of each run.

    ``classes`` are of its selectors; ``seeds`` has each once, ``all_seeds`` their number in words, up to
    which some selectors have fewer; ``protected`` is what the ε are for; ``guarantees``, sentences on what a
    user may spend.
    """
    runs, privacy, guarantees = Counter(seeds), scenario.privacy, []
    number = "one seed" if len(runs) == 1 else f"{len(runs)} seeds"
    if privacy is not None:
        parts = MECHANISMS[privacy.mechanism], SCHEDULES[privacy.schedule], SAMPLERS[privacy.sampler]
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
    from pausefl.results.archive import log_of, logged  # pandas, which a plan of jobs need not wait for

    log = None
    if scenario.name in LOGGED:
        shown = column and any(run[column].notna().any() for run in logged(scenario).values())
        log = {"seed": log_of(scenario.name)["seed"], "shown": shown}
    own = [name for name, shown in scenario.figures.items() if shown == kind and papers.place_of(name)]
    return {
        "archived": scenario.name in ARCHIVED,
        "log": log,
        "in_papers": own and scenario.scale == "paper",
        "elsewhere": [papers.as_run(name) for name in own if papers.reading(name) == papers.AS_WRITTEN],
    }


def places_of(figures: Mapping[str, str], kind: str) -> list[str]:
    """The papers' figures among those of a kind, in words; ``figures`` are names and kinds."""
    names = (papers.in_words(name) for name, shown in figures.items() if shown == kind)
    return [name for name in names if name]
