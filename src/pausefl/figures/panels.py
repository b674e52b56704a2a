"""Figures of the studies: panels side by side, and a line and a band for each selector."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from pausefl.figures.curves import Band, band, draw_band
from pausefl.figures.notes import seed_notes
from pausefl.figures.style import COLUMN_WIDTH, add_notes, in_legend_order, save

Floats = NDArray[np.float64]


def two_panels(title: str, x_label: str, y_labels: tuple[str, str]) -> tuple[Figure, Axes, Axes]:
    """A figure as wide as two columns with two pairs of axes; call it, and draw, inside `theme`."""
    figure = Figure(figsize=(2 * COLUMN_WIDTH, 2.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.set_title("\n".join(textwrap.wrap(title, 54)), loc="left", linespacing=1.0)
    for axes, y_label in zip((left, right), y_labels, strict=True):
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
    return figure, left, right


def titled_panels(
    title: str, shape: tuple[int, int], height: float, **sharing: Any
) -> tuple[Figure, NDArray[Any]]:
    """A figure two columns wide: a title above a grid of axes; call it, and draw, inside `theme`."""
    figure = Figure(figsize=(2 * COLUMN_WIDTH, height), layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", weight="bold", size="medium")
    return figure, figure.subplots(*shape, squeeze=False, **sharing)


def save_played(
    figure: Figure, png: Path, study: Mapping[str, Any], data: Iterable[str], **code: Any
) -> None:
    """Save the figure of a study whose selectors play under several seeds, with what it was drawn from.

    Parameters
    ----------
    figure
        Gets a note if there is one seed only.
    png
        Path of the picture; PDF and JSON are written beside it.
    study
        What the study depends on, and what its caption states.
    data
        Files that were drawn.
    code
        Hashes of the code that made them.
    """
    notes = seed_notes(study["seeds"])
    add_notes(figure, notes)
    save(figure, png.with_suffix(""), {"study": study, "data": list(data), **code, "notes": notes})


def draw_bands(axes: Axes, bands: Mapping[str, Band], step: bool = False) -> list[Line2D]:
    """Draw a line and a band for each selector; ``step`` as in `band`; returns the lines."""
    return [draw_band(axes, selector, curve, step) for selector, curve in bands.items()]


def bands_of(runs: pd.DataFrame, column: str) -> dict[str, Band]:
    """Mean, minimum and maximum over seeds of a column against ``round``, by selector, in legend order."""
    seeds: dict[str, list[tuple[Floats, Floats]]] = {}
    for (selector, _), run in runs.groupby(["selector", "seed"]):
        curve = run["round"].to_numpy(np.float64), run[column].to_numpy(np.float64)
        seeds.setdefault(str(selector), []).append(curve)
    return {selector: band(seeds[selector]) for selector in in_legend_order(seeds)}
