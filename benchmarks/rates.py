"""Measure the rates that `pausefl plan` uses; prints JSON.

The least of several times counts, so that other programs matter little. Networks train on made-up data of the
shape of the real ones. Takes about two minutes. To replace the shipped rates:

    python benchmarks/rates.py > src/pausefl/reproduction/targets/rates.json
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.federated.untrained import selection_only
from pausefl.privacy import CoordinateMechanism, Protection, SimulatedSampler
from pausefl.provenance import hardware
from pausefl.reproduction.studies import selection
from pausefl.reproduction.targets.plan import network_key
from pausefl.settings import ModelSettings, Scenario, TrainingSettings, load_scenario, scenario_names
from pausefl.streams import Streams
from pausefl.training.engine import Trainer

SCENARIOS = Path("config/scenarios")

#: One scenario for each network and data set, and the shape of its examples; none for a regression.
NETWORKS: dict[str, tuple[int, ...]] = {
    "mnist_large_iid_r1": (1, 28, 28),
    "demo_small": (1, 8, 8),
    "bsfl_linear_iid": (),
    "cifar10_small_iid_r1": (3, 32, 32),
    "cifar10_large_noniid_r1_cnn5": (3, 32, 32),
    "cifar10_large_noniid_r1_cnn5_as_run": (3, 32, 32),
    "bsfl_cifar10_iid": (3, 32, 32),
    "bsfl_fashion_iid": (1, 28, 28),
}

#: Rounds of a selection that is timed, and the scenario in which it is.
N_ROUNDS = 300
PLAYED = {
    "mnist_large_iid_r1": ("pause", "sa_pause", "random", "clustered_size", "fastest", "fedavg"),
    "mnist_large_iid_r1_as_run": ("sa_pause_best_gain",),
    "mnist_large_iid_r1_v1_as_run": ("sa_pause_v1",),
}

BATCHES, BATCH, N_TEST, TURNS = 9, 20, 2000, 5


def least(work: Callable[[], object]) -> float:
    """Least seconds of a piece of work."""
    times = []
    for _ in range(TURNS + 1):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times[1:])


def network_rates(scenario: Scenario, shape: tuple[int, ...]) -> dict[str, float]:
    """Seconds of a participation, a mini-batch and an evaluated example; number of values."""
    # So many users that their data and moments do not fit into a core's cache, as in real jobs.
    n_users = 4 if scenario.model.name.startswith("cnn") else 200
    rng, n_train = np.random.default_rng(0), n_users * BATCHES * BATCH
    if shape:
        x: Any = rng.integers(0, 256, (n_train + N_TEST, *shape), np.uint8)
        y: Any = rng.integers(0, 10, n_train + N_TEST)
    else:
        x = rng.standard_normal((n_train + N_TEST, scenario.data.n_features or 1)).astype(np.float32)
        y = rng.standard_normal(n_train + N_TEST).astype(np.float32)
    data = Dataset("drawn", x[:n_train], y[:n_train], x[n_train:], y[n_train:], 10 if shape else 0, "drawn")
    users = tuple(np.array_split(rng.permutation(n_train), n_users))
    share = Partition(users, np.ones(n_users), np.arange(0))
    model, everyone = ModelSettings(name=scenario.model.name, norm=scenario.model.norm), np.arange(n_users)
    trainers = {
        n: Trainer(
            model,
            TrainingSettings(
                n_rounds=1,
                n_epochs=1,
                batch_size=BATCH,
                max_batches=n,
                learning_rate=0.01,
                optimizer_state="persist",
            ),
            data,
            share,
            Streams(0),
            torch.device("cpu"),
        )
        for n in (1, BATCHES)
    }
    trainer = trainers[1]
    one, many = (least(partial(train, each, everyone)) / n_users for each in trainers.values())
    batch = (many - one) / (BATCHES - 1)
    return {
        "participation_s": max(one - batch, 0.0),
        "batch_s": batch,
        "example_s": least(lambda: trainer.evaluate(trainer.initial)) / N_TEST,
        "n_values": len(trainer.initial),
    }


def train(trainer: Trainer, users: np.ndarray) -> None:
    """A participation of each user."""
    list(trainer.train(trainer.initial, users, 1))


def protect(protection: Protection, update: np.ndarray) -> None:
    """A hundred updates clipped, noised and added up."""
    total = np.zeros_like(update)
    for user in range(100):
        noise = protection.noise(1.0, user, 1)
        protection.release(update, noise, 1.0, user, 1)
        total += 0.01 * update


def round_seconds() -> dict[str, float]:
    """Simulated seconds of a round by selector, mean over the papers' scenarios that a time horizon ends.

    Without R2, where overlaps make a round of FedAvg two to four times as long.
    """
    found: dict[str, list[float]] = {}
    for name in scenario_names(SCENARIOS):
        scenario = load_scenario(name, SCENARIOS)
        ends = scenario.training.time_horizon_s is not None
        if not ends or scenario.scale != "paper" or scenario.reward.name == "r2":
            continue
        for selector in scenario.selectors:
            rounds = selection.run(scenario, selector, 0)
            found.setdefault(selector, []).append(float(rounds["latency_s"].mean()))
    return {selector: round(sum(values) / len(values), 4) for selector, values in found.items()}


def start_seconds() -> float:
    """Seconds of a whole process that does one round of the smallest scenario."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-c", "from pausefl.cli import main; main()", "run", "--scenario"]
        command += ["demo_small", "--selector", "random", "--seed", "0", "--rounds", "1", "--out", out]
        return least(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.parse_args()
    torch.set_num_threads(1)
    os.environ["OMP_NUM_THREADS"] = "1"
    networks = {}
    for name, shape in NETWORKS.items():
        scenario = load_scenario(name, SCENARIOS)
        networks[network_key(scenario)] = network_rates(scenario, shape)
    selection = {}
    for name, selectors in PLAYED.items():
        for selector in selectors:
            simulation = selection_only(load_scenario(name, SCENARIOS), selector, 0)
            start = time.perf_counter()
            simulation.run(N_ROUNDS)
            selection[selector] = (time.perf_counter() - start) / N_ROUNDS
    n = 25_818  # values of the network of MNIST
    protection = Protection(CoordinateMechanism(0.003), SimulatedSampler(Streams(0)), n)
    update = np.zeros(n, np.float32)
    machine = hardware()
    rates = {
        "machine": f"one core, {machine['processor']}",
        "date": date.today().isoformat(),
        "start_s": start_seconds(),
        "selection_s": selection,
        "round_s": round_seconds(),
        "noise_s_per_value": least(lambda: protect(protection, update)) / n / 100,
        "networks": networks,
    }
    print(json.dumps(rates, indent=2))


if __name__ == "__main__":
    main()
