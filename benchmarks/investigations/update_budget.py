"""What selectors learn with a budget for all whole updates of a client, by bound, noise and budget.

The scenario is ``mnist_large_iid_r1_update``, with other bounds on the update and with Gaussian noise. The
table is that of ``update_budget.csv``, beside this script:

    python benchmarks/investigations/update_budget.py

Runs that the file lacks are made and added to it, about 10 seconds each. They need MNIST (``MNIST/raw`` in
the data root). Seeds 100 to 102 are those of no published run:

    python benchmarks/investigations/update_budget.py --run --data-root data/raw

Noise is one of

- ``laplace``: updates are clipped to an L1 norm C. Participation i has Laplace noise of scale 2 C / eps_i, so
  all updates of a client together are pure epsilon-DP.
- ``gaussian``: updates are clipped to an L2 norm C. Of the rho that is (epsilon, 1e-5)-DP by zCDP, 1.550 for
  10, participation i has the share eps_i / epsilon, rho_i, and noise of standard deviation
  2 C / sqrt(2 rho_i). The shares are those of the scenario's schedule, and sum to 1 at most.
- ``none``: clipped to an L2 norm C, without noise; no budget holds. It shows what clipping alone costs.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import pausefl
from pausefl.analysis.outcomes import outcomes
from pausefl.errors import PauseflError
from pausefl.privacy import Mechanism, Sampler
from pausefl.privacy.zcdp import DELTA, rho_for
from pausefl.runs.run import Run, rounds_of
from pausefl.streams import Streams

FILE = Path(__file__).with_suffix(".csv")
SCENARIO = "mnist_large_iid_r1_update"
SELECTORS = ("pause", "random")
SEEDS = (100, 101, 102)

#: The scenario's L1 norm: 25,818 coordinates x 0.003 / 2.
L1_NORM = 38.727

#: Norms C that were tried, by noise and epsilon.
NORMS: dict[tuple[str, float], tuple[float, ...]] = {
    ("laplace", 10.0): (L1_NORM, L1_NORM / 10, L1_NORM / 100, L1_NORM / 10_000),
    ("gaussian", 10.0): (1.0, 0.3, 0.1, 0.01, 0.003, 0.001),
    ("gaussian", 100.0): (0.1, 0.03, 0.01),
    ("gaussian", 1000.0): (0.3, 0.1, 0.03),
    ("none", math.inf): (1.0, 0.1, 0.03, 0.01, 0.003, 0.001),
}

#: More than the relative error of a product in float32, so that no clipped update is too long.
_ROUNDING = 2.0**-22


class GaussianMechanism(Mechanism):
    """The whole update clipped to L2 norm C; all updates of a client are (epsilon_total, delta)-DP by zCDP.

    Two clipped updates are at most 2 C apart in L2. A participation of budget eps_i has rho_i = rho eps_i /
    epsilon_total, where rho is what epsilon_total is at ``delta``. The eps_i sum to epsilon_total at most, so
    the rho_i to rho at most, whoever is selected and when.

    Parameters
    ----------
    clip_norm
        C > 0, in the units of the parameters.
    epsilon_total
        Epsilon of all updates of a client, at ``delta``.
    delta
        In (0, 1).
    """

    protects = "update"

    def __init__(self, clip_norm: float, epsilon_total: float, delta: float = DELTA) -> None:
        self.norm = clip_norm
        self.rho_of_epsilon = float(rho_for(epsilon_total, delta)) / epsilon_total

    @property
    def sensitivity(self) -> float:
        """2 C, of the whole update, in L2."""
        return 2 * self.norm

    def clip(self, update: NDArray[np.float32]) -> None:
        """Shrink the update to L2 norm C if it is longer."""
        length = float(np.sqrt(np.square(update, dtype=np.float64).sum()))
        if length > self.norm:
            update *= np.float32(self.norm / length * (1 - _ROUNDING))

    def update_epsilon(self, epsilon: float, n: int) -> float:
        """The share of the budget that was spent; it is an epsilon only once all is spent."""
        return epsilon

    def scale(self, epsilon: float) -> float:
        """Standard deviation of the noise of each coordinate: 2 C / sqrt(2 rho_i)."""
        return self.sensitivity / float(np.sqrt(2 * self.rho_of_epsilon * epsilon))


class GaussianNoise(Sampler):
    """Normal noise from the seed, for simulations; ``scale`` is its standard deviation."""

    def __init__(self, streams: Streams, purpose: str = "noise") -> None:
        self.streams, self.purpose = streams, purpose

    def sample(self, n: int, scale: float, user: int, round: int) -> NDArray[np.float32]:
        """See `pausefl.privacy.Sampler.sample`."""
        rng = self.streams.generator(f"gaussian {self.purpose}", user=user, round=round)
        return rng.standard_normal(n, np.float32) * np.float32(scale)

    def add(self, update: NDArray[np.float32], noise: NDArray[np.float32], scale: float) -> None:  # type: ignore[override]
        """See `pausefl.privacy.Sampler.add`."""
        update += noise


class NoNoise(GaussianNoise):
    """Zeros in place of noise, which protect nothing."""

    def sample(self, n: int, scale: float, user: int, round: int) -> NDArray[np.float32]:
        """See `pausefl.privacy.Sampler.sample`."""
        return np.zeros(n, np.float32)


class Tried(NamedTuple):
    """A run, by what was tried: the columns of the file before those of its results."""

    noise: str
    epsilon: float
    clip_norm: float
    selector: str
    seed: int


def all_tried() -> list[Tried]:
    """All runs of the file; seed by seed, so that the first are of all settings."""
    settings = [(*key, norm) for key, norms in NORMS.items() for norm in norms]
    return [
        Tried(noise, epsilon, round(norm, 7), selector, seed)
        for seed, (noise, epsilon, norm), selector in product(SEEDS, settings, SELECTORS)
    ]


def made(tried: Tried, data_root: Path) -> Run:
    """The run, in the published scenario's other settings."""
    values: dict[str, object] = {"privacy.clip_norm": tried.clip_norm}
    if math.isfinite(tried.epsilon):
        values["privacy.epsilon_total"] = tried.epsilon
    if tried.noise != "laplace":
        sampler = "GaussianNoise" if tried.noise == "gaussian" else "NoNoise"
        values |= {
            "privacy.mechanism": "update_budget:GaussianMechanism",
            "privacy.sampler": f"update_budget:{sampler}",
        }
    scenario = pausefl.change(pausefl.load_scenario(SCENARIO), values)
    return pausefl.run(
        scenario, tried.selector, tried.seed, data_root=data_root, download=False, progress=False
    )


