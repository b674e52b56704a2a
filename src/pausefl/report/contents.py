"""The sections of a report: figures and tables in the order of the papers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pausefl.figures import papers
from pausefl.figures.captions import caption
from pausefl.figures.words import Caption
from pausefl.registry import FIGURES, TABLES
from pausefl.registry.selectors import LABELS, in_legend_order
from pausefl.report.parts import ReportParts, ScenarioPart
from pausefl.settings import SCALES

#: The section that opens the page, and its heading.
BESIDE = ("beside", "Beside the authors' runs")


@dataclass
class Shown:
    """A table (Markdown) or a figure (PNG) of a scenario or study; the id is that in the page."""

    id: str
    #: Title and scale of the scenario or study; the scale is empty for a study without a scenario.
    title: str
    scale: str
    path: str
    caption: Caption | None = None


@dataclass
class Entry(Shown):
    """A figure in a section, or a link to where it is."""

    #: Scenario or study.
    owner: str = ""
    alt: str = ""
    #: What a scenario's figure shows.
    shows: str = ""
    place: papers.Place | None = None
    reading: str = ""
    #: The entry that shows the figure first.
    same_as: Entry | None = None

    @property
    def where(self) -> str:
        """Its place in the papers, or what it shows."""
        if self.place is None:
            return f"{self.title}: {self.shows}" if self.shows else self.title
        read = f", {self.reading}" if self.reading else ""
        return f"{papers.SECTIONS[self.place.paper]}, {papers.label(self.place.part)}{read}"

    @property
    def order(self) -> tuple[tuple[int, int, int], int, bool]:
        """Sort key: place in the papers, scale, reading; entries without a place are last and equal."""
        if self.place is None:
            return (len(papers.SECTIONS), 0, 0), 0, False
        scale = SCALES.index(self.scale) if self.scale else 0
        return self.place.order, scale, self.reading == papers.AS_WRITTEN


@dataclass
class Group:
    """Figures and tables under one heading: of one figure of a paper, or of one scenario or study."""

    id: str
    heading: str
    entries: list[Entry] = field(default_factory=list)
    tables: list[Shown] = field(default_factory=list)


@dataclass
class Section:
    """Figures of one paper, or figures that no paper has."""

    key: str
    title: str
    groups: dict[str, Group] = field(default_factory=dict)

    def add(self, key: str, heading: str, entry: Entry) -> None:
        """Add an entry to a group, which is made if need be."""
        group = self.groups.setdefault(key, Group(f"{self.key}-{key}", heading))
        group.entries.append(entry)

    @property
    def entries(self) -> list[Entry]:
        """The entries of all groups."""
        return [entry for group in self.groups.values() for entry in group.entries]

    @property
    def not_run(self) -> str:
        """Results of the paper that have no entry."""
        return papers.labels(part for part in papers.CONTENTS.get(self.key, ()) if part not in self.groups)


def sections_of(parts: ReportParts) -> list[Section]:
    """All sections, also empty ones: the authors' runs beside ours, then those of `papers.SECTIONS`.

    An entry whose figure an earlier one shows links to it. Tables of a scenario or study are in the group of
    its first figure.
    """
    sections = {key: Section(key, title) for key, title in (BESIDE, *papers.SECTIONS.items())}
    for name, part in parts.scenarios.items():
        if part.archive:
            entry = _entry(f"beside-{name}", name, part, "accuracy_vs_time")
            sections["beside"].add(name, entry.title, entry)
            sections["beside"].groups[name].tables.append(_table(name, part, "authors"))
    found = [
        *(one for name, part in parts.scenarios.items() for one in _of_scenario(name, part)),
        *_of_studies(parts),
    ]
    for home, entry in sorted(found, key=lambda one: one[1].order):
        key, heading = entry.owner, entry.title
        if entry.place is not None:
            key, heading = entry.place.part, papers.label(entry.place.part)
        sections[home].add(key, heading, entry)
    first: dict[str, Entry] = {}
    owners: set[str] = set()
    for section in sections.values():
        for group in section.groups.values():
            for entry in group.entries:
                if (earlier := first.setdefault(entry.path, entry)) is not entry:
                    entry.same_as = earlier
                if section.key != "beside" and entry.owner not in owners:
                    owners.add(entry.owner)
                    group.tables += _tables(parts, entry)
    return list(sections.values())


def _of_scenario(name: str, part: ScenarioPart) -> Iterator[tuple[str, Entry]]:
    """The section and the entry of every figure of a scenario."""
    settings = part.settings
    home = papers.home_of(settings["scale"], settings["figures"])
    for kind in (kind for kind in FIGURES if kind in part.figures):
        figures = [figure for figure, shown in settings["figures"].items() if shown == kind]
        placed = [] if settings["scale"] == "own" else [one for one in figures if papers.place_of(one)]
        for figure in placed or [*figures, f"{name}-{kind}"][:1]:
            entry = _entry(f"figure-{figure}", name, part, kind)
            if placed:
                entry.place, entry.reading = papers.place_of(figure), papers.reading(figure)
            yield home if entry.place is None else entry.place.paper, entry


def _entry(id: str, name: str, part: ScenarioPart, kind: str) -> Entry:
    shows, title, scale = FIGURES[kind].label, part.settings["title"], part.settings["scale"]
    selectors = ", ".join(LABELS[selector] for selector in selectors_of(part))
    alt = f"{shows[0].upper()}{shows[1:]}; {title}; selectors: {selectors}"
    return Entry(id, title, scale, part.figures[kind], caption_of(part, kind), name, alt, shows)


def _of_studies(parts: ReportParts) -> Iterator[tuple[str, Entry]]:
    """The section and the entry of every study, once for each paper that has it."""
    for name, study in parts.studies.items():
        own = [place for place in map(papers.place_of, study.figures) if place is not None]
        shared = [there for place in own for there in papers.also_in(place)]
        shown = (
            study.title,
            study.scale,
            study.figure,
            study.caption,
            name,
            f"Figure of the study {study.title}",
        )
        for place in own + shared:
            figure = name if place == own[0] else f"{name}-{place.paper}-{place.part}"
            yield place.paper, Entry(f"figure-{figure}", *shown, place=place)
        if not own:
            yield "beyond", Entry(f"figure-{name}", *shown)


def _tables(parts: ReportParts, entry: Entry) -> Iterator[Shown]:
    """The tables of a scenario or study, but ``authors``, which opens the page."""
    if (study := parts.studies.get(entry.owner)) is not None:
        if study.table is not None:
            yield Shown(f"table-{entry.owner}", f"{study.title}: the numbers", entry.scale, study.table)
        return
    part = parts.scenarios[entry.owner]
    for kind in part.tables:
        if kind != "authors":
            yield _table(entry.owner, part, kind)


def _table(name: str, part: ScenarioPart, kind: str) -> Shown:
    title, scale = f"{part.settings['title']}: {TABLES[kind].label}", part.settings["scale"]
    return Shown(f"table-{name}-{kind}", title, scale, part.tables[kind], caption_of(part, kind))


def caption_of(part: ScenarioPart, kind: str) -> Caption:
    """Caption of a figure or a table of a scenario."""
    return caption(kind, part.scenario, [run.seed for run in part.runs], part.origin)


def selectors_of(part: ScenarioPart) -> list[str]:
    """Selectors of a scenario's runs, in the order of the legends."""
    return in_legend_order(run.selector for run in part.runs)
