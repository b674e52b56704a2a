"""What a reader asks first, with a number for each answer: as written, as run, and in the authors' logs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pausefl.analysis import markdown
from pausefl.analysis.intervals import estimate
from pausefl.analysis.metrics import METRICS
from pausefl.analysis.paired import pair_gaps
from pausefl.analysis.statistics import judge
from pausefl.analysis.trajectories import trajectories
from pausefl.reproduction.authors_archive import LOGGED, logged_rounds
from pausefl.reproduction.figures import captions
from pausefl.reproduction.figures.papers import AS_RUN, AS_WRITTEN
from pausefl.runs.run import runs_of
from pausefl.selectors import SELECTORS
from pausefl.settings import Scenario, load_scenario

#: Where numbers come from: the columns of the table.
LOG = "authors' log"
SOURCES = (AS_WRITTEN, AS_RUN, LOG)

#: The studies with runs longer than the papers', their file, and their setting of the number of rounds.
LONG_RUNS = {AS_WRITTEN: "mnist_knobs", AS_RUN: "mnist_long_as_run"}
CURVES, N_ROUNDS = "curves.parquet", "training.n_rounds"

#: Up to which distance from 1 two mean rounds count as equal.
CLOSE = 0.03

#: The scenarios of comparisons, as written.
MNIST, CIFAR = "mnist_large_iid_r1", "cifar10_large_noniid_r1"

#: SA-PAUSE, as a scenario as run, or else the papers' text, has it.
_ANNEALERS = ("sa_pause_best_gain", "sa_pause")


class Answer(NamedTuple):
    """A number that answers a question."""

    value: float
    #: Its interval over seeds, NaN with one seed or of a count.
    low: float = math.nan
    high: float = math.nan
    n_seeds: int = 0
    #: How many there are, of a count; else of how many seeds it is, as others never get there.
    of: int = 0
    #: "at most" or "at least" where a run of a seed ended before it reached what the other reached.
    bound: str = ""


@dataclass(frozen=True)
class Question:
    """A question that one number answers."""

    name: str
    asked: str
    #: What is measured.
    measured: str
    #: ``times``, ``points``, ``%`` or ``runs``.
    unit: str
    #: Gap between two selectors' runs: scenario, metric of `METRICS`, selectors of which the first that
    #: ran counts, and the one they are compared with.
    gap: tuple[str, str, tuple[str, ...], str] | None = None


QUESTIONS = (
    Question(
        "agreement",
        "Do our rounds last as long as the authors'?",
        f"authors' runs whose mean round our trained runs have within {100 * CLOSE:.0f} %",
        "runs",
    ),
    Question(
        "time",
        "Is PAUSE faster?",
        "time to the target accuracy, relative to random selection's; MNIST, 300 users",
        "times",
        (MNIST, "seconds_to_target", ("pause",), "random"),
    ),
    Question(
        "round",
        "",
        "mean round, relative to random selection's; MNIST, 300 users",
        "times",
        (MNIST, "mean_round_s", ("pause",), "random"),
    ),
    Question(
        "annealing",
        "Does SA-PAUSE match PAUSE?",
        "mean round, relative to PAUSE's; MNIST, 300 users",
        "times",
        (MNIST, "mean_round_s", _ANNEALERS, "pause"),
    ),
    Question(
        "mnist",
        "How far is PAUSE from FedAvg without noise?",
        "accuracy when the first of the two ends; MNIST, 300 users",
        "points",
        (MNIST, "accuracy_in_time", ("pause",), "fedavg_no_privacy"),
    ),
    Question(
        "cifar",
        "",
        "accuracy when the first of the two ends; CIFAR-10, 300 users",
        "points",
        (CIFAR, "accuracy_in_time", ("pause",), "fedavg_no_privacy"),
    ),
    Question(
        "budget",
        "Does PAUSE spend less of the budget than random selection?",
        "largest budget spent of a user when one of the two ends, relative to random selection's;"
        " MNIST, 300 users",
        "times",
        (MNIST, "leakage_in_time", ("pause",), "random"),
    ),
    Question("long", "What breaks it?", "PAUSE's accuracy after 1,000 rounds; MNIST, 300 users", "%"),
)


def scenarios() -> list[str]:
    """Scenarios whose runs answer questions."""
    return list(dict.fromkeys([*map(_written, LOGGED), *LOGGED]))


def _written(logged: str) -> str:
    return logged.removesuffix("_as_run")


def logged(*folders: Path) -> dict[str, dict[str, Any]]:
    """Settings, in plain values, of the scenarios as run that there are logs of; from the first folder."""
    return {name: load_scenario(name, *folders).as_dict() for name in dict.fromkeys(LOGGED.values())}


def logs(scenarios: Mapping[str, Mapping[str, Any]]) -> dict[str, pd.DataFrame]:
    """Rounds of the authors' logs by the scenario as run, from its `logged` settings."""
    return {name: logged_rounds(Scenario.read(one, "scenario")) for name, one in scenarios.items()}


