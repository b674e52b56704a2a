"""Tables of text: in Markdown, in LaTeX, and in aligned columns for a screen."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

#: How LaTeX writes what tables have.
_SIGNS = dict(
    zip(
        "±∞εδ✓✗", (r"$\pm$", r"$\infty$", r"$\varepsilon$", r"$\delta$", r"$\surd$", r"$\times$"), strict=True
    )
)
_SIGNS |= {"–": "--", "−": "$-$", "\u00a0": "~", "⁻": "$^{-}$"}
_SIGNS |= {sign: f"$^{{{digit}}}$" for digit, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}

_RULES = {"l": ":--", "r": "--:"}


def table(head: Sequence[str], rows: Iterable[Sequence[str]], align: str = "") -> str:
    """A Markdown table, one line a row; ends with a newline.

    Titles and cells are Markdown; a ``|`` is escaped, a line break is a space. ``align`` has a letter a
    column, ``l`` or ``r``; the last is that of all further columns. It is left to the renderer by default.
    """
    rule = [_RULES[letter] for letter in _whole(align, len(head))] if align else ["---"] * len(head)
    return "".join(f"| {' | '.join(map(_escaped, cells))} |\n" for cells in [head, rule, *rows])


def of_records(records: Sequence[Mapping[str, str]], align: str, note: str = "") -> str:
    """A `table` with a row a record, and a note; all have the keys of the first, which are the titles."""
    text = table(list(records[0]), [list(record.values()) for record in records], align)
    return f"{text}\n{note}\n" if note else text


def to_latex(page: str) -> str:
    """The first table of a page of Markdown for LaTeX, with the package booktabs; the rest is comments."""
    import pandas as pd

    parts = page.strip().split("\n\n")
    place = next(i for i, part in enumerate(parts) if part.startswith("|"))
    head, _, *rows = (
        [cell.strip() for cell in line[2:-2].split(" | ")] for line in parts[place].splitlines()
    )
    table = pd.DataFrame(rows, columns=head).to_latex(
        index=False, escape=True, column_format="l" + "r" * (len(head) - 1)
    )
    table = re.sub(r"\*\*(.*?)\*\*", r"\\textbf{\1}", re.sub(r"`(.*?)`", r"\\texttt{\1}", table))
    table = "".join(_SIGNS.get(letter, letter) for letter in table)
    notes = [line.strip("*") for part in parts[:place] + parts[place + 1 :] for line in part.splitlines()]
    return "".join(f"% {note}\n" for note in notes) + table


def number(value: float, form: str) -> str:
    """A number in one of Python's formats, with a minus sign; a dash for NaN."""
    return "–" if math.isnan(value) else f"{value:{form}}".replace("-", "−")


def aligned(rows: Sequence[Sequence[str]], align: str = "l") -> list[str]:
    """Rows as lines of columns two spaces apart; ``align`` as for `table`."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = [str.rjust if letter == "r" else str.ljust for letter in _whole(align, len(widths))]
    return [
        "  ".join(side(cell, width) for side, cell, width in zip(sides, row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _whole(align: str, n: int) -> str:
    return (align or "l").ljust(n, (align or "l")[-1])


def _escaped(cell: str) -> str:
    return " ".join(cell.split("\n")).replace("|", "\\|")
