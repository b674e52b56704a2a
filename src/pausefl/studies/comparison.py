"""Two annealers on the same instances: ALSA against plain annealing (BSFL, Section V-C and Fig. 4).

Every instance has a simulation of its own, so instances are independent. At 500 users and 300 rounds one
takes some 50 ms. Each annealer uses the random stream that it would have in that round of a job.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import model_validator

from pausefl.bandit.history import History
from pausefl.errors import PauseflError
from pausefl.federated.untrained import selection_only
from pausefl.figures.panels import NOTE, Plotted, new_panels
from pausefl.registry import SELECTORS
from pausefl.registry.selectors import DASH, LABELS, SOLID
from pausefl.results import markdown
from pausefl.results.intervals import CONFIDENCE, wilson
from pausefl.selectors import make_selector
from pausefl.selectors.search import Objective
from pausefl.settings import Scenario
from pausefl.settings.scenario import SelectorName
from pausefl.settings.types import Count, Distinct, Items, Positive
from pausefl.streams import Streams
from pausefl.studies.base import ChangedScenarioStudy, Note, Tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pausefl.selectors.annealing import Annealer

Floats = NDArray[np.float64]

#: Iterations whose energies are kept of each run, at most.
N_KEPT = 61

#: Energies are close to the optimum if they fall short of it by no more than this share.
CLOSE = 0.01

#: Energies that differ by no more are equal: rounding errors of a run add up.
TIE = 1e-9

#: Lines of the two annealers; colour and marker of each temperature, from the hottest on.
_STYLES: tuple[Any, Any] = (SOLID, DASH)
_TEMPERATURES = (("#D55E00", "o"), ("#0072B2", "s"), ("#3B2A5B", "D"), ("#0A8763", "^"), ("#767676", "v"))

#: Share of runs in which a selector ended above plain annealing (BSFL, Section V-C).
PAPERS_SHARES = {"alsa": 0.983}


WORDS = """
Left: what the current vertex lacks of the optimum, median over {{ study.n_instances }} instances. Right: the
share of them on which the first annealer is ahead.

*Setting.* `{{ study.selectors[0] }}` against `{{ study.selectors[1] }}`: selections of
{{ study.scenario.network.n_selected }} of {{ study.scenario.network.n_users }} users,
{{ study.n_iterations }} iterations a run, {{ study.n_instances }} instances at each temperature divisor κ
({{ study.temperature_divisors }}). Nothing is trained.

*What is shown.* An instance is the objective of one round of scenario `{{ study.scenario.name }}`. The
exact search runs a simulation of its own up to a random round after the start-up. Both annealers start at
random, each with its own random stream, the same for every κ. Left: the optimum of the instance, found
exactly, less the energy of the current vertex. Right: the share of instances on which the current energy
of `{{ study.selectors[0] }}` is above that of `{{ study.selectors[1] }}`, beside one half and the 98.3 %
that the paper has for ALSA. The table gives that share after the last iteration, and for the best vertex
met, with Wilson's interval at 95 %.

