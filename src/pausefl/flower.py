"""Selection in Flower: a strategy whose clients a `pausefl.Picker` chooses (message API; docs/flower.md).

If the picker has a schedule, each client gets the budget of its participation, ``epsilon``, in its config. It
protects only what the client makes it protect: the client has to bound its update, and to add noise for that
epsilon. Whatever else it sends, such as metrics, is outside.
"""

from __future__ import annotations

import os
import time
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from logging import INFO, WARNING
from typing import Any, Literal

import numpy as np

from pausefl.errors import ConfigError, PauseflError, to_install
from pausefl.picker import Picker
from pausefl.picker.nodes import file_of, go_on, join_new, learn_sizes, save

try:
    from flwr.app import ArrayRecord, ConfigRecord, Message, MessageType, MetricRecord, RecordDict
    from flwr.common.logger import log
    from flwr.serverapp import Grid
    from flwr.serverapp.strategy import FedAvg, Result
except ModuleNotFoundError as error:
    raise ImportError(to_install("pausefl.flower", error, "flower")) from None

#: Seconds that new nodes have to tell their names; each starts a process for it.
NAME_TIMEOUT = 60.0


def node_picker(
    selector: Any,
    n_selected: int,
    timeout: float,
    latency_floor: float | Literal["auto"] = "auto",
    **arguments: Any,
) -> Picker:
    """A `Picker` without clients, for nodes that join when they are online; it learns the latency floor.

    Arguments and errors are those of `Picker`: ``timeout`` and ``latency_floor`` are in seconds.
    """
    return Picker(selector, {}, n_selected, latency_floor, timeout, **arguments)


