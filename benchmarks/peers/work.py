"""The work that all simulators do: data, sizes and the network, in NumPy and PyTorch alone.

300 users of 180 examples; in each round 15 users make 9 steps of Adam on mini-batches of 20, and their
models are averaged. Dense network 784-32-16-10, cross-entropy, no evaluation, no noise.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

import numpy as np

N_USERS, N_EXAMPLES, N_SELECTED, BATCH, LEARNING_RATE = 300, 180, 15, 20, 0.01
WIDTHS = (784, 32, 16, 10)


def one_core() -> None:
    """Keep this process, and what it starts, on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def data() -> tuple[np.ndarray, np.ndarray]:
    """Examples (users, examples, 784) float32 and labels (users, examples) of all users."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((N_USERS, N_EXAMPLES, WIDTHS[0]), np.float32)
    return x, rng.integers(0, WIDTHS[-1], (N_USERS, N_EXAMPLES))


def cohort(round: int) -> np.ndarray:
    """The users of a round."""
    return np.random.default_rng(round).choice(N_USERS, N_SELECTED, replace=False)


def report(a_round: Callable[[int], None], n_warm: int = 3, n_rounds: int = 20) -> None:
    """Print the seconds of a round: the least mean of three spells, after warm-up."""
    for t in range(n_warm):
        a_round(t)
    means = []
    for spell in range(3):
        start = time.perf_counter()
        for t in range(n_rounds):
            a_round(n_warm + spell * n_rounds + t)
        means.append((time.perf_counter() - start) / n_rounds)
    sys.stdout.write(f"seconds_per_round {min(means):.6f}\n")
