"""Six figures of PAUSE v2 at a glance: accuracy of few selectors over time, and the authors'."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pausefl.analysis.figures.curves import Band, on_time_axis, plot_band, smoothed_bands
from pausefl.analysis.figures.panels import explain, new_panels
from pausefl.analysis.figures.style import legend_key, look, marker, theme
from pausefl.analysis.outcomes import WINDOW
from pausefl.reproduction.authors_archive import read_off
from pausefl.reproduction.figures.papers import AS_RUN, AS_WRITTEN, SETTINGS, label
from pausefl.selectors import in_legend_order, look_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pausefl.runs.run import Rounds


@dataclass(frozen=True)
class Panel:
    """A figure of the paper."""

    part: str
    #: The scenario as written; as run it has this name and ``_as_run``.
    scenario: str
    setting: str
    #: Rounds of the trailing mean: 15 of 300 users take turns, and so does what they have learned.
    window: int = WINDOW

    @property
    def as_run(self) -> str:
        """The scenario as run, of which there is the authors' log."""
        return f"{self.scenario}_as_run"

    def shown(self, ran: Collection[str]) -> str:
        """The scenario that is shown, of those that ran: as run, else as written; none if neither ran."""
        return next((name for name in (self.as_run, self.scenario) if name in ran), "")


PANELS = (
    Panel("fig2", "cifar10_small_iid_r1", "CIFAR-10, 30 clients, i.i.d."),
    Panel("fig3", "cifar10_small_iid_r2", "CIFAR-10, 30 clients, i.i.d., R2"),
    Panel("fig6", "cifar10_small_noniid_r1", "CIFAR-10, 30 clients, non-i.i.d."),
    Panel("fig8", "mnist_large_iid_r1", "MNIST, 300 clients, i.i.d."),
    Panel("fig10", "cifar10_large_noniid_r1", "CIFAR-10, 300 clients, non-i.i.d.", 20),
    Panel("fig14", "cifar10_large_noniid_r1_cnn5", "CIFAR-10, 300 clients, larger CNN", 20),
)

#: What a panel shows: the first that ran of each kind.
_SHOWN = (
    ("pause",),
    ("sa_pause", "sa_pause_best_gain", "sa_pause_v1"),
    ("random", "clustered_size"),
    ("fedavg_no_privacy",),
    ("fedavg",),
)

#: About as many rounds of the authors' are marked on an axis of time.
_N_MARKS = 9


def scenarios(ran: Collection[str]) -> list[str]:
    """Scenarios that the picture shows, of those that ran."""
    return [name for panel in PANELS if (name := panel.shown(ran))]


def plot(rounds: Mapping[str, Rounds]) -> Figure:
    """Plot the picture from the rounds of `scenarios`, as `pausefl.runs.run.rounds_of` returns them."""
    curves: list[Band] = []
    shown: set[str] = set()
    with theme():
        figure, grid = new_panels((2, 3), 4.3, sharey=True)
        for axes, panel in zip(grid.flat, PANELS, strict=True):
            curves += _plot_panel(axes, panel, rounds.get(panel.shown(rounds)), shown)
        grid[0, 0].set_ylim(0, 95)
        for row in grid:
            row[0].set_ylabel("Test accuracy (%)")
        for axes in grid[-1]:
            axes.set_xlabel("Simulated time (s)")
        keys = {
            look_of(name).label: legend_key(**look(name) | _mark(name)) for name in in_legend_order(shown)
        }
        # So few marks on a line of the key would look like marks of ours.
        keys["Marks: the authors' runs"] = legend_key(color="black", **_mark("pause") | {"linestyle": "none"})
        explain(figure, list(keys.values()), list(keys), curves, ncols=3)
    return figure


def _plot_panel(axes: Axes, panel: Panel, rounds: Rounds | None, shown: set[str]) -> list[Band]:
    """Plot a figure of the paper; returns its curves, and adds its selectors to those that are ``shown``."""
    curves: dict[str, Band] = {}
    if rounds is not None:
        names = [_first(kinds, {run.selector for run in rounds}) for kinds in _SHOWN]
        of_names = {run: table for run, table in rounds.items() if run.selector in names}
        curves = smoothed_bands(of_names, "accuracy", 100, panel.window)
    limit, cut, _ = on_time_axis(curves) if curves else (np.inf, {}, {})
    theirs = read_off(panel.as_run)
    for kinds in reversed(_SHOWN):  # the first on top
        if name := _first(kinds, cut):
            plot_band(axes, cut[name], **look(name))
            shown.add(name)
        if name := _first(kinds, theirs):
            run = theirs[name].dropna(subset="accuracy")
            times = run["elapsed_s"].to_numpy(np.float64)
            if len(times := times[times <= limit]):
                evenly = np.linspace(times[0], times[-1], _N_MARKS)
                run = run.iloc[np.unique(np.searchsorted(times, evenly))]
                style = look(name) | _mark(name) | {"linestyle": "none"}
                axes.plot(run["elapsed_s"], 100 * run["accuracy"], **style)
                shown.add(name)
    axes.set_xlim(0, limit if curves else None)
    words = "not run"
    if rounds is not None:
        n = sorted({curve.n_seeds for curve in curves.values()})
        seeds = f"{n[0]} to {n[-1]} seeds" if len(n) > 1 else "one seed" if n == [1] else f"{n[0]} seeds"
        read = AS_RUN if panel.as_run in {run.scenario for run in rounds} else AS_WRITTEN
        words = f"{SETTINGS[read]}, {seeds}"
    axes.set_title(f"{label(panel.part)}: {panel.setting}", loc="left", fontsize=7.8, pad=12)
    axes.annotate(words, (0, 1), (0, 3), "axes fraction", "offset points", fontsize=8)
    return list(cut.values())


def _first(kinds: Collection[str], there: Collection[str]) -> str:
    """The first of some selectors that is there, or nothing."""
    return next((name for name in kinds if name in there), "")


def _mark(selector: str) -> dict[str, Any]:
    return marker(selector) | {"markersize": 4, "markerfacecolor": "white", "markeredgewidth": 0.9}
