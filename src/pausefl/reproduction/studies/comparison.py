"""Two annealers on the same instances: ALSA against plain annealing (BSFL, Section V-C and Fig. 4).

An instance is the search of one round. Each annealer uses the random stream that it would have in that round
of a job. The paper says neither how instances were made, nor what its fixed time was, nor which vertex
counts. So where sizes are varied there are all readings: instances that are ``drawn`` or rounds of ``games``;
the same number of ``iterations`` or of ``neighbours`` listed; the ``final`` vertex or the ``best``. There
both walk as `pausefl.reproduction.searches.listing` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, product
from typing import TYPE_CHECKING, Annotated, Any, Self, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import model_validator

from pausefl.analysis.figures.panels import NOTE, Plotted, new_panels
from pausefl.analysis.figures.style import legend_key
from pausefl.analysis.intervals import wilson
from pausefl.bandit.history import History
from pausefl.errors import PauseflError
from pausefl.federated.untrained import selection_only
from pausefl.reproduction.studies.base import AtLeastTwo, Floats, Note, ScenarioStudy, Tables, log_spaced
from pausefl.schema.types import Count, Distinct, Items, OneOf, Positive
from pausefl.selectors import LABELS, SELECTORS
from pausefl.selectors.look import DASH, SOLID
from pausefl.selectors.search import Objective
from pausefl.settings import Scenario
from pausefl.settings.scenario import SelectorName
from pausefl.streams import Streams

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pausefl.reproduction.searches.listing import Walk
    from pausefl.selectors.sa_pause import Annealer

#: Iterations whose energies are kept of each run, at most.
N_KEPT = 61

#: Energies that differ by no more are equal: rounding errors of a run add up.
TIE = 1e-9

#: Share of runs in which a selector ended above plain annealing (BSFL, Section V-C).
PAPERS_SHARES = {"alsa": 0.983}

#: Ways to give both annealers the same, and vertices that are compared; as the figure calls them.
BUDGETS = {"iterations": "Equal iterations", "neighbours": "Equal listing"}
ENERGIES = {"final": "last vertex", "best": "best vertex"}
_SOURCES = {"drawn": "drawn", "games": "from games"}

#: What tells races apart, besides the instance.
CELL = ("source", "n_users", "n_selected", "temperature_divisor", "moves")

#: Lines of the two annealers; colour and marker of each temperature, from the hottest on.
_STYLES: tuple[Any, Any] = (SOLID, DASH)
_TEMPERATURES = (("#D55E00", "o"), ("#0072B2", "s"), ("#3B2A5B", "D"), ("#0A8763", "^"), ("#767676", "v"))

#: Equal chances, and the paper's share.
_HALF: dict[str, Any] = {"color": "black", "linewidth": 0.5}
_PAPERS: dict[str, Any] = {"color": "black", "linewidth": 0.6, "linestyle": (0, (4, 2))}

#: How the interval of all sizes together looks, each size, and who ends higher: the first, nobody, the other.
_POOLED: dict[str, Any] = {"color": "black", "marker": "|", "markersize": 4, "linewidth": 1}
_SIZE: dict[str, Any] = {"color": "#0072B2", "marker": "|", "markersize": 6, "linestyle": ""}
_PARTS: tuple[dict[str, Any], ...] = (
    {"facecolor": "#8CB8DC", "edgecolor": "#8CB8DC"},
    {"facecolor": "white", "edgecolor": "#8A8A8A", "hatch": "//////"},
    {"facecolor": "#E6E6E6", "edgecolor": "#E6E6E6"},
)


class Comparison(ScenarioStudy):
    """Two annealers on the same instances, such as ALSA and plain annealing (BSFL, V-C and Fig. 4).

    Of the scenario's own size, their way to the optimum; of several sizes, how often the first ends higher,
    given equal iterations or equal numbers of neighbours.
    """

    label = "two annealers on the same instances"
    besides = frozenset({"bsfl", "pause"})

    selectors: Annotated[tuple[SelectorName, ...], Items(2, 2)]
    """The two annealers that are compared."""
    n_instances: Count
    """Instances of each size; one of a game is a round of a run that the exact search has made up to it."""
    n_iterations: Count
    """Iterations J of each run."""
    temperature_divisors: Distinct[Positive]
    """Divisors kappa of the temperature, one comparison for each; 1 is the papers' theorem."""
    n_users: Annotated[tuple[AtLeastTwo, ...], Items(0)] = ()
    """Numbers of users K; without, the scenario's own."""
    n_selected: Annotated[tuple[Count, ...], Items(0)] = ()
    """Numbers of selected users m; every one below K is combined with K."""
    sources: Distinct[Annotated[str, OneOf(("drawn", "games"))]] = ("games",)
    """Where instances of several sizes come from. `drawn`: indices and rewards of users are sampled. `games`:
    rounds of runs that the exact search has made up to them."""
    moves: Distinct[Annotated[str, OneOf(("all", "active"))]] = ("all",)
    """Moves of the first annealer at several sizes, a comparison for each. `all`: those of its graph.
    `active`: only those in which the least user leaves."""

    @model_validator(mode="after")
    def _both_anneal(self) -> Self:
        for name in self.selectors:
            if not SELECTORS[name].anneals:
                raise ValueError(f"selectors: '{name}' does not anneal, so it cannot be compared")
        if bool(self.n_users) != bool(self.n_selected):
            raise ValueError("n_users and n_selected: give both, or none of them")
        return self

    def compute(self, note: Note) -> Tables:
        """Let both annealers search every instance, at every temperature; ``note`` gets every tenth or size.

        ``shares.csv``, what `shares` returns. Besides, of the scenario's own size, ``runs.parquet``, one row
        for each instance, divisor and selector: ``instance`` (the seed), ``round``, ``temperature_divisor``,
        ``selector``, ``optimum``, the energies ``final`` (of the last vertex) and ``best`` (of the best
        vertex met, the start included); and ``curves.csv``, the `curves` of the gaps.

        Of several sizes, ``races.parquet``, one row a race: the columns of `CELL`, ``instance`` (the seed),
        ``selector``, ``other`` and ``optimum``; the energies ``final`` and ``best`` of the first, and of the
        other with each of `BUDGETS`, as ``final_iterations`` and so on; ``n_listed`` and ``n_listed_other``,
        mean numbers of neighbours; and ``n_iterations_other``, iterations of the other with the budget of
        neighbours.
        """
        if not self.n_users:
            return self._runs(note)
        races = pd.DataFrame(self._races(note))
        return {"races.parquet": races, "shares.csv": shares(races, CELL, tuple(BUDGETS))}

    def _runs(self, note: Note) -> Tables:
        """What `compute` returns of the scenario's own size."""
        kept = log_spaced(self.n_iterations, N_KEPT)
        energies, rows = np.empty(self.n_iterations), []
        fields = {
            (divisor, name): annealer
            for divisor in self.temperature_divisors
            for name, annealer in annealers(self.scenario, self.n_iterations, divisor).items()
        }
        gaps = {field: np.empty((self.n_instances, len(kept))) for field in fields}
        first, other, *_ = fields.values()
        for seed in range(self.n_instances):
            history, at = from_game(self.scenario, (first, other), seed)
            users, optimum = history.candidates(), optimum_of(at.objective)
            for (divisor, name), annealer in fields.items():
                rng = Streams(seed).generator(f"select/{name}", round=at.round)
                best = annealer.anneal(at.objective, history, users, rng, energies=energies)
                gaps[divisor, name][seed] = optimum - energies[kept - 1]
                row = {"instance": seed, "round": at.round, "temperature_divisor": divisor, "selector": name}
                row |= {"optimum": optimum, "final": energies[-1], "best": at.objective.value(best)}
                rows.append(row)
            if (seed + 1) * 10 // self.n_instances > seed * 10 // self.n_instances:
                note(f"instance {seed + 1} of {self.n_instances}")
        runs = pd.DataFrame(rows)
        counted = shares(paired(runs)).drop(columns="budget")
        return {"runs.parquet": runs, "curves.csv": curves(gaps, kept), "shares.csv": counted}

    def _races(self, note: Note) -> Iterator[dict[str, Any]]:
        """Yield the races of all sizes: on each instance, at every temperature, with all choices of moves."""
        names = dict(zip(("selector", "other"), self.scenario.selectors, strict=True))
        for n_users, n_selected in product(self.n_users, self.n_selected):
            if n_selected >= n_users:
                continue
            network = self.scenario.network.replace(n_users=n_users, n_selected=n_selected)
            scenario = self.scenario.replace(network=network)
            first, other = annealers(scenario, self.n_iterations).values()
            note(f"{n_selected} of {n_users} users")
            for source, seed in product(self.sources, range(self.n_instances)):
                if source == "drawn":
                    at = drawn(n_users, n_selected, (first, other), seed)
                else:
                    at = from_game(scenario, (first, other), seed)[1]
                size = {"source": source, "n_users": n_users, "n_selected": n_selected}
                for divisor in self.temperature_divisors:
                    theirs = self._walk(at, 1, divisor, seed)
                    for moves in self.moves:
                        ours = self._walk(at, 0, divisor, seed, passive=moves == "all")
                        race = {"temperature_divisor": divisor, "moves": moves} | race_of(at, ours, theirs)
                        yield size | race | {"instance": seed} | names

    def _walk(self, at: Instance, which: int, divisor: float, seed: int, passive: bool = True) -> Walk:
        """Walk of one of the two annealers."""
        from pausefl.reproduction.searches.listing import walk

        rng = Streams(seed).generator(f"select/{self.scenario.selectors[which]}", round=at.round)
        scale = at.gaps[which] / divisor
        return walk(at.objective, at.criteria[which], scale, self.n_iterations, rng, passive)

    def plot(self, tables: Tables) -> Plotted:
        """Gaps against iterations, or shares of races with the first choice of moves."""
        if not self.n_users:
            return Plotted(plot_gaps(tables["curves.csv"]))
        counted = tables["shares.csv"]
        return Plotted(plot_shares(counted[counted["moves"] == self.moves[0]]))


