"""Tidy tables from finished runs: rounds of all runs, one row a run, and means over seeds.

The definitions used by tables and figures alike are here: the trailing moving average over
`WINDOW` rounds, and the target accuracy of "simulated seconds to target".
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.errors import PauseflError
from pausefl.registry import SELECTORS
from pausefl.results import markdown
from pausefl.settings import Experiment

#: Rounds in the trailing moving average of accuracy and loss.
WINDOW = 10

#: The target accuracy is this share of the best final accuracy among private selectors.
TARGET_SHARE = 0.9

#: Columns every run has.
ROUND_COLUMNS = (
    "round",
    "selection",
    "latency_s",
    "elapsed_s",
    "leakage_max",
    "leakage_mean",
    "reward",
    "pseudo_regret",
)

#: Columns of trained runs; all NaN where only the selection was run.
TRAINED_COLUMNS = ("train_loss", "accuracy", "loss")

_KEY = ["scenario", "selector", "seed"]

_AVERAGED = (
    "final_accuracy",
    "best_accuracy",
    "final_loss",
    "elapsed_s",
    "mean_round_s",
    "leakage_max",
    "seconds_to_target",
    "selection_ms_per_round",
    "wall_s",
    "peak_memory_mb",
)

_SUMMARY_KEYS = (
    "scenario",
    "selector",
    "seed",
    "n_rounds",
    "trained",
    "timings_s",
    "peak_memory_bytes",
    "diverged_round",
)


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font: 12px/1.5 system-ui, sans-serif; margin: 2em; color: #222; }}
h1 {{ font-size: 1.5em; }}
table {{ border-collapse: collapse; margin: 1em 0; }}
td {{ white-space: nowrap; }}
th, td {{ padding: 0.3em 0.5em; text-align: right; font-variant-numeric: tabular-nums; }}
th:first-child, td:first-child {{ text-align: left; }}
thead {{ border-bottom: 1px solid #222; }}
tbody tr {{ border-bottom: 1px solid #ddd; }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def collect(run_dirs: Mapping[Experiment, Path]) -> pd.DataFrame:
    """Rounds of all runs of one scenario, one below the other.

    Parameters
    ----------
    run_dirs
        The folder of every run that is to be there.

    Returns
    -------
    pandas.DataFrame
        One row a round: ``scenario``, ``selector``, ``seed``, `ROUND_COLUMNS` and `TRAINED_COLUMNS`,
        in the order of ``run_dirs``. Selections as int64 arrays of user ids, times in simulated seconds,
        leakage as epsilon of what the mechanism protects (a coordinate, or the update), accuracy in [0, 1];
        NaN where a quantity was not computed.

    Raises
    ------
    PauseflError
        If any run is missing, unreadable, cut short or in the wrong folder (all of them are listed),
        or if the runs differ in scenario or number of rounds.
    """
    frames = [rounds for rounds, _ in _read_runs(run_dirs).values()]
    return pd.concat(frames, ignore_index=True)


def read_summaries(run_dirs: Mapping[Experiment, Path]) -> dict[Experiment, dict[str, Any]]:
    """The ``summary.json`` of every run, checked like `collect` and with the same errors."""
    return {experiment: summary for experiment, (_, summary) in _read_runs(run_dirs).items()}


def _read_runs(run_dirs: Mapping[Experiment, Path]) -> dict[Experiment, tuple[pd.DataFrame, dict[str, Any]]]:
    """Read every run, or raise one error that lists every problem."""
    if not run_dirs:
        raise PauseflError("no runs to collect")
    scenarios = sorted({experiment.scenario for experiment in run_dirs})
    if len(scenarios) > 1:
        raise PauseflError(f"a table holds the runs of one scenario, got {', '.join(scenarios)}")
    runs, problems = {}, []
    for experiment, folder in run_dirs.items():
        try:
            runs[experiment] = _read_run(experiment, folder)
        except PauseflError as error:
            problems.append(f"  {experiment.selector}, seed {experiment.seed}: {error}")
    if problems:
        raise PauseflError(
            f"scenario '{scenarios[0]}': {len(problems)} of {len(run_dirs)} runs cannot be used:\n"
            + "\n".join(problems)
        )
    _require_equal_length(runs)
    return runs


def _require_equal_length(runs: Mapping[Experiment, tuple[pd.DataFrame, dict[str, Any]]]) -> None:
    """Runs of different length would be compared at different rounds without anyone noticing."""
    lengths: dict[int, list[str]] = {}
    for experiment, (_, summary) in runs.items():
        lengths.setdefault(summary["n_rounds"], []).append(f"{experiment.selector}/seed-{experiment.seed}")
    if len(lengths) > 1:
        listing = "; ".join(f"{n} rounds: {', '.join(names)}" for n, names in sorted(lengths.items()))
        raise PauseflError(f"runs of one scenario differ in their number of rounds: {listing}")


def _read_run(experiment: Experiment, folder: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Rounds (with key columns) and summary of one run."""
    summary = _read_summary(experiment, folder / "summary.json")
    rounds = _read_rounds(folder / "rounds.parquet")
    n_rounds = summary["n_rounds"]
    if rounds["round"].tolist() != list(range(1, n_rounds + 1)):
        raise PauseflError(
            f"{folder / 'rounds.parquet'} holds {len(rounds)} rounds, expected 1 .. {n_rounds} without gaps"
            + _missing(rounds["round"].to_numpy(), n_rounds)
        )
    return as_collected(rounds, experiment), summary


