"""The federated loop: select, train, protect, aggregate, observe (PAUSE v2, Algorithm 1)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.bandit.history import Feedback, History, in_time
from pausefl.bandit.rewards import Reward
from pausefl.data.partition import Partition
from pausefl.errors import PauseflError, PrivacyError
from pausefl.plugins import OwnPartError, naming
from pausefl.privacy import Ledger, LossProtection, Protection
from pausefl.privacy.samplers import Noise
from pausefl.selectors import SELECTORS
from pausefl.selectors.restoring import check_remembered
from pausefl.settings import Scenario
from pausefl.states import saved
from pausefl.streams import Streams
from pausefl.training.layout import Layout

if TYPE_CHECKING:
    from pausefl.training.engine import Trainer

Floats = NDArray[np.float64]
Users = NDArray[np.int64]
Vector = NDArray[np.float32]
#: Arrays by name: what a job needs to continue after a round.
State = dict[str, NDArray[Any]]

#: Stages of a round that are timed.
STAGES = ("selection", "training", "noise", "evaluation")

T = TypeVar("T")


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

    def each(self, name: str, items: Iterator[T]) -> Iterator[T]:
        """Yield the items and count the time that each takes to come."""
        while True:
            with self.stage(name):
                item = next(items, None)
            if item is None:
                return
            yield item


@dataclass(frozen=True)
class Result:
    """Results of a federated job.

    Attributes
    ----------
    rounds
        One row a round: the columns of ``rounds.parquet``.
    ledger
        One row a user: the columns of ``ledger.parquet``.
    seconds
        Wall-clock time by stage.
    diverged_round
        First round after which the global model, or an output on the test split, was not finite; None if
        there is none.
    refused
        (round, user) of each update that was not finite; nothing of it was released.
    class_accuracy
        Accuracy of the last evaluation on the test images of each class, None for a class without any; None
        for regression or without training.
    """

    rounds: pd.DataFrame
    ledger: pd.DataFrame
    seconds: dict[str, float]
    diverged_round: int | None
    refused: list[tuple[int, int]]
    class_accuracy: list[float | None] | None = None


class PseudoRegret:
    """C^G of the genie's choice minus C^G of another, on the same history (v2, eq. 10; deviation D11).

    Parameters
    ----------
    scenario, reward, streams
        Settings, reward and random streams of the job.
    """

    def __init__(self, scenario: Scenario, reward: Reward, streams: Streams) -> None:
        self.reward = reward
        self.streams = streams
        self.genie = scenario.make_selector("genie")
        self.speeds = scenario.network.make_latency().expected_speeds()

    def of(self, users: Users, history: History) -> float:
        """Regret of selecting ``users``; NaN unless they are m."""
        if len(users) != history.n_selected:
            return np.nan
        best = self.genie(history, self.streams.generator("select/genie", round=history.round))
        ours, genies = (self.reward.value(history, s, self.speeds[s]) for s in (users, best))
        return max(genies - ours, 0.0)  # below 0 by rounding only


@dataclass(frozen=True)
class CurrentLosses:
    """Losses of a model on the data of the users who are asked."""

    trainer: Trainer
    theta: Vector

    def __getitem__(self, users: Users) -> Floats:
        """Mean loss (n,) of each user."""
        return self.trainer.losses(self.theta, users)


class Simulation:
    """One federated job: a scenario, a selector and a seed.

    Parameters
    ----------
    scenario, selector
        What to run; checked by `pausefl.federated.runnable.check_runnable`.
    streams
        Random streams of the seed.
    partition
        Who has which data; the selection depends on sizes and qualities only.
    layout
        Protected and unprotected values of the model, for the ledger.
    trainer
        Trains and evaluates; None runs the selection alone, on the same streams.
    genie
        Whether to compute the pseudo-regret.

    Attributes
    ----------
    horizon
        Simulated seconds that end the job: those of the scenario, infinite without.
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
        self.scenario, self.selector, self.streams = scenario, selector, streams
        self.layout, self.trainer = layout, trainer
        self.horizon = scenario.training.horizon
        self.select = scenario.make_selector(selector)
        self.history = first_history(scenario, partition, streams)
        self.ledger, self.protection, self.loss_protection = make_protection(
            scenario, selector, layout, streams
        )
        self.latency = scenario.network.make_latency()
        self.availability = scenario.network.make_availability()
        self.failures = scenario.network.make_failures()
        self.timeout = scenario.network.round_latency_max or np.inf
        self.reward = scenario.reward.make()
        self.regret = PseudoRegret(scenario, self.reward, streams) if genie else None
        self.theta = trainer.initial.copy() if trainer is not None else np.empty(0, np.float32)
        self.elapsed = 0.0
        self.watch = Stopwatch()
        self.rows: list[dict[str, object]] = []
        self.refused: list[tuple[int, int]] = []
        self.diverged_round: int | None = None
        #: Accuracies of the last evaluation. No part of the state, since the last round is evaluated.
        self.by_class: tuple[float, ...] = ()

    def run(self, n_rounds: int, on_round: Callable[[int], None] = lambda t: None) -> Result:
        """Run the rounds that are left.

        Parameters
        ----------
        n_rounds
            Most rounds of the whole job. The first one to end at `horizon` or later is the last.
        on_round
            Called with t after each round.
        """
        while not self.ended(n_rounds):
            t = len(self.rows) + 1
            self.rows.append(self._round(t, n_rounds))
            on_round(t)
        rounds, seconds = pd.DataFrame(self.rows), self.watch.seconds
        by_class = [None if np.isnan(value) else value for value in self.by_class] or None
        return Result(rounds, self.ledger.table(), seconds, self.diverged_round, self.refused, by_class)

    def ended(self, n_rounds: int) -> bool:
        """Whether a job of at most ``n_rounds`` is over."""
        return len(self.rows) >= n_rounds or self.elapsed >= self.horizon

    def state(self) -> State:
        """Everything that coming rounds and the tables depend on, between two rounds.

        Write or copy it before the next round, which changes some of the arrays. Random streams have no
        state: they are functions of seed, purpose, user and round.
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
        """Continue from the `state` of the same job; call it before the first round.

        Empties ``state``, so that nothing large is in memory twice.

        Raises
        ------
        PauseflError
            If an array is missing, cannot be, or contradicts another one; the message names it. Then the
            simulation is of no use.
        """
        parts: dict[str, State] = {
            name: {} for name in ("history", "selector", "trainer", "rows", "ledger", "loop")
        }
        for path in list(state):
            part, _, name = path.partition("/")
            parts.setdefault(part, {})[name] = state.pop(path)
        self.history.restore(parts["history"])
        n_users, t = len(self.history.data_size), self.history.round - 1
        check_remembered(self.select, parts["selector"], n_users, t + 1)
        self.select.restore(parts["selector"])
        if self.trainer is not None:
            self.trainer.restore(parts["trainer"])
        loop, ledger = parts["loop"], parts["ledger"]
        self.elapsed = float(saved(loop, "elapsed", np.float64, (), 0))
        _check_rows(parts["rows"], n_users, self.history.participations, t, self.elapsed)
        self.rows = _rows(parts["rows"])
        self.ledger.restore(saved(ledger, "participations", np.int64, (n_users,), 0, t))
        if (self.ledger.participations != self.history.participations).any():
            raise PauseflError("'participations' of the saved ledger and of the saved history differ")
        refused = saved(ledger, "refused", np.int64, (None, 2), 0, max(t, n_users - 1))
        self.refused = [(int(t), int(user)) for t, user in refused]
        seconds = saved(loop, "seconds", np.float64, (len(STAGES),), 0)
        self.watch.seconds = dict(zip(STAGES, seconds.tolist(), strict=True))
        self.diverged_round = int(saved(loop, "diverged_round", np.int64, (), 0, t)) or None
        diverged: dict[str, Any] = (
            {"least": -np.inf, "most": np.inf, "nan": True} if self.diverged_round else {}
        )
        self.theta = saved(loop, "theta", np.float32, self.theta.shape, **diverged)

    def _round(self, t: int, n_rounds: int) -> dict[str, object]:
        """Run round t of at most ``n_rounds``; returns its row."""
        with self.watch.stage("selection"):
            waited = self.availability.wait(self.elapsed, self.ledger.may_take_part())
            selection = self._select(t, self.elapsed + waited)
            users, times = np.unique(selection, return_counts=True)
            epsilon = self.ledger.spend(users)
        answered = ~self._drawn("failures", self.failures.sample, t, np.bool_)[users]
        latency = self._drawn("latency", self.latency.sample, t, np.float64)[users]
        latency = np.where(answered, latency, self.scenario.network.round_latency_max or np.nan)
        rewarded = np.ones(len(users), np.bool_)
        if self.scenario.selection.over_selection is not None:
            latency = np.minimum(latency, self.timeout)  # nobody waits longer to see how long it takes
            answered = in_time(latency, answered, self.scenario.network.n_selected, self.timeout)
            rewarded = answered
        duration = self._duration(latency, answered)
        outcome = self._outcome(users[rewarded], latency[rewarded], duration, waited)
        trained: dict[str, float] = {}
        seen, losses = None, None
        if self.trainer is not None:
            senders, epsilon = users[answered], epsilon[answered]
            weights = self._weights(senders, times[answered])
            of_update = (1 - self.ledger.loss_share) * epsilon
            trained["train_loss"], each, seen = self._train(self.trainer, senders, weights, of_update, t)
            losses = (
                self._reported(each, epsilon, senders, t) if SELECTORS[self.selector].needs_losses else None
            )
            trained |= self._evaluate(self.trainer, t, self._evaluation_due(t, n_rounds))
        feedback = Feedback(users, latency, self.ledger.privacy(), seen, losses, answered)
        with self.watch.stage("selection"):
            self.select.observe(feedback, self.history)
        self.history.observe(feedback)
        return {"round": t, "selection": selection, **outcome, **trained}

    def _select(self, t: int, starts: float) -> Users:
        """The selector's choice among the users who are there and have budget left; all if they are too few.

        Users without budget never take part, whatever the selector returns. The round starts at a simulated
        time.
        """
        at = partial(self.availability.at, elapsed_s=starts)
        available: NDArray[np.bool_] = self._drawn("availability", at, t, np.bool_)
        may_take_part = self.ledger.may_take_part() & available
        self.history.available = may_take_part
        if np.count_nonzero(may_take_part) < self.history.n_selected:
            return np.flatnonzero(may_take_part)
        if self.trainer is not None and SELECTORS[self.selector].asks_losses:
            self.history.losses = CurrentLosses(self.trainer, self.theta)
        chosen = self.select(self.history, self.streams.generator(f"select/{self.selector}", round=t))
        return chosen[may_take_part[chosen]]

    def _drawn(self, key: str, draw: Callable[[Streams, int], Any], t: int, kind: type) -> NDArray[Any]:
        """What a law of ``network`` draws of each user (K,) in round t; `OwnPartError` if it cannot be so."""
        name, n_users = f"{key} '{getattr(self.scenario.network, key)}'", self.scenario.network.n_users
        with naming(type(getattr(self, key)), name, f"in round {t}"):
            drawn: NDArray[Any] = np.asarray(draw(self.streams, t))
        if drawn.shape != (n_users,) or drawn.dtype != kind:
            what, asked = f"shape {drawn.shape} and type {drawn.dtype}", np.dtype(kind).name
            raise OwnPartError(f"drew {what} in round {t}: one {asked} for each of {n_users} users", name)
        if kind is np.bool_:
            return drawn
        if len(wrong := np.flatnonzero(~((drawn >= 0) & (drawn < np.inf)))):
            raise OwnPartError(f"drew {drawn[wrong[0]]} s for user {wrong[0]} in round {t}", name)
        return np.asarray(np.maximum(drawn, self.history.latency_floor))

    def _duration(self, latency: Floats, answered: NDArray[np.bool_]) -> float:
        """Seconds of a round, by latencies (n,) and by whose answers count.

        Until the last of all users, or of the first m with `selection.over_selection`; at most the timeout.
        """
        over, m = self.scenario.selection.over_selection, self.scenario.network.n_selected
        if over is not None and np.count_nonzero(answered) >= m:
            latency = latency[answered]
        return min(float(latency.max(initial=0.0)), self.timeout)

    def _weights(self, users: Users, times: Users) -> Floats:
        """Weights (n,) of the updates: shares of the selected data (v2, eq. 2), or of the times sampled."""
        size = times if SELECTORS[self.selector].uniform_weights else self.history.data_size[users]
        return np.asarray(size / max(size.sum(), 1))

    def _train(
        self, trainer: Trainer, users: Users, weights: Floats, epsilon: Floats, t: int
    ) -> tuple[float, Floats, Vector | None]:
        """Local training, protected release and aggregation (v2, eq. 2).

        Parameters
        ----------
        trainer
            Trains the users.
        users, weights, epsilon
            (n,) ids, weights in the aggregate, and budgets of this participation.
        t
            The round.

        Returns
        -------
        Mean loss of the training examples visited, NaN if there are none; that of each user (n,), or the root
        of the mean square (`Selector.loss_power`); and of each released update the d values that the selector
        may see (n, d): those outside batch normalisation; None if it looks at no updates.
        """
        seen = None
        if SELECTORS[self.selector].needs_updates:
            seen = np.empty((len(users), self.layout.n_protected), np.float32)
        place = {user: i for i, user in enumerate(users)}
        total, loss_sum, n_visited = np.zeros_like(self.theta), 0.0, 0
        losses = np.empty(len(users))
        for local in self.watch.each("training", trainer.train(self.theta, users, t)):
            with self.watch.stage("noise"):  # while a GPU is still training these users
                noise = [self._noise(epsilon[place[user]], int(user), t) for user in local.users]
            with self.watch.stage("training"):
                updates = local.updates
                loss_sum += local.loss_sum
                n_visited += int(local.n_visited.sum())
                mine = [place[user] for user in local.users]
                if SELECTORS[self.selector].loss_power == 2:
                    losses[mine] = np.sqrt(local.squared_losses / local.n_visited)
                else:
                    losses[mine] = local.losses / local.n_visited
            with self.watch.stage("noise"):
                for user, update, added in zip(local.users, updates, noise, strict=True):
                    i = place[user]
                    self._protect(update, added, epsilon[i], int(user), t)
                    total += update * np.float32(weights[i])
                    if seen is not None:
                        seen[i] = update[: seen.shape[1]]
        self.theta += total
        return loss_sum / n_visited if n_visited else np.nan, losses, seen

    def _reported(self, losses: Floats, epsilon: Floats, users: Users, t: int) -> Floats:
        """The losses (n,) that the server receives; as they are if no part of the budgets pays for them."""
        if self.loss_protection is None:
            return losses
        with self.watch.stage("noise"):
            return self.loss_protection.release(losses, epsilon, users, t)

    def _noise(self, epsilon: float, user: int, t: int) -> Noise | None:
        """Noise for one update; None without privacy."""
        return None if self.protection is None else self.protection.noise(epsilon, user, t)

    def _protect(self, update: Vector, noise: Noise | None, epsilon: float, user: int, t: int) -> None:
        """Turn an update into what leaves its user, in place.

        An update that is refused is replaced by zeros with the same noise, so that the refusal does not show.
        """
        if self.protection is None or noise is None:
            return
        try:
            self.protection.release(update, noise, epsilon, user, t)
        except PrivacyError:
            self.refused.append((t, user))
            update[:] = 0
            self.protection.release(update, noise, epsilon, user, t)

    def _evaluation_due(self, t: int, n_rounds: int) -> bool:
        """Whether the model is evaluated after round t: as the scenario says, and at the end."""
        settings, last = self.scenario.training, t == n_rounds or self.elapsed >= self.horizon
        return last or t <= settings.evaluate_all_until or t % settings.evaluate_every == 0

    def _evaluate(self, trainer: Trainer, t: int, due: bool) -> dict[str, float]:
        """Accuracy and loss on the test split; NaN when no evaluation is due."""
        accuracy, loss, diverged = np.nan, np.nan, False
        with self.watch.stage("evaluation"):
            if due:
                accuracy, loss, diverged, self.by_class = trainer.evaluate(self.theta)
            if self.diverged_round is None and (diverged or not np.isfinite(self.theta).all()):
                self.diverged_round = t
        return {"accuracy": accuracy, "loss": loss}

    def _outcome(self, users: Users, latency: Floats, duration: float, waited: float) -> dict[str, float]:
        """Cost, leakage and reward of the round, the latter of some users with their latencies (n,).

        The cost is how long the round lasts, after a wait, and what overlaps add. No users have no reward.
        """
        delay, reward = 0.0, np.nan
        if len(users):
            name, speed = f"reward '{self.scenario.reward.name}'", self.history.latency_floor / latency
            with naming(type(self.reward), name, f"in round {self.history.round}"):
                delay = self.reward.delay(self.history, users)
                reward = self.reward.value(self.history, users, speed)
            if not (0 <= delay < np.inf and np.isfinite(reward)):
                raise OwnPartError(
                    f"gave {reward} and a delay of {delay} s in round {self.history.round}", name
                )
        cost = waited + (duration + delay)
        self.elapsed += cost
        leakage = self.ledger.spent()
        return {
            "latency_s": cost,
            "elapsed_s": self.elapsed,
            "leakage_max": leakage.max(),
            "leakage_mean": leakage.mean(),
            "reward": reward,
            "pseudo_regret": np.nan if self.regret is None else self.regret.of(users, self.history),
        }


def first_history(scenario: Scenario, partition: Partition, streams: Streams) -> History:
    """Knowledge of the server before the first round."""
    network = scenario.network
    clusters = scenario.reward.make_clusters(network.n_users, streams)
    return History.empty(
        partition.sizes,
        scenario.n_asked,
        network.latency_floor,
        partition.quality,
        clusters,
        scenario.selection.forgetting,
    )


def make_protection(
    scenario: Scenario, selector: str, layout: Layout, streams: Streams
) -> tuple[Ledger, Protection | None, LossProtection | None]:
    """The account of all users, and what protects their updates and their reported losses.

    Nothing does without a budget, or with a selector that is not private. A loss that no share of the budget
    pays for is a value without protection.
    """
    settings, n_users, facts = scenario.privacy, scenario.network.n_users, SELECTORS[selector]
    share = scenario.loss_share(selector)
    n_unpaid = int(facts.needs_losses and share == 0)
    if settings is None or not facts.private:
        return Ledger(n_users, 0, layout.n_values + n_unpaid, None), None, None
    mechanism, n_protected = settings.make_mechanism(), layout.n_protected
    n_unprotected, schedule = layout.n_values - n_protected + n_unpaid, settings.make_schedule()
    accountant = settings.make_accountant()
    ledger = Ledger(n_users, n_protected, n_unprotected, schedule, mechanism, share, accountant)
    protection = Protection(mechanism, settings.make_sampler(streams), n_protected)
    return ledger, protection, LossProtection.build(settings, share, streams) if share else None


def _columns(rows: list[dict[str, object]]) -> State:
    """Rows of a job as arrays; selections are concatenated, beside the number of users in each."""
    columns = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
    selections = columns.pop("selection", [])
    empty = np.empty(0, np.int64)
    return {
        **{name: np.array(values) for name, values in columns.items()},
        "selection": np.concatenate([empty, *selections]),
        "n_selected": np.array([len(users) for users in selections], np.int64),  # type: ignore[arg-type]
    }


def _check_rows(
    columns: State, n_users: int, participations: NDArray[np.int64], n_rounds: int, elapsed: float
) -> None:
    """Raise `PauseflError`, naming the column, unless these can be the rows of so many rounds.

    Parameters
    ----------
    columns
        As `_columns` makes them.
    n_users, participations
        K, and how often each user (K,) took part in these rounds.
    n_rounds, elapsed
        How many rows there are, and the simulated seconds at their end.
    """
    lengths = saved(columns, "n_selected", np.int64, (n_rounds,), 0)
    chosen = saved(columns, "selection", np.int64, (int(lengths.sum()),), 0, n_users - 1)
    rounds = np.split(chosen, np.cumsum(lengths))[:-1]
    counts = np.bincount(np.concatenate([np.empty(0, np.int64), *map(np.unique, rounds)]), minlength=n_users)
    if (counts != participations).any():
        raise PauseflError("'selection' and 'participations' of the saved state differ")
    if not n_rounds:
        return
    if (saved(columns, "round", np.int64, (n_rounds,)) != np.arange(1, n_rounds + 1)).any():
        raise PauseflError(f"'round' of the saved state must have 1 to {n_rounds}")
    latency = saved(columns, "latency_s", np.float64, (n_rounds,), 0)
    times = saved(columns, "elapsed_s", np.float64, (n_rounds,), 0)
    if times[-1] != elapsed or not np.allclose(np.cumsum(latency), times):
        raise PauseflError("'elapsed_s', 'latency_s' and 'elapsed' of the saved state differ")
    for name in ("leakage_max", "leakage_mean"):
        saved(columns, name, np.float64, (n_rounds,), 0, np.inf)
    for name in columns.keys() - {"n_selected", "selection", "round"}:
        found = columns[name]
        if not isinstance(found, np.ndarray) or found.shape != (n_rounds,) or found.dtype.kind not in "fib":
            raise PauseflError(f"'{name}' of the saved state must have {n_rounds} numbers")


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