def annealers(scenario: Scenario, n_iterations: int, divisor: float = 1.0) -> dict[str, Annealer]:
    """A scenario's two annealers by name, with a number of iterations and a temperature divisor.

    `PauseflError` if they do not maximise the same objective.
    """
    settings = scenario.selection.replace(n_iterations=n_iterations, temperature_divisor=divisor)
    scenario = scenario.replace(selection=settings)
    found = {name: cast("Annealer", scenario.make_selector(name)) for name in scenario.selectors}
    first, second = found.values()
    if first.reward != second.reward:
        raise PauseflError(f"{' and '.join(found)} cannot be compared: one of them values privacy")
    return found


def optimum_of(objective: Objective) -> float:
    """The value that all optima have."""
    from pausefl.selectors.exact import pivot_and_fill

    return objective.value(pivot_and_fill(objective, np.random.default_rng(0)))


@dataclass(frozen=True)
class Instance:
    """One search."""

    objective: Objective
    #: Values (n,) of the users by each criterion of either annealer.
    criteria: tuple[tuple[Floats, ...], tuple[Floats, ...]]
    #: C of either annealer, which no difference of two energies exceeds.
    gaps: tuple[float, float]
    #: Round of the game, for the random streams; 0 if there is none.
    round: int


def drawn(n_users: int, n_selected: int, pair: tuple[Annealer, Annealer], seed: int) -> Instance:
    """An instance with sampled values."""
    rng = Streams(seed).generator("drawn", user=n_users, round=n_selected)
    values = {name: rng.random(n_users) for name in ("ucb", "g", "p")}
    terms = [values["g"]] + ([values["p"]] if pair[0].with_privacy else [])
    score, nobody = np.sum(terms, axis=0) / n_selected, np.zeros(n_users, np.int64)
    objective = Objective(values["ucb"], score, nobody, np.zeros(n_selected))
    ours, theirs = (tuple(values[name] for name in annealer.graph) for annealer in pair)
    gap = 1.0 + len(terms)
    return Instance(objective, (ours, theirs), (gap, gap), 0)


