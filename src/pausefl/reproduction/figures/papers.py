"""The places of figures in the papers, and how each was read.

A figure's name gives its place: ``pause_v2_fig8``, ``bsfl_fig6_loss``, ``pause_v2_table1``. Figures
of PAUSE that show runs have two readings: as the authors ran them, ``pause_v2_fig8``, and as the papers' text
has them, ``pause_v2_fig8_as_written``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

#: Sections of the report and their headings, in order. The first three are the papers.
SECTIONS = {
    "pause_v2": "PAUSE v2",
    "pause_v1": "PAUSE v1",
    "bsfl": "BSFL",
    "authors": "The authors' released runs",
    "beyond": "Beyond the papers",
    "own": "Other scenarios",
    "demo": "The demo",
}

#: Numerical results of each paper; Fig. 1 of BSFL is a sketch.
CONTENTS = {
    "pause_v2": (*(f"fig{n}" for n in range(1, 16)), "table1", "theorem3"),
    "pause_v1": tuple(f"fig{n}" for n in range(1, 10)),
    "bsfl": tuple(f"fig{n}" for n in range(2, 11)),
}

#: Results that two papers share; they are named by the second place.
SHARED = {("pause_v1", "fig1"): ("pause_v2", "fig1")}

#: The two readings of a figure of PAUSE, and the last part of the names of the second.
AS_RUN, AS_WRITTEN = READINGS = ("as run", "as written")
_WRITTEN = "_as_written"

#: What the two readings are called in text.
SETTINGS = {AS_WRITTEN: "the paper's settings", AS_RUN: "the authors' settings"}

#: First parts of the names of figures that no paper has: their section, and what captions say of their place.
_OWN = {
    "demo_": ("demo", ""),
    "privacy_": ("own", ""),
    "beyond_": ("beyond", ""),
    "authors_": ("authors", "none, but the authors' released runs"),
    "group_": ("beyond", "none, but a setting of the papers with group normalisation"),
}

_NAME = re.compile(rf"(?P<paper>{'|'.join(CONTENTS)})_(?P<part>(?:fig|table|theorem)\d+)[a-z]?(?:_\w+)?")
_WORDS = {"fig": ("Fig.", "Figs."), "table": ("Table", "Tables"), "theorem": ("Theorem", "Theorems")}
_ROMAN = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")


@dataclass(frozen=True)
class Place:
    """A place in a paper: a key of `CONTENTS` and a part such as ``fig8``."""

    paper: str
    part: str

    @property
    def order(self) -> tuple[int, int, int]:
        """Sort key: paper, then figures, tables, theorems, then number."""
        word, number = _split(self.part)
        return list(SECTIONS).index(self.paper), list(_WORDS).index(word), number


def place_of(name: str) -> Place | None:
    """The place of a figure or study in the papers; None if it has none."""
    match = _NAME.fullmatch(name)
    return None if match is None else Place(match["paper"], match["part"])


def reading(name: str) -> str:
    """Which of `READINGS` a scenario's figure is of; "" if its place has one reading only."""
    place = place_of(name)
    if place is None or place.paper == "bsfl":
        return ""
    return AS_WRITTEN if name.endswith(_WRITTEN) else AS_RUN


def as_run(name: str) -> str:
    """The name of the figure as run, of one that is as written."""
    return name.removesuffix(_WRITTEN)


def also_in(place: Place) -> list[Place]:
    """Places in other papers that share this result."""
    return [Place(*there) for there, of in SHARED.items() if of == (place.paper, place.part)]


def home_of(scale: str, names: Iterable[str]) -> str:
    """The section of a scenario's figures without a place, by its scale and the names of all its figures."""
    if scale in ("demo", "own"):
        return scale
    names = list(names)
    sections = {section for name in names for start, (section, _) in _OWN.items() if name.startswith(start)}
    if "authors" in sections:
        return "authors"
    return "beyond" if "beyond" in sections or any(map(place_of, names)) else "own"


def in_words(name: str) -> str:
    """A figure in words: "PAUSE v2, Fig. 8, as run"; "" if it has no place."""
    read = reading(name)
    for start, (_, words) in _OWN.items():
        if name.startswith(start):
            return words
    match = re.fullmatch(r"(?P<paper>\w+?)_fig(?P<number>\d+[a-z]?)(_\w+)?", name)
    if match is None:
        return name.replace("_", " ")
    paper = SECTIONS.get(match["paper"], match["paper"].replace("_", " "))
    return f"{paper}, Fig. {match['number']}{f', {read}' if read else ''}"


def of_scenario(names: Iterable[str]) -> str:
    """The places of a scenario's figures: "PAUSE v2, Figs. 8 and 9; BSFL, Fig. 6"; "–" if they have none."""
    parts: dict[str, list[str]] = {}
    for name in names:
        if place := place_of(name):
            parts.setdefault(place.paper, []).append(place.part)
    return "; ".join(f"{SECTIONS[paper]}, {labels(own)}" for paper, own in parts.items()) or "–"


def in_parts(names: Iterable[str]) -> dict[str, list[str]]:
    """Figures of the papers that have several parts, such as ``bsfl_fig5``, and the names of the parts.

    A part's name is that of the figure with a word more: ``bsfl_fig5_loss``, ``bsfl_fig5_regret``. Readings
    of a figure are no parts of it.
    """
    found: dict[str, list[str]] = {}
    for name in names:
        part = re.fullmatch(r"(?P<figure>\w+?_fig\d+)_\w+", name)
        if part and not reading(name):
            found.setdefault(part["figure"], []).append(name)
    return found


def label(part: str) -> str:
    """``fig8`` as "Fig. 8", ``table1`` as "Table I"."""
    return labels([part])


def labels(parts: Iterable[str]) -> str:
    """Several parts: "Figs. 1 to 3 and 5, Table I"."""
    numbers: dict[str, set[int]] = {word: set() for word in _WORDS}
    for word, number in map(_split, parts):
        numbers[word].add(number)
    listed = []
    for word, numbers_of in numbers.items():
        texts: list[str] = []
        inner = {number for number in numbers_of if {number - 1, number + 1} <= numbers_of}
        for number in sorted(numbers_of - inner):
            numeral = _ROMAN[number] if word == "table" and number < len(_ROMAN) else str(number)
            if number - 1 in inner:
                texts[-1] += f" to {numeral}"
            else:
                texts.append(numeral)
        if numbers_of:
            joined = " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))
            listed.append(f"{_WORDS[word][len(numbers_of) > 1]} {joined}")
    return ", ".join(listed)


def _split(part: str) -> tuple[str, int]:
    match = re.fullmatch(r"([a-z]+)(\d+)", part)
    assert match is not None, part
    return match[1], int(match[2])
