"""Time of one round's selection, beside plain versions of the papers' algorithms in the same run.

Times are of ``selector(history, rng)`` after compilation, on one core: index, scores and search together.
Each is the least of five batches, since the machine may be shared. Plain versions that take seconds are run
once.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is loaded

import numpy as np
import torch
from reference import enumerate_selections, objective, sa_pause

from pausefl.bandit.history import Feedback, History
from pausefl.bandit.rewards import AverageReward, OverlapReward, Reward, confidence_bound
from pausefl.federated.untrained import selection_only
from pausefl.reproduction.studies import load_studies
from pausefl.selectors.brute import BrutePause
from pausefl.selectors.clustered import ClusteredBySimilarity
from pausefl.selectors.pause import Pause
from pausefl.selectors.sa_pause import Alsa, Annealer, SaBsfl, SaPause, SaPauseV1, SaVanilla
from pausefl.selectors.search import Objective

ALPHA, BETA, GAMMA, RHO, DELAY = 100.0, 2.0, 5.0, 0.001, 0.05
R1 = AverageReward(ALPHA, BETA, GAMMA)
R2 = OverlapReward(ALPHA, BETA, GAMMA, RHO, DELAY)


def history_of(n_users: int, m: int, n_clusters: int) -> History:
    """A history in which everyone took part, some more often than others."""
    rng = np.random.default_rng(0)
    cluster = rng.permutation(np.arange(n_users) % n_clusters)
    history = History.empty(rng.integers(50, 500, n_users), m, 0.05, cluster=cluster)
    history.round = 100
    history.participations = rng.integers(1, 30, n_users)
    history.mean_speed = rng.uniform(0.05, 1.0, n_users)
    history.privacy = rng.uniform(0.0, 1.0, n_users)
    return history


def seconds(action: Callable[[], object], budget: float = 1.0) -> float:
    """Time of one call: the least mean of five batches, or that of one call if it fills the budget."""
    start = time.perf_counter()
    action()
    once = time.perf_counter() - start
    if once > budget:
        return once
    n = max(1, int(budget / 5 / max(once, 1e-6)))
    means = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(n):
            action()
        means.append((time.perf_counter() - start) / n)
    return min(means)


def pretty(t: float) -> str:
    """Seconds in the unit that suits them."""
    unit, scale = ("s", 1.0) if t >= 1 else ("ms", 1e-3) if t >= 1e-3 else ("µs", 1e-6)
    return f"{t / scale:.3g} {unit}"


def row(search: str, size: str, t: float, target: str, beside: str = "") -> None:
    """Print one row of the table."""
    print(f"| {search} | {size} | {pretty(t)} | {target} | {beside} |", flush=True)


def exact(rng: np.random.Generator) -> None:
    """PAUSE, beside enumeration."""
    for reward, name in ((R1, "R1"), (R2, "R2")):
        history = history_of(30, 5, 6)
        t = seconds(partial(Pause(reward, 1.0), history, rng))
        compiled = seconds(partial(BrutePause(reward, 1.0), history, rng))
        of = Objective.of(history, reward, confidence_bound(history, 1.0), np.arange(30))
        value = objective(of.bound.tolist(), of.score.tolist(), of.cluster.tolist(), of.costs[-1])
        plain = seconds(partial(enumerate_selections, value, 30, 5))
        beside = f"enumeration {pretty(plain)} ({plain / t:,.0f} times), compiled {pretty(compiled)}"
        row(f"`pause` {name}", "K 30, m 5", t, "50 µs", beside)
    for n_users, m, n_clusters, target in ((300, 15, 20, "0.3 ms"), (1_000_000, 1000, 1000, "1 s, 1 GB")):
        for reward, name in ((R1, "R1"), (R2, "R2")):
            t = seconds(partial(Pause(reward, 1.0), history_of(n_users, m, n_clusters), rng))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
            beside = f"peak of this process {peak:.2f} GB" if n_users > 1000 else ""
            row(f"`pause` {name}", f"K {n_users:,}, m {m:,}", t, target, beside)


def annealing(rng: np.random.Generator) -> None:
    """SA-PAUSE beside its algorithm with listed neighbours, and the cost of an iteration against K."""
    history, n_iterations = history_of(300, 15, 20), 3000
    selector = SaPause(R1, 1.0, n_iterations, 30.0)
    t = seconds(partial(selector, history, rng))
    of = Objective.of(history, R1, confidence_bound(history, 1.0), np.arange(300))
    bound = of.bound.tolist()
    value = objective(bound, of.score.tolist(), of.cluster.tolist(), 0.0)
    scale = selector.largest_gap(of, history, np.arange(300)) / 30.0
    plain = 10 * seconds(partial(sa_pause, value, bound, 15, n_iterations // 10, scale, random.Random(0)))
    beside = f"neighbours listed {pretty(plain)} ({plain / t:,.0f} times; a tenth was run)"
    row("`sa_pause`", "K 300, m 15, J 3,000", t, "3 ms", beside)
    classes: tuple[type[Annealer], ...] = (SaPause, SaPauseV1, SaVanilla, Alsa, SaBsfl)
    for cls in classes:
        small, large = (an_iteration(cls, n_users, R1, rng) for n_users in (300, 30_000))
        beside = f"{large / small:.2f} times K 300"
        row(f"{cls.__name__}, an iteration", "K 30,000, m 15", large, "1.5 times", beside)


def an_iteration(cls: type[Annealer], n_users: int, reward: Reward, rng: np.random.Generator) -> float:
    """Seconds of one iteration: the difference between a run of many and one of none."""
    history, users, n = history_of(n_users, 15, 20), np.arange(n_users), 30_000
    selector = cls(reward, 1.0, n, 30.0)
    of = Objective.of(history, selector.reward, confidence_bound(history, 1.0), users)
    long, none = (seconds(partial(selector.anneal, of, history, users, rng, j)) for j in (n, 0))
    return (long - none) / n


def similarity(rng: np.random.Generator) -> None:
    """A round of clustered sampling: taking in 15 updates, and the choice."""
    n_users, m, d = 300, 15, 25_818
    history, selector = history_of(n_users, m, 1), ClusteredBySimilarity()
    privacy = np.ones(n_users)

    def a_round(users: np.ndarray) -> None:
        feedback = Feedback(users, np.ones(len(users)), privacy, updates[: len(users)])
        selector.observe(feedback, history)
        selector(history, rng)

    updates = rng.standard_normal((n_users, d), np.float32)
    a_round(np.arange(n_users))
    t = seconds(lambda: a_round(rng.choice(n_users, m, replace=False)))
    row("`clustered_similarity`", "K 300, d 25,818", t, "30 ms")


def regret_study() -> None:
    """The pseudo-regret of PAUSE over 100,000 rounds, with the genie's choice in every round."""
    studies = load_studies(Path("config/studies.yaml"), Path("config/scenarios"))
    scenario = studies["pause_v2_theorem3_small"].scenario
    simulation, n_rounds = selection_only(scenario, "pause", 0, genie=True), 100_000
    t = seconds(partial(simulation.run, n_rounds))
    row("regret study", f"K 20, m 5, {n_rounds:,} rounds", t, "60 s", f"{pretty(t / n_rounds)} a round")


def compilation() -> None:
    """What a process pays before its first round, when nothing is compiled yet and when all is."""
    code = (
        "import time, pausefl.federated.simulation; from pathlib import Path;"
        "from pausefl.settings import load_scenario;"
        "s = load_scenario('mnist_large_iid_r1', Path('config/scenarios')); start = time.perf_counter();"
        "[s.make_selector(name) for name in {!r}]; print(time.perf_counter() - start)"
    )
    for names in (["pause"], ["sa_pause"], ["clustered_similarity"]):
        with tempfile.TemporaryDirectory() as cache:
            command, env = (
                [sys.executable, "-c", code.format(names)],
                {**os.environ, "NUMBA_CACHE_DIR": cache},
            )
            first, later = (
                float(subprocess.run(command, env=env, check=True, capture_output=True).stdout)
                for _ in range(2)
            )
        row(f"building `{names[0]}`", "compiled before", later, "", f"{pretty(first)} the first time")


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    print("| search | size | a round | target | beside |\n| :-- | :-- | --: | --: | :-- |")
    exact(rng)
    annealing(rng)
    similarity(rng)
    regret_study()
    compilation()


if __name__ == "__main__":
    main()
