"""The contents of a report: results read from their files, in the order of the papers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from pausefl.figures import papers
from pausefl.figures.captions import Caption
from pausefl.figures.style import LABELS
from pausefl.registry import FIGURES, TABLES
from pausefl.report import text
from pausefl.report.parts import ReportParts, ScenarioPart
from pausefl.report.pictures import Figures, Picture
from pausefl.results import archive
from pausefl.results.published import RunFiles
from pausefl.settings import SCALES


@dataclass
class Words:
    """A caption in HTML: what is shown, and what else there is to say."""

    shown: Markup
    details: Markup


@dataclass
class Table:
    """A table with its caption, the scale of its runs, and its id in the page."""

    id: str
    title: str
    scale: str
    html: Markup
    caption: Words | None


@dataclass
class Entry:
    """A figure in a section, or a link to where it is.

    Attributes
    ----------
    id
        In the page.
    owner
        Scenario or study.
    title, scale
        Of the scenario; the scale is empty for a study without a scenario.
    shows
        What the figure shows.
    place, reading
        Its place in a paper, if any, and which of `papers.READINGS` of it this is.
    picture, alt, caption, notes, path
        The figure and its SVG file; the notes are in the picture too. No picture if another entry shows the
        same figure.
    same_as
        That other entry.
    """

    id: str
    owner: str
    title: str
    scale: str
    shows: str = ""
    place: papers.Place | None = None
    reading: str = ""
    picture: Picture | None = None
    alt: str = ""
    caption: Words | None = None
    notes: tuple[str, ...] = ()
    path: str = ""
    same_as: Entry | None = None

    @property
    def where(self) -> str:
        """How other entries refer to it: its place in the papers, or what it shows."""
        if self.place is None:
            return f"{self.title}: {self.shows}" if self.shows else self.title
        read = f", {self.reading}" if self.reading else ""
        return f"{papers.SECTIONS[self.place.paper]}, {papers.label(self.place.part)}{read}"


@dataclass
class Group:
    """Figures under one heading: of one figure of a paper, or of one scenario."""

    id: str
    heading: str
    entries: list[Entry]
    tables: list[Table] = field(default_factory=list)


@dataclass
class Section:
    """Figures of one paper, or figures that no paper has.

    Attributes
    ----------
    not_run, reduced_only
        Parts of the paper that the report does not show, and parts that it shows at reduced scale only.
    """

    key: str
    title: str
    groups: list[Group]
    not_run: str = ""
    reduced_only: str = ""


class Contents:
    """What a report shows, read from its files.

    Attributes
    ----------
    beside
        The authors' runs beside ours, one entry a scenario that has some.
    n_archived
        How many runs of theirs that are.
    agreement
        Of their numbers inside the range of ours: how many there are, of how many, how many were expected.
    sections
        Figures, in the order of `papers.SECTIONS`.
    claims
        Contents of each ``claims.json``.
    summaries
        ``summary.json`` of each run.
    ledger
        The deviation ledger as Markdown.
    deviations
        Ids in the ledger.
    found
        Id in the page of the first entry of each scenario and study.
    figures
        The pictures of `sections`.
    """

    def __init__(self, parts: ReportParts) -> None:
        self.parts = parts
        self.ledger = Path(parts.ledger).read_text("utf-8")
        self.deviations = {cell for cell in _first_cells(self.ledger) if text.DEVIATION.fullmatch(cell)}
        self.claims = [_read(Path(path)) for path in parts.claims.values()]
        self.summaries = {
            run: RunFiles.of(Path(folder)).summary()
            for part in parts.scenarios.values()
            for run, folder in part.runs.items()
        }
        self.figures = Figures()
        self.beside = [self._beside(name) for name, part in parts.scenarios.items() if part.archive]
        self.n_archived = sum(_theirs(part) for part in parts.scenarios.values())
        self.agreement = [
            sum(numbers) for numbers in zip(*map(_tally, parts.scenarios.values()), strict=True)
        ]
        self.sections = self._sections()
        self.found: dict[str, str] = {}
        for section in self.sections:
            for entry in (entry for group in section.groups for entry in group.entries):
                self.found.setdefault(entry.owner, entry.id)

    def caption(self, caption: Caption) -> Words:
        """Render a caption without its title, with links into the ledger."""
        return Words(self.restructured(caption.shown), self.restructured(caption.details))

    def restructured(self, words: str) -> Markup:
        """Render reStructuredText, with links into the ledger."""
        return text.link_deviations(text.restructured(words), self.deviations)

    def _beside(self, name: str) -> tuple[Entry, Table]:
        """The figure and the table that set a scenario's runs beside the authors'."""
        part = self.parts.scenarios[name]
        title, scale, kind = part.settings["title"], part.settings["scale"], "accuracy_vs_time"
        entry = Entry(f"beside-{name}", name, title, scale, FIGURES[kind].label, path=part.figures[kind])
        self._embed(entry)
        caption = self.caption(part.captions["authors"])
        return entry, Table(
            f"table-{name}-authors", title, scale, self._table(part.tables["authors"]), caption
        )

    def _sections(self) -> list[Section]:
        groups: dict[str, dict[str, Group]] = {key: {} for key in papers.SECTIONS}
        entries = [*self._scenario_entries(), *self._study_entries()]
        for section, key, heading, entry in sorted(entries, key=lambda item: _order(item[3])):
            group = groups[section].setdefault(key, Group(f"{section}-{key}", heading, []))
            group.entries.append(entry)
        sections = [
            Section(key, title, list(groups[key].values()), *_absent(key, groups))
            for key, title in papers.SECTIONS.items()
            if groups[key] or key in papers.CONTENTS
        ]
        self._link_repeated(sections)
        self._add_tables(sections)
        return sections

    def _scenario_entries(self) -> Iterator[tuple[str, str, str, Entry]]:
        """For every figure of every scenario: section, key and heading of its group, and its entry."""
        for name, part in self.parts.scenarios.items():
            settings = part.settings
            names: dict[str, list[str]] = {}
            for figure, kind in settings["figures"].items():
                names.setdefault(kind, []).append(figure)
            home = papers.home_of(settings["scale"], settings["figures"])
            own_scale = settings["scale"] == "own"
            for kind in (kind for kind in FIGURES if kind in part.figures):
                placed = [name for name in names.get(kind, []) if papers.place_of(name) and not own_scale]
                for figure in placed:
                    place = papers.place_of(figure)
                    assert place is not None
                    entry = Entry(f"figure-{figure}", name, settings["title"], settings["scale"])
                    entry.shows, entry.place, entry.path = FIGURES[kind].label, place, part.figures[kind]
                    entry.reading = papers.reading(figure)
                    yield place.paper, place.part, papers.label(place.part), entry
                if not placed:
                    own = next(iter(names.get(kind, [])), f"{name}-{kind}")
                    entry = Entry(f"figure-{own}", name, settings["title"], settings["scale"])
                    entry.shows, entry.path = FIGURES[kind].label, part.figures[kind]
                    yield home, name, settings["title"], entry

    def _study_entries(self) -> Iterator[tuple[str, str, str, Entry]]:
        """The same for every study, once for each paper that has it."""
        for name, study in self.parts.studies.items():
            settings = _read(Path(study.figure).with_suffix(".json"))["study"]
            scale = settings["scenario"]["scale"] if "scenario" in settings else ""
            own = [place for place in map(papers.place_of, study.figures) if place is not None]
            if not own:
                entry = Entry(f"figure-{name}", name, study.title, scale, path=study.figure)
                yield "beyond", name, study.title, entry
                continue
            shared = [there for place in own for there in papers.also_in(place)]
            for place in (*own, *shared):
                figure = name if place == own[0] else f"{name}-{place.paper}-{place.part}"
                entry = Entry(f"figure-{figure}", name, study.title, scale, place=place, path=study.figure)
                yield place.paper, place.part, papers.label(place.part), entry

    def _link_repeated(self, sections: Iterable[Section]) -> None:
        """Embed every picture once, at its first place."""
        first = {entry.path: entry for entry, _ in self.beside}
        for section in sections:
            for entry in (entry for group in section.groups for entry in group.entries):
                if entry.path in first:
                    entry.same_as = first[entry.path]
                else:
                    first[entry.path] = entry
                    self._embed(entry)

    def _embed(self, entry: Entry) -> None:
        path = Path(entry.path)
        entry.picture = self.figures.add(path)
        entry.notes = tuple(_read(path.with_suffix(".json")).get("notes", ()))
        if entry.owner in self.parts.studies:
            study = self.parts.studies[entry.owner]
            entry.caption = self.caption(study.caption)
            entry.alt = f"Figure of the study {study.title}"
            return
        part = self.parts.scenarios[entry.owner]
        entry.caption = self.caption(part.captions[path.stem])
        selectors = ", ".join(LABELS.get(name, name) for name in selectors_of(part))
        entry.alt = f"{entry.shows[0].upper()}{entry.shows[1:]}; {entry.title}; selectors: {selectors}"

    def _add_tables(self, sections: Iterable[Section]) -> None:
        """Put the tables of a scenario or study below the group of its first figure."""
        done: set[str] = set()
        for group in (group for section in sections for group in section.groups):
            for entry in group.entries:
                if entry.owner not in done:
                    done.add(entry.owner)
                    group.tables += self._tables(entry.owner, entry.scale)

    def _tables(self, owner: str, scale: str) -> Iterator[Table]:
        if owner in self.parts.studies:
            study = self.parts.studies[owner]
            if study.table is not None:
                html = self._table(study.table)
                yield Table(f"table-{owner}", f"{study.title}: the numbers", scale, html, None)
            return
        part = self.parts.scenarios[owner]
        for kind, path in part.tables.items():
            if kind == "authors":  # opens the page
                continue
            title = f"{part.settings['title']}: {TABLES[kind].label}"
            caption = self.caption(part.captions[kind])
            yield Table(f"table-{owner}-{kind}", title, scale, self._table(path), caption)

    def _table(self, path: str) -> Markup:
        return text.link_deviations(text.markdown(Path(path).read_text("utf-8"), 5), self.deviations)


def selectors_of(part: ScenarioPart) -> list[str]:
    """Selectors of a scenario's runs, in the order of the legends."""
    there = {run.selector for run in part.runs}
    return [name for name in LABELS if name in there]


