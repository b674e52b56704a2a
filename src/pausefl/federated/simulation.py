"""The federated loop: select, train, clamp and noise, aggregate, observe (PAUSE v2, Algorithm 1)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.bandit.history import Feedback, History
from pausefl.bandit.latency import LatencyLaw, expected_speeds
from pausefl.bandit.rewards import sample_clusters, make_reward
from pausefl.data.partition import Partition
from pausefl.errors import PrivacyError
from pausefl.privacy import Ledger, Protection, make_mechanism, make_sampler, make_schedule
from pausefl.privacy.samplers import Noise
from pausefl.registry import SELECTORS
from pausefl.selectors import make_selector
from pausefl.settings import Scenario
from pausefl.streams import Streams
from pausefl.training.engine import Scores, Trainer
from pausefl.training.flat import Layout

Users = NDArray[np.int64]
Vector = NDArray[np.float32]
#: Arrays by name: what a job needs to go on after a round.
State = dict[str, NDArray[Any]]

#: Stages of a round that are timed.
STAGES = ("selection", "training", "noise", "evaluation")


@dataclass
class Stopwatch:
    """Seconds spent in each of `STAGES`."""

    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time inside the ``with`` block."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - start


@dataclass(frozen=True)
class Result:
    """What a federated job leaves behind.

    Attributes
    ----------
    rounds
        One row a round: the columns of ``rounds.parquet``.
    ledger
        One row a user: the columns of ``ledger.parquet``.
    seconds
        Wall-clock time by stage.
    diverged_round
        First round after which the global model, or its outputs on the test split, were not finite; None if
        they always were.
    refused
        (round, user) of the updates that were not finite, nothing of which was released.
    """

    rounds: pd.DataFrame
    ledger: pd.DataFrame
    seconds: dict[str, float]
    diverged_round: int | None
    refused: list[tuple[int, int]]


class Simulation:
    """One federated job: a scenario, a selector and a seed.

    Parameters
    ----------
    scenario, selector
        What to run; checked by `pausefl.federated.runnable.check_runnable`.
    streams
        Streams of the seed.
    partition
        Who has which data; only the sizes matter to the selection.
    layout
        Protected and unprotected values of the model, for the ledger.
    trainer
        Trains and evaluates; None runs the selection alone, on the same streams.
    genie
        Whether to compute the pseudo-regret against the exact maximiser with true speeds.
    """

    def __init__(
        self,
        scenario: Scenario,
        selector: str,
        streams: Streams,
        partition: Partition,
        layout: Layout,
        trainer: Trainer | None,
        genie: bool = False,
    ) -> None:
        info, network, privacy = SELECTORS[selector], scenario.network, scenario.privacy
        self.selector = selector
        self.select = make_selector(selector, scenario)
        self.uniform_weights = info.uniform_weights
        self.streams = streams
        self.trainer = trainer
        self.reward = make_reward(scenario.reward)
        self.latency_law = LatencyLaw(network, streams)
        self.round_latency_max = np.inf if network.round_latency_max is None else network.round_latency_max
        self.elapsed = 0.0
        clusters = None
        if scenario.reward.n_clusters is not None:
            clusters = sample_clusters(network.n_users, scenario.reward.n_clusters, streams)
        self.evaluate_every = scenario.training.evaluate_every
        self.history = History.empty(
            partition.sizes, network.n_selected, network.latency_floor, partition.quality, clusters
        )
        self.genie = make_selector("genie", scenario) if genie else None
        self.speeds = expected_speeds(network) if genie else None
        # The weights that a selector may see of an update: all but the normalisation layers.
        self.n_observed = layout.n_protected if info.needs_updates else 0
        self.protection: Protection | None = None
        if privacy is None or not info.private:
            self.ledger = Ledger(network.n_users, 0, layout.n_values, None)
        else:
            mechanism, sampler = make_mechanism(privacy), make_sampler(privacy, streams)
            n_protected = layout.n_protected
            self.protection = Protection(mechanism, sampler, n_protected)
            n_unprotected = layout.n_values - n_protected
            schedule = make_schedule(privacy)
            self.ledger = Ledger(network.n_users, n_protected, n_unprotected, schedule, mechanism)
        self.refused: list[tuple[int, int]] = []
        self.watch = Stopwatch()
        self.theta = trainer.initial.copy() if trainer is not None else np.empty(0, np.float32)
        self.rows: list[dict[str, object]] = []
        self.diverged_round: int | None = None

    def run(self, n_rounds: int, on_round: Callable[[int], None] = lambda t: None) -> Result:
        """Run what is left of ``n_rounds`` rounds; ``on_round`` is called with t after each."""
        for t in range(len(self.rows) + 1, n_rounds + 1):
            due = t in (1, n_rounds) or t % self.evaluate_every == 0
            self.rows.append(self._round(t, due))
            on_round(t)
        rounds, seconds = pd.DataFrame(self.rows), self.watch.seconds
        return Result(rounds, self.ledger.table(), seconds, self.diverged_round, self.refused)

    def state(self) -> State:
        """All that the coming rounds and the tables depend on, between two rounds.

        To be written or copied before the next one, which changes some of the arrays. Random streams have no
        part in it, as functions of seed, purpose, user and round.
        """
        parts = {
            "history": self.history.state(),
            "selector": self.select.state(),
            "trainer": self.trainer.state() if self.trainer is not None else {},
            "rows": _columns(self.rows),
            "ledger": {
                "participations": self.ledger.participations.copy(),
                "refused": np.array(self.refused, np.int64).reshape(-1, 2),
            },
            "loop": {
                "theta": self.theta.copy(),
                "elapsed": np.array(self.elapsed),
                "seconds": np.array([self.watch.seconds[stage] for stage in STAGES]),
                "diverged_round": np.array(self.diverged_round or 0),
            },
        }
        return {f"{part}/{name}": array for part, arrays in parts.items() for name, array in arrays.items()}

    def restore(self, state: State) -> None:
        """Go on from the `state` of the same job; this one must not have run yet.

        ``state`` is emptied on the way, so that nothing large is in memory twice.
        """
        parts: dict[str, State] = {"selector": {}, "trainer": {}}
        for path in list(state):
            part, _, name = path.partition("/")
            parts.setdefault(part, {})[name] = state.pop(path)
        self.history.restore(parts["history"])
        self.select.restore(parts["selector"])
        if self.trainer is not None:
            self.trainer.restore(parts["trainer"])
        self.rows = _rows(parts["rows"])
        self.ledger.restore(parts["ledger"]["participations"])
        self.refused = [(int(t), int(user)) for t, user in parts["ledger"]["refused"]]
        loop = parts["loop"]
        self.theta = loop["theta"].copy()
        self.elapsed = float(loop["elapsed"])
        self.watch.seconds = dict(zip(STAGES, loop["seconds"].tolist(), strict=True))
        self.diverged_round = int(loop["diverged_round"]) or None

    def _round(self, t: int, evaluate: bool = True) -> dict[str, object]:
        """One round of the loop; returns its row."""
        with self.watch.stage("selection"):
            drawn = self._select(t)
            users, times = np.unique(drawn, return_counts=True)
            epsilon = self.ledger.spend(users)
        latency = self.latency_law.sample(t)[users]
        round_latency, reward = 0.0, np.nan  # of a round without anyone, once all budgets are spent
        if len(users):
            round_latency = min(float(latency.max()), self.round_latency_max)
            round_latency += self.reward.delay(self.history, users)
            reward = self.reward.value(self.history, users, self.history.latency_floor / latency)
        self.elapsed += round_latency
        regret = self._pseudo_regret(users, t)
        updates = np.empty((len(users), self.n_observed), np.float32) if self.n_observed else None
        trained = {}
        if self.trainer is not None:
            weights = self._weights(users, times)
            train_loss = self._train(self.trainer, users, weights, epsilon, t, updates)
            trained = {"train_loss": train_loss, **self._evaluate(self.trainer, t, evaluate)}
        leakage = self.ledger.spent()
        feedback = Feedback(users, latency, self.ledger.privacy(), updates)
        with self.watch.stage("selection"):
            self.select.observe(feedback, self.history)
        self.history.observe(feedback)
        return {
            "round": t,
            "selection": drawn,
            "latency_s": round_latency,
            "elapsed_s": self.elapsed,
            "leakage_max": leakage.max(),
            "leakage_mean": leakage.mean(),
            "reward": reward,
            "pseudo_regret": regret,
            **trained,
        }

    def _select(self, t: int) -> Users:
        """The selector's choice among the users with budget left; all of these where they are less than m.

        Whatever a selector says, nobody without budget passes.
        """
        may_take_part = self.ledger.may_take_part()
        if np.count_nonzero(may_take_part) < self.history.n_selected:
            return np.flatnonzero(may_take_part)
        self.history.available = may_take_part
        drawn = self.select(self.history, self.streams.generator(f"select/{self.selector}", round=t))
        return drawn[may_take_part[drawn]]

    def _weights(self, users: Users, times: Users) -> NDArray[np.float64]:
        """Weights (n,) of the updates: shares of the selected data (v2, eq. 2), or of the draws."""
        size = times if self.uniform_weights else self.history.data_size[users]
        return np.asarray(size / max(size.sum(), 1))

    def _train(
        self,
        trainer: Trainer,
        users: Users,
        weights: NDArray[np.float64],
        epsilon: NDArray[np.float64],
        t: int,
        updates: NDArray[np.float32] | None,
    ) -> float:
        """Local training, protected release and aggregation (v2, eq. 2); returns the mean training loss.

        ``epsilon`` (n,) are the budgets of this participation. ``updates`` (n, d), unless None, is filled
        with the start of each user's released update.
        """
        place = {user: i for i, user in enumerate(users)}
        total, loss_sum, n_visited = np.zeros_like(self.theta), 0.0, 0
        trained = trainer.train(self.theta, users, t)
        while True:
            with self.watch.stage("training"):
                local = next(trained, None)
            if local is None:
                break
            with self.watch.stage("noise"):  # on a GPU, while the users are still being trained
                noise = [self._noise(epsilon[place[user]], int(user), t) for user in local.users]
            with self.watch.stage("training"):
                local_updates = local.updates
                loss_sum += local.loss_sum
            with self.watch.stage("noise"):
                for user, update, added in zip(local.users, local_updates, noise, strict=True):
                    i = place[user]
                    self._protect(update, added, epsilon[i], int(user), t)
                    total += update * np.float32(weights[i])
                    if updates is not None:
                        updates[i] = update[: updates.shape[1]]
            n_visited += local.n_visited
        self.theta += total
        return loss_sum / n_visited if n_visited else np.nan

    def _evaluate(self, trainer: Trainer, t: int, due: bool) -> dict[str, float]:
        """Accuracy and loss on the test split, not numbers where they are not ``due``."""
        scores = Scores(np.nan, np.nan, diverged=False)
        with self.watch.stage("evaluation"):
            if due:
                scores = trainer.evaluate(self.theta)
            if self.diverged_round is None and (scores.diverged or not np.isfinite(self.theta).all()):
                self.diverged_round = t
        return {"accuracy": scores.accuracy, "loss": scores.loss}

    def _noise(self, epsilon: float, user: int, t: int) -> Noise | None:
        """Noise for one update; None without privacy."""
        return None if self.protection is None else self.protection.noise(epsilon, user, t)

    def _protect(self, update: Vector, noise: Noise | None, epsilon: float, user: int, t: int) -> None:
        """Turn an update into what leaves its user, in place.

        In place of an update that is refused, one of zeros is released, with the noise of any other: that it
        was refused does not show.
        """
        if self.protection is None or noise is None:
            return
        try:
            self.protection.release(update, noise, epsilon, user, t)
        except PrivacyError:
            self.refused.append((t, user))
            update[:] = 0
            self.protection.release(update, noise, epsilon, user, t)

    def _pseudo_regret(self, users: Users, t: int) -> float:
        """C^G of the genie's choice minus C^G of ours, on our history (v2, eq. 10; deviation D11).

        Not a number where no genie is asked for, or where the selection is not of m users.
        """
        if self.genie is None or self.speeds is None or len(users) != self.history.n_selected:
            return np.nan
        best = self.genie(self.history, self.streams.generator("select/genie", round=t))
        ours, genies = (self.reward.value(self.history, s, self.speeds[s]) for s in (users, best))
        return max(genies - ours, 0.0)  # below 0 by rounding only


def _columns(rows: list[dict[str, object]]) -> State:
    """Rows of a job as arrays: selections one after another, and how many users each has."""
    columns = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
    selections = columns.pop("selection", [])
    empty = np.empty(0, np.int64)
    return {
        **{name: np.array(values) for name, values in columns.items()},
        "selection": np.concatenate([empty, *selections]),
        "n_selected": np.array([len(users) for users in selections], np.int64),  # type: ignore[arg-type]
    }


def _rows(columns: State) -> list[dict[str, object]]:
    """Undo `_columns`."""
    columns = dict(columns)
    ends = np.cumsum(columns.pop("n_selected"))
    selections = np.split(columns.pop("selection"), ends)[:-1]
    lists = {name: array.tolist() for name, array in columns.items()}
    rows: list[dict[str, object]] = []
    for i, users in enumerate(selections):
        row: dict[str, object] = {name: values[i] for name, values in lists.items()}
        rows.append({"round": row.pop("round"), "selection": users, **row})
    return rows
