"""Captions and titles, from the experiment table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pausefl.data.sources import describe_origin
from pausefl.figures.captions import caption, study_caption
from pausefl.workflow.experiments import Experiments


@dataclass(frozen=True)
class Caption:
    """A caption as a parameter of a rule. Snakemake compares plain values only: new words rerun nothing."""

    text: Callable[[], str]


def settings(table: Experiments, scenario: str) -> dict[str, Any]:
    """Settings of a scenario in plain values; the title says if the images are not the official ones."""
    one = table.scenarios[scenario]
    substitute = " (re-encoded images)" if one.data.source in table.config.raw.folders else ""
    return one.as_dict() | {"title": one.title + substitute}


def of_scenario(table: Experiments, scenario: str, kind: str) -> Caption:
    """Caption of a figure or a table of a scenario, or of its ``partition``."""
    one = table.scenarios[scenario]
    origin = describe_origin(one.data, table.config.raw)
    return Caption(partial(caption, kind, one, table.seeds(scenario), origin))


def of_figures(table: Experiments, scenario: str, kinds: Iterable[str]) -> Caption:
    """Captions of figures of a scenario that are made together, each under its kind."""
    return Caption(partial(_joined, {kind: of_scenario(table, scenario, kind) for kind in kinds}))


def _joined(captions: Mapping[str, Caption]) -> str:
    """Captions, each under its name."""
    return "\n\n".join(f"**{name}**\n\n{caption.text()}" for name, caption in captions.items())


def of_study(table: Experiments, study: str) -> Caption:
    """Caption of a study."""
    kind, one = table.studies.kind(study), table.studies.study(study)
    return Caption(partial(study_caption, kind, one, table.repeated_figures(study)))
