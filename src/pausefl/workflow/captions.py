"""Captions and titles, from the experiment table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pausefl.data.sources import describe_origin
from pausefl.figures import captions
from pausefl.project import Project


@dataclass(frozen=True)
class Caption:
    """A caption, or several, as a parameter of a rule.

    Snakemake compares plain values only: new words rerun nothing.
    """

    made: Mapping[str, Callable[[], captions.Caption]]

    def __reduce__(self) -> tuple[type[str], tuple[()]]:
        """Nothing of it goes to the process of a step, which has no use for what it would import."""
        return str, ()

    def text(self) -> str:
        """All of it; of several captions, each under its name."""
        texts = {name: make().text() for name, make in self.made.items()}
        if len(texts) == 1:
            return next(iter(texts.values()))
        return "\n\n".join(f"**{name}**\n\n{text}" for name, text in texts.items())


def settings(table: Project, scenario: str) -> dict[str, Any]:
    """Settings of a scenario in plain values; the title says if the images are not the official ones."""
    one = table.scenarios[scenario]
    substitute = " (re-encoded images)" if one.data.source in table.config.raw.folders else ""
    return one.as_dict() | {"title": one.title + substitute}


def of_scenario(table: Project, scenario: str, *kinds: str) -> Caption:
    """Captions of figures or tables of a scenario that are made together, or of its ``partition``."""
    one, seeds = table.scenarios[scenario], [row.seed for row in table.rows[scenario]]
    origin = describe_origin(one.data, table.config.raw)
    return Caption({kind: partial(captions.caption, kind, one, seeds, origin) for kind in kinds})


def of_study(table: Project, study: str) -> Caption:
    """Caption of a study."""
    return Caption({study: partial(table.studies[study].caption, table.repeated_figures(study))})
