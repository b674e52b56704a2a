"""Selectors side by side under the same seeds: paired gaps, as claims have them, of anyone's runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from pausefl.analysis.formats import number
from pausefl.analysis.markdown import aligned
from pausefl.analysis.metrics import METRICS, Metric
from pausefl.analysis.statistics import Floats, gaps, holm_adjusted, judge
from pausefl.analysis.trajectories import Trajectory, trajectories
from pausefl.errors import ConfigError, PauseflError, suggest, to_install
from pausefl.runs.collected import Given, as_runs
from pausefl.runs.run import Run, check_settings, rounds_of, selector_version
from pausefl.selectors import LABELS, SELECTORS, in_legend_order
from pausefl.settings.scenario import as_of_today, scenario_of_run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What `side_by_side` compares, where runs have it.
COMPARED = ("accuracy_in_time", "loss_in_time", "mean_round_s", "leakage_in_time")

#: Ratios that spread over more than this factor have a logarithmic axis.
_SPREAD = 5

#: Characters of a line of the names of a pair.
_WIDTH = 40


class Paired(pd.DataFrame):
    """What `paired` returns: a data frame that draws itself."""

    _metadata: ClassVar[list[str]] = ["gaps", "measured"]
    #: One row a pair and seed: ``pair`` in words, ``gap``, and whether it is of ``one seed`` or a bound.
    gaps: pd.DataFrame
    #: What is compared, in words.
    measured: str

    @property
    def _constructor(self) -> type[Paired]:
        return Paired  # what is left after a filter draws itself, too

    def plot(self) -> Figure:  # type: ignore[override]
        """Each pair with a dot a seed and the interval of the mean; a line where there is no difference.

        A gap or a mean of which only a bound is known is an arrow. `PauseflError` without the extra
        ``workflow``, or if no pair has a gap.
        """
        try:
            import seaborn as sns
            from matplotlib.ticker import LogLocator, NullLocator

            from pausefl.analysis.figures.any_runs import show_in_notebooks
            from pausefl.analysis.figures.names import broken
            from pausefl.analysis.figures.style import COLUMN_WIDTH, new_figure, theme
        except ModuleNotFoundError as error:
            raise PauseflError(to_install("a figure", error, "workflow")) from None
        if missing := {"selector", "against", "gap", "low", "high", "unit", "bound"} - {*self.columns}:
            raise PauseflError(f"pairs without columns cannot be drawn: {', '.join(sorted(missing))}")
        if (known := self.dropna(subset="gap")).empty:
            raise PauseflError("no pair has a gap to draw: selectors share no seed, or none is known")
        pairs = [broken(_words(row), _WIDTH) for row in known.to_dict("records")]
        drawn = self.gaps.assign(pair=[broken(pair, _WIDTH) for pair in self.gaps["pair"]])
        drawn = drawn[drawn["pair"].isin(pairs)]
        ends = np.abs(known[["low", "high"]].to_numpy(np.float64).T - known["gap"].to_numpy(np.float64))
        even = float(self.unit.eq("ratio").any())
        marks = {"one seed": "o", "at least": ">", "at most": "<"}
        with theme():
            figure, axes = new_figure(1 + 0.3 * len(known) + 0.16 * sum(pair.count("\n") for pair in pairs))
            figure.set_figwidth(1.5 * COLUMN_WIDTH)
            axes.axvline(even, color="black", linewidth=0.8)
            sns.scatterplot(
                drawn,
                x="gap",
                y="pair",
                style="of",
                markers=marks,
                color="0.45",
                s=22,
                alpha=0.7,
                ax=axes,
            )
            axes.errorbar(known["gap"], pairs, xerr=ends, fmt="none", color="C0", capsize=3)
            for bound, mark in {"": "D", "at least": ">", "at most": "<"}.items():
                of = known["bound"] == bound
                axes.plot(known["gap"][of], np.array(pairs)[of], mark, color="C0")
            axes.set(xlabel=self.measured, ylabel="", ylim=(len(known) - 0.5, -0.5))
            if even and drawn["gap"].max() > _SPREAD * drawn["gap"].min():
                axes.set_xscale("log")
                axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
                axes.xaxis.set_major_formatter("{x:g}")
                axes.xaxis.set_minor_locator(NullLocator())
            sns.move_legend(axes, "lower right", bbox_to_anchor=(1, 1), ncols=3, title=None)
        show_in_notebooks()
        return figure


def pair_gaps(
    metric: Metric, runs: Mapping[tuple[str, int], Trajectory], first: str, second: str, ratio: bool
) -> Floats:
    """Bounds (n, 2) of the gap of two selectors under each common seed; logarithms of ratios."""
    seeds = [seed for name, seed in runs if name == first and (second, seed) in runs]
    if not seeds:
        return np.empty((0, 2))
    values = np.array([metric.values(runs[first, seed], runs[second, seed]) for seed in seeds])
    return gaps(values[:, 0], values[:, 1], ratio)


def paired(runs: Given, metric: str, *, ratio: bool | None = None) -> Paired:
    """Differences, or ratios, between all selectors of some runs, over the seeds that two of them share.

    Parameters
    ----------
    runs
        Of two selectors or more in one scenario: each from `pausefl.run` or `pausefl.read_run`, or its
        folder, or the folder of a scenario's collected runs.
    metric
        What is compared, one of `pausefl.analysis.metrics.METRICS`: ``accuracy_in_time``, ``mean_round_s``,
        ``seconds_to_target``, ``leakage_in_time`` and so on. Each is of what both runs have: the time until
        the earlier end, or as many rounds.
    ratio
        Whether values are divided; by default all but accuracies are.

    Returns
    -------
    pandas.DataFrame
        One row a pair: ``selector``, ``against``, ``n_seeds``, ``gap`` in ``unit`` with ``low`` and ``high``
        of its 95 % interval (Student's), ``bound``, which is ``at most`` or ``at least`` where a run ended
        too early to tell, ``p`` (two-sided, that there is no gap), and ``p_holm``, corrected for the number
        of pairs. NaN where it cannot be known, as of one seed; ``p`` may be known without ``gap``, by the
        signs of gaps of which some are infinite. Its ``plot()`` draws it.

    Raises
    ------
    PauseflError
        If the metric is not known, there are no two selectors of one scenario, two runs have the same
        selector and seed, or runs are of two versions of a selector that was handed over.
    """
    if not isinstance(metric, str):
        raise ConfigError(f"metric must be a text, not {type(metric).__name__}. {suggest('', METRICS)}")
    if metric not in METRICS:
        raise ConfigError(f"unknown metric '{metric}'. {suggest(metric, METRICS)}")
    runs = as_runs(runs)
    measured = METRICS[metric]
    for run in runs:
        alike = next(other for other in runs if other.selector == run.selector)
        for other in (runs[0], alike):
            whose = f"that of {other.selector}, seed {other.seed}"
            check_settings([run], as_of_today(other.summary), whose)
        if len({selector_version(one) for one in (run, alike)} - {None}) > 1:
            raise PauseflError(
                f"{alike.name} and {run.name} are of two versions of {run.selector}: the source of the"
                " selector was changed between them. Name runs of one version"
            )
    if measured.trained and not all(run.summary["trained"] for run in runs):
        raise PauseflError(f"metric '{metric}' needs trained runs")
    if len({run.selector for run in runs}) < 2:
        raise PauseflError("there are no two selectors to compare")
    by_key = dict[tuple[str, int], Run]()
    for run in runs:
        if (same := by_key.setdefault((run.selector, run.seed), run)) is not run:
            raise PauseflError(
                f"{same.name} and {run.name} are both {run.selector}, seed {run.seed}. Name one of them"
            )
    scenario = scenario_of_run(runs[0].summary)
    found = trajectories(rounds_of(runs), scenario.name, scenario.network)
    divided = measured.unit != "points" if ratio is None else ratio
    unit = "ratio" if divided else measured.unit
    rows, seen = list[dict[str, Any]](), list[dict[str, Any]]()
    for first, second in combinations(_in_order({name for name, _ in found}), 2):
        values = pair_gaps(measured, found, first, second, divided)
        row = {"selector": first, "against": second, "n_seeds": len(values), "unit": unit}
        if (values != (-math.inf, math.inf)).any():  # else nothing is known
            decision = judge(values, -math.inf, 0.0)
            gap = map(math.exp, decision.gap) if divided else decision.gap
            row |= dict(zip(("gap", "low", "high"), gap, strict=True))
            row |= {"bound": decision.bound, "p": decision.p}
            seen += [{"pair": _words(row), **_seen(low, high, divided)} for low, high in values.tolist()]
        rows.append(row)
    columns = ["selector", "against", "n_seeds", "gap", "low", "high", "unit", "bound", "p"]
    table = pd.DataFrame(rows, columns=columns)
    paired_up = Paired(table.assign(p_holm=holm_adjusted(table["p"].to_numpy(np.float64))))
    paired_up.gaps = pd.DataFrame(seen, columns=["pair", "gap", "of"])
    paired_up.measured = f"{measured.label.capitalize()} ({unit})"
    return paired_up


def _seen(low: float, high: float, divided: bool) -> dict[str, Any]:
    """What is to be drawn of the gap under one seed, known between two bounds; NaN if both are infinite."""
    of = "one seed" if low == high else "at least" if math.isfinite(low) else "at most"
    gap = high if of == "at most" else low
    return {"gap": (math.exp(gap) if divided else gap) if math.isfinite(gap) else math.nan, "of": of}


def side_by_side(runs: Iterable[Run]) -> str:
    """What `paired` says of what is `COMPARED`, in lines; nothing if runs cannot be compared."""
    runs = list(runs)
    head = ["", "", "gap", "95 % interval", "p (Holm)", "seeds"]
    rows = []
    for metric in COMPARED:
        try:
            found = paired(runs, metric)
        except PauseflError:  # other settings, or without training
            continue
        for row in found.dropna(subset="gap").to_dict("records"):
            ends = " to ".join(number(row[end], ".3g") for end in ("low", "high"))
            gap = f"{row['bound']} {number(row['gap'], '.3g')}".lstrip()
            p = number(row["p_holm"], ".2g")
            rows.append([found.measured, _words(row), gap, ends, p, str(row["n_seeds"])])
    lines = aligned([head, *rows], "llr") if rows else []
    return "\n  ".join(["Paired over seeds:", *lines]) if rows else ""


def _in_order(names: set[str]) -> list[str]:
    """Selectors in the order of legends; last, users' own whose code is not at hand."""
    known = {name for name in names if name in SELECTORS}
    return [*in_legend_order(known), *sorted(names - known)]


def _words(row: Mapping[Any, Any]) -> str:
    """What is compared in a row of `paired`: ``PAUSE : Random`` for a ratio, else ``PAUSE − Random``."""
    first, second = (LABELS.get(row[key], row[key]) for key in ("selector", "against"))
    return f"{first} {':' if row['unit'] == 'ratio' else '−'} {second}"