def results(run: Run) -> dict[str, float]:
    """Accuracies in [0, 1] as `pausefl.analysis.outcomes` defines them, and participations of a client."""
    (outcome,) = outcomes(rounds_of([run])).values()
    return {
        "final_accuracy": round(outcome["final_accuracy"], 4),
        "best_accuracy": round(outcome["best_accuracy"], 4),
        "participations_most": int(run.ledger["participations"].max()),
    }


def make_all(path: Path, data_root: Path) -> None:
    """Make the runs that a file lacks, and add each to it as soon as it is there."""
    known: set[Tried] = set()
    if path.is_file():
        rows = pd.read_csv(path)[list(Tried._fields)].itertuples(index=False)
        known = {Tried(*row) for row in rows}
    for tried in all_tried():
        if tried in known:
            continue
        row = tried._asdict() | results(made(tried, data_root))
        new = not path.is_file()
        with path.open("a", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(row), lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow(row)
        print(*row.values(), file=sys.stderr, flush=True)


def table(runs: pd.DataFrame) -> str:
    """Final accuracy by noise, epsilon and norm: the mean of the seeds with their range, in percent."""
    lines = [
        "| noise | ε | bound on the update | PAUSE (%) | random (%) |",
        "| :-- | --: | :-- | --: | --: |",
    ]
    for (noise, epsilon), norms in NORMS.items():
        for norm in norms:
            of_epsilon = "∞" if math.isinf(epsilon) else f"{epsilon:g}"
            cells = [noise, of_epsilon, f"{'L1' if noise == 'laplace' else 'L2'} norm {norm:g}"]
            same = (
                (runs["noise"] == noise) & (runs["epsilon"] == epsilon) & np.isclose(runs["clip_norm"], norm)
            )
            for selector in SELECTORS:
                final = 100 * runs.loc[same & (runs["selector"] == selector), "final_accuracy"]
                cells.append(f"{final.mean():.1f} ({final.min():.1f} to {final.max():.1f})")
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table, after the runs that are missing if they are asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", action="store_true", help="make the runs that the file lacks")
    parser.add_argument("--file", type=Path, default=FILE, help="results of the runs (CSV)")
    parser.add_argument("--data-root", type=Path, default=Path("data/raw"), help="has MNIST/raw")
    arguments = parser.parse_args()
    try:
        if arguments.run:
            make_all(arguments.file, arguments.data_root)
    except PauseflError as error:
        parser.error(str(error))
    if not arguments.file.is_file():
        parser.error(f"{arguments.file} does not exist: make it with --run")
    print(table(pd.read_csv(arguments.file)))


if __name__ == "__main__":
    main()
