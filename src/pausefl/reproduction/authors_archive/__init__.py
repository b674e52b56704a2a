"""The PAUSE authors' own runs beside ours: those of their archive, and of the logs behind their figures.

Their numbers and their source are in the README beside this module. Each of their runs has one seed, so it
says nothing of its own spread: a number of theirs is marked by whether it lies between the lowest and the
highest of ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.analysis import markdown
from pausefl.analysis.figures.kinds import TABLES, Kind
from pausefl.analysis.outcomes import moving_average, seconds_to_target, target_accuracy
from pausefl.errors import PauseflError
from pausefl.runs.run import Rounds, runs_of, with_all_columns
from pausefl.runs.run_id import RunId
from pausefl.selectors import SELECTORS
from pausefl.settings import Scenario

#: Scenarios with runs that the PAUSE authors archived.
ARCHIVED = ("mnist_small_authors", "mnist_large_authors", "cifar10_small_authors")

#: Scenarios as run, and the one whose figures have the authors' log that each is compared with.
LOGGED = {
    name: name.removesuffix("_dirichlet")
    for name in (
        "cifar10_small_iid_r1_as_run",
        "cifar10_small_iid_r2_as_run",
        "cifar10_small_noniid_r1_as_run",
        "cifar10_small_noniid_r1_as_run_dirichlet",
        "mnist_large_iid_r1_as_run",
        "mnist_large_iid_r1_v1_as_run",
        "cifar10_large_noniid_r1_as_run",
        "cifar10_large_noniid_r2_as_run",
        "cifar10_large_noniid_r1_v1_as_run",
        "cifar10_large_noniid_r1_cnn5_as_run",
    )
}

#: Rounds at which accuracies and leakages are compared.
ROUNDS = (50, 100, 200, 300)

#: Accuracies that times are compared for, where an archived private run reaches them; the two highest.
TARGETS = (0.5, 0.6, 0.7, 0.8)

#: Decimals to which leakages are compared: those of the archive; of a log, equal participations are equal.
_DIGITS = {"leakage_max": 1, "leakage_end": 6}

#: Numbers at the end of a run of a log, and the columns that ours are in.
_AT_THE_END = {"accuracy_end": "accuracy", "leakage_end": "leakage_max"}

#: Most rounds between two that were read off a log, for a curve between them to be told.
LARGEST_GAP = 200

#: Numbers that every run of the authors has, of its last round.
_OF_THE_LAST = ("elapsed_s", "mean_round_s")

#: Heads of the columns of the Markdown table, and how a number in them is written.
_COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "accuracy": ("Accuracy (%), round {at:g}", lambda value: f"{100 * value:.1f}"),
    "accuracy_end": ("Accuracy (%), at the end", lambda value: f"{100 * value:.1f}"),
    "mean_round_s": ("Mean round (s)", lambda value: f"{value:.3f}"),
    "leakage_end": ("Budget spent, at the end", lambda value: f"{value:.1f}"),
    "seconds_to_target": ("To {percent:g} % (s)", lambda value: f"{value:.1f}"),
    "elapsed_s": ("Their last round ends (s)", lambda value: f"{value:.1f}"),
    "leakage_max": ("Budget spent, round {at:g}", lambda value: f"{value:.1f}"),
    "fewest": ("Fewest participations", lambda value: f"{value:.3g}"),
    "most": ("Most", lambda value: f"{value:.3g}"),
}


def archived(scenario: str) -> dict[str, pd.DataFrame]:
    """The archived runs of a scenario by selector; none for most scenarios.

    Returns
    -------
    dict
        Of each run ``round``, ``elapsed_s`` (simulated seconds), ``accuracy`` (in [0, 1]), ``loss`` and
        ``leakage_max`` (epsilon per coordinate; NaN but at `ROUNDS`, and there too if it was not archived).
    """
    if scenario not in ARCHIVED:
        return {}
    leakage = _read("leakage.csv")
    return _by_selector(
        _read("rounds.csv").merge(leakage, "left", ["scenario", "selector", "round"]), scenario
    )


def logged(scenario: Scenario) -> dict[str, pd.DataFrame]:
    """Rounds that were read off the authors' log of a scenario's figures, by selector; most have no log.

    Returns
    -------
    dict
        Of each run some dozens of rounds: ``round``, ``elapsed_s`` (simulated seconds), ``accuracy`` (in [0,
        1]) and ``loss`` after that single round, and ``leakage_max``, which is **a lower bound** of the
        largest leakage of any user: the log has the participations of the users of a round, and this is the
        leakage (epsilon per coordinate) after the most that were read up to then. NaN where nothing was read.
    """
    if scenario.name not in LOGGED or scenario.privacy is None:
        return {}
    schedule = scenario.privacy.make_schedule()
    found = {}
    for selector, run in read_off(scenario.name).items():
        seen = run.pop("largest_participations").cummax()
        found[selector] = run.assign(leakage_max=schedule.spent(seen))
    return found


#: What the table of `beside_ours` shows, beside the other tables.
TABLE_KINDS = {**TABLES, "authors": Kind("the authors' own runs beside ours")}


def has_runs(scenario: str) -> bool:
    """Whether there are runs of the authors of a scenario, archived or logged."""
    return scenario in ARCHIVED or scenario in LOGGED


def read_off(scenario: str) -> dict[str, pd.DataFrame]:
    """What `logged` returns, with ``largest_participations`` in a round in place of the leakage."""
    runs = _by_selector(_read("figures.csv"), LOGGED[scenario])
    return {name: run.assign(accuracy=run.pop("accuracy_percent") / 100) for name, run in runs.items()}


def logged_rounds(scenario: Scenario) -> dict[RunId, pd.DataFrame]:
    """All rounds of the runs of `logged`, as `pausefl.runs.run.rounds_of` has them.

    Times and accuracies are on straight lines between rounds that were read, and means of 10 rounds where
    they are known; a run of which more than `LARGEST_GAP` rounds on end were not read has no accuracies.
    Leakage is NaN but after the last round, where the log tells it. No selections.
    """
    numbers, found = dict(_logged_numbers(scenario)), dict[RunId, pd.DataFrame]()
    for selector, run in logged(scenario).items():
        numbers_of_run = {
            (what, int(at)): value for (name, what, at), value in numbers.items() if name == selector
        }
        ((last, mean_round_s),) = (
            (at, value) for (what, at), value in numbers_of_run.items() if what == "mean_round_s"
        )
        means = {at: value for (what, at), value in numbers_of_run.items() if what.startswith("accuracy")}
        n = np.arange(1, last + 1)
        read = run.set_index("round")
        accuracy = read["accuracy"].reindex(n)
        accuracy[list(means)] = list(means.values())
        if np.diff(accuracy.index[accuracy.notna()]).max(initial=0) > LARGEST_GAP:
            accuracy[:] = np.nan
        accuracy = accuracy.interpolate(limit_area="inside")
        elapsed = np.interp(n, [0, *read.index, last], [0.0, *read["elapsed_s"], last * mean_round_s])
        leakage = np.append(np.full(last - 1, np.nan), numbers_of_run.get(("leakage_end", last), np.nan))
        columns = {"round": n, "elapsed_s": elapsed, "accuracy": accuracy.to_numpy(), "leakage_max": leakage}
        columns |= {"loss": read["loss"].reindex(n).to_numpy(), "selection": [np.empty(0, np.int64)] * last}
        found[RunId(scenario.name, selector, 0)] = with_all_columns(pd.DataFrame(columns))
    return found


def logged_target(rounds: Rounds) -> float:
    """The target accuracy of `logged_rounds`: of private selectors whose users are not fixed."""
    facts = {name: SELECTORS[name.selector] for name in rounds}
    counted = [name for name, one in facts.items() if one.private and not one.fixed_users]
    return target_accuracy({name: rounds[name] for name in counted})


def log_of(scenario: str) -> dict[str, Any]:
    """Source of the log of a scenario's figures: ``folder`` and ``commit`` of the repository; ``seed``."""
    source = _read("logs.csv").set_index("scenario").loc[LOGGED[scenario]]
    return {str(key): value for key, value in source.items()}


