"""Selection for a training loop of one's own, in any framework: ids of clients in, ids out."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pausefl.bandit.history import Feedback, History
from pausefl.bandit.rewards import AverageReward, Reward
from pausefl.clients import by_client, check_counts, check_picker_state, ids_of, is_number, number_of, seed_of
from pausefl.errors import ConfigError, PauseflError, suggest
from pausefl.plugins import arguments, build, missing
from pausefl.privacy.accountants import ACCOUNTANTS, Accountant, PureAccountant
from pausefl.privacy.ledger import Ledger
from pausefl.privacy.schedule import NUMBER, Schedule
from pausefl.privacy.zcdp import DELTA
from pausefl.selectors import SELECTORS, Selector
from pausefl.selectors.making import TRUTHS, class_of, name_of, selector_from
from pausefl.selectors.restoring import check_remembered
from pausefl.selectors.settings import CONSTANTS, SelectionSettings
from pausefl.states import saved
from pausefl.streams import Streams

#: Options that are left out: zeta, J and kappa of PAUSE v2, Section V-D, and the authors' configuration file.
DEFAULTS: dict[str, Any] = {"exploitation": 3.0, "n_iterations": 3000, "temperature_divisor": 30.0}
#: The reward that is left out: alpha, beta and gamma of the authors' released tests.
REWARD = AverageReward(alpha=100.0, beta=2.0, gamma=5.0)

#: What a selector may be made from that is no option.
_GIVEN = ("reward", "round_latency_max", "latency_floor", "n_selected", "forgetting")

#: What is known of a client from the start, as arguments and in the history.
_OF_CLIENTS = ("data_size", "quality", "cluster")

#: Arrays by name, and the ids of clients.
State = dict[str, Any]


class Picker:
    """Chooses the clients of each round, and learns from what each round measured.

    In the settings of a scenario it makes the selections that ``pausefl run`` makes, as long as nobody takes
    longer than the timeout.

    Parameters
    ----------
    selector
        Name of a registered selector, ``MODULE:NAME`` of one's own, an object of `pausefl.Selector`, or a
        function of a `pausefl.History` and a `numpy.random.Generator` that returns users.
    data_size
        Number of examples of each client, by id; ids are of any hashable type.
    n_selected
        Clients in a round, m.
    latency_floor
        Least latency that counts, tau_min, in seconds.
    timeout
        Seconds that the server waits for an answer; also tau_max of ``cs_ucb`` and ``cs_ucb_q``.
    schedule
        Budget of each participation, such as `pausefl.GeometricSchedule`; None for no budgets.
    accountant
        How budgets add up, and so when a client's is spent: ``pure``, ``zcdp`` with delta = 1e-5,
        ``MODULE:NAME`` of one's own, or an object of `pausefl.privacy.Accountant`.
    seed
        Of the selector's random stream.
    reward
        Of selectors that weigh more than speed; by default R1 with the authors' weights.
    quality, cluster
        By id: the quality in [0, 1] of a client's data, for BSFL's reward, and its cluster from 0, for R2.
        Where there is none, 1 and 0.
    forgetting
        Least share in [0, 1) of a new latency in the running means; more than 0 where speeds change.
    options
        What the selector is made from: ``exploitation``, ``n_tiers``, ``deadline`` and so on. Those that the
        papers give, `DEFAULTS`, may be left out.

    Attributes
    ----------
    epsilon
        Who was asked in the round that is under way, and the budget that this participation may spend
        (infinite without a schedule), by id; empty between rounds.
    ids
        All clients, in the order in which they joined; a function or class of one's own sees their numbers.
    size_guessed
        A set for clients whose number of examples is a guess, kept by who adds them; `state` has it.

    Raises
    ------
    ConfigError
        If the selector is not known, lacks an option or has none of that name, or a value cannot be.
    """

    def __init__(
        self,
        selector: str | Selector | Callable[[History, np.random.Generator], Any],
        data_size: Mapping[Hashable, int],
        n_selected: int,
        latency_floor: float,
        timeout: float,
        schedule: Schedule | None = None,
        seed: int = 0,
        reward: Reward = REWARD,
        quality: Mapping[Hashable, float] | None = None,
        cluster: Mapping[Hashable, int] | None = None,
        forgetting: float = 0.0,
        accountant: str | Accountant = "pure",
        **options: Any,
    ) -> None:
        if not isinstance(timeout, NUMBER) or not 0 < timeout < math.inf:
            raise ConfigError(f"timeout = {timeout!r} must be a finite number of seconds above 0")
        if not isinstance(latency_floor, NUMBER) or not 0 < latency_floor < timeout:
            raise ConfigError(
                f"latency_floor = {latency_floor!r} must be above 0 and below timeout = {timeout!r}"
            )
        if not isinstance(forgetting, NUMBER) or not 0 <= forgetting < 1:
            raise ConfigError(f"forgetting = {forgetting!r} must be at least 0 and below 1")
        for what, given, kind in (("schedule", schedule, Schedule), ("reward", reward, Reward)):
            if given is not None and not isinstance(given, kind):
                raise ConfigError(f"{what} = {given!r} must be a pausefl.{kind.__name__}")
        latency_floor, timeout = float(latency_floor), float(timeout)
        n_selected, seed = _whole("n_selected", n_selected), seed_of(seed)
        self.name = selector if isinstance(selector, str) else name_of(selector)
        facts = SELECTORS.find(selector) if isinstance(selector, str) else class_of(selector, self.name)
        if schedule is not None and facts.private and facts.asks_losses:
            raise ConfigError(
                f"schedule: selector '{self.name}' asks clients for losses that no budget pays for;"
                " leave the schedule out"
            )
        values = _options(self.name, facts, options)
        if (n := options.get("n_candidates")) is not None and n < n_selected:
            raise ConfigError(f"n_candidates = {n} must be at least n_selected = {n_selected}")
        values |= {"round_latency_max": timeout, "latency_floor": latency_floor}
        values |= {"n_selected": n_selected, "forgetting": forgetting}
        self.facts, self.timeout, self.streams = facts, timeout, Streams(seed)
        self.options = values | {"reward": reward}
        self.selector = selector_from(self.name, facts, self.options)
        self.ids: list[Hashable] = []
        self.index: dict[Hashable, int] = {}
        self.history = History.empty(np.empty(0, np.int64), n_selected, latency_floor, forgetting=forgetting)
        counted = _accountant(accountant, schedule)
        self.ledger = Ledger(0, 0, 0, schedule if facts.private else None, accountant=counted)
        self.epsilon: dict[Hashable, float] = {}
        self.size_guessed: set[Hashable] = set()
        self._times: NDArray[np.int64] = np.empty(0, np.int64)
        self.join(data_size, quality, cluster)

    def select(
        self, online: Iterable[Hashable], losses: Mapping[Hashable, float] | None = None
    ) -> list[Hashable]:
        """Ids of the clients to ask in the coming round, in the order in which they joined.

        All of those with budget left if they are fewer than m. Their budgets are charged now: whoever is
        asked may release something, whether or not it reaches the server. If clients were asked, and nothing
        was observed since, that was a round in which nobody answered.

        Parameters
        ----------
        online
            Ids of the clients that can be asked.
        losses
            Loss of the current model on the data of each of them, for ``pow_d``.

        Raises
        ------
        PauseflError
            If a client is not known, or a loss that is needed is missing; then nobody is charged.
        """
        if self.epsilon:
            self.observe({})
        online = ids_of("online", online)
        users = self._users(online)
        if self.facts.asks_losses:
            self.history.losses = np.zeros(len(self.ids))
            self.history.losses[users] = self._told("losses", losses, online, np.float64, 0)
        available = np.zeros(len(self.ids), np.bool_)
        available[users] = self.ledger.may_take_part()[users]
        self.history.available = available
        chosen = np.flatnonzero(available)
        if len(chosen) >= self.history.n_selected:
            stream = self.streams.generator(f"select/{self.name}", round=self.history.round)
            chosen = self.selector(self.history, stream)
        chosen, self._times = np.unique(chosen, return_counts=True)
        epsilon = self.ledger.spend(chosen)
        asked = [self.ids[user] for user in chosen]
        self.epsilon = dict(zip(asked, epsilon.tolist(), strict=True))
        return asked

    def weights(self) -> dict[Hashable, float]:
        """Weight of each asked client's update in the aggregate, by id; they sum to 1 if all answer.

        Shares of the data; of clustered sampling, of the times that a client was sampled. To be asked for
        before `observe` ends the round; between rounds there are none.
        """
        users = self._users(self.epsilon)
        size = self._times if self.facts.uniform_weights else self.history.data_size[users]
        return dict(zip(self.epsilon, (size / max(size.sum(), 1)).tolist(), strict=True))

    def observe(
        self,
        latency: Mapping[Hashable, float],
        failed: Collection[Hashable] = (),
        losses: Mapping[Hashable, float] | None = None,
        updates: Mapping[Hashable, ArrayLike] | None = None,
    ) -> None:
        """Learn what the round measured.

        Parameters
        ----------
        latency
            Seconds of each client who answered; less than the floor counts as the floor, more than the
            timeout as the timeout.
        failed
            Clients who did not answer; so did everyone asked of whom nothing is said. They took part, and
            took as long as the timeout.
        losses
            Training loss of each client who answered: the mean over its examples for ``power_of_choice``, the
            root mean square for ``oort``. A client whose model diverged has failed.
        updates
            The update (d,) of each client who answered, for ``clustered_similarity``; d stays the same.

        Raises
        ------
        PauseflError
            If a client was not asked, or a latency, a loss or an update cannot be; then nothing is learned.
        """
        latency, failed = by_client("latency", latency), ids_of("failed", failed)
        for one in (*latency, *failed):
            if one not in self.epsilon:
                raise PauseflError(f"client {one!r} was not asked in round {self.history.round}")
        for one, measured in latency.items():
            if not 0 <= number_of(measured) < math.inf:
                raise PauseflError(f"latency of client {one!r} = {measured!r} must be a number of at least 0")
        users = self._users(self.epsilon)
        waited = {
            one: number_of(latency[one]) for one in self.epsilon if one in latency and one not in failed
        }
        answered = np.array([one in waited for one in self.epsilon], np.bool_)
        seconds = [waited.get(one, self.timeout) for one in self.epsilon]
        senders = list(waited)
        feedback = Feedback(
            users,
            np.clip(seconds, self.history.latency_floor, self.timeout),
            self.ledger.privacy(),
            self._told("updates", updates, senders, np.float32, 1) if self.facts.needs_updates else None,
            self._told("losses", losses, senders, np.float64, 0) if self.facts.needs_losses else None,
            answered,
        )
        self.selector.observe(feedback, self.history)
        self.history.observe(feedback)
        self.epsilon = {}

    def join(
        self,
        data_size: Mapping[Hashable, int],
        quality: Mapping[Hashable, float] | None = None,
        cluster: Mapping[Hashable, int] | None = None,
    ) -> None:
        """Add clients who join between two rounds; arguments as for the class.

        Raises
        ------
        ConfigError
            If an id is known, a size is no whole number above 0, or a quality or a cluster cannot be.
        PauseflError
            If the selector cannot take further clients.
        """
        quality, cluster = quality or {}, cluster or {}
        for what, given in (("data_size", data_size), ("quality", quality), ("cluster", cluster)):
            if not isinstance(given, Mapping):
                raise ConfigError(f"{what} = {given!r:.80} must say it of each client: {{client: {what}}}")
        for one in data_size:
            if one in self.index:
                raise ConfigError(f"client {one!r} is known already")
        for one in (*quality, *cluster):
            if one not in data_size:
                raise ConfigError(f"client {one!r} has a quality or a cluster, and no data_size")
        sizes = [_whole(f"data_size of client {one!r}", size) for one, size in data_size.items()]
        clusters = [_whole(f"cluster of client {one!r}", cluster.get(one, 0), least=0) for one in data_size]
        qualities = [quality.get(one, 1.0) for one in data_size]
        for one, share in zip(data_size, qualities, strict=True):
            if not isinstance(share, NUMBER) or not 0 <= share <= 1:
                raise ConfigError(f"quality of client {one!r} = {share!r} must be from 0 to 1")
        n_clients = len(self.ids) + len(data_size)
        for truth in TRUTHS:
            if truth in self.options and np.size(self.options[truth]) < n_clients:
                raise ConfigError(
                    f"{truth} must have a value of each of the {n_clients} clients, in the order of joining"
                )
        if self.ids and data_size:
            self.selector.join(n_clients)
        self.index |= {one: len(self.ids) + i for i, one in enumerate(data_size)}
        self.ids += data_size
        self.history.join(np.array(sizes, np.int64), np.array(qualities), np.array(clusters, np.int64))
        self.ledger.n_users = len(self.ids)
        self.ledger.restore(np.pad(self.ledger.participations, (0, len(data_size))))

    def resize(self, data_size: Mapping[Hashable, int]) -> None:
        """Correct the numbers of examples of some clients; errors as of `join`, if one is not known, too."""
        sizes = [_whole(f"data_size of client {one!r}", size) for one, size in data_size.items()]
        self.history.data_size[self._users(data_size)] = sizes

    def state(self) -> State:
        """All that coming selections depend on, between two rounds: ids, and copies of arrays by name.

        To be saved with `pickle`, or any way that keeps ids and arrays.
        """
        clients = {name: getattr(self.history, name).tolist() for name in _OF_CLIENTS}
        return {
            "made": self._made(),
            "clients": {name: dict(zip(self.ids, own, strict=True)) for name, own in clients.items()},
            "asked": [*self.epsilon],
            "guessed": [*self.size_guessed],
            "participations": self.ledger.participations.copy(),
            **{f"history/{name}": array for name, array in self.history.state().items()},
            **{f"selector/{name}": array for name, array in self.selector.state().items()},
        }

    def restore(self, state: State) -> None:
        """Go on from the `state` of a picker that was made alike; clients who joined it join here.

        A round that was under way is lost: whoever was asked in it did not answer.

        Raises
        ------
        PauseflError
            If the picker was made with other arguments, as far as can be told (of selectors and rewards that
            are objects, their class), or had other clients, or if an entry of the state cannot be, with its
            name; then it is as it was.
        """
        check_picker_state(state)
        # States from before a constant or the accountant could be chosen have the one that there was.
        made = {**CONSTANTS.get(self.name, {}), "accountant": _plain(PureAccountant())}
        made, own = made | state.get("made", {}), self._made()
        if other := [f"{name} = {made[name]}" for name in own if name in made and made[name] != own[name]]:
            raise PauseflError(f"the saved state is of a picker with {', '.join(other)}")
        restored = copy.deepcopy(self)
        try:
            restored._go_on(state)
        except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
            raise PauseflError(f"this is no state of such a picker: {error!r}") from None
        vars(self).update(vars(restored))

    def _go_on(self, state: State) -> None:
        """Take over a state that fits."""
        clients = state["clients"]
        later = [one for one in clients["data_size"] if one not in self.index]
        if [*self.ids, *later] != list(clients["data_size"]):
            raise PauseflError("the saved state is of other clients, or has them in another order")
        self.join(*({one: clients[name][one] for one in later} for name in _OF_CLIENTS))
        for name in _OF_CLIENTS:
            getattr(self.history, name)[:] = list(clients[name].values())
        parts: dict[str, State] = {"history": {}, "selector": {}}
        for path, value in state.items():
            part, _, name = path.partition("/")
            if name:
                parts[part][name] = value
        self.history.restore(parts["history"])
        check_remembered(self.selector, parts["selector"], len(self.ids), self.history.round)
        self.selector.restore(parts["selector"])
        self.ledger.restore(saved(state, "participations", np.int64, (len(self.ids),), 0))
        check_counts(self._users(state["asked"]), self.ledger.participations, self.history.participations)
        self.epsilon = dict.fromkeys(state["asked"], np.inf)
        if self.epsilon:
            self.observe({})
        self.size_guessed = set(state.get("guessed", ()))  # which older states lack

    def _made(self) -> dict[str, Any]:
        """Arguments that coming selections depend on, in values that another process has alike."""
        schedule, taken = self.ledger.schedule, arguments(self.facts)
        values = {name: value for name, value in self.options.items() if name in taken}
        values |= {"selector": self.name, "timeout": self.timeout, "seed": self.streams.seed}
        values |= {
            name: getattr(self.history, name) for name in ("n_selected", "latency_floor", "forgetting")
        }
        values |= {"schedule": schedule, "epsilon_total": getattr(schedule, "epsilon_total", None)}
        values |= {"accountant": self.ledger.accountant}
        return {name: _plain(value) for name, value in values.items()}

    def _users(self, ids: Iterable[Hashable]) -> NDArray[np.int64]:
        """Numbers of clients from 0."""
        try:
            return np.array([self.index[one] for one in ids], np.int64)
        except KeyError as error:
            raise PauseflError(f"client {error.args[0]!r} is not known: it joins with Picker.join") from None

    def _told(
        self, what: str, by_id: Mapping[Hashable, Any] | None, ids: list[Hashable], kind: Any, n_axes: int
    ) -> Any:
        """What the a clients who answered told: (a,) numbers, or (a, d) with one axis each."""
        by_id = by_client(what, by_id or {})
        if missing := [one for one in ids if one not in by_id]:
            raise PauseflError(f"selector '{self.name}' looks at {what}: none of client {missing[0]!r}")
        if wrong := [one for one in ids if not is_number(by_id[one])]:
            asked = "numbers" if n_axes else "a number"
            raise PauseflError(f"{what} of client {wrong[0]!r} = {by_id[wrong[0]]!r:.80} must be {asked}")
        try:
            told = np.array([(by_id or {})[one] for one in ids], kind)
        except (RuntimeError, TypeError, ValueError) as error:  # of PyTorch, too
            raise PauseflError(f"{what} of {', '.join(map(repr, ids))}: {error}") from None
        if ids and told.ndim != 1 + n_axes:
            asked = "an array (d,)" if n_axes else "a number"
            raise PauseflError(
                f"{what} of client {ids[0]!r} must be {asked}, and not of shape {told.shape[1:]}"
            )
        for one, own in zip(ids, told, strict=True):
            if not np.isfinite(own).all():
                raise PauseflError(
                    f"{what} of client {one!r} = {own} must be finite; if it diverged, it failed"
                )
        return told


def _plain(value: Any) -> Any:
    """A number, a text, an array as lists; of an object its class, and the fields of a dataclass."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (*NUMBER, np.ndarray, list, tuple)):
        return np.asarray(value, np.float64).tolist()
    fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
    return [type(value).__name__, *(_plain(getattr(value, field.name)) for field in fields)]