class PickerStrategy(FedAvg):  # type: ignore[misc]
    """A strategy like ``base``, with clients that a picker chooses.

    ``base`` makes the messages and the aggregate; the picker says who gets a message, and learns who answers
    and how fast. So ``fraction_train`` and ``min_train_nodes`` of ``base`` say nothing, but for a fraction of
    0, with which nobody trains. Each round waits for ``min_available_nodes`` that are online, and have names.

    Parameters
    ----------
    base
        `FedAvg` or a class derived from it.
    picker
        A picker of nodes, such as `node_picker` makes. A node that it does not know joins when it is online.
        Until a reply tells the number of its examples (``weighted_by_key``), it counts as having the mean of
        those that replied. Training waits for answers for the picker's timeout, or less if `start` says so.
    args, kwargs
        What ``base`` takes.
    save_to
        File that has the picker's state as JSON, written before and after the messages of each round; its
        folder is made. If it is there, the picker goes on from it: budgets are kept when the server restarts.
    node_key
        Name in the answer of a node to a query (docs/flower.md), by which it is known to the picker; then a
        node that restarts keeps its budget. None takes Flower's node ids, which authenticated nodes keep.
    latency_key
        Metric of a reply that has the seconds that the round took the client; where it has none, the time
        from sending to the arrival of the reply counts.
    loss_key
        Metric that has the training loss, for selectors that look at losses (`Picker.observe`).

    Attributes
    ----------
    latencies
        A mapping for each round: seconds by node, or by name, None of one that failed.

    Raises
    ------
    ConfigError
        If ``base`` is no class derived from `FedAvg`, the selector asks for losses before it selects, or the
        folder of ``save_to`` cannot be made.
    PauseflError
        If ``save_to`` is of a picker that was made with other arguments than ``timeout``, ``n_selected`` and
        ``over_selection``, which may differ.
    """

    def __new__(cls, base: type[FedAvg], *args: Any, **kwargs: Any) -> PickerStrategy:
        """A strategy of a class that is derived from both this one and ``base``."""
        if not (isinstance(base, type) and issubclass(base, FedAvg)):
            raise ConfigError(f"{base!r} must be flwr.serverapp.strategy.FedAvg, or a class derived from it")
        both = (cls,) if base is FedAvg else (cls, base)
        made = type(f"Picker{base.__name__}", both, {"__doc__": cls.__doc__})
        return object.__new__(made)

    def __init__(
        self,
        base: type[FedAvg],
        picker: Picker,
        *args: Any,
        save_to: str | os.PathLike[str] | None = None,
        node_key: str | None = None,
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
        self.base, self.picker, self.node_key = base, picker, node_key
        self.latency_key, self.loss_key = latency_key, loss_key
        self.latencies: list[dict[Hashable, float | None]] = []
        self.save_to = None if save_to is None else file_of(save_to)
        self._names: dict[int, Hashable] = {}
        self._nameless: set[int] = set()
        if self.save_to is not None and self.save_to.exists():
            log(INFO, "%s", go_on(picker, self.save_to))

    def watch(self, grid: Grid) -> Grid:
        """A grid like another one, on which the picker sees who answers, for a strategy around this one.

        `start` makes one itself. A wrapper, as for differential privacy, is started with it:
        ``wrapper.start(strategy.watch(grid), ...)``.
        """
        return grid if isinstance(grid, _Watched) else _Watched(grid, self)

    def start(self, grid: Grid, *args: Any, **kwargs: Any) -> Result:
        """As that of ``base``."""
        return super().start(self.watch(grid), *args, **kwargs)

    def summary(self) -> None:
        """Log the settings of ``base``, and the picker."""
        super().summary()
        log(INFO, "\t└──> Clients are chosen by %r", self.picker)

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """The messages of ``base``, to the nodes that the picker chooses, each with its budget."""
        if self.fraction_train == 0:
            return []
        if not isinstance(grid, _Watched):
            raise ConfigError(
                "the picker sees no answers: start the strategy that is around this one with the grid of its"
                " method watch, as in wrapper.start(strategy.watch(grid), ...)"
            )
        nodes = self._online(grid)
        asked = self.picker.select(nodes)
        log(INFO, "configure_train: the picker asks %s of %s nodes", len(asked), len(nodes))
        if not asked:
            log(WARNING, "Nobody trains: no node is online that has privacy budget left.")
            return []
        chosen = {nodes[one]: one for one in asked}
        try:
            with self._all_of_those_shown():
                shown = _Shown(grid, chosen)
                messages = list(super().configure_train(server_round, arrays, config, shown))
            if sorted(one.metadata.dst_node_id for one in messages) != sorted(chosen):
                raise ConfigError(
                    f"{self.base.__name__} does not send one message to each of the nodes that it is shown,"
                    " so a picker cannot choose them"
                )
        except BaseException:
            self.picker.cancel()
            raise
        for message in messages:
            self._give_budget(message, self.picker.epsilon[chosen[message.metadata.dst_node_id]])
        self._save()
        grid.expected, grid.arrays = chosen, arrays
        return messages

    def _online(self, grid: _Watched) -> dict[Hashable, int]:
        """Nodes by what the picker calls them, after those that are new have joined it."""
        while len(nodes := self._named(grid)) < self.min_available_nodes:
            log(INFO, "Waiting for nodes: %d of %d are there", len(nodes), self.min_available_nodes)
            time.sleep(1)
        picker = self.picker
        new = join_new(picker, nodes)
        if picker.history.round > 1 and picker.ledger.schedule is not None and self.node_key is None:
            for one in new:
                log(
                    WARNING,
                    "Node %s joins in round %s with a whole privacy budget. If it has only restarted, it"
                    " spends a budget twice: authenticate nodes, or give node_key (docs/flower.md).",
                    one,
                    picker.history.round,
                )
        return nodes

    def _named(self, grid: _Watched) -> dict[Hashable, int]:
        """Nodes that are online by their names; of two with the same name the one that told it last."""
        online, key = list(grid.get_node_ids()), self.node_key
        if key is None:
            return {node: node for node in online}
        new = [node for node in online if node not in self._names and node not in self._nameless]
        queries = [Message(RecordDict(), dst_node_id=node, message_type=MessageType.QUERY) for node in new]
        waiting, _ = grid.push(queries)
        for node, _, reply in (one for some in grid.pull(waiting, NAME_TIMEOUT) for one in some):
            if node is not None and (name := _name(reply, key)) is not None:
                self._names[node] = name
            elif node is not None:
                self._nameless.add(node)
                log(WARNING, "Node %s is not asked: its answer to a query has no text '%s'.", node, key)
        nodes = dict[Hashable, int]()
        for node, known in self._names.items():
            if node not in online:
                continue
            if known in nodes and node in new:
                log(
                    WARNING,
                    "Nodes %s and %s are both called '%s': only the latter is asked. The former may be one"
                    " that was killed, and is listed for some seconds more.",
                    nodes[known],
                    node,
                    known,
                )
            nodes[known] = node
        return nodes

    @contextmanager
    def _all_of_those_shown(self) -> Iterator[None]:
        """Have ``base`` take all nodes that it is shown, and wait for no others."""
        every = {"fraction_train": 1.0, "min_train_nodes": 0, "min_available_nodes": 0}
        own = {name: getattr(self, name) for name in every}
        try:
            for name, value in every.items():
                setattr(self, name, value)
            yield
        finally:
            for name, value in own.items():
                setattr(self, name, value)

    def _give_budget(self, message: Message, epsilon: float) -> None:
        """Put a finite budget into the config of a message; messages share one record before."""
        if np.isfinite(epsilon):
            own = RecordDict(dict(message.content))
            config = own.get(self.configrecord_key, {})
            own[self.configrecord_key] = ConfigRecord({**config, "epsilon": epsilon})
            message.content = own

    def _learn(
        self,
        arrays: ArrayRecord,
        chosen: dict[int, Hashable],
        replies: dict[int, tuple[float, Message]],
    ) -> list[Message]:
        """Tell the picker what a round measured; returns the replies that are to be aggregated.

        ``replies`` are those of chosen nodes with the seconds after which they arrived. Nodes fail that sent
        an error, nothing in time, or a latency, a number of examples, a loss or an update that cannot be.
        """
        picker, latency = self.picker, dict[Hashable, float]()
        losses, updates = dict[Hashable, float](), dict[Hashable, np.ndarray[Any, Any]]()
        sizes, metrics = dict[Hashable, int](), dict[Hashable, MetricRecord]()
        kept, passed_on = dict[Hashable, Message](), list[Message]()
        why = dict.fromkeys(chosen.values(), "an error, or nothing in time")
        for node, (waited, reply) in replies.items():
            one, answer = chosen[node], _metrics(reply, self.weighted_by_key)
            if answer is None:  # an error, which `base` reports, or no reply that it takes, which it refuses
                passed_on.append(reply)
                continue
            if picker.facts.needs_losses and self.loss_key not in answer:
                raise PauseflError(
                    f"selector '{picker.name}' looks at losses, and a reply of node {one} has no metric"
                    f" '{self.loss_key}' (loss_key)"
                )
            try:
                seconds = _number(answer, self.latency_key, waited)
                size = _number(answer, self.weighted_by_key, most=2**50)
                if picker.facts.needs_losses:
                    losses[one] = _number(answer, self.loss_key, least=-1e30)
                if picker.facts.needs_updates:
                    updates[one] = _update(reply, arrays)
            except ValueError as error:
                why[one] = str(error)
            else:
                latency[one], sizes[one], metrics[one], kept[one] = seconds, max(int(size), 1), answer, reply
        counted = picker.in_time(latency)
        closed = picker.over_selection is not None and len(counted) >= picker.n_selected
        for one, reason in why.items():
            if one not in latency and not (closed and reason == "an error, or nothing in time"):
                log(WARNING, "Node %s counts as failed: %s", one, reason)
        learn_sizes(picker, sizes)
        if picker.facts.uniform_weights:
            for one, weight in picker.weights(counted).items():
                metrics[one][self.weighted_by_key] = weight
        self.latencies.append({one: latency.get(one) for one in picker.epsilon})
        picker.observe(latency, losses=losses, updates=updates)
        self._save()
        return [*passed_on, *(kept[one] for one in counted)]

    def _learn_late(self, reply: Message, name: Hashable, waited: float, round: int) -> None:
        """Tell the picker how long an answer to an earlier round took, unless it is an error or says none."""
        if (own := _metrics(reply, self.weighted_by_key)) is None:
            return
        try:
            seconds = _number(own, self.latency_key, waited)
        except ValueError:
            return
        self.picker.observe_late({name: seconds}, round)

    def _save(self) -> None:
        if self.save_to is not None:
            save(self.picker, self.save_to)


class _Around:
    """A grid like another, but for what a derived class changes."""

    def __init__(self, grid: Any) -> None:
        self._grid = grid

    def __getattr__(self, name: str) -> Any:
        return getattr(self._grid, name)


class _Shown(_Around):
    """A grid on which some nodes alone are online."""

    def __init__(self, grid: Any, nodes: Iterable[int]) -> None:
        super().__init__(grid)
        self._nodes = list(nodes)

    def get_node_ids(self) -> list[int]:
        """These nodes."""
        return self._nodes


class _Watched(_Around):
    """A grid that tells a strategy's picker who answered its messages of training, and how fast."""

    def __init__(self, grid: Any, strategy: PickerStrategy) -> None:
        super().__init__(grid)
        self.strategy = strategy
        #: Nodes of the round that is under way, with what the picker calls them, and the arrays they get.
        self.expected: dict[int, Hashable] = {}
        self.arrays: ArrayRecord | None = None
        # Messages of earlier rounds that may still be answered: who was asked, when, and in which round.
        self._open: dict[str, tuple[Hashable, float, int]] = {}

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> Iterable[Message]:
        """As that of a grid; returns as soon as the picker needs no further answers."""
        messages, chosen = list(messages), self.expected
        if not chosen or {one.metadata.dst_node_id for one in messages} != set(chosen):
            return self._grid.send_and_receive(messages, timeout=timeout)  # type: ignore[no-any-return]
        picker, self.expected, sent = self.strategy.picker, {}, time.monotonic()
        waiting, unsent = self.push(messages)
        for one in [chosen.pop(node) for node in unsent]:
            log(WARNING, "Node %s got no message, and its budget is not charged.", one)
            picker.cancel([one])
        replies, round = dict[int, tuple[float, Message]](), picker.history.round
        limit, n_good = picker.timeout if timeout is None else min(timeout, picker.timeout), 0
        for arrived in self.pull(waiting, limit, self._open):
            for node, waited, reply in arrived:
                if node is None:
                    name, since, earlier = self._open.pop(reply.metadata.reply_to_message_id)
                    self.strategy._learn_late(reply, name, time.monotonic() - since, earlier)
                else:
                    replies[node] = (waited, reply)
                    n_good += not reply.has_error()
            if picker.over_selection is not None and n_good >= picker.n_selected:
                self._open |= {key: (chosen[node], sent, round) for key, node in waiting.items()}
                break
        return self.strategy._learn(self.arrays, chosen, replies)

    def push(self, messages: list[Message]) -> tuple[dict[str, int], list[int]]:
        """Send messages; returns the nodes by message, and the nodes to which nothing could be sent."""
        pushed = {key for key in self._grid.push_messages(messages) if key} if messages else set()
        nodes = {one.metadata.message_id: one.metadata.dst_node_id for one in messages}
        unsent = [node for key, node in nodes.items() if key not in pushed]
        return {key: node for key, node in nodes.items() if key in pushed}, unsent

    def pull(
        self, waiting: dict[str, int], limit: float, late: Iterable[str] = ()
    ) -> Iterator[list[tuple[int | None, float, Message]]]:
        """Replies that arrived together: for each the node, the seconds since this call, and the reply.

        They are taken from ``waiting``, the nodes by message. Ends when none is left, or after ``limit``
        seconds. Replies to the messages ``late``, for which nobody waits, have no node.
        """
        start = time.monotonic()
        while waiting and time.monotonic() - start < limit:
            replies = list(self._grid.pull_messages([*waiting, *late]))
            waited = time.monotonic() - start
            if replies:
                yield [(waiting.pop(one.metadata.reply_to_message_id, None), waited, one) for one in replies]
            if waiting:
                time.sleep(max(min(limit - waited, 3.0, 0.05 + waited / 50), 0.0))


def _name(reply: Message, key: str) -> str | None:
    """The name in the answer of a node to a query; None if there is none."""
    if reply.has_error():
        return None
    for record in reply.content.config_records.values():
        if isinstance(name := record.get(key), str) and name:
            return name
    return None


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


def _update(reply: Message, arrays: ArrayRecord) -> np.ndarray[Any, Any]:
    """What a reply adds to the arrays that were sent, (d,); `ValueError` if they do not match."""
    (own,) = reply.content.array_records.values()
    if {key: one.shape for key, one in own.items()} != {key: one.shape for key, one in arrays.items()}:
        raise ValueError("its arrays have other names or shapes than those that were sent")
    steps = [
        own[key].numpy().astype(np.float32) - value.numpy().astype(np.float32)
        for key, value in arrays.items()
    ]
    if not all(np.isfinite(step).all() for step in steps):
        raise ValueError("its arrays are not finite")
    return np.concatenate([step.ravel() for step in steps])
