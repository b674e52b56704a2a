"""Tables of text: in Markdown, in LaTeX, and in aligned columns for a screen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pausefl.analysis.formats import not_raised

#: How LaTeX writes what tables have.
_SIGNS = {sign: f"\\{sign}" for sign in "&%$#_{}"}
_SIGNS |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_SIGNS |= {
    "±": r"$\pm$",
    "·": r"$\cdot$",
    "∞": r"$\infty$",
    "ε": r"$\varepsilon$",
    "δ": r"$\delta$",
    "✓": r"$\surd$",
}
_SIGNS |= {"✗": r"$\times$", "–": "--", "−": "$-$", "\u00a0": "~"}
_RAISED = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
#: Most rows of a table that stays on one page.
_PAGE = 45

_RULES = {"l": ":--", "r": "--:"}


def table(head: Sequence[str], rows: Iterable[Sequence[str]], align: str = "") -> str:
    """A Markdown table, one line a row; ends with a newline.

    Titles and cells are Markdown; a ``|`` is escaped, a line break is a space. ``align`` has a letter a
    column, ``l`` or ``r``; the last is that of all further columns. It is left to the renderer by default.
    """
    rule = [_RULES[letter] for letter in _whole(align, len(head))] if align else ["---"] * len(head)
    return "".join(f"| {' | '.join(map(_escaped, cells))} |\n" for cells in [head, rule, *rows])


def of_records(records: Sequence[Mapping[str, str]], note: str) -> str:
    """A `table` with a row a record, and a note; all have the keys of the first, which are the titles."""
    return f"{table(list(records[0]), [list(record.values()) for record in records], 'lr')}\n{note}\n"


def to_latex(page: str) -> str:
    """The first table of a page of Markdown, by `latex_table`; the rest is comments."""
    parts = page.strip().split("\n\n")
    place = next(i for i, part in enumerate(parts) if part.startswith("|"))
    head, _, *rows = (
        [cell.strip() for cell in line[2:-2].split(" | ")] for line in parts[place].splitlines()
    )
    notes = [line.strip("*") for part in parts[:place] + parts[place + 1 :] for line in part.splitlines()]
    table = latex_table(head, rows, "l" + "r" * (len(head) - 1))
    return "".join(f"% {note}\n" for note in notes) + table


def latex_table(head: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> str:
    """A table for LaTeX with the packages booktabs and longtable (`pandas.DataFrame.to_latex`).

    Titles and cells are text with code and bold of Markdown. ``align`` has a letter a column.
    """
    from pandas import DataFrame

    frame = DataFrame([list(map(_latex, row)) for row in rows], columns=list(map(_latex, head)))
    return frame.to_latex(index=False, column_format=align, longtable=len(rows) > _PAGE)


def aligned(rows: Sequence[Sequence[str]], align: str = "l") -> list[str]:
    """Rows as lines of columns two spaces apart; ``align`` as for `table`."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = [str.rjust if letter == "r" else str.ljust for letter in _whole(align, len(widths))]
    return [
        "  ".join(side(cell, width) for side, cell, width in zip(sides, row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _latex(text: str) -> str:
    raised = re.sub(f"[{_RAISED}]+", lambda found: f"\0{found[0]}\0", text)
    parts = raised.split("\0")  # every second one is raised
    parts[::2] = ["".join(_SIGNS.get(letter, letter) for letter in part) for part in parts[::2]]
    parts[1::2] = [f"$^{{{not_raised(part)}}}$" for part in parts[1::2]]
    marked = re.sub(r"`(.*?)`", r"\\texttt{\1}", "".join(parts))
    return re.sub(r"\*\*(.*?)\*\*", r"\\textbf{\1}", marked)


def _whole(align: str, n: int) -> str:
    return (align or "l").ljust(n, (align or "l")[-1])


def _escaped(cell: str) -> str:
    return " ".join(cell.split("\n")).replace("|", "\\|")