def as_collected(rounds: pd.DataFrame, experiment: Experiment) -> pd.DataFrame:
    """The rounds of one run, with at least `ROUND_COLUMNS`, in the form in which `collect` has them."""
    rounds = rounds.reindex(columns=[*ROUND_COLUMNS, *TRAINED_COLUMNS])
    # An all-null column arrives as objects; pandas would warn about it when runs are joined.
    floats = {column: float for column in rounds.columns if column not in ("round", "selection")}
    key = pd.DataFrame([_identity(experiment)] * len(rounds), columns=_KEY)
    return pd.concat([key, rounds.astype({"round": np.int64, **floats})], axis=1)


def _missing(found: NDArray[np.int64], n_rounds: int) -> str:
    """The rounds that are not there, in ranges."""
    absent = np.setdiff1d(np.arange(1, n_rounds + 1), found)
    ranges = [part for part in np.split(absent, np.flatnonzero(np.diff(absent) > 1) + 1) if len(part)]
    words = [f"{part[0]}" if len(part) == 1 else f"{part[0]} .. {part[-1]}" for part in ranges]
    return f"; missing: {', '.join(words)}" if words else ""


def _identity(experiment: Experiment) -> tuple[str, str, int]:
    return experiment.scenario, experiment.selector, experiment.seed


