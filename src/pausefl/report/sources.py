"""What a report is to show, as the workflow tells it; loads nothing that draws or renders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pausefl.settings import Experiment


@dataclass(frozen=True)
class ScenarioPart:
    """What a report has of one scenario.

    Attributes
    ----------
    settings
        All of the scenario, in plain values.
    runs
        The folder of each run.
    figures
        Path of each figure's PNG file, by kind; what it was drawn from is in the JSON file beside it.
    tables
        Path of each Markdown table, by the name of its caption.
    captions
        What the captions of the tables and of the partition state.
    partition
        Picture of the first seed's partition, if there is one.
    """

    settings: Mapping[str, Any]
    runs: Mapping[Experiment, str]
    figures: Mapping[str, str]
    tables: Mapping[str, str]
    captions: Mapping[str, Mapping[str, Any]]
    partition: str | None


@dataclass(frozen=True)
class StudyPart:
    """What a report has of one study.

    Attributes
    ----------
    kind, title
        Of the study; the kind is the name of its caption.
    figures
        Names that say where the papers have it: its own, or those of the figures that it stands for.
    figure, table
        Path of the figure's PNG file, and of the Markdown table if it has one.
    """

    kind: str
    title: str
    figures: tuple[str, ...]
    figure: str
    table: str | None


@dataclass(frozen=True)
class Sources:
    """Everything that a report shows.

    Attributes
    ----------
    name
        Of the report.
    scenarios, studies
        Parts by name.
    claims
        Path of ``claims.json`` by scale.
    captions
        Folder of the captions.
    ledger
        The deviation ledger.
    """

    name: str
    scenarios: Mapping[str, ScenarioPart]
    studies: Mapping[str, StudyPart]
    claims: Mapping[str, str]
    captions: str
    ledger: str
