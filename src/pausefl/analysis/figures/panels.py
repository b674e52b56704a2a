"""What the figures of the studies share: panels side by side, a line and a band for each selector."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.analysis.figures.curves import FILLED, Band, bands, plot_band
from pausefl.analysis.figures.style import COLUMN_WIDTH, legend_key, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

#: Words beside a point, in points from it.
NOTE: dict[str, Any] = {"textcoords": "offset points", "fontsize": 7}


@dataclass(frozen=True)
class Plotted:
    """A figure, and what is made with it."""

    figure: Figure
    #: Derived tables by their file names without suffix.
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    #: The numbers of the figure, as they are to be tabulated beside it; NaN where there is none.
    numbers: pd.DataFrame | None = None


def new_panels(shape: tuple[int, int], height: float, **sharing: Any) -> tuple[Figure, NDArray[Any]]:
    """A figure two columns wide with a grid of axes, ``height`` in inches; see `style.new_figure`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2 * COLUMN_WIDTH, height), layout="constrained")
    return figure, figure.subplots(*shape, squeeze=False, **sharing)


def shades(light: Sequence[float], dark: Sequence[float], n: int) -> list[str]:
    """Colours, evenly spaced from a light one to a dark one (RGB from 0 to 1)."""
    from matplotlib.colors import to_hex

    return [to_hex(color) for color in np.linspace(light, dark, n)]


def plot_bands(axes: Axes, curves: Mapping[str, Band], step: bool = False) -> list[Line2D]:
    """Lines of selectors, with a band of their seeds, the first on top; ``step`` as in `band`."""
    in_reverse = list(curves.items())[::-1]
    return [plot_band(axes, curve, step, **look(name)) for name, curve in in_reverse][::-1]


def explain(
    figure: Figure, lines: Sequence[Line2D], labels: Sequence[str], curves: Collection[Band], **layout: Any
) -> None:
    """A legend of lines below a figure's panels, and of their bands if there are any."""
    from matplotlib.patches import Patch

    keys: dict[str, Any] = dict(zip(labels, lines, strict=True))
    if any(curve.n_seeds > 1 for curve in curves):
        keys["Band: range of seeds"] = Patch(facecolor="black", **FILLED), legend_key(color="black")
    figure.legend(keys.values(), keys.keys(), loc="outside lower center", **layout)


def bands_of(runs: pd.DataFrame, column: str, x: str = "round") -> dict[str, Band]:
    """Mean, minimum and maximum over seeds of a column against another, by selector, in legend order."""
    by_run = runs.groupby(["selector", "seed"])
    return bands((str(selector), seed, run[x], run[column]) for (selector, seed), run in by_run)
