"""A panel for each selector: its curve and, where there are some, another source's values beside it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MultipleLocator

from pausefl.analysis.figures.curves import Array, Band, Shown, n_seeds_of, plot_band, spread_of
from pausefl.analysis.figures.style import COLUMN_WIDTH, label_all, legend_key, new_grid
from pausefl.selectors import look_of
from pausefl.settings import Scenario

#: How the curves of the other selectors look in a panel.
_OTHERS: dict[str, Any] = {"color": "0.8", "linewidth": 0.5, "zorder": 1}

#: How random selection looks in the panel of PAUSE.
_RIVAL: dict[str, Any] = {"color": look_of("random").color, "linestyle": look_of("random").line}
_RIVAL |= {"linewidth": 0.9}

#: Panels side by side.
_COLUMNS = 3

#: Characters of a line of the legend, two of which fit beside each other.
_KEY_WIDTH = 30

#: x and y of a run.
Points = tuple[Array, Array]


@dataclass(frozen=True)
class Beside:
    """Values from another source, by selector, and how they look."""

    points: Mapping[str, Points] = field(default_factory=dict)
    #: What the legend calls them.
    label: str = ""
    #: Matplotlib's keywords for their line.
    look: Mapping[str, Any] = field(default_factory=dict)


#: What gives the values that stand beside the curves of some selectors.
Source = Callable[[Scenario, Shown, Iterable[str]], Beside]


def plot_beside(
    curves: Mapping[str, Band],
    theirs: Beside,
    limit: float,
    shown: Shown,
    far: Collection[str],
    apart: Collection[str],
    more: Sequence[Line2D],
) -> tuple[Figure, dict[str, Axes]]:
    """A panel for each selector: its curve, what stands beside it and, in grey, the other selectors' curves.

    All panels have the same axes, but selectors whose losses go ``far`` have logarithmic ones of their own.
    Of those whose seeds end ``apart``, each seed is a line, and there is no mean.
    """
    titles = [look_of(name).label + n_seeds_of(curve, curves) for name, curve in curves.items()]
    figure, panels = new_grid(titles, shown.x_label, _COLUMNS, width=COLUMN_WIDTH, height=0.95)
    # One line with gaps: nine lines in each of nine panels take time.
    others = {name: curve for name, curve in curves.items() if name not in far}
    near = [line for name, curve in others.items() for line in _lines(curve, name in apart)]
    gap = [np.nan]
    x_of_others, y_of_others = (
        np.concatenate([part for of in xy for part in (of, gap)]) for xy in zip(*near, strict=True)
    )
    # Where what PAUSE leaks is to be less than what random selection does.
    rival = curves.get("random") if shown.is_leakage and "pause" in curves else None
    first = None
    for i, (axes, (selector, curve)) in enumerate(zip(panels, curves.items(), strict=True)):
        if any(name in far for name in list(curves)[i - i % _COLUMNS : i + 1]):  # or the axis of a neighbour
            axes.tick_params(labelleft=True, pad=1)
        if selector in apart:
            for x, y in _lines(curve, True):
                axes.plot(x, y, color=look_of(selector).color, linewidth=0.9)
        else:
            plot_band(axes, selector, curve, shown.is_leakage, marked=False)
        if selector in far:
            axes.set_yscale("log")
        else:
            first = first or axes
            if axes is not first:
                axes.sharey(first)
            axes.plot(
                x_of_others, y_of_others, drawstyle="steps-post" if shown.is_leakage else "default", **_OTHERS
            )
        if rival and selector == "pause":
            axes.plot(rival.x, rival.mean, drawstyle="steps-post", **_RIVAL | {"zorder": 2})
        if selector in theirs.points:
            x, y = theirs.points[selector]
            axes.plot(x[x <= limit], y[x <= limit], **theirs.look)
        axes.set_xlim(0, limit)
        axes.grid(visible=False)
        if shown.column == "accuracy":
            axes.yaxis.set_major_locator(MultipleLocator(20))
    most = max(curve.n_seeds for curve in curves.values())
    n_seeds = max((curve.n_seeds for name, curve in curves.items() if name not in apart), default=0)
    ours = f"mean, n = {n_seeds}" if n_seeds > 1 else "n = 1" if most == 1 else f"each of {most} seeds"
    lines = [legend_key(f"Ours, {ours}", color=look_of("pause").color, linewidth=1.4)]
    if theirs.points:
        lines.append(legend_key(theirs.label, **theirs.look))
    if len(curves) > 1:
        lines.append(legend_key("Ours, other selectors", **_OTHERS))
    if rival:
        lines.append(legend_key("Random, beside PAUSE", **_RIVAL))
    if apart and n_seeds > 1:
        lines.append(legend_key("Where seeds part: a line each, no mean", linestyle="none"))
    lines += more
    explained = {str(line.get_label()): line for line in lines} | spread_of(
        [curve for name, curve in curves.items() if name not in apart]
    )
    words = [textwrap.fill(label, _KEY_WIDTH) for label in explained]
    half = -(-len(words) // 2)
    n_lines = max("\n".join(column).count("\n") + 1 for column in (words[:half], words[half:] or [""]))
    figure.set_figheight(figure.get_figheight() + 0.13 * (n_lines - 2))
    label_all(figure, shown.quantity if len(curves) > 3 else shown.y_label)
    place: dict[str, Any] = {"loc": "outside lower center", "ncols": 2, "fontsize": "small"}
    for text in figure.legend(explained.values(), words, **place).get_texts():
        text.set_linespacing(0.9)
    return figure, dict(zip(curves, panels, strict=True))


def _lines(curve: Band, apart: bool) -> list[Points]:
    """The mean of a selector, or each seed of one whose seeds end apart."""
    return list(curve.seeds.values()) if apart else [(curve.x, curve.mean)]
