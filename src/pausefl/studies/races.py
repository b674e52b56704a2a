"""Races of two annealers over many sizes, and what "within a fixed time" can mean (BSFL, Section V-C).

The paper says neither how instances were made, nor what the time was, nor which vertex counts. So all
readings are raced: instances that are ``drawn`` or rounds of ``games``; the same number of ``iterations`` or
of ``neighbours`` listed; the ``final`` vertex or the ``best``. Both annealers walk as
`pausefl.selectors.listing` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.figures.panels import Plotted, new_panels
from pausefl.registry.selectors import LABELS
from pausefl.results import markdown
from pausefl.results.intervals import CONFIDENCE
from pausefl.selectors.search import Objective
from pausefl.settings import Scenario
from pausefl.settings.types import Count, Distinct, OneOf
from pausefl.streams import Streams
from pausefl.studies.base import AtLeastTwo, Note, Tables
from pausefl.studies.comparison import (
    PAPERS_SHARES,
    TIE,
    Comparison,
    annealers,
    instance,
    mark_shares,
    outcomes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pausefl.selectors.annealing import Annealer
    from pausefl.selectors.listing import Walk

    Annealers = tuple[Annealer, Annealer]

Floats = NDArray[np.float64]

#: Ways to give both annealers the same, and vertices that are compared.
BUDGETS, ENERGIES = ("iterations", "neighbours"), ("final", "best")

#: What tells races apart, besides the instance.
CELL = ("source", "n_users", "n_selected", "temperature_divisor", "moves")

#: The same for races of all sizes together.
ALL_SIZES = ("source", "temperature_divisor", "moves")

#: What tables call each choice.
CALLED = {
    "drawn": "drawn",
    "games": "from games",
    "all": "all",
    "active": "active only",
    "iterations": "equal iterations",
    "neighbours": "equal listing",
    "final": "last vertex",
    "best": "best vertex",
}

#: How the interval of all sizes together looks, each size, and who ends higher: the first, nobody, the other.
_POOLED: dict[str, Any] = {"color": "black", "marker": "|", "markersize": 4, "linewidth": 1}
_SIZE: dict[str, Any] = {"color": "#0072B2", "marker": "|", "markersize": 6, "linestyle": ""}
_PARTS: tuple[dict[str, Any], ...] = (
    {"facecolor": "#8CB8DC", "edgecolor": "#8CB8DC"},
    {"facecolor": "white", "edgecolor": "#8A8A8A", "hatch": "//////"},
    {"facecolor": "#E6E6E6", "edgecolor": "#E6E6E6"},
)


WORDS = """
The share of races in which the first annealer ends higher: of each size; and of all, with ties and the races
in which the other ends higher.

*Setting.* `{{ study.selectors[0] }}` against `{{ study.selectors[1] }}`: every selection of
{{ study.n_selected }} of {{ study.n_users }} users; {{ study.n_instances }} instances of each size,
{{ study.n_iterations }} iterations, temperature divisors κ = {{ study.temperature_divisors }}. Nothing is
trained.

*What is shown.* Intervals are Wilson's. Instances are drawn (indices and rewards uniform on [0, 1], α = γ =
1), or rounds of scenario `{{ study.scenario.name }}` that the exact search has played up to them. *Equal
iterations*: both make {{ study.n_iterations }}. *Equal listing*: the other stops once it has listed as many
neighbours as `{{ study.selectors[0] }}` did in all. Compared are the last vertices, or the best ones
reached. `shares.csv` has all numbers, and mean numbers of neighbours.

