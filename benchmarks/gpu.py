"""Rounds a second on a GPU, beside a plain PyTorch loop on it and the engine on one core of the CPU.

Images are made up, as many and as large as the scenario's; partition, selection, noise and evaluation are its
own. The first rounds, in which a GPU captures most of its graphs, are told apart. ``--device cpu`` runs the
GPU's code on the CPU, to test it.
"""

from __future__ import annotations

import argparse
import copy
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode

from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition, make_partition
from pausefl.data.sources import SOURCES
from pausefl.federated.simulation import Simulation
from pausefl.settings import SHIPPED, Scenario, load_scenario
from pausefl.streams import Streams
from pausefl.training.backends.stacked import Stacked
from pausefl.training.engine import Trainer, build_model, choose_device

CPU = torch.device("cpu")
SCENARIOS = [
    "mnist_large_iid_r1",
    "cifar10_small_iid_r1",
    "cifar10_large_noniid_r1_cnn5",
    "bsfl_cifar10_noniid",
]
SHAPES = {"digits": (1, 8, 8), "mnist": (1, 28, 28), "fashion_mnist": (1, 28, 28), "cifar10": (3, 32, 32)}
#: Rounds before those that are timed.
WARM_UP = 3


def images(source: str) -> Dataset:
    """Made-up images, as many and as large as those of a source."""
    record, rng = SOURCES[source], np.random.default_rng(0)
    n_train, n_test = (record.n_train, record.n_test) if record.n_train else (record.n_examples, 360)
    x = rng.integers(0, 256, (n_train + n_test, *SHAPES[source]), np.uint8)
    y = rng.integers(0, 10, n_train + n_test)
    return Dataset(source, x[:n_train], y[:n_train], x[n_train:], y[n_train:], 10, "drawn")


class Bench:
    """A scenario with made-up images, and how long its rounds take."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario, self.data = scenario, images(scenario.data.source)
        settings = (scenario.data, scenario.partition, scenario.network.n_users)
        self.share: Partition = make_partition(self.data.train_y, *settings, Streams(0))

    def job(self, selector: str, device: torch.device, backend: type[Stacked] | None) -> Simulation:
        """A job of the engine."""
        settings, streams = self.scenario, Streams(0)
        trainer = Trainer(settings.model, settings.training, self.data, self.share, streams, device, backend)
        return Simulation(settings, selector, streams, self.share, trainer.layout, trainer)

    def plain_round(self, job: Simulation, device: torch.device) -> Callable[[], object]:
        """A round of the users whom a job last selected, one after another, and an evaluation."""
        users = np.asarray(job.rows[-1]["selection"])
        settings = self.scenario.training
        initial = build_model(self.scenario.model, self.data, Streams(0)).to(device)
        train_x, test_x = (
            torch.from_numpy(x).to(device).float() / 127.5 - 1 for x in (self.data.train_x, self.data.test_x)
        )
        train_y, test_y = (torch.from_numpy(y).to(device) for y in (self.data.train_y, self.data.test_y))

        def a_round() -> int:
            for user in users.tolist():
                local = copy.deepcopy(initial).train()
                optimizer = torch.optim.Adam(local.parameters(), lr=settings.learning_rate)
                order = np.random.default_rng(user).permutation(self.share.users[user])
                batches = torch.from_numpy(order).to(device).split(settings.batch_size)
                for batch in batches[: settings.max_batches]:
                    if len(batch) > 1:
                        optimizer.zero_grad()
                        functional.cross_entropy(local(train_x[batch]), train_y[batch]).backward()
                        optimizer.step()
            with torch.no_grad():
                outputs = torch.cat([initial.eval()(x) for x in test_x.split(1000)])
            return int((outputs.argmax(1) == test_y).sum())

        return a_round


def seconds(work: Callable[[], object], device: torch.device) -> float:
    """Seconds of some work, until the device has done it."""
    start = time.perf_counter()
    work()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


class Operations(TorchDispatchMode):
    """Counts PyTorch's operations, apart from views."""

    def __init__(self) -> None:
        super().__init__()
        self.n = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.n += not func.is_view
        return func(*args, **(kwargs or {}))


def step_cost(backend: Stacked, device: torch.device) -> tuple[int, float]:
    """Operations and kernels of a step of the largest shape, taken once more without a graph."""
    n, size = max(backend.launches)
    backend.position.zero_()
    with Operations() as operations:
        backend._step(n, size)
    if device.type != "cuda":
        return operations.n, math.nan
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as profiler:
        backend._step(n, size)
        torch.cuda.synchronize()
    return operations.n, sum(event.count for event in profiler.key_averages() if event.self_device_time_total)


def idle_share(job: Simulation, n_rounds: int, device: torch.device) -> float:
    """Share of the time of some rounds in which no kernel runs; NaN on a CPU."""
    if device.type != "cuda":
        return math.nan
    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as profiler:
        wall = seconds(lambda: job.run(len(job.rows) + n_rounds), device)
    busy = sum(event.self_device_time_total for event in profiler.key_averages()) / 1e6
    return 1 - busy / wall


def whole(value: float) -> str:
    """A number without decimals; a dash for NaN."""
    return "–" if math.isnan(value) else f"{value:.0f}"


def main() -> None:
    """Print a row for each scenario and selector."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", action="append", help="one or more; by default four")
    parser.add_argument("--selector", action="append", help="one or more; by default pause and fedavg")
    parser.add_argument("--rounds", type=int, default=20, help="rounds that are timed")
    parser.add_argument("--device", default="cuda", help="cuda or cpu")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    device, n_rounds = choose_device(arguments.device), arguments.rounds
    name = torch.cuda.get_device_name() if device.type == "cuda" else "CPU"
    print(f"{name}, PyTorch {torch.__version__}\n")
    columns = ["rounds a second", f"first {WARM_UP} (s)", "graphs", "operations a step", "kernels a step"]
    columns += ["idle (%)", "plain loop (rounds a second)", "CPU (rounds a second)"]
    print(f"| scenario | selector | {' | '.join(columns)} |\n| :-- | :-- |{' --: |' * len(columns)}")
    for scenario in arguments.scenario or SCENARIOS:
        bench = Bench(load_scenario(scenario, Path("config/scenarios"), SHIPPED))
        for selector in arguments.selector or ["pause", "fedavg"]:
            job = bench.job(selector, device, Stacked)
            first = seconds(lambda job=job: job.run(WARM_UP), device)
            ours = n_rounds / seconds(lambda job=job: job.run(WARM_UP + n_rounds), device)
            idle = idle_share(job, n_rounds, device)
            assert job.trainer is not None
            backend = job.trainer._backend
            assert isinstance(backend, Stacked)
            n_graphs = len(backend.launches) if device.type == "cuda" else 0
            operations, kernels = step_cost(backend, device)
            plain = bench.plain_round(job, device)
            seconds(plain, device)
            plain_s = seconds(plain, device)
            cpu = bench.job(selector, CPU, None)
            cpu.run(1)
            cpu_s = seconds(lambda cpu=cpu: cpu.run(2), CPU)
            row = [f"{ours:.2f}", f"{first:.2f}", n_graphs, operations, *map(whole, (kernels, 100 * idle))]
            row += [f"{1 / plain_s:.2f}", f"{1 / cpu_s:.2f}"]
            print(f"| {scenario} | {selector} | {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
