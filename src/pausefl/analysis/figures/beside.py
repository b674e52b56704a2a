"""A panel for each selector: its curve and, where there are some, another source's values beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from pausefl.analysis.figures.curves import FILLED, THIN, Array, Band, Shown, n_seeds_of, plot_band
from pausefl.analysis.figures.style import COLUMN_WIDTH, label_all, legend_key, new_grid
from pausefl.selectors import look_of
from pausefl.settings import Scenario

#: How the selector of a panel looks in it, and the curves of the others.
_CURVE: dict[str, Any] = {"color": look_of("pause").color, "linewidth": 1.3}
_OTHERS: dict[str, Any] = {"color": "0.8", "linewidth": 0.5}

#: Panels side by side.
_COLUMNS = 3

#: x and y of a run.
Points = tuple[Array, Array]


@dataclass(frozen=True)
class ReferenceRuns:
    """Values from another source, by selector, and how they look."""

    points: Mapping[str, Points] = field(default_factory=dict)
    #: What the legend calls them.
    label: str = ""
    #: Matplotlib's keywords for their line.
    look: Mapping[str, Any] = field(default_factory=dict)


#: What gives the values that stand beside the curves of some selectors.
Source = Callable[[Scenario, Shown, Iterable[str]], ReferenceRuns]


def plot_beside(
    curves: Mapping[str, Band], theirs: ReferenceRuns, limit: float, shown: Shown, across: Mapping[str, float]
) -> Figure:
    """A panel for each selector: its curve, what stands beside it and, in grey, the other selectors' curves.

    All panels have the same axes; ``across`` are heights of thin lines in them, by their names.
    """
    titles = [look_of(name).label + n_seeds_of(curve, curves) for name, curve in curves.items()]
    figure, panels = new_grid(titles, shown.x_label, _COLUMNS, width=COLUMN_WIDTH, height=0.95)
    for axes, (selector, curve) in zip(panels, curves.items(), strict=True):
        axes.sharey(panels[0])
        axes.grid(visible=False)
        for other in curves.values():
            plot_band(axes, other, shown.is_leakage, banded=False, **_OTHERS)
        plot_band(axes, curve, shown.is_leakage, **_CURVE)
        if selector in theirs.points:
            x, y = theirs.points[selector]
            axes.plot(x[x <= limit], y[x <= limit], **theirs.look)
        for height in across.values():
            axes.axhline(height, **THIN)
    most = max(curve.n_seeds for curve in curves.values())
    seeds = f"Mean and range of {most} seeds" if most > 1 else "One seed"
    key = legend_key(**_CURVE)
    keys: dict[str, Any] = {seeds: (Patch(facecolor=_CURVE["color"], **FILLED), key) if most > 1 else key}
    keys[theirs.label] = legend_key(**theirs.look)
    if len(curves) > 1:
        keys["Other selectors"] = legend_key(**_OTHERS)
    keys |= {name: legend_key(**THIN) for name in across}
    label_all(figure, shown.quantity if len(curves) > _COLUMNS else shown.y_label)
    figure.legend(keys.values(), keys.keys(), loc="outside lower center", ncols=2, fontsize="small")
    return figure
