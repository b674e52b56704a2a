"""How far our accuracies are from the authors' at the same rounds, by how accurate the models are then.

Theirs are single rounds that were read off their logs. A round counts if it comes after `RISEN`, was read
and was evaluated in ours; ours is the mean of our seeds in that very round.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from pausefl.analysis import formats, markdown
from pausefl.reproduction.authors_archive import LOGGED, read_off
from pausefl.runs.run import Rounds, joined
from pausefl.settings import load_scenario

#: After this round accuracy no longer rises by several points a round.
RISEN = 28

#: Where bands of accuracy begin, and where the last ends, in per cent.
BANDS = (0, 50, 55, 60, 65, 70, 80)

#: The selector that has a row of its own.
FEDAVG = "fedavg_no_privacy"

#: Whose accuracy puts a round into a band: of both by default, so that the chance of neither counts twice.
BOTH, AUTHORS, OURS = "both", "authors", "ours"


def at_same_rounds(scenario: str, rounds: Rounds) -> pd.DataFrame:
    """Rounds after `RISEN` that were read off the authors' log of a scenario and that we evaluated.

    ``rounds`` are our runs, as `pausefl.runs.run.rounds_of` returns them.

    Returns
    -------
    pandas.DataFrame
        One row a selector and round: ``selector``, ``round``; accuracies in [0, 1], ``authors`` and ``ours``,
        the mean of our seeds.
    """
    theirs = pd.concat([run.assign(selector=selector) for selector, run in read_off(scenario).items()])
    late = theirs.dropna(subset="accuracy").query("round > @RISEN")
    ours = (
        joined(rounds.items())
        .dropna(subset="accuracy")
        .groupby(["selector", "round"], as_index=False)["accuracy"]
        .mean()
    )
    both = late[["selector", "round", "accuracy"]].merge(ours, on=["selector", "round"])
    return both.rename(columns={"accuracy_x": "authors", "accuracy_y": "ours"})


def on_cifar10(scenarios: Path, rounds: Callable[[str], Rounds]) -> pd.DataFrame:
    """Rounds of `at_same_rounds` of all logs on CIFAR-10, with ``scenario`` and ``n_users``.

    ``scenarios`` is their folder; ``rounds`` gives our runs of one. Those of Fig. 6 have its sizes.
    """
    parts = []
    for name in dict.fromkeys(LOGGED.values()):
        if (settings := load_scenario(name, scenarios)).data.source == "cifar10":
            own = at_same_rounds(name, rounds(name))
            parts.append(own.assign(scenario=name, n_users=settings.network.n_users))
    return pd.concat(parts, ignore_index=True)


def by_accuracy(pairs: pd.DataFrame, whose: str = BOTH) -> pd.DataFrame:
    """The gap, ours less theirs in points, in each of `BANDS` that has a round.

    ``pairs`` are rounds of `at_same_rounds` with ``n_users``. The accuracy that puts a round into a band is
    the mean of theirs and ours, or that of one of them.

    Returns
    -------
    pandas.DataFrame
        ``n_users``; ``fedavg``, whether the selector is `FEDAVG`; ``band``, where it begins; ``gap``, a mean
        of rounds; ``n_rounds``.
    """
    accuracy = pairs[[AUTHORS, OURS]].mean(axis=1) if whose == BOTH else pairs[whose]
    band = np.array(BANDS)[np.searchsorted(BANDS, 100 * accuracy.to_numpy(), side="right") - 1]
    gap = 100 * (pairs[OURS] - pairs[AUTHORS])
    banded = pairs.assign(band=band, fedavg=pairs["selector"] == FEDAVG, gap=gap)
    gaps = banded.groupby(["n_users", "fedavg", "band"], as_index=False)
    return gaps.agg(gap=("gap", "mean"), n_rounds=("gap", "size"))


def to_markdown(pairs: pd.DataFrame) -> str:
    """Mean gap by band of accuracy, each with its number of rounds; a row a number of users and kind."""
    cells = {
        (
            row["n_users"],
            row["fedavg"],
            row["band"],
        ): f"{formats.number(row['gap'], '+.1f')} ({row['n_rounds']})"
        for row in by_accuracy(pairs).to_dict("records")
    }
    heads = [f"below {BANDS[1]} %", *(f"{low} to {high} %" for low, high in pairwise(BANDS[1:]))]
    rows = [
        [f"{n_users} clients, {kind}", *(cells.get((n_users, fedavg, at), "–") for at in BANDS[:-1])]
        for n_users in sorted(set(pairs["n_users"]))
        for fedavg, kind in ((False, "with privacy"), (True, "FedAvg without privacy"))
    ]
    return markdown.table(["Accuracy", *heads], rows, "lr")


def over_bands(pairs: pd.DataFrame, n_users: int, low: int, high: int, whose: str = BOTH) -> float:
    """Mean gap of the selectors with privacy in the bands from ``low`` to ``high`` per cent, in points."""
    gaps = by_accuracy(pairs, whose)
    kept = gaps[(gaps["n_users"] == n_users) & ~gaps["fedavg"] & gaps["band"].between(low, high - 1)]
    return float(np.average(kept["gap"], weights=kept["n_rounds"]))