@cache
def _read(name: str) -> pd.DataFrame:
    return pd.read_csv(Path(__file__).with_name(name))


def _by_selector(rows: pd.DataFrame, scenario: str) -> dict[str, pd.DataFrame]:
    """Rows of a scenario by selector; runs of none of our selectors are left out."""
    own = rows[rows["scenario"] == scenario].drop(columns="scenario")
    return {
        str(selector): run.drop(columns="selector").reset_index(drop=True)
        for selector, run in own.groupby("selector", sort=False)
        if selector in SELECTORS
    }


def beside_ours(rounds: Rounds, scenario: Scenario) -> pd.DataFrame:
    """What the authors' runs of a scenario and ours achieved, one row a number of theirs.

    ``rounds`` are our runs, as `pausefl.runs.run.rounds_of` returns them, or empty.

    Returns
    -------
    pandas.DataFrame
        ``scenario``, ``selector``, ``quantity``, ``at``. Of archived runs and of logs: ``accuracy`` (in
        [0, 1], mean of the 10 rounds up to ``at``; of a log, of those of them that were read). Of archived
        runs: ``seconds_to_target`` (``at`` is the accuracy; infinite if it is never reached), ``elapsed_s``
        after round ``at``, the last of theirs, ``leakage_max`` after round ``at``, and ``fewest`` and
        ``most`` participations of a user after round ``at``. Of logs, where ``at`` is the last round of
        theirs, and ours end where our run does if that is before: ``accuracy_end``, ``mean_round_s``
        (simulated seconds) and ``leakage_end``, where the log tells. ``authors`` is their number;
        ``mean``, ``low`` and ``high`` are over our seeds (NaN if there are none); ``n_seeds``. ``inside``:
        whether theirs lies from ``low`` to ``high``; missing with fewer than two seeds, and where theirs
        never reached a target, unless all of ours did before its end. Selectors come in the order of
        `pausefl.selectors.SELECTORS`.

    Raises
    ------
    PauseflError
        If there are no runs of the authors with these settings.
    """
    name = scenario.name
    if name not in (*ARCHIVED, *LOGGED):
        known = ", ".join((*ARCHIVED, *LOGGED))
        raise PauseflError(f"scenario '{name}' has no runs of the authors; these have: {known}")
    numbers = _archived_numbers(scenario) if name in ARCHIVED else _logged_numbers(scenario)
    theirs = {row: value for row, value in numbers if not math.isnan(value)}
    ends = {selector: float(run["elapsed_s"].iloc[-1]) for selector, run in archived(name).items()}
    ours: dict[str, list[pd.DataFrame]] = {}
    for selector, _, run in runs_of(rounds):
        ours.setdefault(selector, []).append(run)
    rows = []
    for selector, quantity, at in sorted(theirs, key=lambda row: list(SELECTORS).index(row[0])):
        seeds = [_number(run, quantity, at, scenario.network.n_users) for run in ours.get(selector, [])]
        found = np.array([value for value in seeds if not math.isnan(value)], np.float64)
        spread = (found.mean(), found.min(), found.max()) if len(found) else (math.nan,) * 3
        authors = theirs[selector, quantity, at]
        inside = _inside(quantity, authors, found, ends.get(selector, math.nan))
        rows.append((name, selector, quantity, at, authors, *spread, len(found), inside))
    columns = ["scenario", "selector", "quantity", "at", "authors"]
    columns += ["mean", "low", "high", "n_seeds", "inside"]
    return pd.DataFrame(rows, columns=columns).astype({"inside": "boolean"})


