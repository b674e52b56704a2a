"""Time of one selection against the number of users (PAUSE v2, Section IV-B and Table I).

Annealers are timed a second time without iterations. The difference, divided by their number, is the time of
an iteration. Iterations that list all neighbours, as the papers' do
(`pausefl.reproduction.searches.listing`), are sampled: as many of the first ones as the time allows. More
users need slower memory, so the time of any algorithm grows faster than the number of its steps: a sort of K
numbers, which takes K log K steps, is timed next to each selection.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.analysis.figures.panels import NOTE, Plotted, new_panels
from pausefl.analysis.figures.style import legend_key, look, marker
from pausefl.bandit.history import History
from pausefl.errors import PauseflError
from pausefl.reproduction.studies.base import AtLeastTwo, Floats, Note, ScenarioStudy, Tables
from pausefl.schema.types import Items, Positive, Real
from pausefl.selectors import Selector, in_legend_order, look_of
from pausefl.selectors.search import Objective
from pausefl.settings import Scenario
from pausefl.streams import Streams

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Fewest and most times that a selection is timed.
REPETITIONS = (3, 200)

#: The round that is selected for.
ROUND = 300

#: The time of an iteration is given if all of them take at least this share of a selection.
LEAST_PART = 0.2

#: Most neighbours that are listed at a time: 8 bytes each.
MOST_LISTED = 20_000_000

#: Growth is fitted to the sizes from the largest divided by this on ...
FIT_SPAN = 100

#: ... whose selections take this many times as long as that of the smallest, which is mostly overhead.
ABOVE_OVERHEAD = 3

#: What grows, and its column of the times.
QUANTITIES = {
    "selection": "median_s",
    "iteration": "iteration_s",
    "listing": "listing_s",
    "listed": "n_listed",
}

#: Panels of times: columns, label, and laws of growth to compare slopes with.
_PANELS: tuple[tuple[tuple[str, ...], str, dict[str, Callable[[Floats], Floats]]], ...] = (
    (("median_s",), "Time of a selection (s)", {"K ln K": lambda n: n * np.log(n), "K²": np.square}),
    (
        ("listing_s", "iteration_s"),
        "Time of an annealer's iteration (s)",
        {"K": np.positive, "K²": np.square},
    ),
)

#: What the second panel shows: its words, and their place in a share of the height and in points.
_NOTES = (
    ("Lines: all neighbours\nlisted, as in the papers", 1, -18),
    ("Marks alone: one neighbour sampled, as in all runs", 0, 3),
)


class Runtime(ScenarioStudy):
    """Time of one round's search against the number of users (PAUSE v2, Table I)."""

    label = "wall-clock time against the number of users"
    exclusive = True

    n_users: Annotated[tuple[AtLeastTwo, ...], Items(2)]
    """Numbers of users to measure."""
    selected_share: Annotated[float, Real(gt=0, le=1)]
    """Users selected, as a share of all; at least one."""
    budget_s: Positive
    """Wall-clock seconds for the repetitions of one selector at one size."""

    def compute(self, note: Note) -> Tables:
        """Time each selector at one size after the other, until it refuses one or exceeds the budget.

        ``note`` gets a line where a selector stops, with the reason. `PauseflError` if nothing could be
        timed.

        ``times.csv``, one row for each ``selector`` and size: ``n_users``, ``n_selected``,
        ``n_repetitions``; in seconds ``median_s`` and ``min_s`` of a selection; what `annealing` returns;
        ``sort_s``, the median of sorting K numbers.
        """
        rows = []
        for name in self.scenario.selectors:
            for n_users in sorted(self.n_users):
                n_selected = max(1, round(self.selected_share * n_users))
                network = self.scenario.network.replace(n_users=n_users, n_selected=n_selected)
                scenario = self.scenario.replace(network=network)
                history = history_of(scenario)
                try:
                    selector = scenario.make_selector(name)
                    times = seconds(selector, history, self.budget_s)
                    if times[0] > self.budget_s:
                        raise PauseflError(f"{times[0]:.3g} s exceed the budget")
                except PauseflError as error:
                    note(f"{name} stops before {n_users:,} users: {error}")
                    break
                row: dict[str, Any] = {
                    "selector": name,
                    "n_users": n_users,
                    "n_selected": n_selected,
                    "n_repetitions": len(times),
                    "median_s": float(np.median(times)),
                    "min_s": times.min(),
                }
                row |= annealing(selector, history, self.budget_s, row["median_s"])
                rows.append(row | {"sort_s": float(np.median(seconds(_sort, history, self.budget_s)))})
        if not rows:
            raise PauseflError(f"no selector is fast enough at any size: the budget is {self.budget_s:g} s")
        return {"times.csv": pd.DataFrame(rows)}

    def plot(self, tables: Tables) -> Plotted:
        """Time of a selection, and of an annealer's iteration, against users; and ``summary.csv``: `fits`.

        Of iterations, those that list all neighbours are lines, those that sample one are marks alone.
        """
        times = tables["times.csv"]
        panels = [panel for panel in _PANELS if times[list(panel[0])].notna().any(axis=None)]
        styles = {name: look(name) | marker(name) for name in in_legend_order(times["selector"])}
        figure, grid = new_panels((1, len(panels)), 2.9, sharex=True)
        for axes, ((main, *more), label, guides) in zip(grid.flat, panels, strict=True):
            for name, style in styles.items():
                own = times[times["selector"] == name]
                axes.plot(own["n_users"], own[main], **style)
                for column in more:
                    axes.plot(own["n_users"], own[column], **style | {"linestyle": ""})
            axes.set(xscale="log", yscale="log", xlabel="Users K", ylabel=label)
            axes.minorticks_off()
            axes.set_ylim(bottom=axes.get_ylim()[0] / (4 if more else 1))
            known = times.dropna(subset=main)
            for law, slope in guides.items() if len(known) else ():
                _guide(axes, known, main, law, slope)
            for words, height, points in _NOTES if more else ():
                axes.annotate(words, (0, height), (5, points), xycoords="axes fraction", **NOTE)
        lines = [legend_key(look_of(name).label, **style) for name, style in styles.items()]
        figure.legend(handles=lines, loc="outside lower center", ncols=len(lines))
        return Plotted(figure, {"summary.csv": fits(times)})


