"""The sections of a report: figures and tables in the order of the papers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from pausefl.analysis.figures.kinds import FIGURES, figures_of
from pausefl.reproduction.authors_archive import TABLE_KINDS
from pausefl.reproduction.figures import papers
from pausefl.reproduction.figures.captions import Caption, caption, plain
from pausefl.reproduction.report.parts import ReportParts, ScenarioPart
from pausefl.selectors import LABELS, in_legend_order
from pausefl.settings import SCALES


@dataclass(frozen=True)
class Shown:
    """A figure (PNG) or a table (Markdown) of a scenario or study; the id is that in the page."""

    id: str
    #: Title and scale of the scenario or study; the scale is empty for a study without a scenario.
    title: str
    scale: str
    path: str
    caption: Caption | None = None
    #: Scenario or study.
    owner: str = ""
    alt: str = ""
    #: What a scenario's figure shows.
    shows: str = ""
    place: papers.Place | None = None
    #: One of `papers.READINGS`; empty if its place has only one.
    reading: str = ""

    @property
    def where(self) -> str:
        """Its place in the papers, or what it shows."""
        if self.place is None:
            return f"{self.title}: {self.shows}" if self.shows else self.title
        read = f", {self.reading}" if self.reading else ""
        return f"{papers.SECTIONS[self.place.paper]}, {papers.label(self.place.part)}{read}"

    @property
    def order(self) -> tuple[tuple[int, int, int], int, bool]:
        """Sort key: place in the papers, scale, reading; those without a place are last and equal."""
        if self.place is None:
            return (len(papers.SECTIONS), 0, 0), 0, False
        scale = SCALES.index(self.scale) if self.scale else 0
        return self.place.order, scale, self.reading == papers.AS_WRITTEN


@dataclass
class Group:
    """Figures and tables under one heading: of one figure of a paper, or of one scenario or study."""

    id: str
    heading: str
    figures: list[Shown] = field(default_factory=list)
    tables: list[Shown] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """What the first of its figures shows, and of which scenario or study."""
        first = self.figures[0]
        title = "" if first.title == self.heading else first.title
        return "; ".join(filter(None, [first.shows, title]))


@dataclass
class Section:
    """Figures of one paper, or figures that no paper has."""

    key: str
    title: str
    groups: dict[str, Group] = field(default_factory=dict)

    @property
    def not_run(self) -> str:
        """Results of the paper that have no figure."""
        return papers.labels(part for part in papers.CONTENTS.get(self.key, ()) if part not in self.groups)


def sections_of(parts: ReportParts) -> list[Section]:
    """All sections of `papers.SECTIONS`, also empty ones.

    Tables of a scenario are in the group of its first figure.
    """
    sections = {key: Section(key, title) for key, title in papers.SECTIONS.items()}
    tables = {name: _tables(name, part) for name, part in parts.scenarios.items()}
    found = [one for name, part in parts.scenarios.items() for one in _of_scenario(name, part)]
    for home, figure in sorted([*found, *_of_studies(parts)], key=lambda one: one[1].order):
        key, heading = figure.owner, figure.title
        if figure.place is not None:
            key, heading = figure.place.part, papers.label(figure.place.part)
        group = sections[home].groups.setdefault(key, Group(f"{home}-{key}", heading))
        group.figures.append(figure)
    for group in [group for section in sections.values() for group in section.groups.values()]:
        group.tables = [table for figure in group.figures for table in tables.pop(figure.owner, ())]
    return list(sections.values())


def _of_scenario(name: str, part: ScenarioPart) -> Iterator[tuple[str, Shown]]:
    """The section of every figure of a scenario, and the figure."""
    scenario, names = part.scenario, part.settings["figures"]
    title, scale = part.settings["title"], part.settings["scale"]
    selectors = ", ".join(LABELS[one] for one in in_legend_order(run.selector for run in part.runs))
    for figure, (kind, path) in part.figures.items():
        place = None if scale == "own" else papers.place_of(figure)
        shows, reading = FIGURES[kind].shows, papers.reading(figure) if place else ""
        alt = f"{shows[0].upper()}{shows[1:]}; {title}; selectors: {selectors}"
        home = papers.home_of(scenario.scale, names) if place is None else place.paper
        own = name, alt, shows, place, reading
        yield home, Shown(f"figure-{figure}", title, scale, path, caption_of(part, kind, figure), *own)


def _of_studies(parts: ReportParts) -> Iterator[tuple[str, Shown]]:
    """The section and the figure of every study, once for each paper that has it."""
    for name, study in parts.studies.items():
        of_study = [place for place in map(papers.place_of, study.figures) if place is not None]
        places = [*of_study, *(there for place in of_study for there in papers.also_in(place))]
        facts = (
            study.title,
            study.scale,
            study.figure,
            study.caption,
            name,
            f"Figure of the study {study.title}",
        )
        for place in places:
            figure = name if place == of_study[0] else f"{name}-{place.paper}-{place.part}"
            yield place.paper, Shown(f"figure-{figure}", *facts, place=place)
        if not places:
            yield "beyond", Shown(f"figure-{name}", *facts)


def _tables(name: str, part: ScenarioPart) -> list[Shown]:
    """The tables of a scenario."""
    title, scale = part.settings["title"], part.settings["scale"]
    heads = {kind: f"{title}: {TABLE_KINDS[kind].shows}" for kind in part.tables}
    return [
        Shown(f"table-{name}-{kind}", heads[kind], scale, path, caption_of(part, kind))
        for kind, path in part.tables.items()
    ]


def caption_of(part: ScenarioPart, kind: str, figure: str = "") -> Caption:
    """Caption of a figure or a table of a scenario; ``figure`` is the name under which it asks for one."""
    asked = figures_of(part.scenario).get(figure)
    window = asked.window if asked else None
    usual = caption(kind, part.scenario, [run.seed for run in part.runs], part.origin, window)
    return replace(usual, shown=plain(asked.caption)) if asked and asked.caption else usual