*How to read it.* An implementation that lists neighbours, as the papers' does, spends its time on that:
plain annealing lists m(K − m) an iteration, a thinner graph fewer. So equal listing is what a fixed time
means there. In small networks both annealers often find the optimum, and tie.
"""


class Races(Comparison):
    """Two annealers over many sizes, given equal iterations or equal numbers of neighbours (BSFL, V-C)."""

    kind = "races"
    label = "two annealers over many sizes"
    data = ("races.parquet",)
    tables = ("shares.csv", "summary.md")
    claims = ("shares.csv",)
    place = (
        "BSFL, Section V-C: in 98.3 % of thousands of runs, of varying K and m, ALSA reached a higher"
        " energy within a fixed time. The paper gives neither the law of the instances nor α, the"
        " temperature, the time or the vertex"
    )
    deviations = ("D4", "D30")
    words = WORDS

    n_users: Distinct[AtLeastTwo]
    """Numbers of users K."""
    n_selected: Distinct[Count]
    """Numbers of selected users m; every one below K is combined with K."""
    sources: Distinct[Annotated[str, OneOf(("drawn", "games"))]]
    """Where instances come from. `drawn`: indices and rewards of users are sampled. `games`: rounds of runs
    that the exact search has made up to them."""
    moves: Distinct[Annotated[str, OneOf(("all", "active"))]] = ("all",)
    """Moves of the first annealer, a comparison for each. `all`: those of its graph. `active`: only those in
    which the least user leaves."""

    def compute(self, note: Note) -> dict[str, pd.DataFrame]:
        """Race the annealers at every size, on every instance and at every temperature.

        ``races``, one row a race: the columns of `CELL`, ``instance`` (the seed), ``selector``, ``other`` and
        ``optimum``; the energies ``final`` and ``best`` of the first, and of the other with each of
        `BUDGETS`, as ``final_iterations`` and so on;
        ``n_listed`` and ``n_listed_other``, mean numbers of neighbours; and
        ``n_iterations_other``, iterations of the other with the budget of neighbours.
        """
        rows = []
        sizes = [(k, m) for k, m in product(self.n_users, self.n_selected) if m < k]
        for n_users, n_selected in sizes:
            network = self.scenario.network.replace(n_users=n_users, n_selected=n_selected)
            scenario = self.scenario.replace(network=network)
            first, other = annealers(self.replace(scenario=scenario), 1.0).values()
            note(f"{n_selected} of {n_users} users")
            for source, seed in product(self.sources, range(self.n_instances)):
                if source == "drawn":
                    at = drawn(n_users, n_selected, (first, other), seed)
                else:
                    at = from_game(scenario, (first, other), seed)
                size = {"source": source, "n_users": n_users, "n_selected": n_selected}
                names = dict(zip(("selector", "other"), scenario.selectors, strict=True))
                rows += [size | race | {"instance": seed} | names for race in _races(self, at, seed)]
        return {"races": pd.DataFrame(rows)}

    def draw(self, tables: Tables) -> Plotted:
        """Figure and ``shares`` of the table of `pausefl.studies.races.compute`."""
        races = tables["races"]
        figure = plot_shares(races[races["moves"] == self.moves[0]])
        return Plotted(figure, {"shares": shares(races)}, to_markdown(races))


@dataclass(frozen=True)
class Instance:
    """One search."""

    objective: Objective
    #: Values (n,) of the users by each criterion of either annealer, the plain one's first.
    criteria: tuple[tuple[Floats, ...], tuple[Floats, ...]]
    #: C of either annealer, which no difference of two energies exceeds.
    gaps: tuple[float, float]
    #: Round of the game, for the random streams; 0 if there is none.
    round: int


def drawn(n_users: int, n_selected: int, pair: Annealers, seed: int) -> Instance:
    """An instance with sampled values."""
    rng = Streams(seed).generator("drawn", user=n_users, round=n_selected)
    values = {name: rng.random(n_users) for name in ("ucb", "g", "p")}
    terms = [values["g"]] + ([values["p"]] if pair[0].with_privacy else [])
    score, nobody = np.sum(terms, axis=0) / n_selected, np.zeros(n_users, np.int64)
    objective = Objective(values["ucb"], score, nobody, np.zeros(n_selected))
    ours, theirs = (tuple(values[name] for name in annealer.graph) for annealer in pair)
    gap = 1.0 + len(terms)
    return Instance(objective, (ours, theirs), (gap, gap), 0)


def from_game(scenario: Scenario, pair: Annealers, seed: int) -> Instance:
    """The search of one round of a scenario."""
    first, other = pair
    history = instance(scenario, "pause" if first.with_privacy else "bsfl", seed)
    users = history.candidates()
    objective = Objective.of(history, first.reward, first.bound(history), users)
    criteria = (first.criteria(objective, history, users), other.criteria(objective, history, users))
    gaps = (first.largest_gap(objective, history, users), other.largest_gap(objective, history, users))
    return Instance(objective, criteria, gaps, history.round)


def _races(study: Races, at: Instance, seed: int) -> Iterator[dict[str, Any]]:
    """Race on one instance, at every temperature and with every choice of moves."""
    from pausefl.selectors.exact import pivot_and_fill
    from pausefl.selectors.listing import walk

    # All optima have the same value.
    optimum = at.objective.value(pivot_and_fill(at.objective, np.random.default_rng(0)))
    streams = Streams(seed)
    for divisor in study.temperature_divisors:

        def run(which: int, passive: bool, divisor: float = divisor) -> Walk:
            rng = streams.generator(f"select/{study.scenario.selectors[which]}", round=at.round)
            scale = at.gaps[which] / divisor
            return walk(at.objective, at.criteria[which], scale, study.n_iterations, rng, passive)

        other = run(1, True)
        listed = other.n_listed.cumsum()
        for moves in study.moves:
            ours = run(0, moves == "all")
            # The thin graph has no more neighbours than the plain one, so the other made this many.
            n_other = max(int(np.searchsorted(listed, ours.n_listed.sum(), side="right")), 1)
            yield {
                "temperature_divisor": divisor,
                "moves": moves,
                "optimum": optimum,
                "final": ours.energies[-1],
                "best": ours.energies.max(),
                "final_iterations": other.energies[-1],
                "best_iterations": other.energies.max(),
                "final_neighbours": other.energies[n_other - 1],
                "best_neighbours": other.energies[:n_other].max(),
                "n_listed": ours.n_listed.mean(),
                "n_listed_other": other.n_listed.mean(),
                "n_iterations_other": n_other,
            }


def shares(races: pd.DataFrame, by: Sequence[str] = CELL) -> pd.DataFrame:
    """How often the first annealer ends above the other, in races that ``by``, some of `CELL`, tells apart.

    One row for each value of ``by``, ``budget`` and ``energy``: ``selector``, ``other``, the `outcomes`;
    ``n_listed`` and ``n_listed_other``, mean numbers of neighbours of a vertex.
    """
    rows = []
    for cell, raced in races.groupby(list(by), sort=False):
        for budget, energy in product(BUDGETS, ENERGIES):
            ours, theirs = raced[energy], raced[f"{energy}_{budget}"]
            rows.append(
                dict(zip(by, cell, strict=True))
                | {"budget": budget, "energy": energy}
                | {name: raced[name].iloc[0] for name in ("selector", "other")}
                | outcomes(ours, theirs, raced["optimum"])
                | {name: raced[name].mean() for name in ("n_listed", "n_listed_other")}
            )
    return pd.DataFrame(rows)


def to_markdown(races: pd.DataFrame) -> str:
    """Shares over all sizes, and of the largest one, as a Markdown table for people, with a note."""
    largest = shares(
        races[(races[["n_users", "n_selected"]] == races[["n_users", "n_selected"]].max()).all(axis=1)]
    )
    pooled = shares(races, ALL_SIZES)
    ours, theirs = (LABELS[races[column].iloc[0]] for column in ("selector", "other"))
    k, m = (f"{races[column].max():,}" for column in ("n_users", "n_selected"))
    cells = [
        {
            "Instances": CALLED[row["source"]],
            f"Moves of {ours}": CALLED[row["moves"]],
            "κ": f"{row['temperature_divisor']:g}",
            "Budget": CALLED[row["budget"]],
            "Compared": CALLED[row["energy"]],
            "Higher (%), all sizes": _percent(row),
            "Tied (%)": f"{100 * row['n_tied'] / row['n_instances']:.1f}",
            f"Higher (%), {m} of {k}": _percent(large),
            f"Mean gap there, {ours}": f"{large['gap']:.3g}",
            theirs: f"{large['gap_other']:.3g}",
        }
        for row, large in zip(pooled.to_dict("records"), largest.to_dict("records"), strict=True)
    ]
    note = (
        f"How often {ours} is above {theirs}, with Wilson's interval at {100 * CONFIDENCE:.0f} %; energies"
        f" within {TIE:g} are tied. {pooled['n_instances'].iloc[0]:,} races a row over all sizes,"
        f" {largest['n_instances'].iloc[0]:,} of the largest. A gap is the optimum less the energy."
    )
    return markdown.of_records(cells, "llrllr", note)


def _percent(row: Mapping[Any, Any]) -> str:
    return f"{100 * row['share']:.1f} ({100 * row['low']:.1f} to {100 * row['high']:.1f})"


def plot_shares(races: pd.DataFrame) -> Figure:
    """Shares of races won: a column a reading, a row of panels for each source of instances.

    In a panel a row has a temperature: each size; and below, all sizes together as a bar of wins, ties and
    losses, with the interval of the wins.
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    sizes, pooled = shares(races), shares(races, ALL_SIZES)
    sources, readings = races["source"].unique(), list(product(BUDGETS, ENERGIES))
    divisors, (selector, other) = races["temperature_divisor"].unique(), races[["selector", "other"]].iloc[0]
    shape, height = (len(sources), len(readings)), 1.3 + len(sources) * (0.2 + 0.32 * len(divisors))
    figure, grid = new_panels(shape, height, sharex=True, sharey=True)
    for (row, source), (column, (budget, energy)) in product(enumerate(sources), enumerate(readings)):
        axes, wanted = grid[row, column], "source == @source and budget == @budget and energy == @energy"
        mark_shares(axes.axvline, selector)
        _plot_shares(axes, sizes.query(wanted), pooled.query(wanted), divisors)
        if row == 0:
            axes.set_title(
                f"{CALLED[budget].capitalize()},\n{CALLED[energy]}", weight="normal", linespacing=1
            )
        if column == 0:
            axes.set_ylabel(f"Instances\n{CALLED[source]}", linespacing=1)
    grid[0, 0].set(xlim=(0, 102), xticks=[0, 25, 50, 75, 100], ylim=(len(divisors) - 0.4, -0.4))
    grid[0, 0].set_yticks(range(len(divisors)), [f"κ = {divisor:g}" for divisor in divisors])
    figure.supylabel("Temperature divisor κ", size="medium")
    for axes in grid[-1]:
        axes.set_xlabel("Share of the races (%)")
    won, tied, lost = (
        Patch(label=label, **look)
        for label, look in zip(
            (f"All sizes: {LABELS[selector]} higher", "tied", f"{LABELS[other]} higher"), _PARTS, strict=True
        )
    )
    one_size = Line2D([], [], label=f"One size: {LABELS[selector]} higher", **_SIZE)
    half = Line2D([], [], color="black", linewidth=0.5, label="Half of the races")
    handles = [won, one_size, tied, half, lost]
    if selector in PAPERS_SHARES:
        share = f"BSFL reports {100 * PAPERS_SHARES[selector]:.1f} %"
        handles.append(Line2D([], [], color="black", linewidth=0.6, linestyle=(0, (4, 2)), label=share))
    handles.append(Line2D([], [], label="95 % interval", **_POOLED))
    figure.legend(handles=handles, loc="outside lower center", ncols=4, handlelength=1.8)
    return figure


def _plot_shares(axes: Axes, sizes: pd.DataFrame, pooled: pd.DataFrame, divisors: NDArray[Any]) -> None:
    """One reading: a row of the axis for each temperature."""
    for y, divisor in enumerate(divisors):
        own = sizes[sizes["temperature_divisor"] == divisor]
        axes.plot(100 * own["share"], np.full(len(own), y), **_SIZE)
        one = pooled[pooled["temperature_divisor"] == divisor].iloc[0]
        left = 0.0
        for outcome, look in zip(("n_won", "n_tied", "n_lost"), _PARTS, strict=True):
            width = 100 * one[outcome] / one["n_instances"]
            axes.barh(y + 0.3, width, 0.3, left, linewidth=0.5, zorder=1, **look)
            left += width
        axes.plot([100 * one["low"], 100 * one["high"]], [y + 0.3] * 2, **_POOLED)