def history_of(scenario: Scenario) -> History:
    """A history as after 299 rounds of random selection, in which everyone took part at least once.

    Speeds, budgets left and sizes of data are uniform.
    """
    n_users, n_selected = scenario.network.n_users, scenario.network.n_selected
    streams = Streams(0)
    rng = streams.generator("costs", user=n_users)
    history = History.empty(
        rng.integers(50, 500, n_users),
        n_selected,
        scenario.network.latency_floor,
        cluster=scenario.reward.make_clusters(n_users, streams),
    )
    history.round = ROUND
    history.participations = np.maximum(rng.binomial(ROUND - 1, n_selected / n_users, n_users), 1)
    history.mean_speed = rng.random(n_users)
    history.privacy = rng.random(n_users)
    return history


def seconds(
    selector: Callable[[History, np.random.Generator], object], history: History, budget_s: float
) -> Floats:
    """Times (n,) of single selections, or other calls: as many as fit into a budget, within `REPETITIONS`.

    Only one if it takes longer than the budget.
    """
    fewest, most = REPETITIONS
    times: list[float] = []
    while len(times) < fewest or (len(times) < most and sum(times) < budget_s):
        rng = Streams(0).generator("select", round=len(times))
        start = time.perf_counter()
        selector(history, rng)
        times.append(time.perf_counter() - start)
        if times[0] > budget_s:
            break
    return np.array(times)


def _sort(history: History, rng: np.random.Generator) -> NDArray[np.intp]:
    """The users in the order of their speed."""
    return np.argsort(history.mean_speed)


