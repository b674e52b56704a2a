"""Selection in Flower: a strategy whose clients a `pausefl.Picker` chooses (message API, flwr >= 1.20).

If the picker has a schedule, each client gets the budget of its participation, ``epsilon``, in its config. It
protects only what the client makes it protect: the client has to bound its update, and to add noise for that
epsilon. Whatever else it sends, such as metrics, is outside.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable
from logging import INFO, WARNING
from typing import Any

import numpy as np

from pausefl.errors import ConfigError, PauseflError, to_install
from pausefl.picker import Picker

try:
    from flwr.app import ArrayRecord, ConfigRecord, Message, MessageType, MetricRecord, RecordDict
    from flwr.common.logger import log
    from flwr.serverapp import Grid
    from flwr.serverapp.strategy import FedAvg
except ModuleNotFoundError as error:
    raise ImportError(to_install("pausefl.flower", error, "flower")) from None


def selecting(base: type[FedAvg] = FedAvg) -> type[FedAvg]:
    """A strategy class like ``base``, `FedAvg` or one derived from it, with selection by a picker.

    ``base`` makes the messages and the aggregate; the picker says who gets one. So ``fraction_train`` and
    ``min_train_nodes`` say no more than how many nodes must be online (and 0, that nobody trains).

    Its constructor takes what that of ``base`` takes and, first:

    picker
        A `Picker` of node ids. A node that it does not know joins when it is online. Until a reply tells the
        number of its examples (``weighted_by_key``), it counts as having the mean of those that replied. Give
        ``start`` the picker's timeout.
    latency_key
        Metric of a reply that has the seconds that the round took the client; where it has none, the time
        from sending to the making of the reply counts, for which clocks have to agree.
    loss_key
        Metric that has the training loss, for selectors that look at losses (`Picker.observe`).

    Its attribute ``latencies`` has a mapping for each round: seconds by node, None of one that failed.

    `ConfigError` if ``base`` is no class derived from `FedAvg`, or one that has its own order of nodes.
    """
    if not (isinstance(base, type) and issubclass(base, FedAvg)):
        raise ConfigError(f"{base!r} must be flwr.serverapp.strategy.FedAvg, or a class derived from it")
    if hasattr(base, "_make_sampling"):
        raise ConfigError(f"{base.__name__} goes through the nodes in an order of its own")

    class Selecting(base):  # type: ignore[misc]
        __doc__ = f"{base.__name__} with clients that a `pausefl.Picker` chooses."

        def __init__(
            self,
            picker: Picker,
            *args: Any,
            latency_key: str = "latency",
            loss_key: str = "train_loss",
            **kwargs: Any,
        ) -> None:
            if not isinstance(picker, Picker):
                raise ConfigError(f"picker = {picker!r} must be a pausefl.Picker")
            if picker.facts.asks_losses:
                raise ConfigError(
                    f"selector '{picker.name}' asks clients for losses before each round, which a strategy of"
                    " Flower has no message for"
                )
            super().__init__(*args, **kwargs)
            self.picker, self.latency_key, self.loss_key = picker, latency_key, loss_key
            self.latencies: list[dict[Hashable, float | None]] = []
            self.selected = False

        def configure_train(
            self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
        ) -> Iterable[Message]:
            """The messages of ``base``, to the nodes that the picker chooses among those that are online."""
            self.grid, self.arrays, self.selected = grid, arrays, False
            messages = list(super().configure_train(server_round, arrays, config, grid))
            if {one.metadata.dst_node_id for one in messages} - self.picker.epsilon.keys():
                raise ConfigError(f"{base.__name__} chooses its nodes itself")
            return messages

        def _construct_messages(
            self, record: RecordDict, node_ids: list[int], message_type: str
        ) -> Iterable[Message]:
            """Messages of ``base``; those of training go to chosen nodes, each with its budget."""
            if message_type != MessageType.TRAIN:
                return [*super()._construct_messages(record, node_ids, message_type)]
            if self.selected:
                raise ConfigError(f"{base.__name__} makes the messages of a round in several parts")
            self.selected, online = True, list(self.grid.get_node_ids())
            new = [node for node in online if node not in self.picker.index]
            self.picker.join(dict.fromkeys(new, self._mean_size()))
            self.picker.size_guessed.update(new)
            self.sent, messages = time.time(), list[Message]()
            asked = self.picker.select(online)
            log(INFO, "configure_train: the picker asks %s of %s nodes", len(asked), len(online))
            if online and not asked:
                log(WARNING, "No node that is online has privacy budget left: nobody trains.")
            for node in asked:
                own = RecordDict({**record})
                if np.isfinite(epsilon := self.picker.epsilon[node]):
                    own[self.configrecord_key] = ConfigRecord(
                        {**record[self.configrecord_key], "epsilon": epsilon}
                    )
                messages += super()._construct_messages(own, [node], message_type)
            return messages

        def aggregate_train(
            self, server_round: int, replies: Iterable[Message]
        ) -> tuple[ArrayRecord | None, MetricRecord | None]:
            """The aggregate of ``base`` without nodes that failed.

            These sent an error, nothing in time, or a latency, a number of examples, a loss or an update that
            cannot be. Raises what ``base`` raises if replies lack what it needs.
            """
            if not self.selected:  # nobody was to train
                return super().aggregate_train(server_round, replies)  # type: ignore[no-any-return]
            picker, kept, latency = self.picker, list[Message](), dict[Hashable, float]()
            losses, updates = dict[Hashable, float](), dict[Hashable, np.ndarray[Any, Any]]()
            sizes, told = dict[Hashable, int](), dict[Hashable, MetricRecord]()
            why = dict.fromkeys(picker.epsilon, "an error, or nothing in time")
            for reply in replies:
                node, own = reply.metadata.src_node_id, _metrics(reply, self.weighted_by_key)
                if own is None:  # an error, which `base` reports, or no reply that it takes, which it refuses
                    kept.append(reply)
                    continue
                if picker.facts.needs_losses and self.loss_key not in own:
                    raise PauseflError(
                        f"selector '{picker.name}' looks at losses, and a reply of node {node} has no metric"
                        f" '{self.loss_key}' (loss_key)"
                    )
                try:
                    if node not in picker.epsilon:
                        raise ValueError("it was not asked in this round")
                    waited = max(reply.metadata.created_at - self.sent, 0.0)
                    seconds = _number(own, self.latency_key, waited)
                    size = _number(own, self.weighted_by_key, most=2**50)
                    if picker.facts.needs_losses:
                        losses[node] = _number(own, self.loss_key, least=-1e30)
                    if picker.facts.needs_updates:
                        updates[node] = self._update(reply)
                except ValueError as error:
                    why[node] = str(error)
                else:
                    kept.append(reply)
                    latency[node], sizes[node], told[node] = seconds, max(int(size), 1), own
            for node, reason in why.items():
                if node not in latency:
                    log(WARNING, "Node %s counts as failed: %s", node, reason)
            picker.resize(sizes)
            picker.size_guessed.difference_update(sizes)
            picker.resize(dict.fromkeys(picker.size_guessed, self._mean_size()))
            if picker.facts.uniform_weights:
                for node, weight in picker.weights().items():
                    if node in told:
                        told[node][self.weighted_by_key] = weight
            self.latencies.append({node: latency.get(node) for node in picker.epsilon})
            picker.observe(latency, losses=losses, updates=updates)
            aggregated: tuple[ArrayRecord | None, MetricRecord | None]
            aggregated = super().aggregate_train(server_round, kept)
            return aggregated

        def _mean_size(self) -> int:
            """What counts as the size of a node that has not told its own."""
            sizes = zip(self.picker.ids, self.picker.history.data_size.tolist(), strict=True)
            known = [size for node, size in sizes if node not in self.picker.size_guessed]
            return round(np.mean(known)) if known else 1

        def _update(self, reply: Message) -> np.ndarray[Any, Any]:
            """What a reply adds to the arrays that were sent, (d,); `ValueError` if they do not match."""
            (own,) = reply.content.array_records.values()
            if {key: one.shape for key, one in own.items()} != {
                k: one.shape for k, one in self.arrays.items()
            }:
                raise ValueError("its arrays have other names or shapes than those that were sent")
            steps = [
                own[key].numpy().astype(np.float32) - value.numpy().astype(np.float32)
                for key, value in self.arrays.items()
            ]
            if not all(np.isfinite(step).all() for step in steps):
                raise ValueError("its arrays are not finite")
            return np.concatenate([step.ravel() for step in steps])

    return Selecting


def _metrics(reply: Message, weighted_by_key: str) -> MetricRecord | None:
    """The metrics of a reply, if it is one that strategies aggregate."""
    if reply.has_error() or len(reply.content.array_records) != 1 or len(reply.content.metric_records) != 1:
        return None
    (own,) = reply.content.metric_records.values()
    return own if weighted_by_key in own else None


def _number(
    metrics: MetricRecord, key: str, default: float = np.nan, least: float = 0.0, most: float = 1e30
) -> float:
    """A metric that is a number in a range; `ValueError` if it is none."""
    value = metrics.get(key, default)
    if not isinstance(value, (int, float)) or not least <= value <= most:
        raise ValueError(f"its metric '{key}' is {value!r}")
    return float(value)
