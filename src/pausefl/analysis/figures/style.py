"""How every figure looks: one theme, one way to save. `pausefl.selectors.look` has how selectors look."""

from __future__ import annotations

import io
import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pausefl.analysis.figures.names import broken, name_ends, names_in
from pausefl.analysis.formats import raised
from pausefl.analysis.markdown import latex_table
from pausefl.files import replacing
from pausefl.selectors import look_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


#: Width of one column of the papers, in inches.
COLUMN_WIDTH = 3.5

DPI = 300

#: Style sheets of every figure: those that Matplotlib took over from seaborn, and ours. seaborn's own theme
#: would import SciPy's statistics, which takes longer than most figures.
_STYLES = ["seaborn-v0_8-whitegrid", "seaborn-v0_8-paper", "pausefl.analysis.figures.pausefl"]


@contextmanager
def theme() -> Iterator[None]:
    """Use the theme of every figure inside the block, whatever the user has set."""
    from matplotlib import style

    with style.context(["default", *_STYLES]):
        yield


def look(selector: str) -> dict[str, Any]:
    """Matplotlib's keywords for a selector's line."""
    one = look_of(selector)
    return {"color": one.color, "linestyle": one.line, "linewidth": one.width}


def marker(selector: str) -> dict[str, Any]:
    """Matplotlib's keywords for a selector's marker."""
    one = look_of(selector)
    size, face = 4.6 if one.marker == "*" else 3.4, "white" if one.hollow else "auto"
    return {"marker": one.marker, "markersize": size, "markerfacecolor": face, "markeredgewidth": 0.6}


def legend_key(label: str = "", **look: Any) -> Line2D:
    """A line for a legend, which is nowhere in the figure; ``look`` has Matplotlib's keywords."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **look)


def new_figure(height: float = 2.9) -> tuple[Figure, Axes]:
    """A figure of one column's width, with a height in inches and one pair of axes.

    Call it, and plot, inside `theme`. The figure belongs to no pyplot state.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(COLUMN_WIDTH, height), layout="constrained")
    return figure, figure.subplots()


def new_grid(
    titles: Sequence[str], x_label: str, n_columns: int, width: float, height: float
) -> tuple[Figure, list[Axes]]:
    """A figure with a small panel for each title, ``height`` inches each; only the outer ones name ticks."""
    from matplotlib.figure import Figure

    n_columns = min(n_columns, len(titles))
    n_rows = -(-len(titles) // n_columns)
    figure = Figure(figsize=(width, 0.6 + height * n_rows), layout="constrained")
    panels = []
    for i, title in enumerate(titles):
        axes, bottom = figure.add_subplot(n_rows, n_columns, i + 1), i + n_columns >= len(titles)
        words = broken(title, int(16 * width / n_columns))
        axes.set_title(
            words, loc="left", y=1.0, fontsize="small", fontweight="normal", pad=3, linespacing=0.9
        )
        axes.tick_params(labelsize="small", labelbottom=bottom, labelleft=i % n_columns == 0)
        axes.locator_params(axis="y", nbins=5)
        if bottom:
            axes.set_xlabel(x_label, fontsize="small", labelpad=1)
        panels.append(axes)
    return figure, panels


def set_axes(
    figure: Figure,
    x_scale: str | None = None,
    y_scale: str | None = None,
    x_limits: Sequence[float] | None = None,
    y_limits: Sequence[float] | None = None,
) -> None:
    """Give all panels the scales and limits that a scenario asks for."""
    for which, scale, limits in (("x", x_scale, x_limits), ("y", y_scale, y_limits)):
        to_set: dict[str, Any] = {f"{which}scale": scale} if scale else {}
        if limits or scale == "log":
            to_set[f"{which}lim"] = limits or (_least_positive(figure.axes, which), None)
        for axes in figure.axes:
            axes.set(**to_set)
            if scale == "log":  # small panels would name every other decade
                getattr(axes, f"{which}axis").get_major_locator().set_params(numticks=9)
    if names := names_in(figure.axes[0]):
        name_ends(figure.axes[0], names)  # which end elsewhere now


def _least_positive(panels: Sequence[Axes], which: str) -> float:
    """Least number above 0 in the curves of some panels: where a logarithmic axis begins."""
    curves = [line for axes in panels for line in axes.lines if line.get_transform() == axes.transData]
    values = np.concatenate([np.asarray(getattr(line, f"get_{which}data")(), float) for line in curves])
    return float(values[values > 0].min())


def label_all(figure: Figure, words: str) -> None:
    """Name the ordinate of all panels, beside their middle: there is more below them than above."""
    y = 0.5 + 0.17 / figure.get_figheight()
    figure.supylabel(words, y=y, fontsize="medium", multialignment="center")


def add_title(figure: Figure, title: str) -> None:
    """Write a title above everything else, broken at spaces; a dollar sign in it begins no formula."""
    lines = textwrap.wrap(title, int(15 * figure.get_figwidth()), break_on_hyphens=False)
    figure.suptitle("\n".join(lines).replace("$", r"\$"), x=0.01, ha="left", weight="bold", size="medium")
    figure.set_figheight(figure.get_figheight() + 0.15 * len(lines))


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


def save(
    figure: Figure, stem: Path, metadata: Mapping[str, Any], numbers: pd.DataFrame | None = None
) -> None:
    """Write ``stem.png``, ``stem.pdf`` and ``stem.json``, the same bytes every time.

    The last has ``metadata``, what the figure was made from, and ``numbers``, a mapping for each row, null
    where there is no finite number. A dot in the name is kept. The layout of the figure is final afterwards.
    `ValueError` or `TypeError` if ``metadata`` is not JSON (NaN and infinities are not).
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_pdf import FigureCanvasPdf

    if numbers is not None:
        finite = numbers.replace([np.inf, -np.inf], np.nan)
        metadata = {
            **metadata,
            "numbers": finite.astype(object).where(finite.notna(), None).to_dict("records"),
        }
    sidecar = json.dumps(metadata, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_name(stem.name + suffix) for suffix in (".png", ".pdf", ".json")]
    with replacing(*paths) as (to_png, to_pdf, to_json), theme():
        # `savefig` would draw the figure once more for each file, to find its layout.
        figure.set_dpi(DPI)
        png: Any = FigureCanvasAgg(figure)
        png.print_png(buffer := io.BytesIO(), metadata={"Software": "pausefl"})
        to_png.write_bytes(buffer.getvalue())  # so that a full disk is one, and no error of Matplotlib's
        figure.set_layout_engine("none")
        made_by = {"Creator": "pausefl", "Producer": "pausefl", "CreationDate": None}
        pdf: Any = FigureCanvasPdf(figure)
        pdf.print_pdf(buffer := io.BytesIO(), metadata=made_by)
        to_pdf.write_bytes(buffer.getvalue())
        to_json.write_text(sidecar, encoding="utf-8")


def to_latex(numbers: pd.DataFrame) -> str:
    """A `latex_table` of four digits; a dash where there is no number."""
    align = "".join("r" if kind.kind in "if" else "l" for kind in numbers.dtypes)
    rows = [[_digits(value) for value in row] for row in numbers.itertuples(index=False)]
    return latex_table(list(numbers.columns), rows, align)


def _digits(value: object) -> str:
    """A number with four digits, a dash for none; anything else as it is."""
    if value is None or value != value:
        return "–"
    if not isinstance(value, float):
        return str(value).replace("-", "−") if isinstance(value, int | np.integer) else str(value)
    digits, _, power = f"{value:.4g}".partition("e")
    return digits.replace("-", "−").replace("inf", "∞") + (f" · 10{raised(int(power))}" if power else "")
