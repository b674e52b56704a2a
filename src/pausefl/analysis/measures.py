"""What a selector achieves within a simulated time: speed and its parts, budget spent and its parts.

Time to a target accuracy is rounds to the target times the mean round. The largest budget spent follows from
how often users take part on average, and from how unevenly. A run that misses a target within the time is
censored: it counts as later than all others, never as the whole time.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.analysis import markdown
from pausefl.analysis.formats import in_points, mean_sd
from pausefl.analysis.intervals import estimate
from pausefl.analysis.outcomes import smoothed, smoothed_at
from pausefl.privacy.schedule import Schedule
from pausefl.runs.run import Rounds, runs_of
from pausefl.selectors import SELECTORS, in_legend_order
from pausefl.settings import Scenario

#: Target accuracies in [0, 1] that times are told to.
TARGETS = (0.6, 0.7, 0.8, 0.85)

#: Those of pairs and of a scenario's tables, where some data are harder than MNIST.
MORE_TARGETS = (0.4, 0.5, *TARGETS)

#: Largest budgets spent, epsilon per coordinate, at which accuracies are told.
BUDGETS = (2.0, 4.0, 6.0)

#: Selectors that know expected latencies, as no server does: they are shown, but never on the front.
ORACLES = frozenset({"genie", "fastest"})

#: Bootstrap samples of seeds, and the share of them in which a selector on the front is undominated.
N_SAMPLES, FRONT_SHARE = 1000, 0.8

Floats = NDArray[np.float64]


def in_name(number: float) -> str:
    """A number as names of measures have it: 0.85 is ``85``, the budget 2.5 is ``2_5``."""
    return f"{number:g}".replace(".", "_")


def to_target(run: pd.DataFrame, target: float, time_s: float = math.inf) -> tuple[float, float]:
    """Simulated seconds and rounds until the smoothed accuracy first reaches a target; NaN if not in time."""
    elapsed, accuracy = smoothed(run, "accuracy")
    reached = np.flatnonzero((accuracy >= target) & (elapsed <= time_s))
    if not len(reached):
        return math.nan, math.nan
    seconds = float(elapsed[reached[0]])
    return seconds, float(np.searchsorted(run["elapsed_s"].to_numpy(np.float64), seconds)) + 1


def accuracy_at_budget(run: pd.DataFrame, budget: float, time_s: float = math.inf) -> float:
    """Smoothed accuracy in [0, 1] at the last round in which the largest budget spent is at most ``budget``.

    NaN if it is never more in the time: then the run could go on.
    """
    run = run[run["elapsed_s"] <= time_s]
    over = np.flatnonzero(run["leakage_max"].to_numpy(np.float64) > budget)
    if not len(over) or not over[0]:
        return math.nan
    return smoothed_at(run, "accuracy", float(run["elapsed_s"].iloc[over[0] - 1]))


def participations(run: pd.DataFrame, n_users: int) -> NDArray[np.int64]:
    """How often each user (K,) takes part in the rounds of a table."""
    counts = np.zeros(n_users, np.int64)
    for users in run["selection"]:
        counts[np.unique(users)] += 1
    return counts


def measure(
    run: pd.DataFrame,
    time_s: float,
    n_users: int,
    schedule: Schedule | None = None,
    targets: Sequence[float] = TARGETS,
    budgets: Sequence[float] = BUDGETS,
) -> dict[str, float]:
    """What a run achieves within a simulated time; what it had when it ended, if that was earlier.

    ``accuracy`` then, a trailing mean over ten rounds in [0, 1]; for each target ``seconds_to_80``,
    ``rounds_to_80`` and so on, NaN if it is missed; ``n_rounds`` and ``mean_round_s``. ``spent_max`` and
    ``spent_mean`` of all users, epsilon of what the mechanism protects, infinite without privacy; mean
    ``participations`` of a user, and ``unevenness``, the largest number over that mean; ``spent_even``, what
    the user who spends most had spent if all took part equally often. For each budget ``accuracy_at_2`` and
    so on, as `accuracy_at_budget` returns it.
    """
    within = run[run["elapsed_s"] <= time_s]
    counts, n_rounds = participations(within, n_users), len(within)
    last = within.iloc[-1] if n_rounds else {"leakage_max": 0.0, "leakage_mean": 0.0, "elapsed_s": math.nan}
    measured = {
        "accuracy": smoothed_at(run, "accuracy", time_s),
        "n_rounds": n_rounds,
        "mean_round_s": float(last["elapsed_s"]) / max(n_rounds, 1),
        "spent_max": float(last["leakage_max"]),
        "spent_mean": float(last["leakage_mean"]),
        "participations": float(counts.mean()),
        "unevenness": float(counts.max() / counts.mean()) if counts.any() else math.nan,
        "spent_even": math.inf,
    }
    if schedule is not None and math.isfinite(measured["spent_max"]):
        measured["spent_even"] = float(schedule.spent(np.array([math.ceil(counts.mean())]))[0])
    for target in targets:
        name = in_name(100 * target)
        measured[f"seconds_to_{name}"], measured[f"rounds_to_{name}"] = to_target(run, target, time_s)
    for budget in budgets:
        measured[f"accuracy_at_{in_name(budget)}"] = accuracy_at_budget(run, budget, time_s)
    return measured


def censored_median(values: pd.Series) -> float:
    """Median over seeds of a time, where NaN is later than all others; infinite if half of them are."""
    return float(np.median(values.fillna(math.inf)))


def across(runs: pd.DataFrame, first: str, target: float, unranked: Collection[str] = ()) -> pd.DataFrame:
    """One row a selector, in the order of the rows of `measure`, which ``runs`` has one of a run.

    ``selector``, ``n_seeds``; of each measure ``_mean`` and ``_sd`` over seeds that have it, and ``_n``, how
    many have it; of times and rounds to a target `censored_median` as ``_median``. ``difference``: accuracy
    less that of the selector ``first`` under the same seed, its mean, with ``difference_low`` and
    ``difference_high`` of its 95 % interval. ``front``: `front_shares`, NaN of those ``unranked``.
    """
    numbers = [str(name) for name in runs if runs[name].dtype.kind in "if"]
    measures = [name for name in numbers if name != "seed"]
    accuracy = runs.pivot(index="seed", columns="selector", values="accuracy")
    rows = list[dict[str, Any]]()
    for selector, own in runs.groupby("selector", sort=False):
        row: dict[str, Any] = {"selector": selector, "n_seeds": len(own)}
        for name in measures:
            known = own[name].dropna()
            finite = known[np.isfinite(known)]
            row[f"{name}_mean"], row[f"{name}_n"] = known.mean(), len(known)
            row[f"{name}_sd"] = finite.std() if len(finite) == len(known) else math.nan
            if name.startswith(("seconds_to_", "rounds_to_")):
                row[f"{name}_median"] = censored_median(own[name])
        gap = (accuracy[selector] - accuracy[first]).dropna()
        row |= dict(zip(("difference", "difference_low", "difference_high"), estimate(gap), strict=True))
        rows.append(row)
    shares = front_shares(runs[~runs["selector"].isin(unranked)], target)
    return pd.DataFrame(rows).assign(front=lambda table: table["selector"].map(shares))


def front_shares(runs: pd.DataFrame, target: float) -> dict[str, float]:
    """Share of bootstrap samples of seeds in which no other selector is as good in all and better in one.

    Compared are the median time to the target, the mean of the largest budget spent, and the mean accuracy at
    the end; without privacy of any, two of the three. A selector is on the front if its share is at least
    `FRONT_SHARE`. Only those with the most seeds take part, all with the same; nobody if that is one.
    """
    n_seeds = runs.groupby("selector")["seed"].nunique()
    if n_seeds.max() < 2:
        return {}
    runs = runs[runs["selector"].map(n_seeds) == n_seeds.max()]
    columns = [f"seconds_to_{in_name(100 * target)}", "spent_max", "accuracy"]
    tables = [runs.pivot(index="seed", columns="selector", values=name) for name in columns]
    selectors = list(tables[0].columns)
    time, spent, accuracy = (table.reindex(columns=selectors).to_numpy(np.float64) for table in tables)
    samples = np.random.default_rng(0).integers(len(time), size=(N_SAMPLES, len(time)))
    time, spent = (np.where(np.isnan(values), np.inf, values) for values in (time, spent))
    accuracy = np.where(np.isnan(accuracy), -np.inf, accuracy)
    values = [-np.median(time[samples], axis=1), accuracy[samples].mean(axis=1)]
    if np.isfinite(spent).any():
        values.append(-spent[samples].mean(axis=1))
    worth = np.stack(values, axis=-1)  # (samples, selectors, measures), larger is better
    others, own = worth[:, :, np.newaxis], worth[:, np.newaxis]
    better = np.all(others >= own, axis=-1) & np.any(others > own, axis=-1)
    shares = 1 - np.any(better, axis=1).mean(axis=0)
    return dict(zip(selectors, shares.tolist(), strict=True))


def of_scenario(rounds: Rounds, scenario: Scenario) -> tuple[pd.DataFrame, float]:
    """One row a run of a table of `pausefl.runs.run.rounds_of`, as `measure` returns them, and their time.

    A column ``losses`` tells how the selector's losses are reported.

    It is the earliest end of a run, but of those that select the same users in every round. Selectors are in
    the order of legends.
    """
    private = scenario.privacy
    runs = [run for run in runs_of(rounds) if run[2]["accuracy"].notna().any()]
    names = {selector for selector, _, _ in runs}
    order = [*in_legend_order(names & {*SELECTORS}), *sorted(names - {*SELECTORS})]
    runs.sort(key=lambda run: order.index(run[0]))
    lasting = [run for run in runs if not (run[0] in SELECTORS and SELECTORS[run[0]].fixed_users)] or runs
    time_s = min((float(run["elapsed_s"].iloc[-1]) for _, _, run in lasting), default=math.nan)
    rows = list[dict[str, Any]]()
    for selector, seed, run in runs:
        protects = private is not None and (selector not in SELECTORS or SELECTORS[selector].private)
        schedule = private.make_account() if private is not None and protects else None
        measured = measure(run, time_s, scenario.network.n_users, schedule, MORE_TARGETS)
        losses = scenario.losses_reported(selector) if selector in SELECTORS else None
        rows.append({"selector": selector, "seed": seed, "losses": losses} | measured)
    return pd.DataFrame(rows), time_s


def unranked(runs: pd.DataFrame) -> set[str]:
    """Selectors that are on no front.

    They know latencies, or have no privacy beside others that have it. Or they look at losses that users
    report under a budget, which are nearly noise, or spend more than is known
    (`pausefl.settings.Scenario.losses_reported`, the column ``losses``).
    """
    spent = runs.groupby("selector")["spent_max"].max()
    unbounded = spent.index[np.isinf(spent)] if np.isfinite(spent).any() else []
    by_losses = runs["selector"][runs["losses"].notna()]
    return {*ORACLES, *map(str, unbounded), *map(str, by_losses)}


def speed_table(
    summary: pd.DataFrame, names: Mapping[str, str], first: str, time_s: float, target: float
) -> str:
    """Accuracy at equal time, and time to each target that somebody reaches, with its parts; in Markdown.

    ``summary`` is what `across` returns, ``first`` the selector that differences are from.
    """
    targets = [
        name.removeprefix("seconds_to_").removesuffix("_median")
        for name in map(str, summary)
        if name.startswith("seconds_to_") and name.endswith("_median")
    ]
    targets = [one for one in targets if summary[f"seconds_to_{one}_n"].any()]
    rounds = f"rounds_to_{in_name(100 * target)}"
    records = []
    for row in summary.to_dict("records"):
        cells = {
            "Selector": names[row["selector"]],
            f"Accuracy at {time_s:.0f} s (%)": mean_sd(pd.Series(row), "accuracy", 1, 100),
            f"less {names[first]}'s (points)": _points(row),
        }
        cells |= {
            f"Time to {one.replace('_', '.')} % (s)": _median(row, f"seconds_to_{one}") for one in targets
        }
        if rounds.removeprefix("rounds_to_") in targets:
            cells[f"Rounds to {100 * target:g} %"] = _median(row, rounds)
        cells["Mean round (s)"] = mean_sd(pd.Series(row), "mean_round_s", 2)
        cells["Rounds"] = mean_sd(pd.Series(row), "n_rounds", 0)
        records.append(cells)
    return markdown.of_records(
        records,
        f"At equal simulated time, {time_s:.0f} s. Accuracy is a trailing mean over ten rounds, mean ±"
        " standard deviation over seeds; differences are paired, with a 95 % interval. Times and rounds to a"
        " target are medians over all seeds, where a seed that misses the target is later than all others;"
        " (9 of 10): so many reach it.",
    )


def budget_table(summary: pd.DataFrame, names: Mapping[str, str]) -> str:
    """The largest budget spent, its parts, and accuracy at equal budget; in Markdown.

    ``summary`` is what `across` returns.
    """
    budgets = [
        name.removeprefix("accuracy_at_").removesuffix("_n")
        for name in map(str, summary)
        if name.startswith("accuracy_at_") and name.endswith("_n") and summary[name].any()
    ]
    records = []
    for row in summary.to_dict("records"):
        one = pd.Series(row)
        cells = {
            "Selector": names[row["selector"]],
            "Largest budget spent (ε)": mean_sd(one, "spent_max", 2),
            "Mean (ε)": mean_sd(one, "spent_mean", 2),
            "Participations a client": mean_sd(one, "participations", 1),
            "Largest over mean": mean_sd(one, "unevenness", 2),
            "If used evenly (ε)": mean_sd(one, "spent_even", 2),
        }
        for budget in budgets:
            name, n = f"accuracy_at_{budget}", row[f"accuracy_at_{budget}_n"]
            some = "" if n in (0, row["n_seeds"]) else f" ({n} of {row['n_seeds']})"
            cells[f"Accuracy at ε = {budget.replace('_', '.')} (%)"] = mean_sd(one, name, 1, 100) + some
        share = row["front"]
        shown = "–" if math.isnan(share) else f"{100 * share:.0f}"
        cells["On the front (%)"] = f"**{shown}**" if share >= FRONT_SHARE else shown
        records.append(cells)
    return markdown.of_records(
        records,
        "The largest budget spent is that of the client who takes part most often, in ε of what the mechanism"
        " protects; it follows from participations a client and from how uneven they are. *If used evenly*:"
        " what it would be if all clients took part equally often. Accuracy at ε: when the largest budget"
        " spent is about to exceed it; a dash where it never does. *On the front*: share of 1,000 bootstrap"
        " samples of seeds in which no other selector is as good in time, largest budget spent and accuracy,"
        " and better in one; bold from 80 % on. A dash: not ranked.",
    )


def _median(row: Mapping[Any, Any], name: str) -> str:
    """``73.1 (9 of 10)``; ``late (4 of 10)`` if the median seed misses the target."""
    n, n_seeds = row[f"{name}_n"], row["n_seeds"]
    if not n:
        return "not reached"
    digits = 0 if name.startswith("rounds") else 1
    median = row[f"{name}_median"]
    shown = f"{median:.{digits}f}" if math.isfinite(median) else "late"
    return shown if n == n_seeds else f"{shown} ({n} of {n_seeds})"


def _points(row: Mapping[Any, Any]) -> str:
    """The difference of a row of `across`; a dash where there is none, as from itself."""
    mean, low, high = (row[f"difference{end}"] for end in ("", "_low", "_high"))
    return "–" if mean == 0 or math.isnan(mean) else in_points(mean, low, high)
