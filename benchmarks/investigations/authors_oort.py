"""Beside the selector that Oort's authors released: whom it selects, and how its pacer moves.

    git clone https://github.com/SymbioticLab/Oort DIR && git -C DIR checkout 05a3aa1
    python benchmarks/investigations/authors_oort.py DIR

Both are told the same reports of a game of 24 clients, five a round, whose losses grow fivefold in round 31.
In each round after everyone has taken part, either selects on many random streams. Printed is the largest
difference of a client's share, in standard deviations of what chance makes, and both pacers' percentiles.
Before everyone has taken part, and in the round after, they differ by design (D75).
"""

from __future__ import annotations

import argparse
import copy
import importlib
import logging
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from pausefl.bandit.history import Feedback, History
from pausefl.selectors.by_losses import Oort

N_USERS, N_SELECTED, N_ROUNDS, STEP = 24, 5, 59, 4


def released(clone: Path) -> Any:
    """Their selector with the defaults of its argument parser, and windows of `STEP` rounds."""
    sys.path.insert(0, str(clone))
    sys.modules["oort.utils.lp"] = ModuleType("oort.utils.lp")  # solvers of their other selector
    logging.disable(logging.INFO)
    arguments = SimpleNamespace(
        exploration_factor=0.9,
        exploration_decay=0.95,
        exploration_min=0.2,
        exploration_alpha=0.3,
        round_threshold=10.0,
        sample_window=5.0,
        pacer_step=STEP,
        pacer_delta=5.0,
        blacklist_rounds=-1,
        blacklist_max_len=0.3,
        clip_bound=0.98,
        round_penalty=2.0,
        cut_off_util=0.7,
    )
    return importlib.import_module("oort.oort").create_training_selector(arguments)


def apart(theirs: Any, ours: Oort, history: History, n_draws: int) -> float:
    """Largest difference of a client's share, in standard deviations."""
    counts = np.zeros((2, N_USERS))
    for seed in range(n_draws):
        one = copy.deepcopy(theirs)
        np.random.seed(seed)  # noqa: NPY002 (what they draw from)
        one.rng.seed(seed)
        counts[0, [int(user) for user in one.select_participant(N_SELECTED)]] += 1
        counts[1, ours(history, np.random.default_rng(10**6 + seed))] += 1
    share = counts.mean(axis=0) / n_draws
    deviation = np.sqrt(2 * n_draws * share * (1 - share))
    return float((np.abs(counts[0] - counts[1]) / np.maximum(deviation, 1e-9)).max())


def main() -> None:
    """Play the game, and print a row a round."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("clone", type=Path, help="folder of a clone of SymbioticLab/Oort")
    parser.add_argument("--draws", type=int, default=3000, help="selections of either in a round")
    options = parser.parse_args()
    theirs, ours = released(options.clone), Oort(pacer_step=STEP)
    rng = np.random.default_rng(1)
    history = History.empty(rng.permutation(np.arange(N_USERS) * 7 + 40), N_SELECTED, 0.05)
    speed = rng.uniform(0.1, 1, N_USERS)
    for user, size in enumerate(history.data_size.tolist()):
        theirs.register_client(user, {"reward": float(size), "duration": 0.3})
    print("| round | largest difference (sd) | their percentile | ours |\n| --: | --: | --: | --: |")
    for t in range(1, N_ROUNDS + 1):
        explored = history.participations > 0
        difference = apart(theirs, ours, history, options.draws) if explored.all() else None
        users = ours(history, rng)
        if t == 1:  # theirs cannot choose before it was told anything
            theirs.training_round = 1
            theirs.exploitUtilHistory.append(0.0)
        else:
            np.random.seed(t)  # noqa: NPY002
            theirs.select_participant(N_SELECTED)
        if difference is not None:
            print(f"| {t} | {difference:.2f} | {theirs.round_threshold:g} | {float(ours.percentile):g} |")
        latency = speed[users] * rng.uniform(0.9, 1.1, N_SELECTED)
        losses = rng.uniform(0.5, 2, N_SELECTED) * (5 if t > 30 else 1)
        told = Feedback(users, latency, np.ones(N_USERS), losses=losses)
        ours.observe(told, history)
        theirs.exploitClients = users[explored[users]].tolist()  # whom ours took, not theirs
        for user, seconds, loss in zip(users.tolist(), latency, losses, strict=True):
            size = history.data_size[user]
            report = {
                "reward": float(size * loss),
                "duration": float(seconds),
                "time_stamp": t,
                "status": True,
            }
            theirs.update_client_util(user, report)
        history.observe(told)


if __name__ == "__main__":
    main()
