"""Strategies of Flower with a picker, on nodes that answer at once; prints what they did as JSON.

Run by the Python of an environment with Flower. With names of parts as arguments it plays these alone.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Error, Message, MetricRecord, RecordDict
from flwr.serverapp import strategy as strategies

import pausefl
from pausefl import flower
from pausefl.flower import PickerStrategy, node_picker

logging.getLogger("flwr").setLevel(logging.CRITICAL)
try:  # messages need a running app
    from flwr.supercore.task_identity import TaskIdentity

    TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 0, 0
except ImportError:  # of earlier versions do not
    pass
NODES = range(1, 21)
WARNED: list[str] = []
flower.log = lambda level, text, *words: WARNED.append(text % words) if level > 20 else None  # type: ignore


def answer(message: Message, **metrics: Any) -> Message:
    """The node's number as its model."""
    node = message.metadata.dst_node_id
    told = {"num-examples": 50, "latency": 0.01 * node, "train_loss": 1.0, **metrics}
    arrays = ArrayRecord({"w": Array(np.full(3, float(node)))})
    return Message(RecordDict({"arrays": arrays, "metrics": MetricRecord(told)}), reply_to=message)


class Nodes:
    """A grid whose nodes answer when they are first looked at; None of a message answers later, or never."""

    def __init__(self, reply: Callable[[Message], Message | None] = answer, online: Any = NODES) -> None:
        self.reply, self.online, self.sent = reply, [*online], list[list[Message]]()
        self.gone: set[int] = set()
        self.all: dict[str, Message] = {}

    def get_node_ids(self) -> list[int]:
        return self.online

    def push_messages(self, messages: Any) -> list[str | None]:
        self.sent.append(messages)
        ids = list[str | None]()
        for message in messages:
            key = str(len(self.all))
            message.metadata.__dict__["_message_id"] = key
            self.all[key] = message
            ids.append(None if message.metadata.dst_node_id in self.gone else key)
        return ids

    def pull_messages(self, ids: Any) -> list[Message]:
        return [reply for key in ids if (reply := self.reply(self.all[key])) is not None]

    def send_and_receive(self, messages: Any, *, timeout: float | None = None) -> list[Message]:
        return self.pull_messages([key for key in self.push_messages(list(messages)) if key])


def train(
    strategy: Any, n_rounds: int, reply: Callable[[Message], Message | None] = answer, **start: Any
) -> tuple[list[list[int]], list[dict[str, Any]], Any]:
    """Who was asked in each round, the configs of the last, and the model."""
    nodes = reply if isinstance(reply, Nodes) else Nodes(reply)
    before = len(nodes.sent)
    grid = strategy.watch(nodes) if isinstance(strategy, PickerStrategy) else strategy.strategy.watch(nodes)
    result = strategy.start(grid, ArrayRecord({"w": Array(np.zeros(3))}), n_rounds, **start)
    rounds = [one for one in nodes.sent[before:] if one and one[0].metadata.message_type == "train"]
    asked = [[one.metadata.dst_node_id for one in messages] for messages in rounds]
    configs = [dict(one.content["config"]) for one in rounds[-1]] if rounds else []
    return asked, configs, result.arrays


def made(selector: str, base: Any = "FedAvg", schedule: Any = None, **arguments: Any) -> Any:
    options = {"n_tiers": 2} if selector == "tifl" else {}
    given = {key: arguments.pop(key) for key in ("timeout", "over_selection") if key in arguments}
    picker = node_picker(selector, 3, **{"timeout": 5.0, **given}, schedule=schedule, **options)
    base = getattr(strategies, base) if isinstance(base, str) else base
    return PickerStrategy(base, picker, fraction_evaluate=0.0, **arguments)


class OwnNodes(strategies.FedAvg):
    """Chooses its nodes itself."""

    def configure_train(self, server_round: int, arrays: Any, config: Any, grid: Any) -> list[Message]:
        record = RecordDict({"arrays": arrays, "config": config})
        return [Message(record, dst_node_id=node, message_type="train") for node in (1, 2)]