#: Selector and quantity of a number of theirs, and its round, or its target.
_Row = tuple[str, str, float]


def _archived_numbers(scenario: Scenario) -> Iterator[tuple[_Row, float]]:
    """Yield the numbers of the authors' archived runs of a scenario; NaN where a run has none."""
    runs, taken = archived(scenario.name), _by_selector(_read("participations.csv"), scenario.name)
    private = [run for selector, run in runs.items() if SELECTORS[selector].private]
    # The two highest that one of them reaches.
    targets = [at for at in TARGETS if any(math.isfinite(_reached(run, at)) for run in private)][-2:]
    for selector, run in runs.items():
        last = len(run)
        wanted: list[tuple[str, float]] = [("accuracy", at) for at in ROUNDS]
        wanted += [("seconds_to_target", at) for at in targets]
        wanted += [("elapsed_s", last), *(("leakage_max", at) for at in ROUNDS)]
        for quantity, at in wanted:
            yield (selector, quantity, at), _number(run, quantity, at, 0)
        for which in ("fewest", "most") if selector in taken else ():
            yield (selector, which, last), float(taken[selector][which].iloc[0])


def _logged_numbers(scenario: Scenario) -> Iterator[tuple[_Row, float]]:
    """Yield the numbers of the runs in the authors' log of a scenario."""
    assert scenario.privacy is not None
    log, schedule = LOGGED[scenario.name], scenario.privacy.make_schedule()
    checkpoints = _by_selector(_read("checkpoints.csv"), log)
    for selector, run in _by_selector(_read("figures.csv"), log).items():
        last, end = int(run["round"].iloc[-1]), float(run["elapsed_s"].iloc[-1])
        if selector in checkpoints:
            own = checkpoints[selector].set_index("round")
            last, end = int(own["rounds_in_all"].iloc[-1]), float(own["seconds_in_all"].iloc[-1])
            for at, percent in zip(own.index, own["accuracy_mean_percent"], strict=True):
                yield (selector, "accuracy_end" if at == last else "accuracy", at), percent / 100
            # The same at every checkpoint: it was read off the whole log, before each user's last
            # participation.
            most = own["largest_participations_before"]
            if SELECTORS[selector].private and most.nunique() == 1:
                yield (selector, "leakage_end", last), float(schedule.spent(most[last] + 1))
        yield (selector, "mean_round_s", last), end / last


