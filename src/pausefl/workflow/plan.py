"""What jobs and studies will cost, before any of them runs.

Rates were measured once, on the machine that ``rates.json`` names (``benchmarks/rates.py``): seconds of a
mini-batch and of a participation, of an evaluated example, of noise for a value, of a round's selection; and
simulated seconds of a round, which say how many rounds a time horizon leaves. A job is the sum of what it
does. Other machines are slower or faster by a factor, the same for all jobs.
"""

from __future__ import annotations

import heapq
import json
import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from pausefl.data.sources import training_size
from pausefl.progress import about
from pausefl.registry import MODELS, SELECTORS, SOURCES
from pausefl.results.markdown import aligned
from pausefl.runs.collected import read_summary, run_folder
from pausefl.runs.run import has_settings
from pausefl.settings import Experiment, RawData, Scenario
from pausefl.workflow import targets
from pausefl.workflow.project import Project

#: Bytes of a round in `rounds.parquet`, of one selected user in it, of a user in `ledger.parquet`, and of the
#: rest of a run's files, schemas and summary among them.
_ROUND_BYTES, _SELECTED_BYTES, _USER_BYTES, _RUN_BYTES = 72, 1.5, 8, 12_000

#: Bytes of a scenario's tables and figures.
_SCENARIO_BYTES = 1_400_000

#: The mini-batches that rates are for.
_BATCH = 20


#: Time to ask of a cluster, as a multiple of the estimate: nodes may be slower than the rates' machine.
_MARGIN = 2.5

#: Least time to ask, and that of a job without an estimate; minutes.
LEAST, _UNKNOWN = 5, 720

#: Memory of a job's process by the family of its model, a little more than any published run had; MB.
_MEMORY = {"dense": 1500, "convolutional": 4000}


@dataclass(frozen=True)
class Estimate:
    """What a job costs."""

    #: Of one core, start-up included; not a number if the network has no rates, or the size of the data is
    #: not known before they are read.
    seconds: float
    #: Of its files.
    disk_bytes: float


@cache
def shipped_rates() -> dict[str, Any]:
    """The rates that come with the package."""
    rates: dict[str, Any] = json.loads(
        resources.files("pausefl.workflow").joinpath("rates.json").read_text("utf-8")
    )
    return rates


def estimate(
    scenario: Scenario, selector: str, raw: RawData, rates: Mapping[str, Any], train: bool = True
) -> Estimate:
    """What one job of a scenario costs, with its training or without; every seed costs the same."""
    network, training, record = scenario.network, scenario.training, SELECTORS[selector]
    n_users = network.n_users if record.takes_everyone else network.n_selected
    if record.own_number:  # at most
        n_users = scenario.selection.n_candidates or n_users
    n_rounds = rounds_expected(scenario, selector, rates)
    disk = n_rounds * (_ROUND_BYTES + _SELECTED_BYTES * n_users)
    disk += network.n_users * _USER_BYTES + _RUN_BYTES
    selection = n_rounds * rates["selection_s"].get(selector, rates["selection_s"]["pause"])
    if not train:
        return Estimate(rates["start_s"] + selection, disk)
    kind = rates["networks"].get(network_key(scenario))
    n_train = training_size(scenario.data, raw) or SOURCES[scenario.data.source].n_train or None
    if kind is None or n_train is None:
        return Estimate(math.nan, disk)
    n_train = scenario.data.n_train or n_train - scenario.data.n_validation
    held = sum(scenario.partition.listed_sizes or ()) if scenario.partition.sizes == "listed" else n_train
    n_full, left = divmod(held / network.n_users, training.batch_size)
    n_short = left > 0 and (training.short_batches == "keep" or n_full == 0)
    n_batches = training.n_epochs * min(int(n_full) + n_short, training.max_batches)
    protected = scenario.privacy is not None and record.private
    noise = kind["n_values"] * (rates["noise_s_per_value"] if protected else 0)
    batch = kind["batch_s"] * training.batch_size / _BATCH
    user = kind["participation_s"] + n_batches * batch + noise
    dense = min(training.evaluate_all_until, n_rounds)
    n_evaluations = dense + (n_rounds - dense) / training.evaluate_every
    share = scenario.data.test_fraction or 0
    n_test = SOURCES[scenario.data.source].n_test or round(n_train * share / (1 - share))
    evaluation = n_evaluations * n_test * kind["example_s"]
    return Estimate(rates["start_s"] + n_rounds * n_users * user + selection + evaluation, disk)


def job_estimate(table: Project, experiment: Experiment, rates: Mapping[str, Any]) -> Estimate:
    """What a job of the table costs; if it takes over the training of another, its selection alone."""
    train = table.trained_by(experiment) is None
    return estimate(
        table.job_scenarios[experiment.scenario], experiment.selector, table.config.raw, rates, train
    )


def minutes(table: Project, job: Experiment) -> int:
    """Minutes to ask of a cluster for a job."""
    seconds = job_estimate(table, job, shipped_rates()).seconds
    return _UNKNOWN if math.isnan(seconds) else max(LEAST, math.ceil(_MARGIN * seconds / 60))


def memory_mb(table: Project, scenario: str) -> int:
    """Memory to ask of a cluster for a job of a scenario; MB."""
    return _MEMORY[MODELS[table.job_scenarios[scenario].model.name].family]


def with_trainers(table: Project, jobs: Iterable[Experiment]) -> list[Experiment]:
    """Jobs, and those whose training they take over."""
    jobs = list(jobs)
    others = [other for job in jobs if (other := table.trained_by(job)) is not None]
    return list(dict.fromkeys([*jobs, *others]))


