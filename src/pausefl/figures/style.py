"""How every figure looks: one fixed colour, line and label a selector, one theme, one way to save.

Hues follow Okabe and Ito's palette, with shades of one hue for related selectors. Two selectors with the same
dashes differ clearly in lightness, so that figures work in greyscale and for colour-blind readers.
"""

from __future__ import annotations

import itertools
import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from pausefl.errors import PauseflError, suggest
from pausefl.files import replacing
from pausefl.registry import SELECTORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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

#: Width of one column of the papers, in inches.
COLUMN_WIDTH = 3.5

DPI = 300


@dataclass(frozen=True)
class SelectorStyle:
    """How one selector looks and what it is called.

    Attributes
    ----------
    label
        What the legend calls it.
    color
        Hexadecimal RGB.
    line
        Dash pattern.
    width
        Line width in points.
    zorder
        Higher is on top.
    """

    label: str
    color: str
    line: Line
    width: float = 1.3
    zorder: float = 3.0


#: Styles of selectors; the order of this dictionary is that of the legend.
_CHOSEN: dict[str, SelectorStyle] = {
    "pause": SelectorStyle("PAUSE", "#0072B2", SOLID, width=1.8, zorder=4.0),
    # SA-PAUSE follows PAUSE closely: light dashes on top of the solid line leave both visible.
    "sa_pause": SelectorStyle("SA-PAUSE", "#56B4E9", DASH, width=1.5, zorder=4.2),
    "pause_brute": SelectorStyle("PAUSE (enumeration)", "#00182B", SHORT_DASH, zorder=4.1),
    "sa_pause_v1": SelectorStyle("SA-PAUSE (v1)", "#004A94", DASH_DOT_DOT, zorder=3.9),
    "sa_pause_best_gain": SelectorStyle("SA-PAUSE (best gain)", "#3A7BD5", DASH_DOT_DOT, zorder=3.85),
    "sa_vanilla": SelectorStyle("PAUSE by plain SA", "#9FC4EA", LONG_DASH, zorder=3.8),
    "bsfl": SelectorStyle("BSFL", "#0CA87C", SOLID, width=1.6, zorder=3.7),
    "alsa": SelectorStyle("ALSA", "#00664A", DASH, zorder=3.75),
    "sa_bsfl": SelectorStyle("BSFL by plain SA", "#6CC8A8", DASH_DOT, zorder=3.6),
    "genie": SelectorStyle("Genie", "#000000", SOLID, width=1.0, zorder=3.5),
    "clustered_size": SelectorStyle("Clustered (size)", "#912B6B", DOT, width=1.5, zorder=3.4),
    "clustered_similarity": SelectorStyle("Clustered (similarity)", "#E08CC0", LONG_DASH_DOT, zorder=3.3),
    "random": SelectorStyle("Random", "#E69F00", SHORT_DASH, zorder=3.2),
    "random_by_size": SelectorStyle("Random by size", "#F2CB6C", DOT, width=1.5, zorder=3.1),
    "cs_ucb": SelectorStyle("CS-UCB", "#A6A636", DASH_DOT_DOT, zorder=3.0),
    "cs_ucb_q": SelectorStyle("CS-UCB-Q", "#5C5C14", LONG_DASH, zorder=2.9),
    "tifl": SelectorStyle("TiFL", "#7B4FA3", LONG_DASH_DOT, zorder=2.88),
    "fedcs": SelectorStyle("FedCS", "#B58AD6", DOT, width=1.5, zorder=2.86),
    "power_of_choice": SelectorStyle("Power-of-Choice", "#1B7F8C", SHORT_DASH, zorder=2.84),
    "oort": SelectorStyle("Oort", "#D1495B", DASH, zorder=2.82),
    # Its leakage coincides with that of FedAvg, whose longer dashes show beneath it.
    "fastest": SelectorStyle("Fastest in expectation", "#8C8C8C", DASH_DOT, zorder=2.8),
    "fedavg": SelectorStyle("FedAvg with privacy", "#D55E00", LONG_DASH, width=1.6, zorder=2.7),
    "fedavg_no_privacy": SelectorStyle("FedAvg w/o privacy", "#7A2E00", LONG_DASH_DOT, zorder=2.6),
}

#: Colours and dashes of selectors without a style of their own; no dashes of `_CHOSEN` are among them.
_SPARE: list[tuple[str, Line]] = [
    (color, (0, (*[1.0, 1.0] * n_dots, 6.0, 1.5)))
    for n_dots in (3, 4)
    for color in ("#4B3A6B", "#B22222", "#2F7F7F", "#8A6D3B", "#C71585", "#6A8E23")
]


def _styles() -> dict[str, SelectorStyle]:
    """The chosen styles, and one for every other registered selector, named after it."""
    others = [name for name in SELECTORS if name not in _CHOSEN]
    return _CHOSEN | {
        name: SelectorStyle(name.replace("_", " ").capitalize(), *look, zorder=2.5)
        for name, look in zip(others, itertools.cycle(_SPARE), strict=False)
    }


#: The style of every registered selector, in the order of the legend.
STYLES: dict[str, SelectorStyle] = _styles()

#: Colour, marker and place of the name, in points from the line's end, of mechanisms that share a panel.
MECHANISMS = {"coordinate": ("#D55E00", "o", (-6, 0)), "vector": ("#0072B2", "s", (0, 4))}
OTHER_MECHANISM = ("#4B3A6B", "D", (0, 4))

#: What people call each selector.
LABELS: dict[str, str] = {name: style.label for name, style in STYLES.items()}

