"""Figure of a partition: how much every user holds, and of which classes."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pausefl.data.partition import Partition, label_mix, largest_shares

#: Up to this many users each has a bar of its own; beyond, the bars join into a skyline.
_SEPARATE_BARS = 60

#: Up to this many users there is room for their numbers, and up to this many classes for theirs.
_NUMBERED, _LISTED = 30, 20


def plot_partition(
    partition: Partition,
    labels: npt.NDArray[Any],
    n_classes: int,
    title: str,
    asked: float | None = None,
) -> Figure:
    """A figure of the users' data, users sorted by size.

    The upper panel stacks the class counts of each user, the lower one shows each class's share of a user's
    data. For regression (``n_classes`` 0) they are the plain sizes and the qualities. It is legible up to
    K = 500 users. ``labels`` (N,) are those of the training split. K, the sizes, how many examples nobody
    uses, and the shares of the users' most frequent labels, beside the share ``asked`` of a dominant one, are
    added below the title.
    """
    figure = Figure(figsize=(9.0, 5.6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    sizes, n_users, n_held_out = partition.sizes, len(partition.sizes), len(partition.validation)
    order = np.argsort(-sizes, kind="stable")
    if n_classes:
        counts = label_mix(partition, labels, n_classes)[order]
        # Told apart with any colour vision up to ten classes; beyond, a run through a uniform map.
        distinct, uniform = mpl.color_sequences["petroff10"], mpl.colormaps["cividis"]
        colors = distinct[:n_classes] if n_classes <= 10 else uniform(np.linspace(0, 1, n_classes))
        _plot_sizes(upper, counts, list(colors))
        place, bar = lower.inset_axes((1.012, 0.02, 0.014, 0.96)), {"label": "% of the user's data"}
        rows, look = 100 * counts.T / counts.sum(axis=1), {"cmap": "Blues", "vmin": 0, "rasterized": True}
        sns.heatmap(rows, ax=lower, cbar_ax=place, cbar_kws=bar, **look)
        lower.invert_yaxis()
        lower.set_ylabel("class")
        listed = np.arange(0, n_classes, 1 if n_classes <= _LISTED else 5)
        lower.set_yticks(listed + 0.5, listed, rotation=0)
    else:
        _plot_sizes(upper, sizes[order][:, None], ["#3f90da"])
        x, y, few = np.arange(n_users) + 0.5, partition.quality[order], n_users <= _SEPARATE_BARS
        lower.vlines(x, 0, y, color="0.8", linewidth=1 if few else 0.5)
        sns.scatterplot(x=x, y=y, s=36 if few else 9, color="0.2", zorder=3, ax=lower)
        lower.set(ylim=(0, 1.06), ylabel="quality of the data")
        lower.grid(visible=False)
    held_out = f", {n_held_out:,} held out for validation" if n_held_out else ""
    n_unused = len(labels) - sizes.sum() - n_held_out
    unused = f", {n_unused:,} unused" if n_unused else ""
    words = (
        f"K = {n_users} users, {sizes.sum():,} examples{held_out}{unused};"
        f" {sizes.min():,} to {sizes.max():,} a user, median {np.median(sizes):,.0f}"
    )
    if n_classes:
        shares = 100 * largest_shares(partition, labels)
        wanted = "" if asked is None else f" (asked: {100 * asked:.3g} %)"
        words += (
            f"\nmost frequent label of a user: {shares.min():.0f} to {shares.max():.0f} % of its data, mean"
            f" {shares.mean():.0f} %{wanted}"
        )
    upper.set_title(f"{title}\n" + "\n" * bool(n_classes), loc="left", fontsize=12)
    upper.annotate(words, (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points", color="0.4")
    upper.set_ylabel("examples")
    upper.grid(visible=False, axis="x")
    sns.despine(figure, left=True, bottom=True)
    if n_users <= _NUMBERED:
        lower.set_xticks(np.arange(n_users) + 0.5, order, rotation=0)
        lower.set_xlabel("user, by size")
    else:
        step = next(step for step in (10, 20, 50, 100, 200, 500, n_users) if n_users / step <= 12)
        ranks = [1, *range(step, n_users + 1, step)]
        lower.set_xticks([rank - 0.5 for rank in ranks], ranks, rotation=0)
        lower.set_xlabel("rank of the user by size")
    lower.set_xlim(-0.004 * n_users, 1.004 * n_users)
    return figure


def _plot_sizes(axes: Axes, counts: npt.NDArray[np.int64], colors: list[Any]) -> None:
    """Stack ``counts``, shape (K, parts), over the users, the first part at the bottom."""
    n_users, n_parts = counts.shape
    parts = pd.DataFrame(
        {
            "user": np.repeat(np.arange(n_users) + 0.5, n_parts),
            "class": np.tile(np.arange(n_parts), n_users),
            "examples": counts.ravel(),
        }
    )
    separate = n_users <= _SEPARATE_BARS
    sns.histplot(
        parts,
        x="user",
        weights="examples",
        hue="class",
        hue_order=range(n_parts)[::-1],
        palette=colors[::-1],
        multiple="stack",
        bins=n_users,
        binrange=(0, n_users),
        element="bars" if separate else "step",
        shrink=0.86 if separate else 1,
        alpha=1,
        linewidth=0.5 if separate else 0,
        legend=1 < n_parts <= _LISTED,
        ax=axes,
    )
    if axes.get_legend():
        sns.move_legend(axes, "upper left", bbox_to_anchor=(1.01, 1.03), handlelength=1, handleheight=1)
