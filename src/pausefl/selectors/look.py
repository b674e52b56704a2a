"""What selectors are called, and their lines in figures."""

from __future__ import annotations

from typing import Literal, NamedTuple
from zlib import crc32

#: A dash pattern as Matplotlib takes it: offset and lengths in line widths.
Line = Literal["-"] | tuple[float, tuple[float, ...]]

SOLID: Line = "-"
DASH: Line = (0, (4, 1.5))
SHORT_DASH: Line = (0, (2.2, 1))
LONG_DASH: Line = (0, (8, 2))
DOT: Line = (0, (1, 1))
DASH_DOT: Line = (0, (3.5, 2.2, 1.2, 2.2))
LONG_DASH_DOT: Line = (0, (9, 1.5, 1.5, 1.5))
DASH_DOT_DOT: Line = (0, (5, 1.2, 1.2, 1.2, 1.2, 1.2))


class Look(NamedTuple):
    """What people call a selector, and its line in figures.

    Hues follow Okabe and Ito's palette, with shades of one hue for related selectors, and a contrast of at
    least 3 on white. Markers differ, so that figures work in greyscale and for colour-blind readers.
    """

    label: str
    #: Hexadecimal RGB.
    color: str
    marker: str
    line: Line
    #: In points.
    width: float = 1.3
    #: Higher is on top, and earlier in legends.
    zorder: float = 2.5
    #: Place in legends, where it is not that of `zorder`.
    legend: float | None = None
    #: Whether the marker is an outline.
    hollow: bool = False


#: Colours, marker and dashes of selectors without a look of their own; nobody else has these dashes.
SPARE: list[tuple[str, str, Line]] = [
    (color, "8", (0, (*[1.0, 1.0] * n_dots, 6.0, 1.5)))
    for n_dots in (3, 4)
    for color in ("#4B3A6B", "#B22222", "#2F7F7F", "#8A6D3B", "#C71585", "#6A8E23")
]


def spare_look(label: str, place: int) -> Look:
    """A look of no selector of the package; the ``place`` of it among such looks decides on its colour."""
    return Look(label, *SPARE[place % len(SPARE)])


def own_look(name: str, label: str, color: str, taken: set[tuple[str, str, Line]]) -> Look:
    """Look of a user's own selector: by its name, so that it is one in all figures, unless that is taken.

    ``taken`` are colours, markers and lines of others.
    """
    first = crc32(name.encode()) % len(SPARE)
    lines = [*SPARE[first:], *SPARE[:first]]
    spare, marker, line = next((one for one in lines if one not in taken), lines[0])
    return Look(label, color or spare, marker, line)