def from_game(scenario: Scenario, pair: tuple[Annealer, Annealer], seed: int) -> tuple[History, Instance]:
    """History before a round sampled uniformly from those in which annealing is used, and its search.

    The rounds up to it are those of the exact search. `PauseflError` if all belong to the start-up, in which
    m users or more are unseen (deviation D31).
    """
    first = scenario.network.n_users // scenario.network.n_selected + 1
    last = scenario.training.n_rounds
    if last < first:
        raise PauseflError(
            f"scenario '{scenario.name}' ends after round {last}, and searches from round {first} on"
        )
    simulation = selection_only(scenario, "pause" if pair[0].with_privacy else "bsfl", seed)
    simulation.run(int(Streams(seed).generator("race").integers(first, last + 1)) - 1)
    history, users = simulation.history, simulation.history.candidates()
    objective = Objective.of(history, pair[0].reward, pair[0].bound(history), users)
    ours, theirs = (one.criteria(objective, history, users) for one in pair)
    gap, other_gap = (one.largest_gap(objective, history, users) for one in pair)
    return history, Instance(objective, (ours, theirs), (gap, other_gap), history.round)


def race_of(at: Instance, ours: Walk, theirs: Walk) -> dict[str, float]:
    """Energies of two walks on an instance: of the other with as many iterations, or neighbours, as ours."""
    # The thin graph has no more neighbours than the plain one, so the other made this many iterations.
    n = max(int(np.searchsorted(theirs.n_listed.cumsum(), ours.n_listed.sum(), side="right")), 1)
    return {
        "optimum": optimum_of(at.objective),
        "final": ours.energies[-1],
        "best": ours.energies.max(),
        "final_iterations": theirs.energies[-1],
        "best_iterations": theirs.energies.max(),
        "final_neighbours": theirs.energies[n - 1],
        "best_neighbours": theirs.energies[:n].max(),
        "n_listed": ours.n_listed.mean(),
        "n_listed_other": theirs.n_listed.mean(),
        "n_iterations_other": n,
    }


