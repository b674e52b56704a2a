"""Every kind of figure looks as it did: made from fixed data, and compared with small pictures.

The pictures were made with the Matplotlib of ``constraints.txt``. After a deliberate change, make them again,
in this folder, and look at them::

    python -m pytest test_visual.py --mpl-generate-path=baseline
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from pausefl.data.partition import Partition
from pausefl.figures import kinds, partition, style
from pausefl.privacy import make_schedule
from pausefl.registry import FIGURES
from pausefl.settings import load_scenario
from pausefl.settings import scenario as config
from pausefl.studies import (
    audit,
    benchmark,
    comparison,
    generalization,
    graphs,
    knobs,
    optimality_gap,
    races,
    regret,
    runtime,
    selection,
    trained_knobs,
)
from pausefl.studies.generalization import Generalization
from pausefl.studies.generalization import run as evaluate
from pausefl.studies.graphs import Graphs, first
from pausefl.studies.knobs import METRICS
from pausefl.studies.regret import growth, kept_rounds
from pausefl.studies.trained_knobs import compare

ROOT = Path(__file__).parents[3]


N_ROUNDS, N_USERS = 40, 12
SPEED = {"pause": 0.5, "sa_pause": 0.7, "random": 0.9, "fedavg": 1.1}


def scenario() -> config.Scenario:
    whole = load_scenario("demo_small", ROOT / "config" / "scenarios")
    return whole.replace(training=whole.training.replace(n_rounds=N_ROUNDS))


def rounds() -> pd.DataFrame:
    """Runs of four selectors and two seeds, made of sines and exponentials."""
    t, frames, privacy = np.arange(1, N_ROUNDS + 1), [], scenario().privacy
    assert privacy is not None
    for i, (selector, latency) in enumerate(SPEED.items()):
        for seed in range(2):
            # The later the selector, the more often users of small numbers.
            places = [((0.618 * k + 0.37 * j) % 1) ** (1 + i) for k in t for j in range(3)]
            shown = (N_USERS * np.array(places)).astype(int).reshape(N_ROUNDS, 3)
            everyone = list(range(N_USERS))
            selections = [everyone if selector == "fedavg" else sorted({*users}) for users in shown.tolist()]
            counts = np.zeros((N_ROUNDS, N_USERS), np.int64)
            for k, users in enumerate(selections):
                counts[k:, users] += 1
            spent = make_schedule(privacy).spent(counts)
            rise = (0.9 - 0.1 * i) * (1 - np.exp(-t / (4 + 3 * i))) - 0.07 * seed + 0.02 * np.sin(t + i)
            accuracy = 0.1 + rise * (np.exp(-t / 25) if selector == "fedavg" else 1)
            frames.append(
                pd.DataFrame(
                    {
                        "scenario": "demo_small",
                        "selector": selector,
                        "seed": seed,
                        "round": t,
                        "selection": selections,
                        "elapsed_s": latency * t * (1 + 0.1 * seed),
                        "accuracy": accuracy.clip(0, 1),
                        "loss": 2.2 - 2 * accuracy,
                        "leakage_max": spent.max(axis=1),
                        "leakage_mean": spent.mean(axis=1),
                    }
                )
            )
    return pd.concat(frames)


def of_kind(kind: str) -> Figure:
    return kinds.plot(kind, rounds(), scenario(), ["Diverged: Random (seed 1 in round 30)."]).figure


def of_authors(kind: str) -> Figure:
    """Runs of ours that last longer, and the archived ones."""
    longer, whole = rounds(), load_scenario("mnist_small_authors", ROOT / "config" / "scenarios")
    return kinds.plot(kind, longer.assign(elapsed_s=6 * longer["elapsed_s"]), whole).figure


def regret_figure() -> Figure:
    t = kept_rounds(10_000)
    means = {"random": 2.0 * t, "pause": 300 * np.log(t) + 10, "bsfl": 60 * t**0.5}
    runs = [
        pd.DataFrame({"selector": selector, "seed": seed, "round": t, "regret": (0.7 + 0.6 * seed) * mean})
        for selector, mean in means.items()
        for seed in range(2)
    ]
    table = pd.concat(runs, ignore_index=True)
    return regret.plot_regret(table, growth(table))


def gap_figure() -> Figure:
    t = np.arange(1, 61)
    optimum = np.where(t <= 5, np.inf, 1.0)
    runs = [
        pd.DataFrame({"selector": selector, "seed": seed, "round": t, "optimum": optimum}).assign(
            gap=size * (1 + seed) * (1 + 0.2 * np.sin(t / 5)), elapsed_s=latency * t
        )
        for selector, size, latency in (("pause", 0, 1), ("sa_pause", 1, 2), ("sa_vanilla", 3, 3))
        for seed in range(2)
    ]
    return optimality_gap.plot_gaps(pd.concat(runs))


def comparison_figure() -> Figure:
    j = np.unique(np.geomspace(1, 1000, 30).astype(int))
    curves = [
        pd.DataFrame({"temperature_divisor": divisor, "selector": selector, "iteration": j})
        .assign(
            median=level / np.log(j + 2) ** (divisor / 30),
            low=0.4 * level / np.log(j + 2),
            high=1.6 * level / np.log(j + 2),
        )
        .assign(example=level * (1.5 + 0.2 * np.sin(j)) / np.log(j + 2), ahead=0.5 + 0.4 * j / 1000)
        for divisor in (1.0, 30.0)
        for selector, level in (("alsa", 1.0), ("sa_bsfl", 2.5))
    ]
    return comparison.plot_curves(pd.concat(curves))


def races_figure() -> Figure:
    cells = [
        {"source": source, "n_users": k, "n_selected": m, "temperature_divisor": divisor, "moves": "all"}
        | {"selector": "alsa", "other": "sa_bsfl", "optimum": 1.0, "final": 0.5, "best": 0.8}
        | {
            "final_iterations": 0.3 + 0.04 * i + 0.1 * (m > 2),
            "best_iterations": 0.8 if i < 3 else 0.7 + 0.01 * i,
        }
        | {"final_neighbours": 0.2 + 0.04 * i, "best_neighbours": 0.7 + (0.012 if divisor > 1 else 0.01) * i}
        | {"n_listed": 1.0, "n_listed_other": 2.0}
        for source in ("drawn", "games")
        for k in (10, 40)
        for m in (2, 5)
        for divisor in (1.0, 30.0)
        for i in range(12)
    ]
    return races.plot_shares(pd.DataFrame(cells))


def knobs_figure() -> Figure:
    rows = [
        {"knob": knob, "value": value, "selector": selector, "seed": seed}
        | {name: (1 + j) * (1 + i) + k + 0.3 * seed * (k - i) for k, name in enumerate(METRICS)}
        for knob, values in (
            ("usual", ["usual"]),
            ("reward.alpha", ["0.5", "1", "2"]),
            ("variants", ["no_p"]),
        )
        for i, value in enumerate(values)
        for j, selector in enumerate(("pause", "sa_pause", "random"))
        for seed in range(2)
    ]
    return knobs.plot_knobs(pd.DataFrame(rows), {"reward.alpha": "1"})


def trained_figure() -> Figure:
    t, frames = np.arange(10, 110, 10), []
    budgets = [("privacy.epsilon_total", value) for value in ("1", "100")]
    longer = ("training.n_rounds", "200")
    for i, key in enumerate([("usual", "usual"), *budgets, longer, ("variants", "no_p")]):
        for j, selector in enumerate(("pause", "random")):
            for seed in range(2):
                rounds = 2 * t if key == longer else t
                accuracy = (0.5 + 0.1 * i) * (1 - np.exp(-rounds / (20 + 10 * j))) - 0.02 * seed
                curve = {"round": rounds, "elapsed_s": (0.5 + 0.4 * j) * rounds, "accuracy": accuracy}
                names = {"knob": key[0], "value": key[1], "selector": selector, "seed": seed}
                frames.append(pd.DataFrame(names | curve))
    curves = pd.concat(frames, ignore_index=True)
    usual = {"privacy.epsilon_total": 10.0, "training.n_rounds": 100.0}
    return trained_knobs.plot_accuracy(curves, compare(curves), usual)


def benchmark_figure() -> Figure:
    names = ("pause", "random", "fastest", "fedavg_no_privacy")
    across = pd.DataFrame(
        {
            "selector": names,
            "accuracy_over_time_mean": [0.8, 0.6, 0.4, 0.85],
            "accuracy_over_time_sd": [0.03, 0.1, 0.02, 0.01],
            "leakage_max_sd": [0.5, 0.2, 0.0, np.nan],
            "seconds_to_target_sd": [10.0, 20.0, 0.0, 5.0],
            "losses": None,
            "n_seeds": 3,
            "n_reached": [3, 2, 0, 3],
            "leakage_max_mean": [6.0, 5.0, 10.0, np.inf],
            "seconds_to_target_mean": [50.0, 90.0, 150.0, 70.0],
            "on_front": [True, True, False, True],
        }
    )
    return benchmark.plot_front(across)


def runtime_figure() -> Figure:
    sizes = np.geomspace(10, 100_000, 5)
    times = [
        pd.DataFrame({"selector": "pause", "n_users": sizes, "median_s": 1e-6 * sizes}).assign(
            iteration_s=np.nan, listing_s=np.nan
        ),
        pd.DataFrame({"selector": "sa_pause", "n_users": sizes, "median_s": 1e-3 + 1e-7 * sizes}).assign(
            iteration_s=1e-7 + 1e-8 * np.log(sizes), listing_s=2e-9 * sizes
        ),
        pd.DataFrame({"selector": "sa_vanilla", "n_users": sizes, "median_s": 4e-4 + 3e-8 * sizes}).assign(
            iteration_s=5e-8, listing_s=np.where(sizes < 20_000, 1e-10 * sizes**2, np.nan)
        ),
    ]
    return runtime.plot_times(pd.concat(times))


def audit_figure() -> Figure:
    seen = {"one coordinate": 1, "one coordinate, two rounds": 1, "update of 2": 2, "update of 4": 4}
    rows = [
        {"mechanism": mechanism, "observation": name, "n_coordinates": n, "epsilon": epsilon}
        | {"claimed": epsilon * (n if mechanism == "coordinate" else 1), "audited": (0.9 - 0.2 * i) * epsilon}
        for mechanism in ("coordinate", "vector")
        for epsilon in (0.1, 1.0, 4.0)
        for i, (name, n) in enumerate(seen.items())
    ]
    table = pd.DataFrame(rows).assign(ceiling=7.0, violated=False)
    table.loc[0, ["audited", "violated"]] = 1.0, True
    return audit.plot_bounds(table)


def partition_figure() -> Figure:
    sizes = np.arange(60, 12, -4)
    labels = np.arange(sizes.sum()) % 10
    labels[::3] = np.repeat(np.arange(12), sizes)[::3] % 10
    shares = tuple(np.split(np.arange(sizes.sum()), sizes.cumsum()[:-1]))
    users = Partition(shares, np.ones(len(sizes)), np.empty(0, np.int64))
    return partition.plot_partition(users, labels, 10, "Made up")


def generalization_figure() -> Figure:
    study = Generalization(title="Reward", n_users=8, n_selected=2, betas=(1, 2, 4), n_rounds=50)
    return generalization.plot({"generalization": evaluate(study)}, study).figure


MADE: dict[str, Callable[[], Figure]] = {
    **{kind: partial(of_kind, kind) for kind in FIGURES},
    **{f"authors_{kind}": partial(of_authors, kind) for kind in ("accuracy_vs_time", "leakage_vs_time")},
    "regret": regret_figure,
    "optimality_gap": gap_figure,
    "selection": lambda: selection.plot_leakage(rounds(), scenario()),
    "comparison": comparison_figure,
    "races": races_figure,
    "knobs": knobs_figure,
    "trained_knobs": trained_figure,
    "benchmark": benchmark_figure,
    "graphs": lambda: graphs.plot_graphs(*first(Graphs(title="", n_users=5, n_selected=2, n_instances=1))),
    "runtime": runtime_figure,
    "audit": audit_figure,
    "partition": partition_figure,
    "generalization": generalization_figure,
}


#: Sections of settings that say how a figure looks.
LOOKS = ("axes", "font", "grid", "legend", "lines", "mathtext", "patch", "text", "xtick", "ytick")

with style.theme():
    THEME = {key: mpl.rcParams[key] for key in mpl.rcParams if key.startswith(LOOKS)}


@pytest.mark.mpl_image_compare(style=THEME, savefig_kwargs={"dpi": 72}, tolerance=2, deterministic=True)
@pytest.mark.parametrize("name", MADE)
def test_figure(name: str) -> Figure:
    with style.theme():
        return MADE[name]()