def annealing(selector: Selector, history: History, budget_s: float, median_s: float) -> dict[str, float]:
    """Seconds of an annealer's iteration, from the median of a selection; all NaN for other selectors.

    ``iteration_s``, NaN if iterations take less than `LEAST_PART`; ``n_listed``, the mean number of
    neighbours over all iterations of a walk; and ``listing_s`` of one that lists them, mean over the first
    iterations, NaN if there are more than `MOST_LISTED`.
    """
    from pausefl.reproduction.searches.listing import walk
    from pausefl.selectors.sa_pause import Annealer

    timed = dict.fromkeys(("iteration_s", "listing_s", "n_listed"), math.nan)
    if not isinstance(selector, Annealer):
        return timed
    idle = copy.copy(selector)
    idle.n_iterations = 0
    spent = median_s - float(np.median(seconds(idle, history, budget_s)))
    if spent >= LEAST_PART * median_s:
        timed["iteration_s"] = spent / selector.n_iterations

    users = history.candidates()
    objective = Objective.of(history, selector.reward, selector.bound(history), users)
    criteria = selector.criteria(objective, history, users)
    scale = selector.largest_gap(objective, history, users) / selector.temperature_divisor

    def walked(n_iterations: int, listing: bool = True) -> tuple[float, NDArray[np.int64]]:
        rng, start = Streams(0).generator("select"), time.perf_counter()
        made = walk(objective, criteria, scale, n_iterations, rng, listing=listing)
        return time.perf_counter() - start, made.n_listed

    counts = walked(selector.n_iterations, listing=False)[1]
    timed["n_listed"] = float(counts.mean())
    if counts.max() <= MOST_LISTED:
        overhead, n = min(walked(0)[0] for _ in range(3)), 1  # the first compiles
        while walked(n)[0] < budget_s / 8 and n < selector.n_iterations:
            n = min(4 * n, selector.n_iterations)
        spent = float(np.median([walked(n)[0] for _ in range(3)])) - overhead
        if spent > 0:
            timed["listing_s"] = spent / n
    return timed


def fits(times: pd.DataFrame) -> pd.DataFrame:
    """How times grow with K: a power of it, or an exponential.

    Both laws are straight lines through ln t, against ln K and K, so their errors can be compared.

    One row for each ``selector`` and ``quantity`` (one of `QUANTITIES`) of which three sizes are left:
    ``from_users``, ``to_users`` and the number of sizes, ``n_sizes``; ``exponent`` of K and growth ``rate``
    per user, each with its standard error (``_se``) and the root mean square error of its law in ln t
    (``_error``); exponent ``over_sort`` of the time over that of a sort of K numbers, and its standard error,
    NaN unless both are known.
    """
    columns = ["selector", "quantity", "from_users", "to_users", "n_sizes"]
    columns += [f"{law}{what}" for law in ("exponent", "rate") for what in ("", "_se", "_error")]
    rows = []
    for selector, of_selector in times.groupby("selector", sort=False):
        for quantity, column in QUANTITIES.items():
            known = of_selector[of_selector[column].notna()]
            over_overhead = quantity in ("selection", "listing")
            if over_overhead:
                known = known[known[column] >= ABOVE_OVERHEAD * known[column].iloc[:1].sum()]
            largest = (known if quantity == "listing" else of_selector)["n_users"].max()
            known = known[known["n_users"] >= largest / FIT_SPAN]
            if len(known) < 3:
                continue
            n_users, t, sort_s = known[["n_users", column, "sort_s"]].to_numpy(np.float64).T
            log_n, log_t = np.log(n_users), np.log(t)
            over = line(log_n, log_t - np.log(sort_s))[:2] if over_overhead else (math.nan, math.nan)
            sizes = (int(n_users[0]), int(n_users[-1]), len(n_users))
            rows.append((selector, quantity, *sizes, *line(log_n, log_t), *line(n_users, log_t), *over))
    return pd.DataFrame(rows, columns=[*columns, "over_sort", "over_sort_se"])


def line(x: Floats, y: Floats) -> tuple[float, float, float]:
    """Slope of the least-squares line through points (n,), its standard error, and the rms of the rest.

    Of three points or more.
    """
    x, y = x - x.mean(), y - y.mean()
    slope = x @ y / (x @ x)
    left = y - slope * x
    squares = left @ left
    return float(slope), math.sqrt(squares / (len(x) - 2) / (x @ x)), math.sqrt(squares / len(x))


def _guide(axes: Axes, times: pd.DataFrame, column: str, label: str, law: Callable[[Floats], Floats]) -> None:
    """The slope of a law of growth: a thin line below the times of the two last decades of sizes."""
    largest = times["n_users"].max()
    end = times.loc[times["n_users"] == largest, column].min() / 8
    x = np.geomspace(largest / FIT_SPAN, largest, 200)
    axes.set_ylim(bottom=min(axes.get_ylim()[0], end / 10))
    y = end * law(x) / law(x[-1:])
    x, y = x[y > axes.get_ylim()[0]], y[y > axes.get_ylim()[0]]
    axes.plot(x, y, color="black", linewidth=0.5, zorder=2.5)
    axes.annotate(f"∝ {label}", (x[0], y[0]), (8, 1), **NOTE)
