"""What jobs and studies will cost, before any of them runs.

Rates were measured once, on the machine that ``rates.json`` names (``benchmarks/rates.py``): seconds of a
mini-batch and of a participation, of an evaluated example, of noise for a value, of a round's selection; and
simulated seconds of a round, which say how many rounds a time horizon leaves. A job is the sum of what it
does. Other machines are slower or faster by a factor, the same for all jobs.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from pausefl.analysis import formats
from pausefl.analysis.markdown import aligned
from pausefl.data.raw_data import training_size
from pausefl.data.sources import SOURCES
from pausefl.progress import about
from pausefl.reproduction.targets import targets
from pausefl.reproduction.targets.project import Project
from pausefl.runs.collected import read_summary, run_folder
from pausefl.runs.run import has_settings
from pausefl.runs.run_id import RunId
from pausefl.selectors import SELECTORS
from pausefl.settings import RawData, Scenario
from pausefl.training.models import MODELS

#: The mini-batches that rates are for.
_BATCH = 20

#: Time to ask of a cluster, as a multiple of the estimate: nodes may be slower than the rates' machine.
_MARGIN = 2.5

#: Least time to ask, and that of a job without an estimate; minutes.
LEAST, _UNKNOWN = 5, 720

#: Memory of a job's process by the family of its model, a little more than any published run had; MB.
_MEMORY = {"dense": 1500, "convolutional": 4000}


@cache
def shipped_rates() -> dict[str, Any]:
    """The rates that come with the package."""
    rates: dict[str, Any] = json.loads(
        resources.files("pausefl.reproduction.targets").joinpath("rates.json").read_text("utf-8")
    )
    return rates


def estimate(
    scenario: Scenario, selector: str, raw: RawData, rates: Mapping[str, Any], train: bool = True
) -> float:
    """Core-seconds of one job of a scenario, with its training or without; every seed takes the same.

    NaN if the network has no rates, or the size of the data is not known before they are read.
    """
    network, training, facts = scenario.network, scenario.training, SELECTORS[selector]
    n_users = network.n_users if facts.takes_everyone else network.n_selected
    if facts.own_number:  # at most
        n_users = scenario.selection.n_candidates or n_users
    n_rounds = rounds_expected(scenario, selector, rates)
    selection = n_rounds * rates["selection_s"].get(selector, rates["selection_s"]["pause"])
    if not train:
        return float(rates["start_s"] + selection)
    kind = rates["networks"].get(network_key(scenario))
    n_train = training_size(scenario.data, raw) or SOURCES[scenario.data.source].n_train or None
    if kind is None or n_train is None:
        return math.nan
    n_train = scenario.data.n_train or n_train - scenario.data.n_validation
    held = sum(scenario.partition.listed_sizes or ()) if scenario.partition.sizes == "listed" else n_train
    n_full, left = divmod(held / network.n_users, training.batch_size)
    n_short = left > 0 and (training.short_batches == "keep" or n_full == 0)
    n_batches = training.n_epochs * min(int(n_full) + n_short, training.max_batches)
    protected = scenario.privacy is not None and facts.private
    noise = kind["n_values"] * (rates["noise_s_per_value"] if protected else 0)
    batch = kind["batch_s"] * training.batch_size / _BATCH
    user = kind["participation_s"] + n_batches * batch + noise
    dense = min(training.evaluate_all_until, n_rounds)
    n_evaluations = dense + (n_rounds - dense) / training.evaluate_every
    share = scenario.data.test_fraction or 0
    n_test = SOURCES[scenario.data.source].n_test or round(n_train * share / (1 - share))
    evaluation = n_evaluations * n_test * kind["example_s"]
    return float(rates["start_s"] + n_rounds * n_users * user + selection + evaluation)


def job_estimate(project: Project, job: RunId) -> float:
    """Core-seconds of a job of the table; if it takes over the training of another, its selection alone."""
    scenario, train = project.job_scenarios[job.scenario], project.trained_by(job) is None
    return estimate(scenario, job.selector, project.config.raw, shipped_rates(), train)


def minutes(project: Project, job: RunId) -> int:
    """Minutes to ask of a cluster for a job."""
    seconds = job_estimate(project, job)
    return _UNKNOWN if math.isnan(seconds) else max(LEAST, math.ceil(_MARGIN * seconds / 60))


def memory_mb(project: Project, scenario: str) -> int:
    """Memory to ask of a cluster for a job of a scenario; MB."""
    return _MEMORY[MODELS[project.job_scenarios[scenario].model.name].family]


def with_trainers(project: Project, jobs: Iterable[RunId]) -> list[RunId]:
    """Jobs, and those whose training they take over."""
    jobs = list(jobs)
    others = [other for job in jobs if (other := project.trained_by(job)) is not None]
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


def is_done(project: Project, experiment: RunId) -> bool:
    """Whether a job's files are there and its summary has today's settings. Edits of code do not count."""
    runs = Path(project.runs_folder if project.config.published else "results/runs")
    summary = read_summary(run_folder(runs, experiment))
    return summary is not None and has_settings(summary, project.job_scenarios[experiment.scenario])


def to_text(project: Project, target: str, n_cores: int) -> str:
    """What a target costs: a table of its jobs by scenario and selector, its studies, and their sum.

    Finished jobs and studies in the working directory are not counted.
    """
    wanted = targets.find(project, target)
    jobs = targets.jobs(project, wanted)
    jobs = jobs if project.config.published else with_trainers(project, jobs)
    costs = {job: job_estimate(project, job) for job in jobs}
    done = {job for job in jobs if is_done(project, job)}
    lines = [["scenario", "selector", "jobs", "done", "minutes a job", "core-hours"]]
    kinds: dict[tuple[str, str], list[RunId]] = {}
    for job in jobs:
        kinds.setdefault((job.scenario, job.selector), []).append(job)
    for names, own in kinds.items():
        hours = math.fsum(costs[job] for job in own if job not in done) / 3600
        counts = [str(len(own)), str(len(done.intersection(own)))]
        lines.append(
            [*names, *counts, formats.cost(max(costs[job] for job in own) / 60, 1), formats.cost(hours)]
        )
    left, simulated = [costs[job] for job in jobs if job not in done], [["study", "core-hours"]]
    for name in targets.needs(project, wanted)[1]:
        study, there = project.studies[name], Path(project.studies_folder, name).is_dir()
        seconds = 0.0 if there else study.seconds(shipped_rates())
        hours_of_study = "in the jobs above" if study.trained else formats.cost(seconds / 3600)
        simulated.append([name, "done" if there else hours_of_study])
        left.append(seconds)
    parts = [aligned(part, sides) for part, sides in ((lines, "llrrrr"), (simulated, "lr")) if len(part) > 1]
    known = [seconds for seconds in left if not math.isnan(seconds)]
    # Of one core each: no less than the longest, or all of them on all cores.
    wall = max(math.fsum(known) / n_cores, max(known, default=0.0))
    sentences = [f"{len(jobs)} jobs, {len(done)} of them done."] if jobs else []
    cost = f"{math.fsum(known) / 3600:.1f} core-hours, {about(wall)} on {n_cores} core{'s' * (n_cores > 1)}"
    sentences.append(f"Left to compute: {cost}; a job uses one.")
    if unknown := len(left) - len(known):
        sentences.append(
            f"Not counted: {unknown} jobs and studies whose data, network or kind have no rates (–);"
            " docs/costs.md has what was measured."
        )
    sentences.append(
        f"From rates measured on {shipped_rates()['machine']}; another machine takes longer or shorter by a"
        " factor. Done is what has its files, with today's settings; `snakemake -n` also knows edits of code."
    )
    text = "\n\n".join("\n".join(part) for part in parts)
    return "\n".join([f"{text}\n", *(textwrap.fill(sentence, 110) for sentence in sentences)]).lstrip("\n")