class InParts(strategies.FedAvg):
    """Asks every node twice."""

    def configure_train(self, *arguments: Any) -> list[Message]:
        return [*super().configure_train(*arguments), *super().configure_train(*arguments)]


def bad(node: int) -> Callable[[Message], Message]:
    """Whatever one node cannot have measured; another fails."""

    def reply(message: Message) -> Message:
        if message.metadata.dst_node_id == node + 1:
            return Message(Error(code=1, reason="none"), reply_to=message)
        return answer(message, **({"latency": float("nan")} if message.metadata.dst_node_id == node else {}))

    return reply


def failed(strategy: Any) -> list[list[int]]:
    return [[one for one, seconds in told.items() if seconds is None] for told in strategy.latencies]


def bases() -> dict[str, Any]:
    """Derived strategies do what they did but for who is asked."""
    results: dict[str, Any] = {}
    arguments = {"FedProx": {"proximal_mu": 0.5}, "FedAvgM": {"server_momentum": 0.9}}
    arguments["QFedAvg"] = {"client_learning_rate": 0.1, "q": 0.1}
    names = ("FedAvg", "FedProx", "FedAdam", "FedAdagrad", "FedYogi", "FedAvgM", "QFedAvg", "FedMedian")
    for name in (*names, "FedTrimmedAvg", "Krum", "MultiKrum", "Bulyan"):
        if not hasattr(strategies, name):
            continue
        own = {"num_malicious_nodes": 0} if name in ("Krum", "MultiKrum", "Bulyan") else {}
        strategy = made("pause", name, pausefl.GeometricSchedule(1.0, 0.1), **own, **arguments.get(name, {}))
        asked, configs, arrays = train(strategy, 4)
        results[name] = {"asked": asked, "configs": configs, "model": float(arrays["w"].numpy()[0])}
        results[name]["class"] = [type(strategy).__name__, isinstance(strategy, getattr(strategies, name))]
    return results


def selectors() -> dict[str, Any]:
    """Nodes of which no reply has told the number of examples count as having the mean of the others."""
    results: dict[str, Any] = {}
    for selector in ("clustered_size", "random_by_size", "clustered_similarity"):
        asked, _, _ = train(made(selector), 60)
        results[selector] = len(Counter(node for nodes in asked for node in nodes))
    tifl, tiers = made("tifl"), set()
    for _ in range(40):
        train(tifl, 1)
        tiers.add(tuple(tifl.picker.selector.tier.tolist()))
    results["tiers"] = len(tiers - {()})
    spent = made("pause", schedule=pausefl.UniformSchedule(1.0, 1))
    results["spent"] = [len(nodes) for nodes in train(spent, 8)[0]]
    return results


def failures() -> dict[str, Any]:
    """Nodes that send an error, or a number that cannot be; messages that are not sent; nobody at all."""
    WARNED.clear()
    strategy = made("fedavg")
    train(strategy, 2, bad(4))
    results: dict[str, Any] = {"failed": failed(strategy), "warned": [*WARNED]}
    nodes = Nodes(online=range(1, 5))
    nodes.gone = {3}
    unsent = made("fedavg", schedule=pausefl.UniformSchedule(1.0, 5))
    asked, _, _ = train(unsent, 2, nodes)
    results["unsent"] = [asked, unsent.picker.ledger.participations.tolist(), failed(unsent)]
    silent = made("fedavg", timeout=0.2)
    train(silent, 1, lambda message: None)
    results["silent"] = [
        silent.picker.history.mean_latency.tolist() == [0.2] * 20,
        failed(silent) == [[*NODES]],
    ]
    return results