def _theirs(part: ScenarioPart) -> int:
    """How many runs of the authors' a scenario's table has."""
    return 0 if part.archive is None else pd.read_csv(part.archive)["selector"].nunique()


def _tally(part: ScenarioPart) -> tuple[int, int, float]:
    if part.archive is None:
        return 0, 0, 0.0
    return archive.tally(pd.read_csv(part.archive, dtype={"inside": "boolean"}))


def _order(entry: Entry) -> tuple[tuple[int, int, int], int, bool]:
    """By place in the papers, scale and reading; entries without a place come last, in their given order."""
    if entry.place is None:
        return (len(papers.SECTIONS), 0, 0), 0, False
    scale = SCALES.index(entry.scale) if entry.scale else 0
    return entry.place.order, scale, entry.reading == papers.AS_WRITTEN


def _absent(key: str, groups: Mapping[str, Mapping[str, Group]]) -> tuple[str, str]:
    """Parts of a paper without an entry, and parts with entries at reduced scale only."""
    scales = {part: {entry.scale for entry in group.entries} for part, group in groups[key].items()}
    parts = papers.CONTENTS.get(key, ())
    return (
        papers.labels(part for part in parts if part not in scales),
        papers.labels(part for part in parts if scales.get(part) == {"reduced"}),
    )


def _first_cells(markdown: str) -> Iterator[str]:
    for line in markdown.splitlines():
        if line.startswith("| "):
            yield line.split("|")[1].strip()


def _read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return document