def _accountant(given: object, schedule: Schedule | None) -> Accountant:
    """The accountant of a name, or an object of one; `ConfigError` if it is none, or has nothing to count."""
    if given != "pure" and schedule is None:
        raise ConfigError(f"accountant = {given!r} counts the budgets of a schedule: give a schedule, too")
    if isinstance(given, str):
        part, keys = (
            ACCOUNTANTS.find(given),
            {"delta": DELTA, "epsilon_total": getattr(schedule, "epsilon_total", None)},
        )
        if lacking := missing(part, keys):
            raise ConfigError(f"accountant '{given}' is made from {', '.join(lacking)}: give an object of it")
        return build(part, keys)
    if not isinstance(given, Accountant):
        raise ConfigError(f"accountant = {given!r} must be a name, or a pausefl.privacy.Accountant")
    return given


def _whole(what: str, value: Any, least: int = 1) -> int:
    """A whole number; `ConfigError` if it is none, or too small."""
    known = isinstance(value, NUMBER) and not isinstance(value, bool)
    if known and least <= value < 2**53 and value % 1 == 0:
        return int(value)
    raise ConfigError(f"{what} = {value!r} must be a whole number of at least {least}, below 2^53")


def _options(name: str, facts: type[Selector], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a selector with those that may be left out, checked as the section ``selection`` is."""
    known = [key for key in arguments(facts) if key not in _GIVEN]
    for key in options:
        if key not in known:
            raise ConfigError(f"selector '{name}' has no option '{key}'. {suggest(key, known)}")
    if lacking := [key for key in missing(facts, {**DEFAULTS, **options}) if key not in _GIVEN]:
        raise ConfigError(
            f"selector '{name}' needs {', '.join(lacking)}: keyword arguments of Picker (what they are:"
            " config/README.md, section selection)"
        )
    of_settings = {key: options[key] for key in options if key in SelectionSettings.model_fields}
    checked = SelectionSettings.read(DEFAULTS | of_settings, f"selector '{name}'")
    return {**options, **vars(checked)}
