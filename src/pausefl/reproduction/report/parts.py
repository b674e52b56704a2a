"""Contents of a report. The workflow fills these; importing this loads nothing that plots or renders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pausefl.reproduction.figures.captions import Caption
from pausefl.runs.run_id import RunId
from pausefl.settings import Scenario


@dataclass(frozen=True)
class ScenarioPart:
    """Files and words of one scenario in a report."""

    scenario: Scenario
    #: In plain values; the title says if the images are not the official ones.
    settings: Mapping[str, Any]
    runs: Sequence[RunId]
    #: Kind and PNG file of each figure, by name; its PDF and its metadata (JSON) are beside it.
    figures: Mapping[str, tuple[str, str]]
    #: Path of each Markdown table, by name.
    tables: Mapping[str, str]
    #: The table ``summary`` as CSV.
    summary: str
    #: Where the data came from.
    origin: str
    #: PNG file of the partition of the first seed; empty where runs are published ones, without data.
    partition: str = ""


@dataclass(frozen=True)
class StudyPart:
    """Files and words of one study in a report."""

    title: str
    #: Scale of its scenario; empty without one.
    scale: str
    caption: Caption
    #: Names that give its places in the papers: its own, or those of the figures it stands for.
    figures: tuple[str, ...]
    #: PNG file, with PDF and JSON beside it.
    figure: str


@dataclass(frozen=True)
class ReportParts:
    """Everything that a report shows: its name, and parts by name."""

    name: str
    scenarios: Mapping[str, ScenarioPart]
    studies: Mapping[str, StudyPart]
    #: Path of ``claims.json`` by scale.
    claims: Mapping[str, str]
    #: Table (Markdown) of statements on code and theorems, and the tests that show them.
    checks: str
    #: Whether its runs are those of ``results/published``, of which the documentation tells.
    published: bool
    #: Paths of the picture and the curves of the papers' figures; none of a report of less than all.
    overview: Sequence[str]
