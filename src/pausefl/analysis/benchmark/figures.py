"""Pictures of a benchmark: mean ranks with the critical difference, and time against budget spent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from pausefl.analysis.benchmark.comparisons import Ranks, measures_of, ranks, unranked
from pausefl.analysis.benchmark.suite import Suite
from pausefl.analysis.figures.panels import NOTE
from pausefl.analysis.figures.style import COLUMN_WIDTH, marker, new_grid
from pausefl.analysis.measures import FRONT_SHARE, N_SAMPLES, censored_median, front_shares
from pausefl.selectors import LABELS, look_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What the axes of ranks are called.
_RANKED = {
    "accuracy": "Mean rank by accuracy at the end",
    "seconds": "Mean rank by time to the target",
    "spent": "Mean rank by largest budget spent",
}
#: Height of names at points, and width and height of a panel with points, in points of 1/72 inch.
_NAME, _PANEL = 5.5, np.array([132.0, 128.0])
_LEADER = {"arrowstyle": "-", "color": "0.7", "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2}

#: Names on either side of an axis of ranks, from top to bottom, in inches.
_LINE = 0.15


def plot_ranks(rows: pd.DataFrame, suite: Suite, highlighted: str) -> Figure | None:
    """Mean ranks over cells by each measure; a bar joins selectors that chance may explain the order of.

    None if fewer than two selectors have a rank.
    """
    from matplotlib.figure import Figure

    ranked = set(rows["selector"]) - unranked(rows)
    by_measure = {
        name: one
        for name, measured in measures_of(suite).items()
        if np.isfinite(rows[measured.column]).any() and (one := ranks(rows, measured, ranked)) is not None
    }
    if not by_measure:
        return None
    height = 0.75 + _LINE * (len(ranked) + 1) // 2 + 0.12 * len(ranked) / 2
    figure = Figure(figsize=(2 * COLUMN_WIDTH, height * len(by_measure)), layout="constrained")
    panels = figure.subplots(len(by_measure), 1, squeeze=False)
    for axes, (name, one) in zip(panels[:, 0], by_measure.items(), strict=True):
        _draw_ranks(axes, one, _RANKED[name], highlighted)
    return figure


def cliques(one: Ranks) -> list[tuple[float, float]]:
    """Least and largest mean rank of each longest run of selectors within the critical difference."""
    values, joined = list(one.mean.values()), list[tuple[float, float]]()
    for i, low in enumerate(values):
        high = max(value for value in values[i:] if value - low <= one.critical)
        if high > low and not any(low >= a and high <= b for a, b in joined):
            joined.append((low, high))
    return joined


def _draw_ranks(axes: Axes, one: Ranks, title: str, highlighted: str) -> None:
    """An axis of ranks with names on both sides, joined by bars, the best on the left."""
    names, n = list(one.mean), len(one.mean)
    left, half = names[: (n + 1) // 2], (n + 1) // 2
    groups = cliques(one) if math.isfinite(one.critical) else []
    top = 0.35 + 0.18 * len(groups)
    axes.set(xlim=(1 - 0.02 * n, n + 0.02 * n), ylim=(top + 0.32 * half + 0.1, -0.75))
    axes.axis("off")
    axes.hlines(0, 1, n, color="black", linewidth=0.8)
    for tick in range(1, n + 1):
        axes.vlines(tick, -0.1, 0, color="black", linewidth=0.8)
        axes.annotate(str(tick), (tick, -0.12), (0, 1), ha="center", **NOTE)
    axes.set_title(title, loc="left", fontsize="small", y=1.0, pad=2)
    if math.isfinite(one.critical):
        axes.hlines(-0.55, 1, 1 + one.critical, color="black", linewidth=1)
        words = f"critical difference {one.critical:.1f} ({one.n_cells} cells, 5 %)"
        axes.annotate(words, (1 + one.critical, -0.55), (4, 0), va="center", **NOTE)
    for i, (low, high) in enumerate(groups):
        axes.hlines(0.2 + 0.18 * i, low - 0.04, high + 0.04, color="0.35", linewidth=2.2)
    for i, name in enumerate(names):
        rank, to_left = one.mean[name], name in left
        y = top + 0.32 * (i if to_left else n - 1 - i)
        end = 1 - 0.02 * n if to_left else n + 0.02 * n
        strong = name == highlighted
        color = look_of(name).color if strong else "0.3"
        axes.plot([rank, rank, end], [0, y, y], color=color, linewidth=1.3 if strong else 0.7, clip_on=False)
        axes.annotate(
            f"{LABELS[name]}  {rank:.1f}" if to_left else f"{rank:.1f}  {LABELS[name]}",
            (end, y),
            (-3 if to_left else 3, 0),
            textcoords="offset points",
            ha="right" if to_left else "left",
            va="center",
            color=color,
            weight="bold" if strong else "normal",
            fontsize=7,
            annotation_clip=False,
        )


class Point(NamedTuple):
    """A selector in a cell: median time to the target and mean of the largest budget spent, with spreads."""

    seconds: float
    spent: float
    #: 2.5 and 97.5 % of bootstrap samples of seeds.
    seconds_ends: tuple[float, float]
    spent_ends: tuple[float, float]
    on_front: bool


def points(cell: pd.DataFrame, column: str, target: float, selectors: Iterable[str]) -> dict[str, Point]:
    """Where each selector of a cell lies; those that miss the target in half of the seeds are left out."""
    chosen = set(selectors)
    shares = front_shares(cell[cell["selector"].isin(chosen)], target)
    rng, placed = np.random.default_rng(0), dict[str, Point]()
    for selector, own in cell.groupby("selector", sort=False):
        seconds, spent = censored_median(own[column]), float(own["spent_max"].mean())
        if not (math.isfinite(seconds) and math.isfinite(spent)):
            continue
        drawn = rng.integers(len(own), size=(N_SAMPLES, len(own)))
        times = np.median(own[column].fillna(math.inf).to_numpy()[drawn], axis=1)
        budgets = own["spent_max"].to_numpy()[drawn].mean(axis=1)
        low, high = np.quantile(times, [0.025, 0.975], method="nearest")
        placed[str(selector)] = Point(
            seconds,
            spent,
            (float(low), float(high)),
            tuple(np.quantile(budgets, [0.025, 0.975]).tolist()),
            shares.get(str(selector), 0.0) >= FRONT_SHARE,
        )
    return placed


def plot_front(rows: pd.DataFrame, suite: Suite, labels: str, highlighted: str) -> Figure | None:
    """Time to the target against the largest budget spent, a panel a world; None without budgets.

    Filled points are on the front: in 80 % of bootstrap samples of seeds no other ranked selector is as good
    in time, budget and accuracy. Lines are 95 % of the samples.
    """
    column, mine = measures_of(suite)["seconds"].column, rows[rows["labels"] == labels]
    if not np.isfinite(mine["spent_max"]).any():
        return None
    chosen = set(rows["selector"]) - unranked(rows)
    worlds = [name for name in suite.worlds if name in set(mine["world"])]
    titles = [suite.worlds[name].title for name in worlds]
    target = f"{100 * suite.target:g} %"
    figure, panels = new_grid(titles, f"Time to {target} (simulated s)", 3, 2 * COLUMN_WIDTH, 2.1)
    for axes, world in zip(panels, worlds, strict=True):
        axes.tick_params(labelbottom=True, labelleft=True)
        _draw_points(
            axes, points(mine[mine["world"] == world], column, suite.target, chosen), chosen, highlighted
        )
    figure.supylabel("Largest budget spent (ε)", fontsize="small")
    return figure


def _draw_points(axes: Axes, placed: Mapping[str, Point], ranked: set[str], highlighted: str) -> None:
    finite = [one.seconds_ends[1] for one in placed.values() if math.isfinite(one.seconds_ends[1])]
    largest = max(finite, default=1.0)
    for name, one in placed.items():
        known = name in ranked
        color = look_of(name).color if known else "0.6"
        own: dict[str, Any] = marker(name) | {"markerfacecolor": color if one.on_front else "white"}
        ends = np.minimum(one.seconds_ends, 1.02 * largest)
        axes.hlines(one.spent, *ends, color=color, linewidth=0.6, alpha=0.6)
        axes.vlines(one.seconds, *one.spent_ends, color=color, linewidth=0.6, alpha=0.6)
        axes.plot(one.seconds, one.spent, color=color, linestyle="", **(own | {"markersize": 4.5}))
    axes.margins(0.12)
    places = _free_places(axes, {name: (one.seconds, one.spent) for name, one in placed.items()})
    for name, one in placed.items():
        axes.annotate(
            LABELS[name],
            (one.seconds, one.spent),
            places[name],
            textcoords="offset points",
            fontsize=_NAME,
            va="center",
            # A line from a name that is not beside its point.
            arrowprops=_LEADER if abs(places[name][1]) >= 9 else None,
            color=look_of(name).color if name in ranked else "0.6",
            weight="bold" if name == highlighted or one.on_front else "normal",
        )


def _free_places(axes: Axes, placed: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Where each name stands beside its point, in points from it: where it covers least.

    Widths of names are estimated, half of their height a letter.
    """
    low, high = np.array([axes.get_xlim(), axes.get_ylim()]).T
    at = {name: (np.array(point) - low) / (high - low) * _PANEL for name, point in placed.items()}
    points = [(x - 3, y - 3, x + 3, y + 3) for x, y in at.values()]
    places = dict[str, tuple[float, float]]()
    boxes = dict[str, tuple[float, float, float, float]]()
    for name, (x, y) in [*at.items()] * 2:  # once more, when the others have their places
        width = 0.52 * _NAME * len(LABELS[name])
        taken = [*points, *(box for other, box in boxes.items() if other != name)]
        best = math.inf
        for up, left in product((4, -4, 9, -9, 14, -14, 20, -20), (False, True)):
            dx = -width - 4 if left else 4.0
            box = (x + dx, y + up - _NAME / 2, x + dx + width, y + up + _NAME / 2)
            outside = max(0.0, -box[0]) + max(0.0, box[2] - _PANEL[0])
            cost = sum(_common(box, other) for other in taken) + 20 * outside + abs(up) / 2 + 2 * left
            if cost < best:
                best, places[name], boxes[name] = cost, (dx, up), box
    return places


def _common(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """Area that two boxes (left, bottom, right, top) have in common."""
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
