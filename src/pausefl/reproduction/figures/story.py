"""The pictures that tell the findings: one each, of published runs, with a title that says the result."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from pausefl.analysis.figures.curves import THIN, bands, plot_band
from pausefl.analysis.figures.names import name_ends
from pausefl.analysis.figures.panels import NOTE, new_panels
from pausefl.analysis.figures.style import legend_key, look, theme
from pausefl.analysis.outcomes import moving_average
from pausefl.runs.run import Run, runs_of
from pausefl.selectors import look_of
from pausefl.streams import Streams

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pausefl.runs.run import Rounds
    from pausefl.settings import Scenario

#: Where the runs of `opening`, `timeline` and `who` are from.
SCENARIO = "world_two_groups_iid"

#: Who is shown, the last on top.
_LEARN, _WAIT, _TAKE_PART = (
    ("random", "sweep", "pause"),
    ("random", "pause", "sweep"),
    ("random", "pause", "cs_ucb", "sweep"),
)

#: The round that `timeline` begins with, when latencies are known, and for how many seconds it goes on.
_FROM, _SECONDS = 101, 6.0


def opening(rounds: Rounds, time_s: float) -> Figure:
    """Accuracy of three selectors against rounds and against simulated time, up to ``time_s``.

    Axes end where random selection's runs end: what the others do later has no counterpart.
    """
    curves = {
        column: bands(
            (name, seed, run[column], 100 * moving_average(run["accuracy"].to_numpy(np.float64)))
            for name, seed, run in runs_of(rounds)
            if name in _LEARN
        )
        for column in ("round", "elapsed_s")
    }
    limits = {"round": curves["round"]["random"].x[-1], "elapsed_s": time_s}
    titles = {
        "round": "Round by round PAUSE is not ahead …",
        "elapsed_s": "… but its rounds are shorter",
    }
    words = {"round": "Round", "elapsed_s": "Simulated time (s)"}
    with theme():
        figure, grid = new_panels((1, 2), 2.7, sharey=True)
        for axes, (column, limit) in zip(grid.flat, limits.items(), strict=True):
            lines = []
            for name in _LEARN:
                line = plot_band(axes, curves[column][name].until(limit), **look(name))
                line.set_label(look_of(name).label)
                lines.append(line)
            axes.set(xlim=(0, limit), ylim=(0, 95), xlabel=words[column])
            axes.set_title(titles[column], loc="left", fontsize="medium")
        grid[0, 0].set_ylabel("Test accuracy (%)")
        name_ends(grid[0, 1], lines)
    return figure


def timeline(runs: Sequence[Run], scenario: Scenario, seed: int) -> Figure:
    """What the clients of a few rounds do: work, then wait for the slowest.

    Latencies are drawn again from the streams of the seed, which all selectors of a seed share.
    """
    latency, streams = scenario.network.make_latency(), Streams(seed)
    by_selector = {run.selector: run.rounds for run in runs if run.seed == seed}
    with theme():
        figure, grid = new_panels((len(_WAIT), 1), 3.6, sharex=True)
        for axes, selector in zip(grid[:, 0], _WAIT, strict=True):
            start, n_rounds, color = 0.0, 0, look(selector)["color"]
            rounds = by_selector[selector]
            later = rounds[rounds["round"] >= _FROM]
            for number, users in zip(later["round"], later["selection"], strict=True):
                if start >= _SECONDS:
                    break
                seconds = np.sort(latency.sample(streams, int(number))[np.asarray(users)])[::-1]
                y = np.arange(len(seconds))
                axes.barh(y, seconds.max(), 0.8, start, color="0.9", linewidth=0)
                axes.barh(y, seconds, 0.8, start, color=color, linewidth=0)
                start += seconds.max()
                axes.axvline(start, color="black", linewidth=0.7)
                n_rounds += start <= _SECONDS
            words = f"{look_of(selector).label}: {n_rounds} rounds in {_SECONDS:g} s"
            axes.set_title(words, loc="left", fontsize="small")
            axes.set(xlim=(0, _SECONDS), yticks=[], ylim=(-0.6, len(seconds) - 0.4))
            axes.grid(False)
        grid[-1, 0].set_xlabel(
            "Simulated time (s); a row is a client, coloured while it works, grey while it waits"
        )
    return figure


def who(runs: Sequence[Run], scenario: Scenario, seed: int) -> Figure:
    """Who takes part in each round: a point a participation, clients in the order of their mean latencies."""
    means = scenario.network.make_latency().means()
    place = np.argsort(np.argsort(means, kind="stable"))
    by_selector = {run.selector: run.rounds for run in runs if run.seed == seed}
    with theme():
        figure, grid = new_panels((1, len(_TAKE_PART)), 2.9, sharey=True)
        for axes, selector in zip(grid[0], _TAKE_PART, strict=True):
            rounds = by_selector[selector]
            within = rounds[rounds["elapsed_s"] <= scenario.training.horizon]
            x = np.repeat(within["round"].to_numpy(), [len(one) for one in within["selection"]])
            y = place[np.concatenate(list(within["selection"]))]
            axes.plot(
                x, y, ".", color=look(selector)["color"], markersize=1.4, markeredgewidth=0, rasterized=True
            )
            counts = np.bincount(y, minlength=len(means))
            axes.set_title(look_of(selector).label, loc="left", fontsize="small")
            words = f"{len(within)} rounds,\n{counts.min()} to {counts.max()} times each"
            axes.set_xlabel(f"Round\n{words}", fontsize="small")
            axes.grid(False)
        grid[0, 0].set_ylabel("Client, from fast to slow")
        grid[0, 0].set_ylim(-3, len(means) + 2)
    return figure


class Gap(NamedTuple):
    """A comparison, for `forest`: what it is of, a ratio with its interval, and whether it is decided."""

    name: str
    ratio: float
    #: NaN where there is no interval.
    low: float
    high: float
    #: "at most" or "at least" if the ratio is a bound, else empty.
    bound: str
    decided: bool


def forest(comparisons: Mapping[str, Sequence[Gap]]) -> Figure:
    """Time to the target of PAUSE over rivals'; a panel for each name of settings."""
    with theme():
        most = max(map(len, comparisons.values()))
        figure, grid = new_panels((1, len(comparisons)), 0.9 + 0.16 * most)
        for axes, (settings, gaps) in zip(grid[0], comparisons.items(), strict=True):
            axes.axvline(1, **THIN)
            for y, one in enumerate(reversed(gaps)):
                color = "#0072B2" if one.decided else "0.55"
                if math.isfinite(one.low):
                    axes.hlines(y, one.low, one.high, color=color, linewidth=1.2)
                axes.plot(one.ratio, y, "o", color=color, markersize=3.5)
                if one.bound:
                    place: dict[str, Any] = NOTE | {"fontsize": 6.5}
                    axes.annotate(one.bound, (one.ratio, y), (0, 4), ha="center", **place)
            axes.set_yticks(range(len(gaps)), [one.name for one in reversed(gaps)], fontsize=7)
            axes.set(xscale="log", xlim=(0.25, 2), ylim=(-0.7, len(gaps) - 0.3))
            axes.set_xticks([0.25, 0.5, 1, 2], ["0.25", "0.5", "1", "2"])
            axes.minorticks_off()
            axes.set_title(settings.capitalize(), loc="left", fontsize="small")
            axes.set_xlabel("PAUSE's time to the target over the rival's", fontsize="small")
        looks: dict[str, Any] = {"marker": "o", "markersize": 3.5, "linestyle": ""}
        keys = [legend_key("PAUSE is faster", color="#0072B2", **looks)]
        keys.append(legend_key("not decided", color="0.55", **looks))
        figure.legend(handles=keys, loc="outside lower center", ncols=2)
    return figure


def long_runs(curves: Mapping[str, pd.DataFrame]) -> Figure:
    """Accuracy of PAUSE and random selection in 1,000 rounds on MNIST; a panel for each name of settings."""
    with theme():
        figure, grid = new_panels((1, len(curves)), 2.5, sharey=True)
        for axes, (settings, found) in zip(grid[0], curves.items(), strict=True):
            own = found[found["knob"] == "training.n_rounds"]
            shown = bands(
                (name, seed, run["round"], 100 * run["accuracy"])
                for (name, seed), run in own.groupby(["selector", "seed"])
            )
            lines = []
            for name in ("random", "pause"):
                lines.append(plot_band(axes, shown[name], **look(name)))
                lines[-1].set_label(look_of(name).label)
            axes.set(xlabel="Round", ylim=(0, 95))
            axes.set_title(settings.capitalize(), loc="left", fontsize="small")
        grid[0, 0].set_ylabel("Test accuracy (%)")
        name_ends(grid[0, -1], lines)
    return figure