def _number(run: pd.DataFrame, quantity: str, at: float, n_users: int) -> float:
    """A quantity of a run of at least ``at`` rounds, accuracy as a trailing mean; NaN of a shorter one."""
    if quantity == "seconds_to_target":
        return _reached(run, at)
    if quantity in ("mean_round_s", *_AT_THE_END):
        at = min(int(at), len(run))
    if at > len(run):
        return math.nan
    last = int(at) - 1
    if quantity == "mean_round_s":
        return float(run["elapsed_s"].iloc[last]) / at
    if quantity in ("fewest", "most"):
        taken = np.concatenate([np.unique(users) for users in run["selection"].iloc[: last + 1]])
        counts = np.bincount(taken.astype(np.int64), minlength=n_users)
        return float(counts.min() if quantity == "fewest" else counts.max())
    column = _AT_THE_END.get(quantity, quantity)
    values: NDArray[np.float64] = run[column].to_numpy(dtype=np.float64)
    return float((moving_average(values) if column == "accuracy" else values)[last])


def _reached(run: pd.DataFrame, target: float) -> float:
    """Seconds to a target; infinite if never, NaN without accuracies."""
    seconds = seconds_to_target(run, target)
    return math.inf if math.isnan(seconds) and run["accuracy"].notna().any() else seconds


def _inside(quantity: str, theirs: float, ours: NDArray[np.float64], end: float) -> bool | None:
    """Whether theirs is in the range of ours; None if it is not known.

    An archived run that never reached a target by its ``end`` differs from ours only if all of these did.
    """
    if len(ours) < 2:
        return None
    if math.isinf(theirs):
        return False if ours.max() <= end else None
    if quantity in _DIGITS:
        theirs, ours = round(theirs, _DIGITS[quantity]), ours.round(_DIGITS[quantity])
    return bool(ours.min() <= theirs <= ours.max())


def to_markdown(table: pd.DataFrame, labels: Mapping[str, str]) -> str:
    """The table for people: of each selector the authors' run, our mean and our range, if there are any."""
    heads = [
        _COLUMNS[quantity][0].format(at=at, percent=100 * at)
        for quantity, at in zip(table["quantity"], table["at"], strict=True)
    ]
    order = table["quantity"].map(list(_COLUMNS).index)
    columns = dict.fromkeys(table.assign(head=heads, order=order).sort_values(["order", "at"])["head"])
    rows = []
    for selector, own in table.assign(head=heads).groupby("selector", sort=False):
        cells = {row["head"]: _cells(row) for _, row in own.iterrows()}
        n_rounds = own.loc[own["quantity"].isin(_OF_THE_LAST), "at"].iloc[0]
        n_seeds = own["n_seeds"].max()
        names = [f"authors, {n_rounds:g} rounds", "our mean" if n_seeds > 1 else "ours, one seed"]
        names.append(f"our range, {n_seeds} seeds")
        for i in range(min(1 + n_seeds, 3)):
            label = labels[str(selector)] if i == 0 else ""
            rows.append([label, names[i], *[cells[head][i] if head in cells else "" for head in columns]])
    return f"{markdown.table(['Selector', 'Run', *columns], rows, 'llr')}\n{_note(table)}\n"


def _cells(row: pd.Series) -> tuple[str, str, str]:
    """The authors' number with its mark, our mean, our range."""
    authors, mean, low, high = (_shown(row, column) for column in ("authors", "mean", "low", "high"))
    mark = "" if pd.isna(row["inside"]) else " ✓" if row["inside"] else " ✗"
    # Without a value of every seed there is no mean.
    return authors + mark, "–" if mean == "never" != low else mean, f"{low} to {high}"


def _shown(row: pd.Series, column: str) -> str:
    value = float(row[column])
    written = _COLUMNS[row["quantity"]][1]
    return "–" if math.isnan(value) else "never" if math.isinf(value) else written(value)


def tally(table: pd.DataFrame) -> tuple[int, int, float]:
    """How many of the authors' numbers lie in our range, of how many, and how many were to be expected.

    A further seed of n of ours lies in their range with probability (n − 1)/(n + 1), more where values tie.
    """
    marked = table[table["inside"].notna()]
    expected = (marked["n_seeds"] - 1) / (marked["n_seeds"] + 1)
    return int(marked["inside"].sum()), len(marked), float(expected.sum())


def _note(table: pd.DataFrame) -> str:
    inside, marked, expected = tally(table)
    if not table["n_seeds"].any():
        return "No trained run is listed yet: these are the authors' numbers alone."
    if not marked:
        return "With one seed of ours there is no range to compare with."
    never = " “Never” is longer than any time, so a seed of ours that never reaches a target leaves no mean."
    if not np.isinf(table[["authors", "high"]]).any(axis=None):
        never = ""
    return (
        "✓: the authors' number lies in the range of our seeds; ✗: it does not."
        f" {inside} of {marked} do; if their run were one more of our n seeds, {expected:.0f} would, a share"
        f" of (n − 1)/(n + 1). The numbers of one run depend on each other.{never}"
        " No mark: not compared. Empty: not archived."
    )
