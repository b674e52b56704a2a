"""Selection in Flower: a strategy whose clients a `pausefl.Picker` chooses (message API, flwr >= 1.20).

If the picker has a schedule, each client gets the budget of its participation, ``epsilon``, in its config. It
protects only what the client makes it protect: the client has to bound its update, and to add noise for that
epsilon. Whatever else it sends, such as metrics, is outside.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, MessageType, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvg

from pausefl.picker import Picker


def selecting(base: type[FedAvg] = FedAvg) -> type[FedAvg]:
    """A strategy class like ``base``, `FedAvg` or one derived from it, with selection by a picker.

    Its constructor takes what that of ``base`` takes and, first:

    picker
        A `Picker` of node ids. A node that it does not know joins when it is online, with the mean size of
        the others until its reply tells the number of its examples (``weighted_by_key``). Give ``start`` the
        picker's timeout.
    latency_key
        Metric of a reply that has the seconds that the round took the client; where it has none, the time
        from sending to the making of the reply counts, for which clocks have to agree.
    loss_key
        Metric that has the training loss, for selectors that look at losses (`Picker.observe`).

    Its attribute ``latencies`` has a mapping for each round: seconds by node, None of one that failed.
    """

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
            super().__init__(*args, **kwargs)
            self.picker, self.latency_key, self.loss_key = picker, latency_key, loss_key
            self.latencies: list[dict[Hashable, float | None]] = []

        def configure_train(
            self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
        ) -> Iterable[Message]:
            """Messages to the nodes that the picker chooses among those that are online."""
            while len(online := list(grid.get_node_ids())) < self.min_available_nodes:
                time.sleep(1)
            known = self.picker.history.data_size
            size = int(known.mean()) if len(known) else 1
            self.picker.join({node: size for node in online if node not in self.picker.index})
            self.sent, self.arrays = time.time(), arrays
            messages: list[Message] = []
            for node in self.picker.select(online):
                own = ConfigRecord({**config, "server-round": server_round})
                if np.isfinite(epsilon := self.picker.epsilon[node]):
                    own["epsilon"] = epsilon
                record = RecordDict({self.arrayrecord_key: arrays, self.configrecord_key: own})
                messages += self._construct_messages(record, [node], MessageType.TRAIN)
            return messages

        def aggregate_train(
            self, server_round: int, replies: Iterable[Message]
        ) -> tuple[ArrayRecord | None, MetricRecord | None]:
            """The aggregate of ``base``; nodes that sent an error, or nothing in time, count as failed."""
            replies, picker = list(replies), self.picker
            answers = {one.metadata.src_node_id: one for one in replies if not one.has_error()}
            metrics = {node: next(iter(one.content.metric_records.values())) for node, one in answers.items()}
            picker.resize({node: int(own[self.weighted_by_key]) for node, own in metrics.items()})
            if picker.facts.uniform_weights:
                for node, weight in picker.weights().items():
                    if node in metrics:
                        metrics[node][self.weighted_by_key] = weight
            latency = {}
            for node, own in metrics.items():
                waited = max(answers[node].metadata.created_at - self.sent, 0.0)
                latency[node] = float(own.get(self.latency_key, waited))
            self.latencies.append({node: latency.get(node) for node in picker.epsilon})
            picker.observe(
                latency,
                losses={node: own[self.loss_key] for node, own in metrics.items() if self.loss_key in own},
                updates={node: self._update(one) for node, one in answers.items()}
                if picker.facts.needs_updates
                else None,
            )
            aggregated: tuple[ArrayRecord | None, MetricRecord | None]
            aggregated = super().aggregate_train(server_round, replies)
            return aggregated

        def _update(self, reply: Message) -> np.ndarray[Any, Any]:
            """What a reply adds to the arrays that were sent, (d,)."""
            (own,) = reply.content.array_records.values()
            steps = [(own[key].numpy() - value.numpy()).ravel() for key, value in self.arrays.items()]
            return np.concatenate(steps)

    return Selecting
