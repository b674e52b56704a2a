"""Who was selected when: maps of users and rounds."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, PowerNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from pausefl.analysis.figures.panels import Plotted
from pausefl.analysis.figures.style import COLUMN_WIDTH
from pausefl.runs.run import runs_of
from pausefl.selectors import in_legend_order, look_of
from pausefl.settings import Scenario

#: Most cells of a map along each axis. Of more rounds, or users, several share a cell.
MOST_ROUNDS, MOST_USERS = 50, 60

#: Maps side by side in one column of a paper, and in two.
NARROW, WIDE = 3, 6

#: From never to always.
_COLORS = ("#FFFFFF", "#9ECAE1", "#2171B5", "#08214D")

#: Columns of the numbers; ranks are places in the order of speed.
FAST = "Participations of the fast half (%)"
RANKS = "Ranks from the fastest to the slowest of a round, mean"
REST = "Rounds of rest between two participations, median"

Bools = NDArray[np.bool_]


def participations(run: pd.DataFrame, n_users: int) -> Bools:
    """Who took part, however often sampled, shape (K, T): K users, and T rounds of one run in order."""
    took_part = np.zeros((n_users, len(run)), np.bool_)
    for t, users in enumerate(run["selection"]):
        took_part[np.asarray(users, np.int64), t] = True
    return took_part


def first_seeds(runs: Iterable[tuple[str, int, pd.DataFrame]]) -> dict[str, tuple[int, pd.DataFrame]]:
    """Seed and rounds of the lowest seed of each selector, in legend order, of selector, seed and rounds."""
    lowest_last = sorted(runs, key=lambda each: -each[1])
    found = {selector: (seed, run) for selector, seed, run in lowest_last}
    return {selector: found[selector] for selector in in_legend_order(found)}


def binned(took_part: Bools, n_users: int, n_rounds: int) -> NDArray[np.float64]:
    """Shares of participations (K, T) in blocks of ``n_users`` by ``n_rounds``; the last may be smaller."""
    shares = took_part.astype(np.float64)
    for axis, size in enumerate((n_users, n_rounds)):
        starts = np.arange(0, shares.shape[axis], size)
        counts = np.diff([*starts, shares.shape[axis]])
        shares = np.add.reduceat(shares, starts, axis=axis) / np.expand_dims(counts, 1 - axis)
    return shares


def plot_selections(rounds: pd.DataFrame, scenario: Scenario) -> Plotted:
    """Who was selected when, first seed: a map for each selector, with the fastest user on top.

    Users are in the order of their expected latencies; a line parts the fast half from the slow one. More
    than `MOST_ROUNDS` rounds are binned, and a map below has the last of them one by one. More than
    `MOST_USERS` users are binned, too.
    """
    n_users = scenario.network.n_users
    order = np.argsort(scenario.network.make_latency().means(), kind="stable")
    runs = first_seeds(runs_of(rounds))
    shown = {name: participations(run, n_users)[order] for name, (_, run) in runs.items()}
    most = max(took_part.shape[1] for took_part in shown.values())
    in_bin, in_row = -(-most // MOST_ROUNDS), -(-n_users // MOST_USERS)
    wide = len(shown) > NARROW
    n_columns, width = min(len(shown), WIDE if wide else NARROW), COLUMN_WIDTH * (1 + wide)
    n_maps = 2 if in_bin > 1 else 1
    n_rows = n_maps * -(-len(shown) // n_columns)
    figure = Figure(figsize=(width, 0.7 + 1.15 * n_rows), layout="constrained")
    grid = figure.subplots(n_rows, n_columns, squeeze=False)
    cells = grid.reshape(-1, n_maps, n_columns).swapaxes(1, 2).reshape(-1, n_maps)
    colors, scale = LinearSegmentedColormap.from_list("share", _COLORS), PowerNorm(0.6, 0, 1)
    look: dict[str, Any] = {"cmap": colors, "norm": scale, "aspect": "auto", "interpolation": "none"}
    rows = []
    for i, (name, took_part) in enumerate(shown.items()):
        end, label = took_part.shape[1], look_of(name).label
        ranks = [np.ptp(np.flatnonzero(users)) for users in took_part.T if users.any()]
        rests = np.concatenate([np.diff(np.flatnonzero(own)) - 1 for own in took_part])
        fast = 100 * took_part[: n_users // 2].sum() / max(took_part.sum(), 1)
        rest = np.median(rests) if len(rests) else np.nan
        rows.append((label, runs[name][0], end, fast, np.mean(ranks), rest))
        lines = [*textwrap.wrap(label, int(16 * width / n_columns)), f"{fast:.0f} % fast, rest {rest:.3g}"]
        heading: dict[str, Any] = {"fontsize": "small", "fontweight": "normal", "linespacing": 0.95}
        cells[i, 0].set_title("\n".join(lines), loc="left", pad=3, **heading)
        for axes, begin in zip(cells[i], (0, max(end - MOST_ROUNDS, 0)), strict=False):
            shares = binned(took_part[:, begin:], in_row, 1 if begin or n_maps == 1 else in_bin)
            axes.imshow(shares, extent=(begin + 0.5, end + 0.5, n_users, 0), **look)
            axes.set_xlim(begin + 0.5, (end if begin else most) + 0.5)
            axes.axhline(n_users // 2, color="black", linewidth=0.6)
            halves = ["", ""] if i % n_columns else ["fast", "slow"]
            axes.set_yticks([n_users / 4, 3 * n_users / 4], halves)
            axes.tick_params(axis="y", length=0)
            axes.tick_params(labelsize="small")
            axes.locator_params(axis="x", nbins=3)
            axes.grid(visible=False)
            axes.spines[["top", "right"]].set_visible(True)
        cells[i, -1].set_xlabel("Round", fontsize="small", labelpad=1)
    for axes in cells[len(shown) :].flat:
        axes.remove()
    for axes, words in zip(cells[0], ("all rounds", f"last {MOST_ROUNDS}"), strict=False):
        axes.set_ylabel(f"{n_users} users,\n{words}", fontsize="small", linespacing=0.9)
    if n_maps == in_row == 1:
        drawn = Patch(facecolor=_COLORS[-1], label="takes part")
        figure.legend(handles=[drawn], loc="outside lower center", fontsize="small")
    else:
        bar = figure.colorbar(
            ScalarMappable(scale, colors), ax=figure.axes, location="bottom", aspect=40 * width / COLUMN_WIDTH
        )
        bar.set_ticks([0, 0.25, 0.5, 1], labels=["never", "25 %", "50 %", "every round"], fontsize="small")
    heads = ["Selector", "Seed", "Rounds", FAST, RANKS, REST]
    return Plotted(figure, numbers=pd.DataFrame(rows, columns=heads))