def _read_summary(experiment: Experiment, path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise PauseflError(f"{path} is missing")
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise PauseflError(f"{path} cannot be read ({error})") from None
    missing = [key for key in _SUMMARY_KEYS if not isinstance(summary, dict) or key not in summary]
    if missing:
        raise PauseflError(f"{path} lacks {', '.join(missing)}")
    found = (summary["scenario"].get("name"), summary["selector"], summary["seed"])
    if found != _identity(experiment):
        raise PauseflError(f"{path} belongs to another run: {', '.join(map(str, found))}")
    return dict(summary)


def _read_rounds(path: Path) -> pd.DataFrame:
    """What a job wrote, with all of `ROUND_COLUMNS`."""
    if not path.is_file():
        raise PauseflError(f"{path} is missing")
    try:
        rounds = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise PauseflError(f"{path} cannot be read ({error})") from None
    missing = [column for column in ROUND_COLUMNS if column not in rounds]
    if missing:
        raise PauseflError(f"{path} lacks the columns {', '.join(missing)}")
    return rounds


def runs_of(rounds: pd.DataFrame) -> Iterator[tuple[str, int, pd.DataFrame]]:
    """Each run of a rounds table as (selector, seed, its rounds in order of time)."""
    for _, run in rounds.groupby(_KEY, sort=False):
        yield str(run["selector"].iloc[0]), int(run["seed"].iloc[0]), run.sort_values("round")


def moving_average(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Trailing mean over at most `WINDOW` entries, NaN entries left out.

    Computed window by window: a running sum would carry the rounding error of one huge loss into
    all later rounds.

    Parameters
    ----------
    values
        Shape (n,), one entry a round, NaN where there was no evaluation.

    Returns
    -------
    numpy.ndarray
        Shape (n,); NaN where the whole window is NaN.
    """
    padded = np.concatenate([np.full(WINDOW - 1, np.nan), np.asarray(values, dtype=np.float64)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)
    counts = np.sum(~np.isnan(windows), axis=1)
    sums = np.nansum(windows, axis=1)
    averages: NDArray[np.float64] = np.divide(
        sums, counts, out=np.full(len(counts), np.nan), where=counts > 0
    )
    return averages


def smoothed(run: pd.DataFrame, column: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times and moving average of one column of one run, at the rounds in which it was evaluated.

    Parameters
    ----------
    run
        The rounds of one run, in order.
    column
        ``accuracy``, ``loss`` or ``train_loss``.

    Returns
    -------
    elapsed, average : numpy.ndarray
        Shape (n evaluations,) each; simulated seconds and the column's unit.
    """
    values = run[column].to_numpy(dtype=np.float64)
    evaluated = ~np.isnan(values)
    elapsed = run["elapsed_s"].to_numpy(dtype=np.float64)
    return elapsed[evaluated], moving_average(values)[evaluated]


def _final(run: pd.DataFrame, column: str) -> float:
    """Last value of the moving average; NaN if there is none."""
    average = smoothed(run, column)[1]
    return float(average[-1]) if len(average) else math.nan


def target_accuracy(rounds: pd.DataFrame) -> float:
    """The accuracy that "seconds to target" refers to, in [0, 1].

    It is `TARGET_SHARE` of the best final accuracy (mean over seeds of the last value of the moving
    average) among selectors whose leakage is finite, or among all if none is. NaN if no run has an accuracy:
    untrained ones, and regressions.
    """
    finals: dict[str, list[float]] = {}
    private: dict[str, bool] = {}
    for selector, _, run in runs_of(rounds):
        finals.setdefault(selector, []).append(_final(run, "accuracy"))
        private[selector] = private.get(selector, True) and bool(np.isfinite(run["leakage_max"]).all())
    eligible = [s for s in finals if private[s]] or list(finals)
    means = [float(np.mean(finals[s])) for s in eligible]
    return TARGET_SHARE * max((mean for mean in means if not math.isnan(mean)), default=math.nan)


def seconds_to_target(run: pd.DataFrame, target: float) -> float:
    """Simulated seconds until the moving average of accuracy first reaches ``target``; NaN if never."""
    elapsed, accuracy = smoothed(run, "accuracy")
    reached = np.flatnonzero(accuracy >= target)
    return float(elapsed[reached[0]]) if len(reached) else math.nan


def outcomes(rounds: pd.DataFrame) -> dict[Experiment, dict[str, Any]]:
    """What each run came to, by its rounds alone.

    Parameters
    ----------
    rounds
        As `collect` returns them.

    Returns
    -------
    dict
        For each run: ``final_accuracy`` (mean of the last 10 rounds, chance level if the model diverged
        before them; NaN for a regression), ``best_accuracy`` (best 10-round average), ``target_accuracy``;
        ``final_loss`` (like the final accuracy; infinite after divergence); ``elapsed_s``, ``mean_round_s``,
        ``seconds_to_target`` in simulated seconds (the last NaN if never reached); ``leakage_max`` (epsilon
        at the end). NaN wherever nothing was trained.
    """
    target = target_accuracy(rounds)
    return {
        Experiment(str(run["scenario"].iloc[0]), selector, seed): _outcome(run, target)
        for selector, seed, run in runs_of(rounds)
    }


def _outcome(run: pd.DataFrame, target: float) -> dict[str, Any]:
    accuracy = smoothed(run, "accuracy")[1]
    elapsed = float(run["elapsed_s"].iloc[-1])
    return {
        "final_accuracy": _final(run, "accuracy"),
        "best_accuracy": float(accuracy.max()) if len(accuracy) else math.nan,
        "final_loss": _final(run, "loss"),
        "elapsed_s": elapsed,
        "mean_round_s": elapsed / len(run),
        "leakage_max": float(run["leakage_max"].iloc[-1]),
        "seconds_to_target": seconds_to_target(run, target),
        "target_accuracy": target,
    }


def summarise(rounds: pd.DataFrame, summaries: Mapping[Experiment, Mapping[str, Any]]) -> pd.DataFrame:
    """One row per run.

    Parameters
    ----------
    rounds
        As `collect` returns them.
    summaries
        As `read_summaries` returns them, for the same runs.

    Returns
    -------
    pandas.DataFrame
        ``scenario``, ``selector``, ``seed``; the `outcomes`; ``selection_ms_per_round``, ``wall_s``,
        ``peak_memory_mb`` (1 MB = 10^6 bytes) as measured; ``diverged_round`` (missing if the run did not
        diverge).

    Raises
    ------
    PauseflError
        If the runs in ``rounds`` and in ``summaries`` are not the same.
    """
    found = outcomes(rounds)
    unmatched = found.keys() ^ summaries.keys()
    if unmatched:
        names = ", ".join(sorted(f"{e.selector}/seed-{e.seed}" for e in unmatched))
        raise PauseflError(f"rounds and summaries are not of the same runs: {names}")
    rows = [
        {**dict(zip(_KEY, _identity(experiment), strict=True)), **outcome, **_costs(summaries[experiment])}
        for experiment, outcome in found.items()
    ]
    return pd.DataFrame(rows).astype({"diverged_round": "Int64"})


def _costs(summary: Mapping[str, Any]) -> dict[str, Any]:
    timings = summary["timings_s"]
    return {
        "selection_ms_per_round": 1e3 * timings["selection"] / summary["n_rounds"],
        "wall_s": float(timings["total"]),
        "peak_memory_mb": summary["peak_memory_bytes"] / 1e6,
        "diverged_round": summary["diverged_round"],
    }


def across_seeds(summary: pd.DataFrame) -> pd.DataFrame:
    """Mean and sample standard deviation over seeds, one row per selector.

    A mean over the lucky seeds would flatter a selector, so a mean is NaN as soon as one seed has no
    value (a target never reached, a run that diverged); ``n_reached`` and ``n_diverged`` say how many.

    Parameters
    ----------
    summary
        As `summarise` returns it, of one scenario.

    Returns
    -------
    pandas.DataFrame
        ``scenario``, ``selector``, ``n_seeds``, ``n_reached``, ``n_diverged``, ``target_accuracy`` and, for
        each quantity of `summarise`, ``..._mean`` and ``..._sd`` (NaN with one seed). Selectors come in
        the order of `pausefl.registry.selectors.SELECTORS`.
    """
    rows = []
    for selector in sorted(summary["selector"].unique(), key=_selector_rank):
        runs = summary[summary["selector"] == selector]
        row: dict[str, Any] = {
            "scenario": runs["scenario"].iloc[0],
            "selector": selector,
            "n_seeds": len(runs),
            "n_reached": int(runs["seconds_to_target"].notna().sum()),
            "n_diverged": int(runs["diverged_round"].notna().sum()),
            "target_accuracy": runs["target_accuracy"].iloc[0],
        }
        for column in _AVERAGED:
            values = runs[column].to_numpy(dtype=np.float64)
            row[f"{column}_mean"] = float(np.mean(values))
            finite = len(values) > 1 and bool(np.isfinite(values).all())
            row[f"{column}_sd"] = float(np.std(values, ddof=1)) if finite else math.nan
        rows.append(row)
    return pd.DataFrame(rows)


def _selector_rank(selector: str) -> tuple[int, str]:
    known = list(SELECTORS).index(selector) if selector in SELECTORS else len(SELECTORS)
    return known, selector


def to_markdown(
    across: pd.DataFrame, labels: Mapping[str, str] | None = None, protected: str = "coordinate"
) -> str:
    """A Markdown table for people.

    Parameters
    ----------
    across
        As `across_seeds` returns it.
    labels
        What to call each selector; its name where there is no entry.
    protected
        What the epsilon of the leakage is for: ``coordinate`` or ``update``.

    Returns
    -------
    str
        The table, the best final accuracy among private selectors in bold, and a note that says what
        the columns are. Runs that have a loss but no accuracy (a regression) have a column of their final
        loss, and dashes for accuracy. Ends with a newline.

    Raises
    ------
    PauseflError
        If there are no rows.
    """
    if across.empty:
        raise PauseflError("no runs to tabulate")
    labels = labels or {}
    header = [
        "Selector",
        "Final accuracy (%)",
        "Best accuracy (%)",
        "Time to target (s)",
        "Mean round (s)",
        f"Leakage (ε per {protected})",
        "Selection (ms a round)",
        "Wall time (s)",
        "Peak memory (MB)",
        "Seeds",
    ]
    rows = [_cells(row, labels) for _, row in across.iterrows()]
    if _loss_alone(across):
        header.insert(3, "Final loss")
        for cells, (_, row) in zip(rows, across.iterrows(), strict=True):
            cells.insert(3, mean_sd(row, "final_loss", 4))
    best = _best_private(across)
    if best is not None:
        rows[best][1] = f"**{rows[best][1]}**"
    lines = markdown.table(header, rows, "l" + "r" * (len(header) - 1))
    return f"{lines}\n{_table_note(across)}\n"


def to_html(page: str, title: str) -> str:
    """Render a Markdown table and its notes as a self-contained page."""
    from markdown_it import MarkdownIt

    body = MarkdownIt("commonmark").enable("table").render(page)
    return _PAGE.format(title=html.escape(title), body=body)


def _loss_alone(across: pd.DataFrame) -> bool:
    """Whether the runs have a loss but no accuracy."""
    return bool(across["final_accuracy_mean"].isna().all() and across["final_loss_mean"].notna().any())


def _best_private(across: pd.DataFrame) -> int | None:
    """Row of the best final accuracy among selectors of finite leakage, or among all if there is none."""
    accuracy = across["final_accuracy_mean"].to_numpy(dtype=np.float64)
    private = np.isfinite(across["leakage_max_mean"].to_numpy(dtype=np.float64))
    eligible = np.flatnonzero(~np.isnan(accuracy) & (private | ~private.any()))
    return int(eligible[np.argmax(accuracy[eligible])]) if len(eligible) else None


def _cells(row: pd.Series, labels: Mapping[str, str]) -> list[str]:
    return [
        labels.get(row["selector"], f"`{row['selector']}`"),
        _accuracy(row),
        mean_sd(row, "best_accuracy", 1, scale=100),
        _time_to_target(row),
        mean_sd(row, "mean_round_s", 3),
        mean_sd(row, "leakage_max", 2),
        mean_sd(row, "selection_ms_per_round", 2),
        mean_sd(row, "wall_s", 0),
        mean_sd(row, "peak_memory_mb", 0),
        str(row["n_seeds"]),
    ]


def _accuracy(row: pd.Series) -> str:
    accuracy = mean_sd(row, "final_accuracy", 1, scale=100)
    if row["n_diverged"]:
        accuracy += f", diverged ({row['n_diverged']} of {row['n_seeds']} seeds)"
    return accuracy


def _time_to_target(row: pd.Series) -> str:
    missed = row["n_seeds"] - row["n_reached"]
    if math.isnan(row["target_accuracy"]):
        return "–"
    return (
        f"not reached ({missed} of {row['n_seeds']} seeds)"
        if missed
        else mean_sd(row, "seconds_to_target", 1)
    )


def mean_sd(row: pd.Series, column: str, digits: int, scale: float = 1) -> str:
    """``mean ± sd``, a dash where there is no value, ∞ where it is unbounded."""
    mean, sd = row[f"{column}_mean"] * scale, row[f"{column}_sd"] * scale
    if math.isnan(mean):
        return "–"
    if math.isinf(mean):
        return "∞"
    return f"{mean:.{digits}f}" + ("" if math.isnan(sd) else f" ± {sd:.{digits}f}")


def _table_note(across: pd.DataFrame) -> str:
    target = across["target_accuracy"].iloc[0]
    note = "Mean ± standard deviation over seeds. Mean rounds are in simulated seconds."
    if not math.isnan(target):
        note += (
            f" Accuracy is on test data, averaged over {WINDOW} rounds; the best final one among private"
            f" selectors is in bold. Time to target is simulated too; the target, {100 * target:.1f} %, is"
            f" {100 * TARGET_SHARE:.0f} % of that best."
        )
    elif _loss_alone(across):
        note += f" Loss is the mean squared error on test data, averaged over {WINDOW} rounds."
    return note
