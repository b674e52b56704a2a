"""Ten Flower nodes, half of them slow and one that always fails: who is chosen, and how long rounds last.

    pip install '.[flower]' 'flwr[simulation]' matplotlib
    python examples/flower_digits.py pause random

Each name is a selector. Every node trains a linear classifier on its share of 1,797 digits. With Matplotlib,
``flower_digits.png`` has the accuracy against the time that the rounds took.

Nodes add no noise here. One that did would take ``config["epsilon"]``, and bound its update first.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
from pathlib import Path

import numpy as np
from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg
from flwr.simulation import run_simulation

import pausefl
from pausefl.flower import PickerStrategy, node_picker

N_SELECTED, TIMEOUT = 3, 60.0  # seconds; Ray may take several to start a node
FAST, SLOW = 0.05, 0.6  # seconds; the last node fails
TEST = 10  # every so many digits one is for testing


def digits(part: int, n_parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 64) and labels (n,) of a part of the digits."""
    data = np.load(Path(pausefl.__file__).parent / "data/sources/digits.npz")
    return data["pixels"][part::n_parts] / 16, data["labels"][part::n_parts]


client = ClientApp()


@client.train()
def train(message: Message, context: Context) -> Message:
    """Train on a node, as long as its machine takes."""
    start, node = time.perf_counter(), int(context.node_config["partition-id"])
    n_nodes = int(context.node_config["num-partitions"])
    if node == n_nodes - 1:
        raise RuntimeError("this node always fails")
    x, y = digits(node, n_nodes)
    weights = message.content["arrays"]["weights"].numpy().copy()
    for _ in range(20):
        output = np.exp(x @ weights)
        output /= output.sum(axis=1, keepdims=True)
        loss = float(-np.log(output[np.arange(len(y)), y]).mean())
        weights -= 0.5 * x.T @ (output - np.eye(10)[y]) / len(y)
    time.sleep(FAST if node < n_nodes // 2 else SLOW)
    told = {"num-examples": len(y), "train_loss": loss, "latency": time.perf_counter() - start}
    told["epsilon"] = message.content["config"]["epsilon"]
    content = RecordDict({"arrays": ArrayRecord({"weights": Array(weights)}), "metrics": MetricRecord(told)})
    return Message(content=content, reply_to=message)


def run(selector: str, n_nodes: int, n_rounds: int) -> list[tuple[float, ...]]:
    """Of each round: seconds of its slowest answer, accuracy after it, nodes that failed, mean epsilon."""
    options = {"tifl": {"n_tiers": 2}, "power_of_choice": {"n_candidates": 5}}.get(selector, {})
    schedule = pausefl.GeometricSchedule(epsilon_total=40.0, decay=0.04)
    picker = node_picker(selector, N_SELECTED, TIMEOUT, schedule=schedule, **options)
    no_evaluation = {"fraction_evaluate": 0.0, "min_evaluate_nodes": 0}  # Flower 1.21 needs both
    strategy = PickerStrategy(FedAvg, picker, min_available_nodes=n_nodes, **no_evaluation)
    server, (x, y) = ServerApp(), digits(0, TEST)
    accuracy, epsilon = list[float](), list[float]()

    def evaluate(t: int, arrays: ArrayRecord) -> None:
        accuracy.append(float(((x @ arrays["weights"].numpy()).argmax(axis=1) == y).mean()))

    @server.main()
    def start(grid: Grid, context: Context) -> None:
        zeros = ArrayRecord({"weights": Array(np.zeros((64, 10)))})
        result = strategy.start(grid, zeros, n_rounds, evaluate_fn=evaluate)
        for t in range(1, n_rounds + 1):  # without an answer a round has no metrics
            epsilon.append(float(result.train_metrics_clientapp.get(t, {}).get("epsilon", np.nan)))

    resources = {
        "client_resources": {"num_cpus": 1},
        "init_args": {"num_cpus": 2, "include_dashboard": False},
    }
    run_simulation(server, client, n_nodes, backend_config=resources)
    seconds = [max(filter(None, answers.values()), default=TIMEOUT) for answers in strategy.latencies]
    failed = [list(answers.values()).count(None) for answers in strategy.latencies]
    return list(zip(seconds, accuracy[1:], failed, epsilon, strict=True))


def main() -> None:
    """Run each selector, print what came of it, and draw it."""
    logging.getLogger("flwr").setLevel(logging.ERROR)
    parser = argparse.ArgumentParser()
    parser.add_argument("selectors", nargs="*", default=["pause", "random"])
    parser.add_argument("--nodes", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=30)
    asked = parser.parse_args()
    runs = {name: np.array(run(name, asked.nodes, asked.rounds)) for name in asked.selectors}
    for name, rounds in runs.items():
        seconds, accuracy, failed, epsilon = rounds.T
        told = {"mean_round_s": round(seconds.mean(), 3), "accuracy": round(accuracy[-1], 3)}
        told |= {"failed": int(failed.sum()), "largest_epsilon": round(np.nanmax(epsilon), 3)}
        print(json.dumps({"selector": name, "rounds": len(rounds), **told}))
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    figure = Figure(figsize=(5, 3), layout="constrained")
    axes = figure.subplots()
    for name, rounds in runs.items():
        axes.plot(rounds[:, 0].cumsum(), 100 * rounds[:, 1], label=name)
    axes.set(xlabel="Time (s)", ylabel="Accuracy (%)")
    axes.legend()
    figure.savefig("flower_digits.png", dpi=150)


if __name__ == "__main__":
    main()
