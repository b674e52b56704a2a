"""What the figures of the studies share: panels side by side, a line and a band for each selector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.figures.curves import Band, bands, plot_band
from pausefl.figures.style import COLUMN_WIDTH, title_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Floats = NDArray[np.float64]

#: Words beside a point, in points from it.
NOTE: dict[str, Any] = {"textcoords": "offset points", "fontsize": 7}


@dataclass(frozen=True)
class Plotted:
    """What is made of the tables of a study."""

    figure: Figure
    #: Derived tables by their file names without suffix.
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    #: The numbers for people.
    markdown: str | None = None


def two_panels(title: str, x_label: str, y_labels: tuple[str, str]) -> tuple[Figure, Axes, Axes]:
    """A figure as wide as two columns with two pairs of axes; call it, and plot, inside `theme`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2 * COLUMN_WIDTH, 2.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.set_title("\n".join(title_lines(title)), loc="left", linespacing=1.0)
    for axes, y_label in zip((left, right), y_labels, strict=True):
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
    return figure, left, right


def titled_panels(
    title: str, shape: tuple[int, int], height: float, **sharing: Any
) -> tuple[Figure, NDArray[Any]]:
    """A figure two columns wide: a title above a grid of axes; call it, and plot, inside `theme`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2 * COLUMN_WIDTH, height), layout="constrained")
    figure.suptitle(" ".join(title_lines(title)), x=0.01, ha="left", weight="bold", size="medium")
    return figure, figure.subplots(*shape, squeeze=False, **sharing)


def plot_bands(axes: Axes, curves: Mapping[str, Band], step: bool = False) -> list[Line2D]:
    """Plot a line and a band for each selector; ``step`` as in `band`. Returns the lines."""
    return [plot_band(axes, selector, curve, step) for selector, curve in curves.items()]


def bands_of(runs: pd.DataFrame, column: str, x: str = "round") -> dict[str, Band]:
    """Mean, minimum and maximum over seeds of a column against another, by selector, in legend order."""
    return bands(
        (str(selector), run[x], run[column]) for (selector, _), run in runs.groupby(["selector", "seed"])
    )
