"""Captions of studies: a file of words for each kind. Conventions: `pausefl.reproduction.figures.captions`.

Words may use ``study`` and, of a study with seeds, what `pausefl.reproduction.figures.captions.values_of`
returns; and the sentences ``lines``, ``runs``, ``simulated`` and ``annealing``. They may set ``place``,
where the papers have the study, and ``bearing``, the deviations that can bear on it. Nothing that computes
or plots imports this, so an edit of words reruns the report alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pausefl.analysis.figures.kinds import FigureSettings
from pausefl.reproduction.figures.captions import Caption, caption_from, places_of, values_of
from pausefl.reproduction.figures.deviations import applying, iterates
from pausefl.reproduction.studies.base import Study, seeds_of


def caption(study: Study, figures: Mapping[str, FigureSettings]) -> Caption:
    """Caption of a study's figure and table; ``figures`` are those of its scenario by name."""
    places = places_of(figures, study.repeats)
    scenario, seeds = study.in_scenario, seeds_of(study)
    values: dict[str, Any] = {"seeds": ()}
    if scenario is not None and seeds:
        values = values_of(scenario, seeds)
    files = ("_sentences", study.kind, "_ending")
    return caption_from(
        "".join(Path(__file__).with_name(f"{name}.md.jinja").read_text("utf-8") for name in files),
        study=study,
        anneals=scenario is not None and any(map(iterates, scenario.selectors)),
        places="; ".join(places),
        applying=lambda names: applying(names, scenario),
        **values,
    )