def sizes() -> dict[str, Any]:
    """A picker that is restored from a file knows which sizes are guesses, and goes on."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "picker.json"
        first = made("random", save_to=file)
        train(first, 2)
        again = made("random", save_to=file)
        small = [
            train(one, 1, lambda message: answer(message, **{"num-examples": 5}))
            and one.picker.history.data_size.tolist()
            for one in (first, again)
        ]
        results = {"guesses": [len(first.picker.size_guessed), small[0] == small[1]]}
        made("random", save_to=Path(folder) / "made/for it/picker.json")
        results["folder"] = (Path(folder) / "made/for it").is_dir()
        charged = made("pause", schedule=pausefl.UniformSchedule(1.0, 4), save_to=Path(folder) / "own.json")
        nodes = Nodes()
        nodes.push_messages = lambda messages: sys.exit("the server was killed")  # type: ignore[method-assign]
        with suppress(SystemExit):
            train(charged, 1, nodes)
        after = made("pause", schedule=pausefl.UniformSchedule(1.0, 4), save_to=Path(folder) / "own.json")
        results["charged"] = sorted(after.picker.ledger.participations.tolist())
        (Path(folder) / "own.json").write_text("{", "utf-8")
        try:
            made("pause", save_to=Path(folder) / "own.json")
        except pausefl.PauseflError as error:
            results["broken"] = str(error)
        try:
            made("sweep", save_to=file)
        except pausefl.PauseflError as error:
            results["other"] = str(error)
        slower = made("random", save_to=file, timeout=7.0).picker
        results["slower"] = [slower.timeout, slower.history.round, len(slower.ids)]
    return results


def over() -> dict[str, Any]:
    """ceil(1.5 * 3) are asked, the first three count; a later answer corrects what is known of its node."""
    asked_of: dict[str, int] = {}

    def slow(message: Message) -> Message | None:
        node = message.metadata.dst_node_id
        times = asked_of[key] = asked_of.get(key := message.metadata.message_id, 0) + 1
        return None if node > 3 and times < 3 else answer(message)

    strategy = made("fedavg", over_selection=0.5)
    nodes = Nodes(slow, online=range(1, 5))
    grid, zeros = strategy.watch(nodes), ArrayRecord({"w": Array(np.zeros(3))})
    arrays = strategy.start(grid, zeros, 1).arrays
    picker = strategy.picker
    found = {"model": float(arrays["w"].numpy()[0]), "latency": picker.history.mean_latency.tolist()}
    nodes.online = [1, 2, 3]
    strategy.start(grid, zeros, 3)  # in the second of these, node 4 answers its message of before
    found["corrected"] = picker.history.mean_latency.tolist()
    # Node 4 is asked in every round, and answers each of them two rounds later.
    late = made("fedavg", over_selection=0.5)
    asked_of.clear()
    nodes = Nodes(slow, online=range(1, 5))
    late.start(late.watch(nodes), zeros, 5)
    found["asked again"] = [
        late.picker.history.mean_latency.tolist(),
        late.picker.history.participations.tolist(),
    ]
    return found


def accountants() -> dict[str, Any]:
    """Wrappers for differential privacy, with and without an accountant; a dropped round."""
    results: dict[str, Any] = {}
    schedule = pausefl.GeometricSchedule(40.0, 0.04)
    bounded = (1.0, 1.0, 3)  # noise multiplier, clipping norm, clients in a round
    for side in ("ServerSide", "ClientSide"):
        wrapper = getattr(strategies, f"DifferentialPrivacy{side}FixedClipping")
        around = wrapper(made("pause", schedule=schedule), *bounded)
        asked, configs, _ = train(around, 5)
        results[f"{side} fixed"] = [[len(nodes) for nodes in asked], all("epsilon" in one for one in configs)]
        if (wrapper := getattr(strategies, f"DifferentialPrivacy{side}AdaptiveClipping", None)) is None:
            continue  # in Flower 1.21
        around = wrapper(made("pause", schedule=schedule), 0.5, 3, clipped_count_stddev=1.5)
        asked, _, _ = train(
            around,
            5,
            partial(answer, norm_bit=1) if side == "ClientSide" else answer,
        )
        results[f"{side} adaptive"] = [len(nodes) for nodes in asked]
    dropped = made("fedavg")
    train(strategies.DifferentialPrivacyServerSideFixedClipping(dropped, 1.0, 1.0, 20), 2, bad(4))
    results["dropped"] = failed(dropped)
    try:
        from flwr.serverapp import NeighboringRelation, PrivacyConfig, RdpAccountant, SamplingMethod
    except ImportError:  # of earlier versions of Flower
        return results
    for base in ("FedAvg", "FedProx", "FedAdam"):
        config = PrivacyConfig(
            target_delta=1e-5,
            population_size=20,
            neighboring_relation=NeighboringRelation.ADD_OR_REMOVE_ONE,
            sampling_method=SamplingMethod.NO_AMPLIFICATION,
        )
        own = {"proximal_mu": 0.1} if base == "FedProx" else {}
        try:
            around = strategies.DifferentialPrivacyServerSideFixedClipping(
                made("pause", base, schedule=schedule, **own), *bounded, accountant=RdpAccountant(config)
            )
            train(around, 5)
        except ValueError as error:
            results[f"accountant {base}"] = str(error)
        else:
            results[f"accountant {base}"] = around.privacy_spent().num_releases
    return results


def names() -> dict[str, Any]:
    """A node that restarts has another id; by its name it has the old budget, and the old id has none."""
    called = {1: "ann", 2: "bob", 3: "eve", 4: "ann", 5: ""}

    def reply(message: Message) -> Message | None:
        node = message.metadata.dst_node_id
        if message.metadata.message_type == "query":
            return Message(RecordDict({"who": ConfigRecord({"name": called[node]})}), reply_to=message)
        return answer(message) if node != 1 or len(nodes.online) == 3 else None

    results: dict[str, Any] = {}
    for key in ("name", None):
        nodes = Nodes(reply, online=[1, 2, 3])
        WARNED.clear()
        strategy = made("fedavg", schedule=pausefl.UniformSchedule(1.0, 4), node_key=key, timeout=0.3)
        train(strategy, 2, nodes)
        nodes.online = [1, 2, 3, 4, 5]  # node 1 was killed, and is still listed; it is node 4 now
        asked, _, _ = train(strategy, 1, nodes)
        nodes.online = [2, 3, 4, 5]
        last, _, _ = train(strategy, 2, nodes)
        picker = strategy.picker
        results[f"by {key}"] = {
            "asked": [sorted(nodes) for nodes in (*asked, *last)],
            "participations": dict(
                zip(map(str, picker.ids), picker.ledger.participations.tolist(), strict=True)
            ),
            "warned": [*WARNED],
        }
    return results


def refused() -> dict[str, Any]:
    """Bases that a picker cannot choose for; a wrapper that is started with a grid of its own."""
    results: dict[str, Any] = {}
    picker = node_picker("random", 3, 5.0, schedule=pausefl.UniformSchedule(1.0, 4))
    start = {"initial_arrays": ArrayRecord({"w": Array(np.zeros(3))}), "num_rounds": 1}
    plain = PickerStrategy(strategies.FedAvg, picker)
    for name, make in {
        "object": lambda: PickerStrategy(strategies.FedAvg(), picker),
        "own": lambda: PickerStrategy(OwnNodes, picker).start(Nodes(), **start),
        "parts": lambda: PickerStrategy(InParts, picker).start(Nodes(), **start),
        "cyclic": lambda: PickerStrategy(getattr(strategies, "FedXgbCyclic", OwnNodes), picker).start(
            Nodes(), **start
        ),
        "picker": lambda: PickerStrategy(strategies.FedAvg, "pause"),
        "losses": lambda: PickerStrategy(strategies.FedAvg, node_picker("pow_d", 3, 5.0, n_candidates=4)),
        "grid": lambda: strategies.DifferentialPrivacyServerSideFixedClipping(plain, 1.0, 1.0, 3).start(
            Nodes(), **start
        ),
    }.items():
        try:
            make()
        except pausefl.PauseflError as error:
            results[name] = str(error)
    results["charged"] = int(picker.ledger.participations.sum())
    return results


PARTS = (bases, selectors, failures, sizes, over, accountants, names, refused)

if __name__ == "__main__":
    wanted = sys.argv[1:] or [part.__name__ for part in PARTS]
    print(json.dumps({part.__name__: part() for part in PARTS if part.__name__ in wanted}))
