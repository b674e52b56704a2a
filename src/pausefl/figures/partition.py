"""Figure of a partition: how much every user holds, and of which classes."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from pausefl.data.partition import Partition, label_mix

_INK = "#333333"
_MUTED = "#6b6b6b"
_PLAIN = "#3f90da"

#: Up to this many users each has a bar of its own; beyond, the bars join into a skyline.
_SEPARATE_BARS = 60

#: Up to this many users there is room for their numbers.
_NUMBERED = 30


def plot_partition(partition: Partition, labels: npt.NDArray[Any], n_classes: int, title: str) -> Figure:
    """Plot the users' data, users sorted by size.

    The upper panel stacks the class counts of each user, the lower one shows each class's share of a user's
    data. For regression they are the plain sizes and the qualities.

    Parameters
    ----------
    partition
        Of K users; legible up to K = 500.
    labels
        Labels of the training split, shape (N,).
    n_classes
        Number of classes; 0 for regression.
    title
        Names the data set, the distribution and the seed; K, the sizes and how many examples nobody uses are
        added below it.

    Returns
    -------
    matplotlib.figure.Figure
        Independent of pyplot; save it with ``savefig``.
    """
    figure = Figure(figsize=(9.0, 5.6), layout=ConstrainedLayoutEngine(h_pad=0.06, w_pad=0.06))
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    order = np.argsort(-partition.sizes, kind="stable")
    if n_classes:
        counts = label_mix(partition, labels, n_classes)[order]
        _plot_counts(upper, counts)
        _plot_shares(lower, counts)
    else:
        _plot_bars(upper, partition.sizes[order][:, None], [_PLAIN])
        _plot_quality(lower, partition.quality[order])
    _label(figure, upper, lower, partition, len(labels), title)
    return figure


def _plot_counts(axes: Axes, counts: npt.NDArray[np.int64]) -> None:
    n_classes = counts.shape[1]
    handles = _plot_bars(axes, counts, _class_colors(n_classes))
    if n_classes <= 20:
        axes.legend(
            handles[::-1],
            [str(label) for label in range(n_classes)][::-1],
            title="class",
            loc="upper left",
            bbox_to_anchor=(1.01, 1.03),
            borderaxespad=0,
            frameon=False,
            fontsize=8,
            title_fontsize=8,
            handlelength=1,
            handleheight=1,
            labelspacing=0.35,
            labelcolor=_INK,
        )


def _plot_bars(axes: Axes, counts: npt.NDArray[np.int64], colors: list[Any]) -> list[Any]:
    """Stack the columns of ``counts``, shape (K, parts), over the users."""
    n_users = len(counts)
    top = np.cumsum(counts, axis=1)
    handles: list[Any] = []
    for part, color in enumerate(colors):
        base = top[:, part] - counts[:, part]
        if n_users <= _SEPARATE_BARS:
            handles.append(axes.bar(np.arange(n_users), counts[:, part], 0.86, base, color=color))
        else:
            edges = np.arange(n_users + 1) - 0.5
            handles.append(axes.stairs(top[:, part], edges, baseline=base, fill=True, color=color))
    axes.set_ylim(0, float(top[:, -1].max()) * 1.04)
    return handles


def _plot_shares(axes: Axes, counts: npt.NDArray[np.int64]) -> None:
    n_users, n_classes = counts.shape
    shares = counts / counts.sum(axis=1, keepdims=True)
    image = axes.imshow(
        100 * shares.T,
        aspect="auto",
        origin="lower",
        interpolation="nearest",
        cmap="Blues",
        vmin=0,
        extent=(-0.5, n_users - 0.5, -0.5, n_classes - 0.5),
    )
    if n_classes <= 20:
        axes.set_yticks(range(n_classes))
    bar = axes.figure.colorbar(image, cax=axes.inset_axes((1.012, 0.02, 0.014, 0.96)))
    bar.set_label("% of the user's data", fontsize=8, color=_INK)
    bar.ax.tick_params(labelsize=8, colors=_MUTED, length=2)
    bar.outline.set_visible(False)
    axes.set_ylabel("class", color=_INK)


def _plot_quality(axes: Axes, quality: npt.NDArray[np.float64]) -> None:
    ranks = np.arange(len(quality))
    axes.vlines(ranks, 0, quality, color="#c9c9c9", linewidth=1 if len(quality) <= _SEPARATE_BARS else 0.5)
    axes.plot(ranks, quality, "o", color=_INK, markersize=5 if len(quality) <= _SEPARATE_BARS else 2)
    axes.set_ylim(0, 1.06)
    axes.set_ylabel("quality of the data", color=_INK)


def _label(
    figure: Figure, upper: Axes, lower: Axes, partition: Partition, n_examples: int, title: str
) -> None:
    sizes = partition.sizes
    held_out = f", {len(partition.validation):,} held out for validation" if len(partition.validation) else ""
    n_unused = n_examples - sizes.sum() - len(partition.validation)
    unused = f", {n_unused:,} unused" if n_unused else ""
    words = (
        f"K = {len(sizes)} users, {sizes.sum():,} examples{held_out}{unused};"
        f" {sizes.min():,} to {sizes.max():,} a user, median {np.median(sizes):,.0f}"
    )
    upper.set_title(f"{title}\n", loc="left", fontsize=12, fontweight="bold", color=_INK)
    upper.annotate(
        words, (0, 1), (0, 7), xycoords="axes fraction", textcoords="offset points", fontsize=9, color=_MUTED
    )
    upper.set_ylabel("examples", color=_INK)
    _label_users(lower, np.argsort(-sizes, kind="stable"))
    upper.set_xlim(-0.5 - 0.004 * len(sizes), len(sizes) - 0.5 + 0.004 * len(sizes))
    for axes in (upper, lower):
        axes.tick_params(colors=_MUTED, labelsize=8, length=2)
        axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
        axes.grid(visible=False)
    upper.grid(visible=True, axis="y", color="#e3e3e3", linewidth=0.8)
    upper.set_axisbelow(True)


def _label_users(axes: Axes, order: npt.NDArray[np.int64]) -> None:
    """Mark each user by its number where there is room, else by its rank."""
    n_users = len(order)
    if n_users <= _NUMBERED:
        axes.set_xticks(range(n_users), [str(user) for user in order])
        axes.set_xlabel("user, by size", color=_INK)
    else:
        step = next(step for step in (10, 20, 50, 100, 200, 500, n_users) if n_users / step <= 12)
        ranks = [1, *range(step, n_users + 1, step)]
        axes.set_xticks([rank - 1 for rank in ranks], [str(rank) for rank in ranks])
        axes.set_xlabel("rank of the user by size", color=_INK)


def _class_colors(n_classes: int) -> list[Any]:
    """Colours told apart with any colour vision up to ten classes; beyond, a run through a uniform map."""
    if n_classes <= 10:
        return list(matplotlib.color_sequences["petroff10"][:n_classes])
    return list(matplotlib.colormaps["cividis"](np.linspace(0, 1, n_classes)))
