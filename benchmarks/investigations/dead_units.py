"""Number of dead hidden units of the dense network in each round; it explains the accuracy on MNIST.

A unit is dead if it is zero for every image of the test split. Trains with one selector on prepared data, and
prints a row for some rounds:

    python benchmarks/investigations/dead_units.py --data data/prepared/mnist.npz --rounds 40
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from pausefl.data.dataset import Dataset, load_dataset
from pausefl.data.partition import make_partition
from pausefl.federated.simulation import Simulation
from pausefl.settings import load_scenario
from pausefl.streams import Streams
from pausefl.training.engine import Trainer, build_model

ROUNDS = (1, 2, 5, 10, 20, 40, 80, 150, 300)


def dead_units(model: torch.nn.Module, theta: NDArray[np.float32], data: Dataset) -> list[str]:
    """Dead units of each hidden layer, as "dead of all"."""
    torch.nn.utils.vector_to_parameters(torch.from_numpy(theta.copy()), model.parameters())
    x = torch.from_numpy(data.test_x).flatten(1).float() / 127.5 - 1
    layers = [module for module in model.modules() if isinstance(module, torch.nn.Linear)]
    found = []
    with torch.no_grad():
        for layer in layers[:-1]:
            x = layer(x).relu()
            found.append(f"{int((x.amax(0) == 0).sum())} of {layer.out_features}")
    return found


def main() -> None:
    """Train, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="prepared data set")
    parser.add_argument("--scenario", default="mnist_large_iid_r1")
    parser.add_argument("--selector", default="fedavg_no_privacy")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=40)
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    scenario = load_scenario(arguments.scenario, Path("config/scenarios"))
    data, streams = load_dataset(arguments.data), Streams(arguments.seed)
    shares = make_partition(
        data.train_y, scenario.data, scenario.partition, scenario.network.n_users, streams
    )
    trainer = Trainer(scenario.model, scenario.training, data, shares, streams, torch.device("cpu"))
    simulation = Simulation(scenario, arguments.selector, streams, shares, trainer.layout, trainer, False)
    model = build_model(scenario.model, data, streams)
    print("| round | dead units, layer by layer | test accuracy (%) |\n| --: | :-- | --: |")

    def report(t: int) -> None:
        if t in ROUNDS or t == arguments.rounds:
            accuracy = 100 * trainer.evaluate(simulation.theta).accuracy
            print(
                f"| {t} | {', '.join(dead_units(model, simulation.theta, data))} | {accuracy:.1f} |",
                flush=True,
            )

    report(0)
    simulation.run(arguments.rounds, report)


if __name__ == "__main__":
    main()
