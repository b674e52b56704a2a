"""Training and evaluation beside plain PyTorch loops and the arithmetic limit of a core.

The engine and a plain loop (contiguous memory, `torch.optim.Adam`) do the same work on made-up images of
the size of CIFAR-10. They take turns, and the least time of each counts. The limit is the time that the
floating-point operations, counted by PyTorch, would take at the rate of one large matrix product.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from torch.utils.data import DataLoader, Subset
from torch.utils.data import Dataset as Images
from torch.utils.flop_counter import FlopCounterMode

from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.privacy import CoordinateMechanism, Protection, SimulatedSampler
from pausefl.reproduction.config import load_config
from pausefl.settings import ModelSettings, Scenario, TrainingSettings, read_yaml
from pausefl.streams import Streams
from pausefl.training.backends.one_by_one import OneByOne
from pausefl.training.engine import Trainer, build_model

CPU = torch.device("cpu")
N_TRAIN, N_TEST, BATCH = 40_000, 10_000, 20
NETWORKS = {"cnn3": "batch", "cnn5": "batch", "cnn_bsfl": "none"}


def images(n_train: int = N_TRAIN, n_test: int = N_TEST) -> Dataset:
    """Made-up images of the size of CIFAR-10."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (n_train + n_test, 3, 32, 32), np.uint8)
    y = rng.integers(0, 10, n_train + n_test)
    return Dataset("noise", x[:n_train], y[:n_train], x[n_train:], y[n_train:], 10, "drawn")


def settings() -> TrainingSettings:
    """The papers' local training."""
    return TrainingSettings(
        n_rounds=1,
        n_epochs=1,
        batch_size=BATCH,
        max_batches=100,
        learning_rate=0.01,
        optimizer_state="persist",
    )


def engine(model: ModelSettings, data: Dataset, n_users: int) -> Trainer:
    """The engine, with the training split dealt to users in equal parts."""
    users = tuple(np.array_split(np.arange(len(data.train_y)), n_users))
    share = Partition(users, np.ones(n_users), np.arange(0))
    return Trainer(model, settings(), data, share, Streams(0), CPU, OneByOne)


def least(works: dict[str, Callable[[], object]], n_turns: int) -> dict[str, float]:
    """Least seconds of each of some works, which take turns."""
    best = dict.fromkeys(works, float("inf"))
    for turn in range(n_turns + 1):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            if turn > 0:
                best[name] = min(best[name], time.perf_counter() - start)
    return best


def flops_per_second() -> float:
    """Rate of one product of two matrices of side 1024."""
    a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
    return 2 * 1024**3 / least({"product": lambda: a @ b}, 20)["product"]


class Plain:
    """A network trained and evaluated on tensors in memory, as plainly as can be."""

    def __init__(self, model: ModelSettings, data: Dataset) -> None:
        self.module = build_model(model, data, Streams(0))
        self.optimizer = torch.optim.Adam(self.module.parameters(), lr=0.01)
        self.train_x, self.test_x = (
            torch.from_numpy(x).float() / 127.5 - 1 for x in (data.train_x, data.test_x)
        )
        self.train_y, self.test_y = torch.from_numpy(data.train_y), torch.from_numpy(data.test_y)

    def train(self, n_steps: int) -> None:
        """Some steps on mini-batches."""
        self.module.train()
        for index in torch.randperm(len(self.train_y))[: n_steps * BATCH].split(BATCH):
            self.optimizer.zero_grad()
            functional.cross_entropy(self.module(self.train_x[index]), self.train_y[index]).backward()
            self.optimizer.step()

    @torch.no_grad()
    def evaluate(self) -> float:
        """Accuracy on the test split."""
        self.module.eval()
        parts = zip(self.test_x.split(500), self.test_y.split(500), strict=True)
        return sum(int((self.module(x).argmax(1) == y).sum()) for x, y in parts) / len(self.test_y)


