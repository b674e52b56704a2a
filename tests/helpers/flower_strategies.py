"""Strategies of Flower with selection, on nodes that answer at once; prints what they did as JSON.

Run by the Python of an environment with Flower.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Error, Message, MetricRecord, RecordDict
from flwr.serverapp import strategy as strategies
from flwr.supercore.task_identity import TaskIdentity

import pausefl
from pausefl import flower
from pausefl.flower import selecting

logging.getLogger("flwr").setLevel(logging.ERROR)
TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 0, 0  # messages need a running app
NODES = range(1, 21)


class Grid:
    """Nodes that are always online."""

    def get_node_ids(self) -> list[int]:
        return [*NODES]


def answer(message: Message, **metrics: Any) -> Message:
    """The node's number as its model."""
    node = message.metadata.dst_node_id
    told = {"num-examples": 50, "latency": 0.01 * node, "train_loss": 1.0, **metrics}
    arrays = ArrayRecord({"w": Array(np.full(3, float(node)))})
    return Message(RecordDict({"arrays": arrays, "metrics": MetricRecord(told)}), reply_to=message)


def train(
    strategy: Any, n_rounds: int, reply: Callable[[Message], Message] = answer
) -> tuple[list[list[int]], list[dict[str, Any]], np.ndarray[Any, Any]]:
    """Who was asked in each round, the configs of the last, and the model."""
    arrays, asked, configs = ArrayRecord({"w": Array(np.zeros(3))}), [], []
    for t in range(1, n_rounds + 1):
        messages = list(strategy.configure_train(t, arrays, ConfigRecord(), Grid()))
        asked.append([one.metadata.dst_node_id for one in messages])
        configs = [dict(one.content["config"]) for one in messages]
        aggregate, _ = strategy.aggregate_train(t, [reply(one) for one in messages])
        arrays = aggregate or arrays
    return asked, configs, arrays["w"].numpy()


def made(selector: str, base: str = "FedAvg", schedule: Any = None, **arguments: Any) -> Any:
    picker = pausefl.Picker(
        selector, {}, 3, 0.01, 5.0, schedule, **({"n_tiers": 2} if selector == "tifl" else {})
    )
    return selecting(getattr(strategies, base))(picker, **arguments)


class OwnNodes(strategies.FedAvg):
    """Chooses its nodes itself."""

    def configure_train(self, server_round: int, arrays: Any, config: Any, grid: Any) -> list[Message]:
        record = RecordDict({"arrays": arrays, "config": config})
        return [Message(record, dst_node_id=node, message_type="train") for node in (1, 2)]


class InParts(strategies.FedAvg):
    """Asks two groups one after the other."""

    def configure_train(self, *arguments: Any) -> list[Message]:
        return [*super().configure_train(*arguments), *super().configure_train(*arguments)]


def bad(node: int) -> Callable[[Message], Message]:
    """Whatever one node cannot have measured; another fails."""

    def reply(message: Message) -> Message:
        if message.metadata.dst_node_id == node + 1:
            return Message(Error(code=1, reason="none"), reply_to=message)
        return answer(message, **({"latency": float("nan")} if message.metadata.dst_node_id == node else {}))

    return reply


def small(message: Message) -> Message:
    """A node with few examples."""
    return answer(message, **{"num-examples": 5})


def main() -> None:
    found: dict[str, Any] = {}
    arguments = {"FedProx": {"proximal_mu": 0.5}, "FedAvgM": {"server_momentum": 0.9}}
    arguments["QFedAvg"] = {"client_learning_rate": 0.1, "q": 0.1}
    for base in ("FedAvg", "FedProx", "FedAdam", "FedYogi", "FedAvgM", "QFedAvg", "FedMedian"):
        strategy = made("pause", base, pausefl.GeometricSchedule(1.0, 0.1), **arguments.get(base, {}))
        asked, configs, model = train(strategy, 4)
        found[base] = {"asked": asked, "configs": configs, "model": float(model[0])}
    for selector in ("clustered_size", "random_by_size", "clustered_similarity"):
        asked, _, _ = train(made(selector), 60)
        found[selector] = len(Counter(node for nodes in asked for node in nodes))
    tifl, tiers = made("tifl"), set()
    for _ in range(40):
        train(tifl, 1)
        tiers.add(tuple(tifl.picker.selector.tier.tolist()))
    found["tiers"] = len(tiers - {()})
    strategy, warned = made("fedavg"), list[str]()
    flower.log = lambda level, text, *words: warned.append(text % words)  # type: ignore[assignment]
    train(strategy, 2, bad(4))
    found["warned"] = [text for text in warned if "failed" in text]
    late = made("random")
    messages = list(late.configure_train(1, ArrayRecord({"w": Array(np.zeros(3))}), ConfigRecord(), Grid()))
    other = Message(messages[0].content, dst_node_id=max(NODES) + 1, message_type="train")
    late.aggregate_train(1, [*map(answer, messages), answer(other)])
    found["answered"] = [len(late.latencies[0]), max(late.picker.ids)]
    found["failed"] = [
        [node for node, seconds in one.items() if seconds is None] for one in strategy.latencies
    ]
    first, again = made("random"), made("random")
    train(first, 2)
    again.picker.restore(first.picker.state())
    sizes = [train(one, 1, small) and one.picker.history.data_size.tolist() for one in (first, again)]
    found["guesses"] = [len(first.picker.size_guessed), sizes[0] == sizes[1]]
    spent = made("pause", schedule=pausefl.UniformSchedule(1.0, 1))
    found["spent"] = [len(nodes) for nodes in train(spent, 8)[0]]
    for name, make in {
        "cyclic": lambda: selecting(strategies.FedXgbCyclic),
        "object": lambda: selecting(strategies.FedAvg()),
        "own": lambda: train(selecting(OwnNodes)(pausefl.Picker("random", {}, 3, 0.01, 5.0)), 1),
        "parts": lambda: train(selecting(InParts)(pausefl.Picker("random", {}, 3, 0.01, 5.0)), 1),
    }.items():
        try:
            make()
        except pausefl.PauseflError as error:
            found[name] = str(error)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