*How to read it.* The temperature of iteration j is C / (κ ln(1 + j)), and C bounds the difference of any two
energies. For this reward C is above 2α, with α = {{ study.scenario.reward.alpha }}, whatever the energies
are. Where it is far above their differences, nearly every move is accepted, and both annealers wander at
random. Vertices of high energy tend to have more neighbours in ALSA's graph, which favours them even then.
"""


class Comparison(ChangedScenarioStudy):
    """ALSA beside plain annealing on the same instances (BSFL, V-C and Fig. 4)."""

    kind = "comparison"
    label = "two annealers on the same instances"
    data: ClassVar[tuple[str, ...]] = ("runs.parquet", "curves.csv")
    tables = ("summary.csv", "summary.md")
    claims = ("summary.csv",)
    besides = frozenset({"bsfl", "pause"})
    place = (
        "BSFL, Section V-C: in 98.3 % of thousands of runs, of varying sizes, ALSA ended at a higher energy"
        " than plain annealing within a fixed time; Fig. 4 shows one run with 25 of 500 users. The paper"
        " gives neither the law of the instances nor α, the temperature or the number of iterations of these"
        " runs"
    )
    deviations: ClassVar[tuple[str, ...]] = ("D4", "D30", "D35")
    words = WORDS

    selectors: Annotated[tuple[SelectorName, ...], Items(2, 2)]
    """The two annealers that are compared."""
    n_instances: Count
    """Instances; each is a round of a run that the exact search has made up to it."""
    n_iterations: Count
    """Iterations J of each run."""
    temperature_divisors: Distinct[Positive]
    """Divisors kappa of the temperature, one comparison for each; 1 is the papers' theorem."""

    @model_validator(mode="after")
    def _both_anneal(self) -> Self:
        for name in self.selectors:
            if not SELECTORS[name].anneals:
                raise ValueError(f"selectors: '{name}' does not anneal, so it cannot be compared")
        return self

    def compute(self, note: Note) -> dict[str, pd.DataFrame]:
        """Compare the annealers on every instance, at every temperature divisor; ``note`` gets every tenth.

        ``runs``, one row for each instance, divisor and selector: ``instance`` (the seed), ``round``,
        ``temperature_divisor``, ``selector``, ``optimum``, the energies ``final`` (of the last vertex) and
        ``best`` (of the best vertex met, the start included), and ``reached``, the first iteration within
        `CLOSE` of the optimum (missing if there is none); and ``curves``, the `curves` of the gaps.
        """
        from pausefl.selectors.exact import pivot_and_fill

        fields = {divisor: annealers(self, divisor) for divisor in self.temperature_divisors}
        kept = kept_iterations(self.n_iterations)
        energies, rows = np.empty(self.n_iterations), []
        gaps = {
            (divisor, name): np.empty((self.n_instances, len(kept)))
            for divisor, field in fields.items()
            for name in field
        }
        any_annealer = next(iter(fields[self.temperature_divisors[0]].values()))
        exact = "pause" if any_annealer.with_privacy else "bsfl"
        for seed in range(self.n_instances):
            history = instance(self.scenario, exact, seed)
            users, t = history.candidates(), history.round
            objective = Objective.of(history, any_annealer.reward, any_annealer.bound(history), users)
            # All optima have the same value.
            optimum = objective.value(pivot_and_fill(objective, np.random.default_rng(0)))
            for (divisor, name), gap in gaps.items():
                rng = Streams(seed).generator(f"select/{name}", round=t)
                best = fields[divisor][name].anneal(objective, history, users, rng, energies=energies)
                gap[seed] = optimum - energies[kept - 1]
                close = energies >= optimum - CLOSE * abs(optimum)
                rows.append(
                    {
                        "instance": seed,
                        "round": t,
                        "temperature_divisor": divisor,
                        "selector": name,
                        "optimum": optimum,
                        "final": energies[-1],
                        "best": objective.value(best),
                        "reached": int(close.argmax()) + 1 if close.any() else None,
                    }
                )
            if (seed + 1) * 10 // self.n_instances > seed * 10 // self.n_instances:
                note(f"instance {seed + 1} of {self.n_instances}")
        return {"runs": pd.DataFrame(rows).astype({"reached": "Int64"}), "curves": curves(gaps, kept)}

    def draw(self, tables: Tables) -> Plotted:
        """Figure and ``summary`` of the tables of `pausefl.studies.comparison.compute`."""
        summary = shares(tables["runs"])
        figure = plot_curves(tables["curves"])
        return Plotted(figure, {"summary": summary}, to_markdown(summary))


def kept_iterations(n_iterations: int) -> NDArray[np.int64]:
    """At most `N_KEPT` iterations, evenly spaced on a logarithmic scale; with the first and the last."""
    return np.unique(np.rint(np.geomspace(1, n_iterations, N_KEPT)).astype(np.int64))


def annealers(study: Comparison, divisor: float) -> dict[str, Annealer]:
    """The two annealers by name, with the study's number of iterations and a temperature divisor.

    `PauseflError` if they do not maximise the same objective.
    """
    from pausefl.selectors.annealing import Annealer

    settings = study.scenario.selection.replace(n_iterations=study.n_iterations, temperature_divisor=divisor)
    scenario = study.scenario.replace(selection=settings)
    found = {name: cast(Annealer, make_selector(name, scenario)) for name in scenario.selectors}
    first, second = found.values()
    if first.reward != second.reward:
        raise PauseflError(f"{' and '.join(found)} cannot be compared: one of them values privacy")
    return found


def instance(scenario: Scenario, exact: str, seed: int) -> History:
    """History before a round sampled uniformly from those in which annealing is used, as ``exact`` makes it.

    `PauseflError` if all rounds belong to the start-up, in which m users or more are unseen (deviation D31).
    """
    first = scenario.network.n_users // scenario.network.n_selected + 1
    last = scenario.training.n_rounds
    if last < first:
        raise PauseflError(
            f"scenario '{scenario.name}' ends after round {last}, and searches from round {first} on"
        )
    simulation = selection_only(scenario, exact, seed)
    simulation.run(int(Streams(seed).generator("race").integers(first, last + 1)) - 1)
    return simulation.history