def steps_and_evaluation(n_turns: int, n_steps: int) -> None:
    """Print the table of one core's steps and evaluations."""
    torch.set_num_threads(1)
    data, rate = images(), flops_per_second()
    print(f"\nOne core does {rate / 1e9:.0f} GFLOP/s in a product of two matrices of side 1024.\n")
    print("| network | work | plain loop (ms) | ours (ms) | ours / plain | limit (ms) |")
    print("| :-- | :-- | --: | --: | --: | --: |")
    for name, norm in NETWORKS.items():
        model, n_users = ModelSettings(name=name, norm=norm), N_TRAIN // (n_steps * BATCH)
        plain = Plain(model, data)
        single = engine(model, data, n_users)
        steps = {"plain": partial(plain.train, n_steps), "ours": partial(train_one, single)}
        flops = flops_of(partial(plain.train, 1))
        print(row(name, f"step of {BATCH}", least(steps, n_turns), 1e3 / n_steps, flops / rate * n_steps))
        scores = {"plain": plain.evaluate, "ours": partial(single.evaluate, single.initial)}
        flops = flops_of(plain.evaluate)
        print(row(name, f"evaluation of {N_TEST:,}", least(scores, max(n_turns // 2, 1)), 1e3, flops / rate))


def train_one(trainer: Trainer) -> None:
    """A participation of the first user."""
    list(trainer.train(trainer.initial, np.array([0]), 1))


def flops_of(work: Callable[[], object]) -> int:
    """Floating-point operations of some work, as PyTorch counts them."""
    with FlopCounterMode(display=False) as counter:
        work()
    return counter.get_total_flops()


def row(network: str, work: str, seconds: dict[str, float], scale: float, limit: float) -> str:
    """A row of the table; ``scale`` makes it milliseconds of one piece of work."""
    plain, ours = seconds["plain"], seconds["ours"]
    return (
        f"| {network} | {work} | {scale * plain:.2f} | {scale * ours:.2f} | {ours / plain:.2f}"
        f" | {scale * limit:.2f} |"
    )


class TransformedImages(Images[tuple[torch.Tensor, int]]):
    """Images that are converted and normalised one by one whenever they are read."""

    def __init__(self, x: np.ndarray, y: np.ndarray) -> None:
        self.x, self.y = x.transpose(0, 2, 3, 1).copy(), y
        importlib.import_module("pausefl.data._torchvision")  # which a CPU build needs first
        transforms = importlib.import_module("torchvision.transforms")
        normalise = transforms.Normalize((0.5,) * 3, (0.5,) * 3)
        self.transform = transforms.Compose([transforms.ToPILImage(), transforms.ToTensor(), normalise])

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return self.transform(self.x[index]), int(self.y[index])


def transforming_round(scenario: Scenario, n_threads: int) -> float:
    """Seconds of a round of the plain loop with per-image transforms, on ``n_threads`` cores."""
    torch.set_num_threads(n_threads)
    data, network = images(), scenario.network
    model = Plain(scenario.model, images(BATCH, BATCH)).module
    train, test = TransformedImages(data.train_x, data.train_y), TransformedImages(data.test_x, data.test_y)
    shares = np.array_split(np.arange(len(data.train_y)), network.n_users)
    start = time.perf_counter()
    for user in range(network.n_selected):
        local = build_model(scenario.model, data, Streams(0))
        local.load_state_dict(model.state_dict())
        optimizer = torch.optim.Adam(local.parameters(), lr=0.01)
        loader = DataLoader(Subset(train, shares[user].tolist()), batch_size=BATCH, shuffle=True)
        for _, (x, y) in zip(range(scenario.training.max_batches), loader, strict=False):
            optimizer.zero_grad()
            functional.cross_entropy(local(x), y).backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        for x, y in DataLoader(test, batch_size=BATCH):
            model(x).argmax(1).eq(y).sum()
    return time.perf_counter() - start


def our_round(scenario: Scenario, barrier: object, seconds: object) -> None:
    """Add the seconds of a round of the engine, noise and evaluation included, on one core."""
    torch.set_num_threads(1)
    trainer = engine(scenario.model, images(), scenario.network.n_users)
    sampler = SimulatedSampler(Streams(0))
    protection = Protection(CoordinateMechanism(0.012), sampler, trainer.layout.n_protected)

    def a_round(t: int) -> None:
        total = np.zeros_like(trainer.initial)
        for local in trainer.train(trainer.initial, np.arange(scenario.network.n_selected), t):
            for user, update in zip(local.users.tolist(), local.updates, strict=True):
                protection.release(update, protection.noise(1.0, user, t), 1.0, user, t)
                total += update / np.float32(scenario.network.n_selected)
        trainer.evaluate(trainer.initial + total)

    a_round(1)
    barrier.wait()  # type: ignore[attr-defined]
    start = time.perf_counter()
    a_round(2)
    seconds.put(time.perf_counter() - start)  # type: ignore[attr-defined]


def rounds_per_minute(n_turns: int) -> None:
    """Print rounds a minute of all cores: parallel jobs of the engine beside one transforming loop."""
    scenario = load_config(read_yaml(Path("config/config.yaml"))).scenarios["cifar10_small_iid_r1"]
    n_cores = len(os.sched_getaffinity(0))
    context = multiprocessing.get_context("spawn")
    ours, plain = float("inf"), float("inf")
    for _ in range(n_turns):
        plain = min(plain, transforming_round(scenario, n_cores))
        barrier, seconds = context.Barrier(n_cores), context.Queue()
        jobs = [context.Process(target=our_round, args=(scenario, barrier, seconds)) for _ in range(n_cores)]
        for job in jobs:
            job.start()
        ours = min(ours, max(seconds.get() for _ in jobs) / n_cores)
        for job in jobs:
            job.join()
    print(f"\n{scenario.name} on {n_cores} cores, rounds a minute:\n")
    print("| parallel jobs of the engine | plain loop with per-image transforms | ratio |")
    print("| --: | --: | --: |")
    print(f"| {60 / ours:.1f} | {60 / plain:.1f} | {plain / ours:.1f} |")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--steps", type=int, default=40, help="steps of one turn")
    arguments = parser.parse_args()
    rounds_per_minute(max(arguments.turns // 2, 1))
    steps_and_evaluation(arguments.turns, arguments.steps)


if __name__ == "__main__":
    main()
