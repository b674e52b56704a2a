"""Our selection under the settings of the authors' logs of their figures, without training.

Prints the mean simulated rounds of the logs beside ours in the scenarios ``…_as_run``, and what differs from
the scenarios as written:

    python benchmarks/investigations/authors_logs.py
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from aggregate_noise import noise
from numpy.typing import NDArray

from pausefl.analysis.outcomes import WINDOW
from pausefl.federated.untrained import selection_only
from pausefl.reproduction.authors_archive import LOGGED, beside_ours
from pausefl.schema.yaml import read_yaml
from pausefl.selectors import SELECTORS
from pausefl.settings import Scenario, load_scenario
from pausefl.settings.dotted_keys import with_values

SCENARIOS = Path(__file__).parents[2] / "config" / "scenarios"

#: Rounds of a run of which there is no log, and of all runs of the table of changes.
N_ROUNDS = 300

#: What the table of changes shows.
HEADS = (
    "SA-PAUSE's round : PAUSE's",
    "PAUSE's leakage : random's",
    "PAUSE's leakage : clustered's",
    "noise, PAUSE",
    "noise, clustered",
)

#: Whose settings a run has. Weights are those of the reward and of the speed index.
WRITTEN, WEIGHTS, RUN = WHOSE = ("as written", "α, β, γ, ζ as run", "as run")
_WEIGHTS = {"reward": ("alpha", "beta", "gamma"), "selection": ("exploitation",)}


def settings(name: str, whose: str = RUN) -> Scenario:
    """A scenario as run, or the one that it is based on with settings of `WHOSE`."""
    as_run = load_scenario(name, SCENARIOS)
    if whose == RUN:
        return as_run
    written = load_scenario(read_yaml(SCENARIOS / f"{name}.yaml")["base"], SCENARIOS)
    weights = {
        f"{part}.{key}": getattr(getattr(as_run, part), key)
        for part, keys in _WEIGHTS.items()
        for key in keys
    }
    return with_values(written, weights, name) if whose == WEIGHTS else written


def annealer(scenario: Scenario) -> str:
    """The selector of a scenario that anneals."""
    return next(name for name in scenario.selectors if name.startswith("sa_"))


@cache
def play(name: str, whose: str, selector: str, seed: int, n_rounds: int = N_ROUNDS) -> pd.DataFrame:
    """Rounds of a simulation, with the variance of a coordinate's noise."""
    scenario = settings(name, whose)
    rounds = selection_only(scenario, selector, seed).run(n_rounds).rounds
    variance = noise(rounds, scenario, selection_only(scenario, selector, seed))
    return rounds.assign(variance=variance.sum(axis=1))


def mean_rounds(seeds: int) -> Iterator[tuple[str, str, float, NDArray[np.float64]]]:
    """Mean simulated seconds of a round in each run of the logs, and in ours (seeds,) of as many rounds.

    Runs that select are meant; NaN where there is no log, of Algorithm 3 with the J and κ of the log.
    """
    for name in LOGGED:
        scenario = settings(name)
        theirs = beside_ours(pd.DataFrame(), scenario).query("quantity == 'mean_round_s'")
        runs = {row["selector"]: (int(row["at"]), row["authors"]) for _, row in theirs.iterrows()}
        if annealer(scenario) == "sa_pause_best_gain":
            runs["sa_pause"] = N_ROUNDS, math.nan
        for selector, (n_rounds, seconds) in runs.items():
            record = SELECTORS[selector]
            if not (record.takes_everyone or record.fixed_users):
                ours = [
                    play(name, RUN, selector, seed, n_rounds)["latency_s"].mean() for seed in range(seeds)
                ]
                yield name, selector, seconds, np.array(ours)


def beside(seeds: int) -> Iterator[str]:
    """Lines of a table of `mean_rounds`."""
    yield "| scenario | selector | their round (s) | ours, mean (s) | ours, range (s) | ours : theirs |"
    yield "| :-- | :-- | --: | --: | --: | --: |"
    for name, selector, seconds, ours in mean_rounds(seeds):
        theirs, ratio = f"{seconds:.3f}", f"{ours.mean() / seconds:.3f}"
        if math.isnan(seconds):
            theirs = ratio = "–"
        yield (
            f"| `{name}` | `{selector}` | {theirs} | {ours.mean():.3f} | {ours.min():.3f} to {ours.max():.3f}"
            f" | {ratio} |"
        )


def leakage(rounds: pd.DataFrame, end: float) -> float:
    """Mean largest leakage until a simulated time, of which each round has its latency."""
    within = rounds[rounds["elapsed_s"] <= end]
    return float(np.average(within["leakage_max"], weights=within["latency_s"]))


def outcomes(name: str, whose: str, seeds: int) -> list[str]:
    """What is below each of `HEADS`, of `N_ROUNDS` rounds."""
    selectors = ("pause", annealer(settings(name, whose)), "random", "clustered_size")
    ratios, noises = [], []
    for seed in range(seeds):
        pause, annealed, random, clustered = (play(name, whose, selector, seed) for selector in selectors)
        end = float(pause["elapsed_s"].iloc[-1])
        leaked, *others = (leakage(rounds, end) for rounds in (pause, random, clustered))
        slower = annealed["latency_s"].mean() / pause["latency_s"].mean()
        ratios.append([slower, *(leaked / other for other in others)])
        noises.append([math.sqrt(one["variance"].iloc[-WINDOW:].mean()) for one in (pause, clustered)])
    means = (f"{mean:.2f}" for mean in np.mean(ratios, axis=0))
    ranges = (f"{min(of_seeds):.4f} to {max(of_seeds):.4f}" for of_seeds in zip(*noises, strict=True))
    return [*means, *ranges]


def changes(seeds: int) -> Iterator[str]:
    """Lines of a table: what the settings of the logs of v2's figures change."""
    yield f"| scenario | settings | {' | '.join(HEADS)} |"
    yield f"| :-- | :-- |{' --: |' * len(HEADS)}"
    for name in LOGGED:
        if name.endswith(("_v1_as_run", "_dirichlet")):
            continue
        for whose in WHOSE:
            if whose == WEIGHTS and settings(name, WEIGHTS) == settings(name, WRITTEN):
                continue
            yield f"| `{name}` | {whose} | {' | '.join(outcomes(name, whose, seeds))} |"


def main() -> None:
    """Play, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    if seeds < 1:
        parser.error("--seeds must be at least 1")
    for lines in (beside(seeds), [""], changes(seeds)):
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
