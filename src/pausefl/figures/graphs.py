"""The graphs that annealing walks on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pausefl.figures.panels import Plotted, titled_panels
from pausefl.figures.style import theme
from pausefl.registry.selectors import LABELS, look_of
from pausefl.settings.studies import Graphs
from pausefl.studies.graphs import summarise, to_markdown

Floats = NDArray[np.float64]

#: Turns of the golden angle spread any number of points evenly.
_GOLDEN = (5**0.5 - 1) / 2


def plot(tables: Mapping[str, pd.DataFrame], study: Graphs) -> Plotted:
    """Figure and ``summary`` of the tables of `pausefl.studies.graphs.compute`."""
    summary = summarise(tables["degrees"], study.n_users, study.n_selected)
    figure = plot_graphs(tables["vertices"], tables["edges"], study.title)
    return Plotted(
        figure, {"summary": summary}, to_markdown(summary, study.n_users, study.n_selected, LABELS)
    )


def plot_graphs(vertices: pd.DataFrame, edges: pd.DataFrame, title: str) -> Figure:
    """The graphs of one instance, a vertex as high as its energy and at the same place in all of them.

    Parameters
    ----------
    vertices, edges
        As `pausefl.studies.graphs.first` returns them.
    title
        Of the study.
    """
    energy = vertices["energy"].to_numpy(np.float64)
    place = np.column_stack([_spread(energy), energy])
    selectors = edges["selector"].unique()
    with theme():
        figure, grid = titled_panels(title, ((len(selectors) + 1) // 2, 2), 5.4, sharex=True, sharey=True)
        for axes, selector in zip(grid.flat, selectors, strict=True):
            ends = edges.loc[edges["selector"] == selector, ["u", "v"]].to_numpy()
            # An edge has the colour of its lower end. The palest colours would not show, so none has them.
            color: dict[str, Any] = {"cmap": "viridis_r"}
            lines = LineCollection(
                list(place[ends]), array=energy[ends].min(axis=1), linewidths=0.35, **color
            )
            dots = axes.scatter(*place.T, c=energy, s=9, linewidths=0, zorder=2, **color)
            for artist in (axes.add_collection(lines), dots):
                artist.set_clim(energy.min() - 0.15 * np.ptp(energy), energy.max())
            degree = np.bincount(ends.ravel(), minlength=len(energy))
            least, most = degree.min(), degree.max()
            of = f"{least}" if least == most else f"{least} to {most}"
            axes.set_title(f"{look_of(selector).label}: {len(ends)} edges, degree {of}", weight="normal")
            axes.set_xticks([])
            axes.spines["bottom"].set_visible(False)
        for axes in grid[:, 0]:
            axes.set_ylabel("Energy")
    return figure


def _spread(energy: Floats) -> Floats:
    """Abscissas (N,) that keep vertices of similar energy apart, inside an ellipse."""
    rank = np.argsort(np.argsort(-energy))
    height = 2 * rank / max(len(rank) - 1, 1) - 1
    return np.asarray((2 * (rank * _GOLDEN % 1) - 1) * np.sqrt(np.maximum(1 - height**2, 0.02)))
