"""What the jobs of a configuration will cost, before any of them runs.

Rates were measured once, on the machine that ``rates.json`` names (``benchmarks/rates.py``): seconds of a
mini-batch and of a participation, of an evaluated example, of noise for a value, of a round's selection. A
job is the sum of what it does. Other machines are slower or faster by a factor, the same for all jobs.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from pausefl.data.sources import training_size
from pausefl.registry import MODELS, SELECTORS, SOURCES
from pausefl.results.markdown import aligned
from pausefl.settings import Config, RawData, Scenario

#: Bytes of a round in `rounds.parquet`, of one selected user in it, of a user in `ledger.parquet`, and of the
#: rest of a run's files, schemas and summary among them.
_ROUND_BYTES, _SELECTED_BYTES, _USER_BYTES, _RUN_BYTES = 72, 1.5, 8, 12_000

#: Bytes of a scenario's tables and figures.
_SCENARIO_BYTES = 1_400_000

#: The mini-batches that rates are for.
_BATCH = 20


@dataclass(frozen=True)
class Estimate:
    """What a job costs.

    Attributes
    ----------
    seconds
        Of one core, start-up included; not a number if the network has no rates, or the size of the data is
        not known before they are read.
    disk_bytes
        Of its files.
    """

    seconds: float
    disk_bytes: float


def shipped_rates() -> dict[str, Any]:
    """The rates that come with the package."""
    rates: dict[str, Any] = json.loads(
        resources.files("pausefl.workflow").joinpath("rates.json").read_text("utf-8")
    )
    return rates


def estimate(scenario: Scenario, selector: str, raw: RawData, rates: Mapping[str, Any]) -> Estimate:
    """What one job of a scenario costs; every seed costs the same."""
    network, training = scenario.network, scenario.training
    n_users = network.n_users if SELECTORS[selector].takes_everyone else network.n_selected
    disk = training.n_rounds * (_ROUND_BYTES + _SELECTED_BYTES * n_users)
    disk += network.n_users * _USER_BYTES + _RUN_BYTES
    kind = rates["networks"].get(network_key(scenario))
    n_train = training_size(scenario.data, raw) or SOURCES[scenario.data.source].n_train or None
    if kind is None or n_train is None:
        return Estimate(math.nan, disk)
    n_train = scenario.data.n_train or n_train - scenario.data.n_validation
    n_batches = training.n_epochs * min(
        math.ceil(n_train / network.n_users / training.batch_size), training.max_batches
    )
    protected = scenario.privacy is not None and SELECTORS[selector].private
    noise = kind["n_values"] * (rates["noise_s_per_value"] if protected else 0)
    batch = kind["batch_s"] * training.batch_size / _BATCH
    user = kind["participation_s"] + n_batches * batch + noise
    evaluation = _n_test(scenario, n_train) * kind["example_s"] / training.evaluate_every
    selection = rates["selection_s"].get(selector, rates["selection_s"]["pause"])
    return Estimate(rates["start_s"] + training.n_rounds * (n_users * user + evaluation + selection), disk)


def minutes(scenario: Scenario) -> int:
    """Time to ask of a cluster for a job: generous, on one core."""
    return MODELS[scenario.model.name].minutes


def wants_gpu(scenario: Scenario) -> bool:
    """Whether a GPU makes a job faster."""
    return MODELS[scenario.model.name].family == "convolutional"


def network_key(scenario: Scenario) -> str:
    """Under which name `rates.json` has a network: what it trains on matters as much as its layers."""
    return f"{scenario.model.name} on {scenario.data.source}"


def _n_test(scenario: Scenario, n_train: int) -> int:
    share = scenario.data.test_fraction
    return SOURCES[scenario.data.source].n_test or round(n_train * (share or 0) / (1 - (share or 0)))


def to_text(config: Config, rates: Mapping[str, Any]) -> str:
    """A table of a configuration's jobs by scenario and selector, and their sum."""
    jobs = Counter((row.scenario, row.selector) for row in config.experiments)
    head = ["scenario", "selector", "jobs", "minutes a job", "core-hours", "MB"]
    rows, hours, megabytes, unknown = [head], 0.0, 0.0, 0
    for (name, selector), n_jobs in jobs.items():
        one = estimate(config.scenarios[name], selector, config.raw, rates)
        job_hours = n_jobs * one.seconds / 3600
        unknown += n_jobs if math.isnan(job_hours) else 0
        hours += 0 if math.isnan(job_hours) else job_hours
        megabytes += n_jobs * one.disk_bytes / 1e6
        times = [f"{value:.{digits}f}" for value, digits in ((one.seconds / 60, 1), (job_hours, 2))]
        rows.append([name, selector, str(n_jobs), *times, f"{n_jobs * one.disk_bytes / 1e6:.1f}"])
    n_scenarios = len(config.scenarios)
    megabytes += n_scenarios * _SCENARIO_BYTES / 1e6
    sources = [SOURCES[name] for name in {scenario.data.source for scenario in config.scenarios.values()}]
    prepared = sum((source.n_train + source.n_test) * source.example_bytes for source in sources) / 1e6
    sentences = [
        f"{len(config.experiments)} jobs in {n_scenarios} scenarios: about {hours:.1f} core-hours, a job on"
        f" one core; {megabytes:.0f} MB of results, tables and figures among them, and {prepared:.0f} MB of"
        " prepared data.",
        f"Not counted: {unknown} jobs whose data or network have no rates." if unknown else "",
        f"From rates measured on {rates['machine']}, {rates['date']}; another machine takes longer or shorter"
        " by a factor. Studies of selection alone are not counted: docs/costs.md has what they take.",
    ]
    notes = [textwrap.fill(sentence, 110) for sentence in sentences if sentence]
    return "\n".join([*aligned(rows, "llrrrr"), "", *notes])