def answers(
    rounds: Mapping[str, pd.DataFrame],
    curves: Mapping[str, pd.DataFrame],
    logs: Mapping[str, pd.DataFrame],
) -> pd.DataFrame:
    """The numbers that there are.

    Parameters
    ----------
    rounds
        Rounds of all runs (`pausefl.runs.run.rounds_of`) by scenario, of those of `scenarios` that ran.
    curves
        The table `CURVES` of the studies `LONG_RUNS` that there are, by the name of the study.
    logs
        Rounds of the authors' logs (`logs`).

    Returns
    -------
    pandas.DataFrame
        One row a number: ``question``, ``measured``, ``source`` (of `SOURCES`), ``value`` in ``unit``,
        ``low`` and ``high`` of its 95 % interval over ``n_seeds`` seeds; ``of`` of these it is known, or of
        how many a count is; ``bound``.
    """
    rows = []
    for question in QUESTIONS:
        for source, answer in _by_source(question, rounds, curves, logs):
            known = {"question": question.name, "measured": question.measured, "source": source}
            rows.append(known | answer._asdict() | {"unit": question.unit})
    return pd.DataFrame(rows, columns=["question", "measured", "source", *Answer._fields, "unit"])


def read(path: Path) -> pd.DataFrame:
    """The table of `answers` in a CSV file."""
    return pd.read_csv(path, dtype={"bound": str}).fillna({"bound": ""})


def _by_source(
    question: Question,
    rounds: Mapping[str, pd.DataFrame],
    curves: Mapping[str, pd.DataFrame],
    logs: Mapping[str, pd.DataFrame],
) -> Iterator[tuple[str, Answer]]:
    """Yield sources and their answers to a question."""
    found: dict[str, Answer | None] = {}
    if question.gap is not None:
        scenario, metric, ours, theirs = question.gap
        run = f"{scenario}_as_run"
        for source, name in ((AS_WRITTEN, scenario), (AS_RUN, run)):
            if name in rounds:
                found[source] = gap_between(rounds[name], metric, ours, theirs)
        log = gap_between(logs[run], metric, ours, theirs) if run in logs else None
        found[LOG] = log if log is not None and log.of else None
    elif question.name == "agreement":
        found = {AS_WRITTEN: _agreement(rounds, logs, ""), AS_RUN: _agreement(rounds, logs, "_as_run")}
    else:
        for source, study in LONG_RUNS.items():
            if study in curves:
                ends = long_ends(curves[study], "pause")
                found[source] = Answer(*estimate(100 * ends), len(ends), len(ends))
    yield from ((source, answer) for source, answer in found.items() if answer is not None)


def long_ends(curves: pd.DataFrame, selector: str) -> pd.Series:
    """Accuracy at the end of the longer runs of a selector, by seed, from the table `CURVES`."""
    own = curves[(curves["knob"] == N_ROUNDS) & (curves["selector"] == selector)]
    return own.groupby("seed")["accuracy"].last()


