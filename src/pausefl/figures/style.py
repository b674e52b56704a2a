"""How every figure looks: one theme, one way to save. `pausefl.registry.selectors` has how selectors look."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pausefl.files import replacing
from pausefl.registry.selectors import look_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Width of one column of the papers, in inches.
COLUMN_WIDTH = 3.5

DPI = 300

#: What differs from seaborn's light grid for papers. The font is shipped with Matplotlib: the
#: same glyphs, so the same bytes, on every machine.
THEME: dict[str, Any] = {
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


@contextmanager
def theme() -> Iterator[None]:
    """Use the theme of every figure inside the block, whatever the user has set."""
    import matplotlib as mpl
    import seaborn as sns

    with mpl.rc_context():
        mpl.rcdefaults()
        sns.set_theme("paper", "whitegrid", palette=None, font_scale=0.93, rc=THEME)
        yield


def look(selector: str) -> dict[str, Any]:
    """Matplotlib's keywords for a selector's line."""
    one = look_of(selector)
    return {"color": one.color, "linestyle": one.line, "linewidth": one.width, "zorder": one.zorder}


def new_figure(height: float = 2.9) -> tuple[Figure, Axes]:
    """A figure of one column's width, with a height in inches and one pair of axes.

    Call it, and plot, inside `theme`. The figure belongs to no pyplot state.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(COLUMN_WIDTH, height), layout="constrained")
    return figure, figure.subplots()


def title_lines(title: str, width: int = 54) -> list[str]:
    """A title in lines of at most ``width`` characters, broken at spaces only; by default for one column.

    A dollar sign is one, and begins no formula.
    """
    return [line.replace("$", r"\$") for line in textwrap.wrap(title, width, break_on_hyphens=False)]


def add_title(figure: Figure, title: str) -> None:
    """Write a title above everything else, in one line; a dollar sign in it begins no formula."""
    figure.suptitle(title.replace("$", r"\$"), x=0.01, ha="left", weight="bold", size="medium")


#: Size of notes in points, the height of a line of them in inches, and how many characters an inch holds.
_NOTE_SIZE, _NOTE_LINE, _NOTE_DENSITY = 6.5, 0.105, 24


def add_notes(figure: Figure, notes: Sequence[str]) -> None:
    """Write sentences in small type below everything else; the figure grows by as much as they need.

    Each note is a paragraph; blank ones are left out. The figure has a constrained layout, and its legends
    lie below its axes.
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

    The last has ``metadata``: what the figure was made from (runs, seeds, code hashes, configuration). The
    folder is made if need be; a dot in the name is kept. The layout of the figure is final afterwards.

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