def curves(gaps: Mapping[tuple[float, str], Floats], kept: NDArray[np.int64]) -> pd.DataFrame:
    """Gaps against iterations ``kept`` (j,), of gaps (n, j) of n instances by divisor and selector.

    One row for each ``temperature_divisor``, ``selector`` and ``iteration``: ``median`` over the instances,
    and ``ahead``, the share of instances on which the energy is above the other selector's.
    """
    frames = []
    for (divisor, name), gap in gaps.items():
        (other,) = (gaps[key] for key in gaps if key[0] == divisor and key[1] != name)
        ahead = (gap < other - TIE).mean(axis=0)
        columns = {"iteration": kept, "median": np.median(gap, axis=0), "ahead": ahead}
        frames.append(pd.DataFrame({"temperature_divisor": divisor, "selector": name} | columns))
    return pd.concat(frames, ignore_index=True)


def paired(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs of two selectors on the same instances, as `shares` has them: a row an instance and divisor."""
    first, second = runs["selector"].unique()
    runs = runs.set_index(["temperature_divisor", "instance"])
    theirs = runs.loc[runs["selector"] == second, list(ENERGIES)].add_suffix("_iterations")
    ours: pd.DataFrame = runs[runs["selector"] == first]
    return ours.join(theirs).assign(other=second).reset_index()


def shares(
    pairs: pd.DataFrame,
    by: Sequence[str] = ("temperature_divisor",),
    budgets: Sequence[str] = ("iterations",),
) -> pd.DataFrame:
    """How often the first annealer ends above the other, in instances that ``by`` tells apart.

    One row for each value of ``by``, ``budget`` and ``energy``: ``selector``, ``other``, ``n_instances``;
    ``n_won``, ``n_tied`` and ``n_lost`` by the first; ``share`` of its wins among all, with ``low`` and
    ``high`` of Wilson's interval; ``gap`` and ``gap_other``, what both lack of the optimum on average;
    ``n_listed`` and ``n_listed_other``, mean numbers of neighbours of a vertex, where they are known.
    """
    rows = []
    for cell, own in pairs.groupby(list(by), sort=False):
        listed = {name: own[name].mean() for name in ("n_listed", "n_listed_other") if name in own}
        for budget, energy in product(budgets, ENERGIES):
            ours, theirs, n = own[energy], own[f"{energy}_{budget}"], len(own)
            n_won, n_lost = int((ours - theirs > TIE).sum()), int((ours - theirs < -TIE).sum())
            low, high = wilson(n_won, n)
            row = dict(zip(by, cell, strict=True)) | {"budget": budget, "energy": energy}
            row |= {name: own[name].iloc[0] for name in ("selector", "other")}
            row |= {"n_instances": n, "n_won": n_won, "n_tied": n - n_won - n_lost, "n_lost": n_lost}
            row |= {"share": n_won / n, "low": low, "high": high}
            row |= {"gap": (own["optimum"] - ours).mean(), "gap_other": (own["optimum"] - theirs).mean()}
            rows.append(row | listed)
    return pd.DataFrame(rows)


def plot_gaps(curves: pd.DataFrame) -> Figure:
    """Median gap to the optimum, and how often the first selector leads.

    A colour and a marker for each temperature divisor; the second selector is dashed.
    """
    by_divisor, names = curves.groupby("temperature_divisor", sort=False), curves["selector"].unique()
    figure, ((gap, ahead),) = new_panels((1, 2), 2.9)
    lines = dict(zip(names, _STYLES, strict=True))
    handles = [legend_key(LABELS[name], color="black", linestyle=line) for name, line in lines.items()]
    for (divisor, compared), (color, marker) in zip(by_divisor, cycle(_TEMPERATURES), strict=False):
        look: dict[str, Any] = {"color": color, "marker": marker, "markersize": 3.2, "markevery": 0.15}
        for name, line in lines.items():
            curve = compared[compared["selector"] == name]
            gap.plot(curve["iteration"], curve["median"], linestyle=line, **look)
        first, look["label"] = compared[compared["selector"] == names[0]], f"κ = {divisor:g}"
        handles += ahead.plot(first["iteration"], 100 * first["ahead"], **look)
    gap.set(ylabel="Gap to the optimum, median", ylim=(0, None))
    ahead.set(ylabel=f"{LABELS[names[0]]} ahead (% of instances)", ylim=(0, 105))
    mark_shares(ahead.axhline, names[0])
    for axes in (gap, ahead):
        axes.set(xscale="log", xlabel="Iteration of annealing")
        axes.minorticks_off()
    ahead.annotate("equal chances", (1, 50), (0, -3), va="top", **NOTE)
    if names[0] in PAPERS_SHARES:
        share = 100 * PAPERS_SHARES[names[0]]
        ahead.annotate(f"BSFL reports {share:.1f} %", (1, share), (0, -3), va="top", **NOTE)
    handles[len(names)].set_label(f"Temperature divisor {handles[len(names)].get_label()}")
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def mark_shares(line: Callable[..., Any], selector: str) -> None:
    """Draw thin lines, by ``axhline`` or ``axvline``, at equal chances and the paper's share, in per cent."""
    line(50, **_HALF)
    if selector in PAPERS_SHARES:
        line(100 * PAPERS_SHARES[selector], **_PAPERS)


def plot_shares(counted: pd.DataFrame) -> Figure:
    """`shares` of races won: a column a reading, a row of panels for each source of instances.

    In a panel a row has a temperature: each size; and below, all sizes together as a bar of wins, ties and
    losses, with the interval of the wins.
    """
    from matplotlib.patches import Patch

    sources, readings = counted["source"].unique(), list(product(BUDGETS, ENERGIES))
    divisors = counted["temperature_divisor"].unique()
    selector, other = counted[["selector", "other"]].iloc[0]
    shape, height = (len(sources), len(readings)), 1.3 + len(sources) * (0.2 + 0.32 * len(divisors))
    figure, grid = new_panels(shape, height, sharex=True, sharey=True)
    for (row, source), (column, (budget, energy)) in product(enumerate(sources), enumerate(readings)):
        axes, read = grid[row, column], "source == @source and budget == @budget and energy == @energy"
        mark_shares(axes.axvline, selector)
        _plot_reading(axes, counted.query(read), divisors)
        if row == 0:
            axes.set_title(f"{BUDGETS[budget]},\n{ENERGIES[energy]}", weight="normal", linespacing=1)
        if column == 0:
            axes.set_ylabel(f"Instances\n{_SOURCES[source]}", linespacing=1)
    grid[0, 0].set(xlim=(0, 102), xticks=[0, 25, 50, 75, 100], ylim=(len(divisors) - 0.4, -0.4))
    grid[0, 0].set_yticks(np.arange(len(divisors)) + 0.15, [f"κ = {divisor:g}" for divisor in divisors])
    figure.supylabel("Temperature divisor κ", size="medium")
    for axes in grid[-1]:
        axes.set_xlabel("Share of the races (%)")
    words = (f"All sizes: {LABELS[selector]} higher", "tied", f"{LABELS[other]} higher")
    won, tied, lost = (Patch(label=label, **look) for label, look in zip(words, _PARTS, strict=True))
    one_size = legend_key(f"One size: {LABELS[selector]} higher", **_SIZE)
    handles = [won, one_size, tied, legend_key("Half of the races", **_HALF), lost]
    if selector in PAPERS_SHARES:
        share = f"BSFL reports {100 * PAPERS_SHARES[selector]:.1f} %"
        handles.append(legend_key(share, **_PAPERS))
    handles.append(legend_key("95 % interval", **_POOLED))
    figure.legend(handles=handles, loc="outside lower center", ncols=4, handlelength=1.8)
    return figure


def _plot_reading(axes: Axes, sizes: pd.DataFrame, divisors: NDArray[Any]) -> None:
    """One reading: a row of the axis for each temperature."""
    for y, divisor in enumerate(divisors):
        own = sizes[sizes["temperature_divisor"] == divisor]
        axes.plot(100 * own["share"], np.full(len(own), y), **_SIZE)
        n_instances, *counts = own[["n_instances", "n_won", "n_tied", "n_lost"]].sum()
        left = 0.0
        for count, look in zip(counts, _PARTS, strict=True):
            width = 100 * count / n_instances
            axes.barh(y + 0.3, width, 0.3, left, linewidth=0.5, zorder=1, **look)
            left += width
        ends = [100 * end for end in wilson(counts[0], n_instances)]
        axes.plot(ends, [y + 0.3] * 2, **_POOLED)
