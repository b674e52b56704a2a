"""What selectors achieve in each cell of a benchmark, their paired differences, and their ranks.

The seeds of a cell are paired: under one seed all selectors have the same clients, data, latencies, budgets
and initial weights. p-values are corrected for the number of rivals in a cell by Holm's procedure. Ranks are
over cells (Demsar, JMLR 2006): each cell ranks the selectors by their mean over seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pausefl.analysis.benchmark.suite import Cell, Suite, settings_digest
from pausefl.analysis.measures import ORACLES, TARGETS, censored_median, in_name, measure
from pausefl.analysis.statistics import LEVEL, gaps, holm_adjusted, judge
from pausefl.errors import PauseflError
from pausefl.runs.collected import read_run
from pausefl.runs.reading import read_table
from pausefl.runs.run import Run
from pausefl.selectors import SELECTORS
from pausefl.settings import Scenario

#: Where the rows of published runs are: in the package, which a checkout links to its results.
_PUBLISHED = Path(__file__).parents[2] / "published_studies"


class Measure(NamedTuple):
    """What selectors are compared by."""

    #: Column of the rows of runs.
    column: str
    #: Title in tables, with its unit.
    title: str
    #: Factor for people, and digits.
    factor: float
    digits: int
    #: Whether more is better, and whether selectors are compared by ratios.
    more_is_better: bool
    ratio: bool


def measures_of(suite: Suite) -> dict[str, Measure]:
    """What a benchmark compares: accuracy at equal time, time to the target, largest budget spent."""
    percent = in_name(100 * suite.target)
    return {
        "accuracy": Measure("accuracy", "Accuracy at the end (%)", 100, 1, True, False),
        "seconds": Measure(f"seconds_to_{percent}", f"Time to {percent} % (s)", 1, 0, False, True),
        "spent": Measure("spent_max", "Largest budget spent (ε)", 1, 2, False, True),
    }


def times_to_targets(rows: pd.DataFrame) -> pd.DataFrame:
    """Median time to each target accuracy: ``world``, ``labels``, ``selector``, ``target``, ``median_s``.

    A seed that misses a target is later than all others, so the median is infinite if half of them do;
    ``n_reached`` of ``n_seeds`` reach it.
    """
    medians = list[dict[str, Any]]()
    columns = [name for name in rows.columns if name.startswith("seconds_to_")]
    for (world, labels, selector), own in rows.groupby(["world", "labels", "selector"], sort=False):
        for column in columns:
            target = float(column.removeprefix("seconds_to_").replace("_", "."))
            medians.append(
                {"world": world, "labels": labels, "selector": selector, "target": target / 100}
                | {"median_s": censored_median(own[column]), "n_reached": own[column].notna().sum()}
                | {"n_seeds": len(own)}
            )
    return pd.DataFrame(medians)


def row_of(run: Run, cell: Cell, scenario: Scenario, target: float) -> dict[str, Any]:
    """A run's row: what it is of, and what `pausefl.analysis.measures.measure` returns.

    It is of a ``world``, ``labels``, a ``selector`` and a ``seed``; ``settings`` is the digest of the
    scenario's; ``losses`` says how losses are reported (`Scenario.losses_reported`), NaN if they are not.
    """
    private = scenario.privacy if SELECTORS.find(run.selector).private else None
    schedule = private.make_account() if private is not None else None
    time_s, n_users = scenario.training.horizon, scenario.network.n_users
    return {
        "world": cell.world,
        "labels": cell.labels,
        "selector": run.selector,
        "seed": run.seed,
        "settings": settings_digest(scenario),
        "losses": scenario.losses_reported(run.selector) or math.nan,
        **measure(run.rounds, time_s, n_users, schedule, sorted({*TARGETS, target})),
    }


def rows_of(runs: Mapping[tuple[Cell, str, int], Path], suite: Suite) -> pd.DataFrame:
    """The rows of finished runs, by cell, selector and seed; `PauseflError` if one cannot be read."""
    rows = [
        row_of(read_run(folder), cell, suite.cells[cell], suite.target)
        for (cell, _, _), folder in runs.items()
    ]
    return pd.DataFrame(rows)


def published(suite: Suite) -> pd.DataFrame:
    """The rows of the published runs of a benchmark's cells and seeds.

    Raises
    ------
    PauseflError
        If there are none, or they are of other settings than the scenarios have now.
    """
    file = _PUBLISHED / f"benchmark_{suite.name}_worlds" / "runs.csv"
    if not file.is_file():
        raise PauseflError(f"benchmark '{suite.name}' has no published runs: {file} is missing")
    rows = read_table(file)
    rows = rows[rows["world"].isin(suite.worlds) & rows["labels"].isin(suite.labels)]
    rows = rows[rows["seed"].isin(suite.seeds)]
    for cell, scenario in suite.cells.items():
        of_cell = rows[(rows["world"] == cell.world) & (rows["labels"] == cell.labels)]
        if of_cell.empty:
            raise PauseflError(f"{file} has no runs of {cell.world}, {cell.labels}, to compare with")
        if not of_cell["settings"].eq(settings_digest(scenario)).all():
            raise PauseflError(
                f"scenario '{scenario.name}' has other settings than the published runs, which cannot be"
                f" paired with new ones: restore {scenario.name}.yaml and its base"
            )
    return rows.reset_index(drop=True)


def unranked(rows: pd.DataFrame) -> set[str]:
    """Selectors without a rank: oracles, and those that look at losses which budgets make noise, or miss."""
    return {*ORACLES, *rows.loc[rows["losses"].notna(), "selector"]} & {*rows["selector"]}


def compare(rows: pd.DataFrame, suite: Suite, reference: str) -> pd.DataFrame:
    """All selectors against one, in each cell and by each measure.

    Returns
    -------
    pandas.DataFrame
        ``measure``, ``world``, ``labels``, ``selector``; ``mean`` over seeds, of a time the median, infinite
        if half of the seeds miss the target; ``n_seeds``, and ``n_reached``, how many seeds have a value;
        ``gap`` to the reference under the same seed, a difference or a ratio, with ``low`` and ``high`` of
        its 95 % interval; ``bound``, "at least" or "at most" where seeds miss the target; ``p`` and
        ``p_holm``; ``verdict``, "better" or "worse" than the reference if p_holm < 0.05, else "equal".
    """
    compared = list[dict[str, Any]]()
    for name, measured in measures_of(suite).items():
        if not np.isfinite(rows[measured.column]).any():  # the budget spent without privacy
            continue
        for (world, labels), cell in rows.groupby(["world", "labels"], sort=False):
            time_s = suite.cells[Cell(str(world), str(labels))].training.horizon
            against = cell[cell["selector"] == reference].set_index("seed")[measured.column]
            in_cell = [
                {"measure": name, "world": world, "labels": labels, "selector": selector}
                | _against(own.set_index("seed")[measured.column], against, measured, time_s)
                for selector, own in cell.groupby("selector", sort=False)
            ]
            adjusted = holm_adjusted([one["p"] for one in in_cell])
            for one, p in zip(in_cell, adjusted, strict=True):
                compared.append(one | {"p_holm": p, "verdict": _verdict(one["gap"], p, measured)})
    return pd.DataFrame(compared)


def _against(own: pd.Series, against: pd.Series, measured: Measure, time_s: float) -> dict[str, Any]:
    """Value of a selector in a cell, and its gap to the reference, from values by seed."""
    timed = measured.column.startswith("seconds")
    known = own.dropna()
    value = censored_median(own) if timed else float(known.mean())
    row: dict[str, Any] = {"mean": value, "n_seeds": len(own), "n_reached": len(known)}
    row |= dict.fromkeys(("gap", "low", "high", "p"), math.nan) | {"bound": ""}
    seeds = own.index.intersection(against.index)
    if not len(seeds) or own.loc[seeds].equals(against.loc[seeds]):
        return row
    ours, theirs = own.loc[seeds], against.loc[seeds]
    if timed:
        bounds = gaps(_bounds(ours, time_s), _bounds(theirs, time_s), measured.ratio)
    else:
        both = (ours.notna() & theirs.notna()).to_numpy()
        bounds = gaps(ours[both], theirs[both], measured.ratio)
    if not len(bounds):
        return row
    decision = judge(bounds, -math.inf, 0.0)
    # Holds: lower than the reference; fails: higher. Either way p is two-sided.
    shown = np.array([decision.gap.mean, decision.gap.low, decision.gap.high])
    gap, low, high = np.exp(shown) if measured.ratio else shown
    return row | {"gap": gap, "low": low, "high": high, "bound": decision.bound, "p": decision.p}


def _bounds(values: pd.Series, time_s: float) -> np.ndarray[Any, Any]:
    """Bounds (n, 2) of times (n,): one that is missing is beyond the end."""
    filled = values.to_numpy(np.float64)
    missing = np.isnan(filled)
    return np.column_stack([np.where(missing, time_s, filled), np.where(missing, math.inf, filled)])


def _verdict(gap: float, p: float, measured: Measure) -> str:
    if not p < LEVEL:
        return "equal"
    return "better" if (gap > (1 if measured.ratio else 0)) == measured.more_is_better else "worse"


class Ranks(NamedTuple):
    """Mean ranks of selectors over cells by one measure, 1 for the best."""

    #: Mean rank by selector, the best first.
    mean: dict[str, float]
    n_cells: int
    #: Largest difference of two mean ranks that chance explains (Nemenyi's test at 5 %); NaN for one cell.
    critical: float
    #: p-value of Friedman's test that all selectors have the same rank.
    p: float


def ranks(rows: pd.DataFrame, measured: Measure, selectors: Iterable[str]) -> Ranks | None:
    """Ranks of some selectors in the cells in which all of them ran; None with fewer than 2, or no such cell.

    A selector's value in a cell is its mean over seeds, of times the median, where a seed that misses the
    target is later than all others. Equal values share their mean rank.
    """
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    chosen = [name for name in dict.fromkeys(rows["selector"]) if name in set(selectors)]
    timed = measured.column.startswith("seconds")
    values = rows[rows["selector"].isin(chosen)].copy()
    values["value"] = values[measured.column].fillna(math.inf) if timed else values[measured.column]
    by_cell = values.pivot_table("value", ["world", "labels"], "selector", "median" if timed else "mean")
    by_cell = by_cell.reindex(columns=chosen).dropna()
    n_cells, k = by_cell.shape
    if k < 2 or not n_cells:
        return None
    table = by_cell.to_numpy(np.float64) * (-1 if measured.more_is_better else 1)
    ranked = np.apply_along_axis(rankdata, 1, table)
    mean = dict(sorted(zip(chosen, ranked.mean(axis=0).tolist(), strict=True), key=lambda one: one[1]))
    if n_cells < 2:
        return Ranks(mean, n_cells, math.nan, math.nan)
    quantile = float(studentized_range.ppf(1 - LEVEL, k, math.inf)) / math.sqrt(2)
    critical = quantile * math.sqrt(k * (k + 1) / (6 * n_cells))
    p = float(friedmanchisquare(*ranked.T).pvalue) if k > 2 else math.nan
    return Ranks(mean, n_cells, critical, p)