#: What differs from seaborn's light grid for papers. The font is shipped with Matplotlib: the
#: same glyphs, so the same bytes, on every machine.
_OURS: dict[str, Any] = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.edgecolor": "black",
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.5,
    "xtick.bottom": True,
    "ytick.left": True,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "legend.frameon": False,
    "legend.handlelength": 2.9,
    "legend.columnspacing": 1.4,
    "legend.labelspacing": 0.3,
    "legend.borderaxespad": 0.1,
    "legend.borderpad": 0.2,
    "lines.dash_capstyle": "butt",
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
    "pdf.fonttype": 42,
    "pdf.compression": 9,
    "svg.hashsalt": "pausefl",
}


@cache
def theme_settings() -> dict[str, Any]:
    """Matplotlib's settings of every figure: seaborn's for papers, a little finer, and ours."""
    import seaborn

    settings = {**seaborn.axes_style("whitegrid"), **seaborn.plotting_context("paper", font_scale=0.93)}
    del settings["image.cmap"]  # a map of seaborn's own, which only its import makes known
    return {**settings, **_OURS}


@contextmanager
def theme() -> Iterator[None]:
    """Use `theme_settings` inside the block, whatever the user has set."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(cast(Any, theme_settings()))
        yield


def style_of(selector: str) -> SelectorStyle:
    """Style of a selector; `PauseflError` with the nearest name if it is not registered."""
    if selector not in STYLES:
        raise PauseflError(f"unknown selector '{selector}'. {suggest(selector, STYLES)}")
    return STYLES[selector]


def look(selector: str) -> dict[str, Any]:
    """Matplotlib's keywords for a selector's line."""
    style = style_of(selector)
    return {"color": style.color, "linestyle": style.line, "linewidth": style.width, "zorder": style.zorder}


def in_legend_order(selectors: Iterable[str]) -> list[str]:
    """Each selector once, in the fixed order of the legends; `PauseflError` for an unknown one."""
    unique = set(selectors)
    for selector in sorted(unique):
        style_of(selector)
    return [name for name in STYLES if name in unique]


def new_figure(height: float = 2.9) -> tuple[Figure, Axes]:
    """A figure of one column's width with one pair of axes.

    Call it, and plot, inside `theme`. The figure belongs to no pyplot state.

    Parameters
    ----------
    height
        In inches.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(COLUMN_WIDTH, height), layout="constrained")
    return figure, figure.subplots()


def title_lines(title: str, width: int = 54) -> list[str]:
    """A title in lines of at most ``width`` characters, broken at spaces only; by default for one column.

    A dollar sign is one, and begins no formula.
    """
    return [line.replace("$", r"\$") for line in textwrap.wrap(title, width, break_on_hyphens=False)]


#: Size of notes in points, the height of a line of them in inches, and how many characters an inch holds.
_NOTE_SIZE, _NOTE_LINE, _NOTE_DENSITY = 6.5, 0.105, 24


def add_notes(figure: Figure, notes: Sequence[str]) -> None:
    """Write sentences in small type below everything else; the figure grows by as much as they need.

    Parameters
    ----------
    figure
        With a constrained layout; its legends lie below its axes.
    notes
        One paragraph each; blank ones are left out.
    """
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    width = int(figure.get_figwidth() * _NOTE_DENSITY)
    lines = [line for note in notes for line in textwrap.wrap(note, width)]
    if not lines:
        return
    added = _NOTE_LINE * len(lines) + 0.05
    height = figure.get_figheight() + added
    figure.set_figheight(height)
    share = added / height
    for text in figure.texts:  # a label of all panels stays beside them
        text.set_y(share + (1 - share) * text.get_position()[1])
    engine = figure.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)
    engine.set(rect=(0, share, 1, 1 - share))
    for legend in figure.legends:  # with an anchor of its own it would not count in the layout
        legend.borderaxespad += 72 * added / legend.prop.get_size_in_points()
    with theme():
        figure.text(
            0.012, 0.03 / height, "\n".join(lines), fontsize=_NOTE_SIZE, linespacing=1.1, va="bottom"
        ).set_in_layout(False)


def save(figure: Figure, stem: Path, metadata: Mapping[str, Any]) -> None:
    """Write ``stem.png``, ``stem.pdf``, ``stem.svg`` and ``stem.json``, the same bytes every time.

    Parameters
    ----------
    figure
        The figure. Its layout is final afterwards.
    stem
        Path without suffix; its folder is made if need be. A dot in the name is kept.
    metadata
        What the figure was made from (runs, seeds, code hashes, configuration); anything JSON holds.

    Raises
    ------
    ValueError, TypeError
        If ``metadata`` is not JSON (NaN and infinities are not).
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    from pausefl.figures.thin import thin_out

    sidecar = json.dumps(metadata, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_name(stem.name + suffix) for suffix in (".png", ".pdf", ".svg", ".json")]
    with replacing(*paths) as (to_png, to_pdf, to_svg, to_json), theme():
        # `savefig` would draw the figure once more for each file, to find its layout.
        figure.set_dpi(DPI)
        png: Any = FigureCanvasAgg(figure)
        png.print_png(to_png, metadata={"Software": "pausefl"})
        figure.set_layout_engine("none")
        thin_out(figure)
        made_by = {"Creator": "pausefl", "Producer": "pausefl", "CreationDate": None}
        pdf: Any = FigureCanvasPdf(figure)
        pdf.print_pdf(to_pdf, metadata=made_by)
        svg: Any = FigureCanvasSVG(figure)
        svg.print_svg(to_svg, metadata={"Creator": "pausefl", "Date": None})
        to_json.write_text(sidecar, encoding="utf-8")