def curves(gaps: Mapping[tuple[float, str], Floats], kept: NDArray[np.int64]) -> pd.DataFrame:
    """Gaps against iterations ``kept`` (j,), of gaps (n, j) of n instances by divisor and selector.

    One row for each ``temperature_divisor``, ``selector`` and ``iteration``: ``mean``, and ``low``,
    ``median`` and ``high`` (quantiles 0.1, 0.5 and 0.9) over the instances; ``example``, the first instance;
    and ``ahead``, the share of instances on which the energy is above the other selector's.
    """
    frames = []
    for (divisor, name), gap in gaps.items():
        (other,) = (gaps[key] for key in gaps if key[0] == divisor and key[1] != name)
        low, median, high = np.quantile(gap, [0.1, 0.5, 0.9], axis=0)
        columns = {
            "temperature_divisor": divisor,
            "selector": name,
            "iteration": kept,
            "mean": gap.mean(axis=0),
            "low": low,
            "median": median,
            "high": high,
            "example": gap[0],
            "ahead": (gap < other - TIE).mean(axis=0),
        }
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def outcomes(ours: pd.Series[float], theirs: pd.Series[float], optimum: pd.Series[float]) -> dict[str, Any]:
    """What the energies of two annealers on the same instances come to.

    ``n_instances``; ``n_won``, ``n_tied`` and ``n_lost`` by the first; ``share`` of its wins among all, with
    ``low`` and ``high`` of Wilson's interval; ``gap`` and ``gap_other``, the mean gaps of both.
    """
    lead = ours - theirs
    n, n_won, n_lost = len(lead), int((lead > TIE).sum()), int((lead < -TIE).sum())
    low, high = wilson(n_won, n)
    return {
        "n_instances": n,
        "n_won": n_won,
        "n_tied": n - n_won - n_lost,
        "n_lost": n_lost,
        "share": n_won / n,
        "low": low,
        "high": high,
        "gap": (optimum - ours).mean(),
        "gap_other": (optimum - theirs).mean(),
    }


def shares(runs: pd.DataFrame) -> pd.DataFrame:
    """How often the first selector ends above the second.

    One row for each divisor and ``energy`` (final or best): ``selector``, ``other`` and the `outcomes`.
    """
    first, second = runs["selector"].unique()
    rows = []
    for divisor, compared in runs.groupby("temperature_divisor"):
        by_name = compared.set_index(["selector", "instance"])
        ours, theirs = by_name.loc[first], by_name.loc[second]
        for energy in ("final", "best"):
            cell = {"temperature_divisor": divisor, "energy": energy, "selector": first, "other": second}
            rows.append(cell | outcomes(ours[energy], theirs[energy], ours["optimum"]))
    return pd.DataFrame(rows)


def to_markdown(table: pd.DataFrame) -> str:
    """The `shares` as a Markdown table for people, with a note."""
    ours, theirs = (LABELS[table[column].iloc[0]] for column in ("selector", "other"))
    cells = [
        {
            "Temperature divisor": f"{row['temperature_divisor']:g}",
            "Energy compared": {"final": "last vertex", "best": "best vertex met"}[row["energy"]],
            f"{ours} higher (%)": f"{100 * row['share']:.1f}",
            "Interval (%)": f"{100 * row['low']:.1f} to {100 * row['high']:.1f}",
            "Tied (%)": f"{100 * row['n_tied'] / row['n_instances']:.1f}",
            f"Mean gap, {ours}": f"{row['gap']:.3f}",
            f"Mean gap, {theirs}": f"{row['gap_other']:.3f}",
        }
        for row in table.to_dict("records")
    ]
    note = (
        f"{table['n_instances'].iloc[0]:,} instances at each temperature divisor. Wilson's interval at"
        f" {100 * CONFIDENCE:.0f} %. Energies within {TIE:g} are tied. A gap is the optimum less the energy."
    )
    return markdown.of_records(cells, "rlr", note)


def plot_curves(curves: pd.DataFrame) -> Figure:
    """Median gap to the optimum, and how often the first selector leads, against iterations.

    A colour and a marker for each temperature divisor; the second selector is dashed.
    """
    from matplotlib.lines import Line2D

    by_divisor, names = curves.groupby("temperature_divisor", sort=False), curves["selector"].unique()
    figure, ((gap, ahead),) = new_panels((1, 2), 2.9)
    handles = [
        Line2D([], [], color="black", linestyle=line, label=LABELS[name])
        for name, line in zip(names, _STYLES, strict=True)
    ]
    for (divisor, compared), (color, marker) in zip(by_divisor, cycle(_TEMPERATURES), strict=False):
        look: dict[str, Any] = {"color": color, "marker": marker, "markersize": 3.2, "markevery": 0.15}
        for name, line in zip(names, _STYLES, strict=True):
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
    line(50, color="black", linewidth=0.5)
    if selector in PAPERS_SHARES:
        line(100 * PAPERS_SHARES[selector], color="black", linewidth=0.6, linestyle=(0, (4, 2)))
