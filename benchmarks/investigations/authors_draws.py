r"""Who took part in the authors' runs of random selection on MNIST, and random selection in v1's log.

Their program draws the users of a round and then the latencies from NumPy's global generator, seed 0 in the
logs of MNIST. So its draws can be made again: the times of three logs are those of `drawn`, to the last digit
that was printed. `AuthorsRandom` selects these users in our engine. The script prints a table:

    python benchmarks/investigations/authors_draws.py

`random_on_mnist.csv` has accuracies of our runs besides the published ones: random selection with seeds 100
to 119, the authors' draws with 100 to 109, and `sa_pause_v1` with two seeds in which random selection falls
behind. They were made by

    PYTHONPATH=analyses pausefl run --scenario mnist_large_iid_r1_v1_as_run --rounds 200 --seed 100 \
        --selector authors_draws:AuthorsRandom --out results/mine/authors_draws
    pausefl run --scenario mnist_large_iid_r1_v1_as_run --rounds 200 --seed 100 \
        --selector random --out results/mine/random
"""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl import Selector
from pausefl.analysis import formats, markdown
from pausefl.bandit.history import History
from pausefl.reproduction.authors_archive import read_off
from pausefl.runs.collected import runs_in
from pausefl.runs.run import joined, rounds_of
from pausefl.settings import load_scenario

ROOT = Path(__file__).parents[2]
SCENARIO = "mnist_large_iid_r1_v1_as_run"
#: The seed of the logs of MNIST.
SEED = 0
#: Rounds of the table.
SHOWN = (50, 100, 148, 200)


@cache
def drawn(n_rounds: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The users (n_rounds, m) of the authors' random selection, and the seconds until the end of each round.

    As in their program: m of K without replacement, then a normal number for the latency of each in
    ascending order (the expected latencies are those of our scenario).
    """
    network = load_scenario(SCENARIO, ROOT / "config/scenarios").network
    half = network.n_users // 2
    steps = np.arange(1, half + 1) / half
    fast = network.latency_floor + (network.fast_latency_max - network.latency_floor) * steps
    slow = network.slow_latency_min + (network.slow_latency_max - network.slow_latency_min) * steps
    expected, stream = np.concatenate([fast, slow]), np.random.RandomState(SEED)
    users = np.empty((n_rounds, network.n_selected), np.int64)
    seconds = np.empty(n_rounds)
    for t in range(n_rounds):
        users[t] = np.sort(stream.choice(network.n_users, network.n_selected, replace=False))
        latency = expected[users[t]] + network.latency_std * stream.randn(network.n_selected)
        seconds[t] = max(network.latency_floor, latency.max())
    return users, seconds.cumsum()


class AuthorsRandom(Selector):
    """The users of the authors' random selection, in every seed of ours."""

    label = "Random, the authors' draws"
    color = "#B22222"

    def __call__(self, history: History, rng: np.random.Generator) -> NDArray[np.int64]:
        """The users of the coming round, up to round 1,000."""
        return drawn(1000)[0][history.round - 1]


def more_runs() -> dict[str, pd.DataFrame]:
    """Accuracy in per cent by round and seed of our runs that were not published, by selector."""
    found = pd.read_csv(ROOT / "benchmarks/investigations/random_on_mnist.csv").assign(
        percent=lambda of: 100 * of["accuracy"]
    )
    return {
        str(name): own.pivot(index="round", columns="seed", values="percent")
        for name, own in found.groupby("selector")
    }


@cache
def published() -> dict[str, pd.DataFrame]:
    """The same of the published runs."""
    found = joined(rounds_of(runs_in(ROOT / "results/published" / SCENARIO)).items())
    return {
        str(name): 100 * own.pivot(index="round", columns="seed", values="accuracy")
        for name, own in found.groupby("selector")
    }


def logged(selector: str) -> pd.Series:
    """Accuracy in per cent by round of the authors' log, where it was read."""
    return 100 * read_off(SCENARIO)[selector].set_index("round")["accuracy"]


def gaps(accuracy: pd.DataFrame, selector: str = "random") -> pd.Series:
    """Accuracies of `published` or `more_runs` less the log's in points, by seed.

    A mean of the rounds from 101 to 200 that were read off the log, nine of random selection.
    """
    log = logged(selector)
    log = log[(log.index > 100) & (log.index <= 200)]
    return accuracy.loc[log.index].sub(log, axis=0).mean()


def table() -> str:
    """Accuracies of random selection, and how many seeds of ours are below the authors', in Markdown."""
    number, log, more = formats.number, logged("random"), more_runs()
    rows = [["the authors' log", "1", *(number(log[at], ".1f") for at in SHOWN), "–", "–"]]
    for words, accuracy in (
        ("ours, published", published()["random"]),
        ("ours, other seeds", more["random"]),
        ("ours, the authors' users in each round", more["authors_draws"]),
    ):
        gap = gaps(accuracy)
        means = [number(accuracy.loc[at].mean(), ".1f") for at in SHOWN]
        below = f"{(gap < 0).sum()} of {len(gap)}"
        rows.append([words, str(len(gap)), *means, number(gap.median(), "+.1f"), below])
    heads = [f"Round {at} (%)" for at in SHOWN]
    return markdown.table(
        ["Random selection", "Seeds", *heads, "Median less theirs", "Below theirs"], rows, "lr"
    )


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter).parse_args()
    print(table())