def rounds_expected(scenario: Scenario, selector: str, rates: Mapping[str, Any]) -> float:
    """Rounds of a job: all of them, or as many as the time horizon leaves at the selector's usual pace.

    Of a selector without a rate, that of random selection counts.
    """
    training, pace = scenario.training, rates["round_s"]
    return min(training.n_rounds, training.horizon / float(pace.get(selector, pace["random"])))


def network_key(scenario: Scenario) -> str:
    """Under which name `rates.json` has a network: what it trains on matters as much as its layers."""
    return f"{scenario.model.name} on {scenario.data.source}"


def wall_clock(seconds: Iterable[float], n_cores: int) -> float:
    """Time until jobs of one core each are done on some cores, the longest first; unknown ones count 0."""
    busy = [0.0] * n_cores
    for job in sorted((job for job in seconds if not math.isnan(job)), reverse=True):
        heapq.heapreplace(busy, busy[0] + job)
    return max(busy)


def is_done(table: Project, experiment: Experiment, results: Path) -> bool:
    """Whether a job's files are there and its summary has today's settings. Edits of code do not count."""
    runs = table.runs if table.config.published else "results/runs"
    summary = read_summary(run_folder(results / runs, experiment))
    return summary is not None and has_settings(summary, table.job_scenarios[experiment.scenario])


def to_text(
    table: Project,
    target: str | None,
    n_cores: int,
    rates: Mapping[str, Any],
    results: Path = Path(),
) -> str:
    """What a target costs: a table of its jobs by scenario and selector, its studies, and their sum.

    Without a target, it is all of the configuration. Finished jobs and studies in the working directory
    ``results`` are not counted.
    """
    wanted = targets.find(table, target or "all")
    jobs = targets.jobs(table, wanted)
    jobs = jobs if table.config.published else with_trainers(table, jobs)
    costs = {job: job_estimate(table, job, rates) for job in jobs}
    todo = {job: None for job in jobs if not is_done(table, job, results)}
    lines = [["scenario", "selector", "jobs", "done", "minutes a job", "core-hours", "MB"]]
    kinds: dict[tuple[str, str], list[Experiment]] = {}
    for job in jobs:
        kinds.setdefault((job.scenario, job.selector), []).append(job)
    for (name, selector), own in kinds.items():
        unfinished = [costs[job] for job in own if job in todo]
        longest = max(costs[job].seconds for job in own)
        hours = math.fsum(cost.seconds for cost in unfinished) / 3600
        megabytes = sum(cost.disk_bytes for cost in unfinished) / 1e6
        numbers = [number(longest / 60, 1), number(hours), f"{megabytes:.1f}"]
        lines.append([name, selector, str(len(own)), str(len(own) - len(unfinished)), *numbers])
    left = [costs[job].seconds for job in todo]
    simulated = [["study", "core-hours"]]
    for name in targets.needs(table, wanted)[1]:
        study, seconds = table.studies[name], table.studies[name].seconds(rates)
        cost = number(math.fsum(seconds) / 3600)
        if study.trained and not table.config.published:
            cost = "in the jobs above"
        if (results / table.study_tables / name).is_dir():
            cost, seconds = "done", []
        simulated.append([name, cost])
        left += seconds
    text = "\n\n".join(
        "\n".join(aligned(part, sides))
        for part, sides in ((lines, "llrrrrr"), (simulated, "lr"))
        if len(part) > 1
    )
    disk = sum(costs[job].disk_bytes for job in todo) / 1e6
    sentences = _sentences(table, jobs, len(jobs) - len(todo), left, disk, n_cores, rates)
    return "\n".join([f"{text}\n", *[textwrap.fill(sentence, 110) for sentence in sentences]]).lstrip("\n")


def number(value: float, digits: int = 2) -> str:
    """A cost in words: a dash if it is not known, and no zero for what is only little."""
    if math.isnan(value):
        return "–"
    least = 10.0**-digits
    return f"< {least:g}" if 0 < value < least / 2 else f"{value:.{digits}f}"


def _sentences(
    table: Project,
    jobs: Sequence[Experiment],
    n_done: int,
    left: Sequence[float],
    megabytes: float,
    n_cores: int,
    rates: Mapping[str, Any],
) -> Iterator[str]:
    """The sum of jobs and studies in words."""
    names = dict.fromkeys(job.scenario for job in jobs)
    done = f", {n_done} of them done" if n_done else ""
    known = [seconds for seconds in left if not math.isnan(seconds)]
    if jobs:
        megabytes += len(names) * _SCENARIO_BYTES / 1e6
        sources = [SOURCES[name] for name in {table.job_scenarios[name].data.source for name in names}]
        prepared = sum((source.n_train + source.n_test) * source.example_bytes for source in sources) / 1e6
        yield (
            f"{len(jobs)} jobs, scenarios: {len(names)}{done}; {megabytes:.0f} MB of results, with tables and"
            f" figures, and {prepared:.0f} MB of prepared data."
        )
    if table.config.published:
        yield "Runs are read from results/published; nothing is trained."
        return
    hours = math.fsum(known) / 3600
    yield (
        f"Left to compute: {hours:.1f} core-hours, {about(wall_clock(left, n_cores))} on"
        f" {n_cores} core{'s' if n_cores > 1 else ''}; a job uses one."
    )
    if unknown := len(left) - len(known):
        yield (
            f"Not counted: {unknown} jobs and studies whose data, network or kind have no rates (–);"
            " docs/costs.md has what was measured."
        )
    yield (
        f"From rates measured on {rates['machine']}, {rates['date']}; another machine takes longer or shorter"
        " by a factor. Done is what has its files, with today's settings; `snakemake -n` also knows edits of"
        " code."
    )
