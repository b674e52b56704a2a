"""Who was selected when: maps of users and rounds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from pausefl.analysis.figures.names import broken
from pausefl.analysis.figures.panels import Plotted
from pausefl.analysis.figures.style import COLUMN_WIDTH
from pausefl.runs.run import Rounds, runs_of
from pausefl.selectors import in_legend_order, look_of
from pausefl.settings import Scenario

#: Columns of the numbers; ranks are places in the order of speed.
FAST = "Participations of the fast half (%)"
RANKS = "Ranks from the fastest to the slowest of a round, mean"
REST = "Rounds of rest between two participations, median"

Bools = NDArray[np.bool_]


def who_took_part(run: pd.DataFrame, n_users: int) -> Bools:
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


def plot_selections(rounds: Rounds, scenario: Scenario) -> Plotted:
    """Who was selected when, first seed: a map for each selector, with the fastest user on top.

    Users are in the order of their expected latencies; a line parts the fast half from the slow one.
    """
    n_users = scenario.network.n_users
    order = np.argsort(scenario.network.make_latency().means(), kind="stable")
    runs = first_seeds(runs_of(rounds))
    figure = Figure(figsize=(COLUMN_WIDTH, 0.7 + 0.85 * len(runs)), layout="constrained")
    panels = figure.subplots(len(runs), 1, sharex=True, squeeze=False)[:, 0]
    rows = []
    for axes, (name, (seed, run)) in zip(panels, runs.items(), strict=True):
        took_part, label = who_took_part(run, n_users)[order], look_of(name).label
        ranks = [np.ptp(np.flatnonzero(users)) for users in took_part.T if users.any()]
        rests = np.concatenate([np.diff(np.flatnonzero(rounds_of_user)) - 1 for rounds_of_user in took_part])
        fast = 100 * took_part[: n_users // 2].sum() / max(took_part.sum(), 1)
        rest = np.median(rests) if len(rests) else np.nan
        rows.append((label, seed, len(run), fast, np.mean(ranks), rest))
        heading: dict[str, Any] = {"fontsize": "small", "fontweight": "normal", "loc": "left", "pad": 3}
        title = f"{label}: {fast:.0f} % fast, rest {rest:.3g}"
        axes.set_title(broken(title, int(15 * COLUMN_WIDTH)), linespacing=0.9, **heading)
        extent = (0.5, len(run) + 0.5, n_users, 0)
        axes.imshow(took_part, extent=extent, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axes.axhline(n_users // 2, color="black", linewidth=0.6)
        axes.set_yticks([n_users / 4, 3 * n_users / 4], ["fast", "slow"])
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False)
    panels[0].set_xlim(0.5, max(len(run) for _, run in runs.values()) + 0.5)
    panels[-1].set_xlabel("Round")
    figure.supylabel(f"{n_users} users", fontsize="medium")
    takes_part = Patch(facecolor="#08306B", label="Takes part")
    figure.legend(handles=[takes_part], loc="outside lower center", fontsize="small")
    heads = ["Selector", "Seed", "Rounds", FAST, RANKS, REST]
    return Plotted(figure, numbers=pd.DataFrame(rows, columns=heads))
