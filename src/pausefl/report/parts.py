"""What a report shows. The workflow fills these; importing this loads nothing that plots or renders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pausefl.figures.captions import Caption
from pausefl.settings import Experiment


@dataclass(frozen=True)
class ScenarioPart:
    """What a report shows of one scenario.

    Attributes
    ----------
    settings
        The whole scenario in plain values.
    runs
        Folder of each run.
    figures
        SVG file of each figure, by kind; its PDF and its metadata (JSON) are beside it.
    tables
        Path of each Markdown table, by name.
    archive
        The table ``authors`` as CSV, if there are runs of the authors' with the scenario's settings.
    captions
        Caption of each figure, by kind, of each table, and of the ``partition``.
    partition
        Picture of the first seed's partition, if any.
    """

    settings: Mapping[str, Any]
    runs: Mapping[Experiment, str]
    figures: Mapping[str, str]
    tables: Mapping[str, str]
    archive: str | None
    captions: Mapping[str, Caption]
    partition: str | None


@dataclass(frozen=True)
class StudyPart:
    """What a report shows of one study.

    Attributes
    ----------
    kind, title, caption
        Of the study.
    figures
        Names that give its places in the papers: its own, or those of the figures it stands for.
    figure, table
        SVG file of the figure, with PDF and JSON beside it, and Markdown table if any.
    """

    kind: str
    title: str
    caption: Caption
    figures: tuple[str, ...]
    figure: str
    table: str | None


@dataclass(frozen=True)
class ReportParts:
    """Everything that a report shows.

    Attributes
    ----------
    name
        Of the report.
    scenarios, studies
        Parts by name.
    claims
        Path of ``claims.json`` by scale.
    texts
        Folder with ``workflow.rst``, the introduction, and ``claims.rst``, how claims are judged.
    ledger
        Path of the deviation ledger.
    """

    name: str
    scenarios: Mapping[str, ScenarioPart]
    studies: Mapping[str, StudyPart]
    claims: Mapping[str, str]
    texts: str
    ledger: str