def gap_between(rounds: pd.DataFrame, metric: str, first: tuple[str, ...], second: str) -> Answer | None:
    """Gap between two selectors over the seeds of both, as claims measure it; None without common seeds.

    ``metric`` is one of `METRICS`; of ``first``, the first selector that ran counts.
    """
    runs, ratio = trajectories(rounds), metric != "accuracy_in_time"
    selector = next((name for name in first if name in set(rounds["selector"])), "")
    bounds = pair_gaps(METRICS[metric], runs, selector, second, ratio)
    if not len(bounds):
        return None
    n_known = int(np.isfinite(bounds).all(axis=1).sum())
    if not np.isfinite(bounds[:, 1]).any():
        return Answer(math.nan, n_seeds=len(bounds))
    found = judge(bounds, -math.inf, 0.0)
    mean, least, most = (math.exp(value) if ratio else value for value in found.gap)
    return Answer(mean, least, most, len(bounds), len(bounds) if found.bound else n_known, found.bound)


def _agreement(
    rounds: Mapping[str, pd.DataFrame], logs: Mapping[str, pd.DataFrame], suffix: str
) -> Answer | None:
    """How many of the authors' runs that select have our mean round, over as many rounds, within `CLOSE`.

    ``suffix`` ends the names of our scenarios. Where that is none, ours have SA-PAUSE as the papers have it.
    """
    found = []
    for logged, log in logs.items():
        own = rounds.get(_written(logged) + suffix, log[:0])
        for selector, _, theirs in runs_of(log):
            facts = SELECTORS[selector]
            name = _ANNEALERS[1] if selector == _ANNEALERS[0] and not suffix else selector
            ours = [run for other, _, run in runs_of(own) if other == name]
            if facts.takes_everyone or facts.fixed_users or not ours:
                continue
            cut = [run["elapsed_s"].iloc[: len(theirs)] for run in ours]
            mean = np.mean([times.iloc[-1] / len(times) for times in cut])
            found.append(float(mean) / (theirs["elapsed_s"].iloc[-1] / len(theirs)))
    if not found:
        return None
    return Answer(sum(abs(ratio - 1) <= CLOSE for ratio in found), of=len(found))


def to_markdown(table: pd.DataFrame) -> str:
    """The table of `answers` for people: a row a question, a column a source."""
    cells = {(row["question"], row["source"]): shown(row) for row in table.to_dict("records")}
    rows = []
    for question in QUESTIONS:
        mine = [cells.get((question.name, source), "–" if source == LOG else "not run") for source in SOURCES]
        rows.append([f"**{question.asked}**" if question.asked else "", question.measured, *mine])
    head = ["Question", "Measured", *(source.capitalize() for source in SOURCES)]
    return f"{markdown.table(head, rows, 'llrrr')}\n{NOTE}\n"


#: What explains the table.
NOTE = (
    "*As written* has the settings of the papers' text, *as run* those of the authors' logs, and their"
    " annealer. Where a run ended before the target, its end counts, and the number is a bound. A log has one"
    " run of each selector, of which we copied some rounds; – is what it does not tell."
)


def shown(row: Mapping[Any, Any]) -> str:
    """An answer in words."""
    value, unit = row["value"], row["unit"]
    if unit == "runs":
        return f"{value:.0f} of {row['of']}"
    if math.isnan(value):
        return "not reached"
    digits = {"times": ".2f", "points": "+.1f", "%": ".0f"}[unit]
    text = f"{row['bound']} {value:{digits}} {unit}".strip().replace("-", "−")
    if row["source"] == LOG:
        return text
    some = f" in {row['of']} of {row['n_seeds']} seeds"
    return f"{text}, one seed" if row["n_seeds"] == 1 else text + some * (row["of"] < row["n_seeds"])


def sentences(table: pd.DataFrame) -> list[str]:
    """Conclusions as Markdown, from the table of `answers`; without numbers that it lacks."""
    rows = {(row["question"], row["source"]): row for row in table.dropna(subset="value").to_dict("records")}

    def found(question: str, *sources: str) -> Mapping[Any, Any] | None:
        return next((rows[question, one] for one in sources if (question, one) in rows), None)

    words_of = (Path(__file__).parent / "conclusions.md.jinja").read_text("utf-8")
    text = captions.render(words_of, found=found, close=100 * CLOSE)
    return [" ".join(sentence.split()) for sentence in text.split("\n\n") if sentence.strip()]
