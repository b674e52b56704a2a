"""The picker: who is asked in each round, and what each round teaches it."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pausefl.bandit.history import Feedback, History, in_time
from pausefl.bandit.rewards import REWARDS, AverageReward, Reward
from pausefl.errors import ConfigError, PauseflError, suggest
from pausefl.picker.given import (
    accountant_of,
    is_number,
    is_real,
    listed,
    mapping,
    options_of,
    seconds_of,
    seed_of,
    whole,
)
from pausefl.picker.json_state import from_json, to_json
from pausefl.picker.state import (
    OF_CLIENTS,
    Late,
    State,
    check_counts,
    check_state,
    comparable,
    is_same,
    listed_late,
)
from pausefl.plugins import OwnPartError, arguments
from pausefl.privacy.accountants import Accountant, PureAccountant
from pausefl.privacy.ledger import Ledger
from pausefl.privacy.schedule import Schedule
from pausefl.schema.base import shortened
from pausefl.selectors import SELECTORS, Selector
from pausefl.selectors.making import TRUTHS, Given, class_of, name_of, selector_from
from pausefl.selectors.restoring import check_remembered
from pausefl.selectors.settings import CONSTANTS, asked_in_a_round
from pausefl.states import saved
from pausefl.streams import Streams

#: The reward that is left out: alpha, beta and gamma of the authors' released tests.
REWARD = AverageReward(alpha=100.0, beta=2.0, gamma=5.0)

#: Arguments that may differ from those of the picker that a state was saved of, if `Picker.restore` is told.
CHANGEABLE = ("timeout", "n_selected", "over_selection")
#: Least share of the timeout that a floor may be which is learned from answers.
_LEAST_FLOOR = 1e-4
#: The first answers are looked at once there are so many, in so many rounds: a warning if this share of them
#: is cut at one side.
_FIRST_ANSWERS, _FIRST_ROUNDS, _NEARLY_ALL = 10, 3, 0.9


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
        Least latency that counts, tau_min, in seconds. With ``"auto"`` it is the least of the clients' first
        answers, at least 1e-4 of the timeout.
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
        By id: the quality in [0, 1] of a client's data, for BSFL's reward, `QualityReward`, and its cluster
        from 0, for R2, `OverlapReward`; refused with other rewards, unless the selector is one's own. Where
        there is none, 1 and 0.
    forgetting
        Least share in [0, 1) of a new latency in the running means; more than 0 where speeds change.
    over_selection
        Share of clients who are asked beyond m: ceil((1 + o) m) are asked, and the round ends as soon as m
        have answered (Bonawitz et al., MLSys 2019). None asks m and waits for all of them.
    options
        What the selector is made from: ``exploitation``, ``n_tiers``, ``deadline`` and so on. Those that the
        papers give, `DEFAULTS`, may be left out.

    Attributes
    ----------
    n_selected, n_asked
        m, the answers that end a round, and how many clients are asked.
    epsilon
        Who was asked in the round that is under way, and the budget that this participation may spend
        (infinite without a schedule), by id; empty between rounds.
    ids
        All clients, in the order in which they joined; a function or class of one's own sees their numbers.
    history
        What was observed, a `History`; its ``round`` is the coming round, or the one that is under way.
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
        latency_floor: float | Literal["auto"],
        timeout: float,
        schedule: Schedule | None = None,
        seed: int = 0,
        reward: Reward = REWARD,
        quality: Mapping[Hashable, float] | None = None,
        cluster: Mapping[Hashable, int] | None = None,
        forgetting: float = 0.0,
        accountant: str | Accountant = "pure",
        over_selection: float | None = None,
        **options: Any,
    ) -> None:
        if not is_real(timeout) or not timeout > 0:
            raise ConfigError(f"timeout = {shortened(timeout)} must be a finite number of seconds above 0")
        self._learns_floor = isinstance(latency_floor, str) and latency_floor == "auto"
        if isinstance(latency_floor, str) and latency_floor == "auto":
            latency_floor = timeout  # speeds are relative to the floor, so that any will do until an answer
        elif not is_real(latency_floor) or not 0 < latency_floor < timeout:
            raise ConfigError(
                f"latency_floor = {shortened(latency_floor)} must be above 0 and below timeout ="
                f" {timeout!r}, or 'auto'"
            )
        if not is_real(forgetting) or not 0 <= forgetting < 1:
            raise ConfigError(f"forgetting = {shortened(forgetting)} must be at least 0 and below 1")
        if over_selection is not None and not (is_real(over_selection) and 0 <= over_selection <= 10):
            raise ConfigError(
                f"over_selection = {shortened(over_selection)} must be a number from 0 to 10, or None"
            )
        for what, given, kind in (("schedule", schedule, Schedule), ("reward", reward, Reward)):
            if given is not None and not isinstance(given, kind):
                raise ConfigError(f"{what} = {given!r} must be a pausefl.{kind.__name__}")
        latency_floor, timeout = float(latency_floor), float(timeout)
        n_selected, seed = whole("n_selected", n_selected), seed_of(seed)
        self.name = selector if isinstance(selector, str) else name_of(selector)
        facts = SELECTORS.find(selector) if isinstance(selector, str) else class_of(selector, self.name)
        if schedule is not None and facts.private and facts.asks_losses:
            raise ConfigError(
                f"schedule: selector '{self.name}' asks clients for losses that no budget pays for;"
                " leave the schedule out"
            )
        values = options_of(self.name, facts, options)
        n_asked = asked_in_a_round(n_selected, over_selection)
        if (n := options.get("n_candidates")) is not None and n < n_asked:
            least = f"n_selected = {n_selected}" if n_asked == n_selected else f"the {n_asked} who are asked"
            raise ConfigError(f"n_candidates = {n} must be at least {least}")
        if self._learns_floor and "latency_floor" in arguments(facts):
            raise ConfigError(
                f"latency_floor = 'auto': selector '{self.name}' is made from the floor, so give a number"
            )
        values |= {"round_latency_max": timeout, "latency_floor": latency_floor}
        values |= {"n_selected": n_selected, "forgetting": forgetting}
        if reward is not REWARD and "reward" not in arguments(facts):
            raise ConfigError(f"reward: selector '{self.name}' does not use one; leave it out")
        self.facts, self.timeout, self.streams = facts, timeout, Streams(seed)
        self.options = values | {"reward": reward}
        self.selector = selector_from(self.name, facts, self.options)
        self.ids: list[Hashable] = []
        self.index: dict[Hashable, int] = {}
        self.n_selected, self.n_asked, self.over_selection = n_selected, n_asked, over_selection
        self.history = History.empty(np.empty(0, np.int64), n_asked, latency_floor, forgetting=forgetting)
        counted = accountant_of(accountant, schedule)
        self.ledger = Ledger(0, 0, 0, schedule if facts.private else None, accountant=counted)
        self.epsilon: dict[Hashable, float] = {}
        self.size_guessed: set[Hashable] = set()
        self._times: NDArray[np.int64] = np.empty(0, np.int64)
        self._left: set[Hashable] = set()
        # The rounds that each client has not answered, the earliest first.
        self._late: dict[Hashable, list[Late]] = {}
        self._cut: list[int] | None = [0, 0, 0]  # the first answers; those at the floor, and at the timeout
        self.join(data_size, quality, cluster)

    def select(
        self, online: Iterable[Hashable], losses: Mapping[Hashable, float] | None = None
    ) -> list[Hashable]:
        """Ids of the clients to ask in the coming round, in the order in which they joined.

        All of those with budget left if they are fewer than are to be asked. Their budgets are charged now:
        whoever is asked may release something, whether or not it reaches the server. If clients were asked,
        and nothing was observed since, that was a round in which nobody answered; if nothing was sent to
        them, `cancel` it first.

        Parameters
        ----------
        online
            Ids of the clients that can be asked; those who left are passed over.
        losses
            Loss of the current model on the data of each of them, for ``pow_d``.

        Raises
        ------
        PauseflError
            If a client is not known, a loss that is needed is missing, or a selector of one's own fails; then
            nobody is charged.
        """
        online, losses = listed("online", online, self.ids), mapping("losses", losses)
        if self.epsilon:
            self.observe({})
        online = [one for one in online if one not in self._left]
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
            with self._naming("when it selected"):
                chosen = self.selector(self.history, stream)
        chosen, self._times = np.unique(chosen, return_counts=True)
        epsilon = self.ledger.spend(chosen)
        asked = [self.ids[user] for user in chosen]
        self.epsilon = dict(zip(asked, epsilon.tolist(), strict=True))
        return asked

    def weights(self, answered: Iterable[Hashable] | None = None) -> dict[Hashable, float]:
        """Weight of each client's update in the aggregate, by id; they sum to 1.

        Shares of the data; of clustered sampling, of the times that a client was sampled. To be asked for
        before `observe` ends the round; between rounds there are none.

        Parameters
        ----------
        answered
            Ids of the clients whose updates are aggregated; by default all who were asked.

        Raises
        ------
        PauseflError
            If one of them was not asked.
        """
        asked = [*self.epsilon]
        size = self._times if self.facts.uniform_weights else self.history.data_size[self._users(asked)]
        own = dict(zip(asked, size.tolist(), strict=True))
        if answered is not None:
            own = {one: own[one] for one in self._asked("answered", answered)}
        total = max(sum(own.values()), 1)
        return {one: times / total for one, times in own.items()}

    def in_time(self, latency: Mapping[Hashable, float]) -> list[Hashable]:
        """Ids of the clients whose answers count in the round that is under way, by their seconds.

        All of them; with ``over_selection`` the first m before the timeout, and those that tie with the last.
        As in `observe`, less than the floor counts as the floor.

        Raises
        ------
        PauseflError
            If one of them was not asked, or a latency cannot be.
        """
        latency = mapping("latency", latency)
        ids, measured = self._asked("latency", latency), self._seconds(latency)
        seconds = np.clip([measured[one] for one in ids], self._floor(measured), self.timeout)
        counts = self._counts(seconds, np.ones(len(ids), np.bool_))
        return [one for one, does in zip(ids, counts, strict=True) if does]

    def cancel(self, unsent: Iterable[Hashable] | None = None) -> None:
        """Give back the budgets of clients to whom nothing was sent in the round that is under way.

        They did not take part. Once all are cancelled, the next `select` chooses for the same round. For a
        client to whom anything was sent the budget is spent, whether it answered or not: do not cancel it.

        Parameters
        ----------
        unsent
            Their ids; by default all who were asked.

        Raises
        ------
        PauseflError
            If one of them was not asked; then nothing is given back.
        """
        unsent = [*self.epsilon] if unsent is None else self._asked("unsent", unsent)
        stays = np.array([one not in unsent for one in self.epsilon], np.bool_)
        self.ledger.refund(self._users(dict.fromkeys(unsent)))
        self.epsilon = {one: epsilon for one, epsilon in self.epsilon.items() if one not in unsent}
        self._times = self._times[stays]

    def observe(
        self,
        latency: Mapping[Hashable, float],
        failed: Iterable[Hashable] = (),
        losses: Mapping[Hashable, float] | None = None,
        updates: Mapping[Hashable, ArrayLike] | None = None,
        late: Literal["slow", "ignore"] = "slow",
    ) -> None:
        """Learn what the round measured.

        Parameters
        ----------
        latency
            Seconds of each client who answered; less than the floor counts as the floor, more than the
            timeout as the timeout. With ``over_selection`` the first m before the timeout count as answers;
            of others only the seconds are learned. Any mapping, or a pandas Series with ids as its index.
        failed
            Clients who did not answer; so did everyone asked of whom nothing is said. They took part, and
            took as long as the timeout.
        losses
            Training loss of each client who answered: the mean over its examples for ``power_of_choice``, the
            root mean square for ``oort``. A client whose model diverged has failed.
        updates
            The update (d,) of each client who answered, for ``clustered_similarity``; d stays the same.
        late
            What becomes of a client in ``latency`` who was not asked in this round, but answers an earlier
            one only now. That round counted it with the timeout. ``slow`` corrects the means to its seconds,
            as `observe_late` does; ``ignore`` leaves them.

        Raises
        ------
        PauseflError
            If a client was not asked, or a latency, a loss or an update cannot be; then nothing is learned.
        """
        if latency is None:
            raise ConfigError("latency = None must say it of each client who answered; {} if nobody did")
        latency, failed = mapping("latency", latency), set(listed("failed", failed, self.ids))
        losses, updates = mapping("losses", losses), mapping("updates", updates)
        if late not in ("slow", "ignore"):
            raise ConfigError(f"late = {late!r} must be 'slow' or 'ignore'")
        for one in (*latency, *failed):
            if one not in self.epsilon and not self._owes(one):
                raise PauseflError(
                    f"client {one!r} was not asked in round {self.history.round}, and no answer of an earlier"
                    " round is expected of it"
                )
        measured = {one: seconds for one, seconds in self._seconds(latency).items() if one not in failed}
        waited = {one: measured[one] for one in self.epsilon if one in measured}
        users, floor = self._users(self.epsilon), self._floor(waited)
        answered = np.array([one in waited for one in self.epsilon], np.bool_)
        seconds = np.clip([waited.get(one, self.timeout) for one in self.epsilon], floor, self.timeout)
        answered, ended = self._counts(seconds, answered), self.timeout
        if self.over_selection is not None and np.count_nonzero(answered) >= self.n_selected:
            ended = float(seconds[answered].max())
        senders = [one for one, counts in zip(self.epsilon, answered, strict=True) if counts]
        feedback = Feedback(
            users,
            seconds,
            self.ledger.privacy(),
            self._told("updates", updates, senders, np.float32, 1) if self.facts.needs_updates else None,
            self._told("losses", losses, senders, np.float64, 0) if self.facts.needs_losses else None,
            answered,
        )
        with self._naming("when it observed"):
            self.selector.observe(feedback, self.history)
        self.history.change_floor(floor)
        owed = {one: seconds for one, seconds in measured.items() if one not in self.epsilon}
        if late == "slow":
            self.observe_late(owed)
        else:
            for one in owed:
                self._forget(one, self._late[one][-1])
        self.history.observe(feedback)
        for one in [one for one in self.epsilon if one not in waited]:
            nth = int(self.history.participations[self.index[one]])
            self._late.setdefault(one, []).append(Late(self.history.round - 1, ended, self.timeout, nth))
        self.epsilon, self._times = {}, np.empty(0, np.int64)
        self._warn_if_cut([*waited.values()])

    def observe_late(self, latency: Mapping[Hashable, float], round: int | None = None) -> None:
        """Learn when clients answered an earlier round, also of those who have been asked again since.

        That round counted them with the timeout; the means are corrected to these seconds, which are at least
        those after which the round ended. To be called at any time; what was asked since is not touched.

        Parameters
        ----------
        latency
            Seconds of each of them, from when it was asked in that round.
        round
            Which round, as ``history.round`` was when they were asked; by default the last that each has not
            answered.

        Raises
        ------
        PauseflError
            If no answer to such a round is expected of a client, or a latency cannot be; then nothing is
            learned.
        """
        latency, answers = mapping("latency", latency), dict[Hashable, Late]()
        for one in latency:
            found = [late for late in self._late.get(one, ()) if round is None or late.round == round]
            if not found:
                of = "an earlier round" if round is None else f"round {shortened(round)}"
                raise PauseflError(f"no answer of client {one!r} to {of} is expected")
            answers[one] = found[-1]
        measured = self._seconds(latency)
        self.history.change_floor(
            self._floor({one: max(measured[one], late.least) for one, late in answers.items()})
        )
        for one, late in answers.items():
            self._correct(one, late, measured[one])

    def join(
        self,
        data_size: Mapping[Hashable, int],
        quality: Mapping[Hashable, float] | None = None,
        cluster: Mapping[Hashable, int] | None = None,
    ) -> None:
        """Add clients who join between two rounds; arguments as for the class.

        A client who left comes back with the budget that it had, and with what was learned of it.

        Raises
        ------
        ConfigError
            If an id is known, a size is no whole number above 0, or a quality or a cluster cannot be.
        PauseflError
            If the selector cannot take further clients.
        """
        data_size = mapping("data_size", data_size)
        quality, cluster = mapping("quality", quality), mapping("cluster", cluster)
        for one in data_size:
            if one in self.index and one not in self._left:
                raise ConfigError(f"client {one!r} is known already")
        for one in (*quality, *cluster):
            if one not in data_size:
                raise ConfigError(f"client {one!r} has a quality or a cluster, and no data_size")
        sizes = [whole(f"data_size of client {one!r}", size) for one, size in data_size.items()]
        clusters = [whole(f"cluster of client {one!r}", cluster.get(one, 0), least=0) for one in data_size]
        qualities = [quality.get(one, 1.0) for one in data_size]
        for one, share in zip(data_size, qualities, strict=True):
            if not is_real(share) or not 0 <= share <= 1:
                raise ConfigError(f"quality of client {one!r} = {shortened(share)} must be from 0 to 1")
        self._check_used("quality", quality, "uses_quality")
        self._check_used("cluster", cluster, "uses_clusters")
        if back := [one for one in data_size if one in self._left]:
            of = dict(zip(data_size, zip(sizes, qualities, clusters, strict=True), strict=True))
            new = [one for one in data_size if one not in self._left]
            given = (data_size, quality, cluster)
            self.join(*({one: own[one] for one in new if one in own} for own in given))
            for one in back:
                for name, value in zip(OF_CLIENTS, of[one], strict=True):
                    getattr(self.history, name)[self.index[one]] = value
            self._left.difference_update(back)
            return
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

    def leave(self, ids: Iterable[Hashable]) -> None:
        """Ask some clients no more, even if they are said to be online, until they `join` again.

        Their accounts stay, so that a client who comes back has no new budget.

        Raises
        ------
        PauseflError
            If one of them is not known.
        """
        ids = listed("ids", ids, self.ids)
        self._users(ids)
        self._left.update(ids)

    def resize(self, data_size: Mapping[Hashable, int]) -> None:
        """Correct the numbers of examples of some clients; errors as of `join`, if one is not known, too."""
        data_size = mapping("data_size", data_size)
        sizes = [whole(f"data_size of client {one!r}", size) for one, size in data_size.items()]
        self.history.data_size[self._users(data_size)] = sizes

    def state(self, plain: bool = False) -> State:
        """All that coming selections depend on: ids, and copies of arrays by name.

        To be saved with `pickle`, or any way that keeps ids and arrays; if ``plain``, with `json`.

        Raises
        ------
        PauseflError
            If it is to be plain, and an id is no text, number or tuple of these.
        """
        clients = {name: getattr(self.history, name).tolist() for name in OF_CLIENTS}
        state = {
            "made": self._made(),
            "clients": {name: dict(zip(self.ids, own, strict=True)) for name, own in clients.items()},
            "asked": [*self.epsilon],
            "guessed": [*self.size_guessed],
            "left": [one for one in self.ids if one in self._left],
            "late": {one: [[*late] for late in rounds] for one, rounds in self._late.items()},
            "latency_floor": self.history.latency_floor,
            "participations": self.ledger.participations.copy(),
            **{f"history/{name}": array for name, array in self.history.state().items()},
            **{f"selector/{name}": array for name, array in self.selector.state().items()},
        }
        return to_json(state) if plain else state

    def restore(self, state: State, changed: Collection[str] = ()) -> None:
        """Go on from the `state` of a picker that was made alike; clients who joined it join here.

        A round that was under way is lost: whoever was asked in it did not answer.

        Parameters
        ----------
        state
            What `state` returned, plain or not, also that of an earlier version.
        changed
            Arguments in which this picker may differ from the saved one: ``timeout``, ``n_selected``,
            ``over_selection``. It goes on with its own values.

        Raises
        ------
        PauseflError
            If the picker was made with other arguments, as far as can be told (of selectors and rewards that
            are objects, their class), or had other clients, or if an entry of the state cannot be, with its
            name; then it is as it was.
        """
        if isinstance(changed, str):
            changed = (changed,)
        for name in changed:
            if name not in CHANGEABLE:
                raise ConfigError(f"changed: {name!r} cannot change. {suggest(name, CHANGEABLE)}")
        try:
            if isinstance(state, Mapping) and "arrays" in state:
                state = from_json(state)
            check_state(state)
            self._check_made(state.get("made", {}), changed)
            self._check_seconds(state)
            restored = copy.deepcopy(self)
            restored._go_on(state)
        except (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
            raise PauseflError(f"this is no state of such a picker: {error!r}") from None
        vars(self).update(vars(restored))

    def __repr__(self) -> str:
        clients = f"{len(self.ids) - len(self._left)} clients"
        if self._left:
            clients += f" ({len(self._left)} left)"
        floor = self.history.latency_floor
        learned = "auto" if self._learns_floor and floor == self.timeout else f"{floor:g} s"
        under_way = f", {len(self.epsilon)} asked and not yet observed" if self.epsilon else ""
        return (
            f"<Picker '{self.name}': {clients}, n_selected = {self.n_selected},"
            f" latency_floor = {learned}, timeout = {self.timeout:g} s,"
            f" round {self.history.round}{under_way}>"
        )

    def _check_used(self, what: str, given: Mapping[Hashable, Any], flag: str) -> None:
        """Raise `ConfigError` if something of clients is given, and nothing looks at it."""
        if not given or issubclass(self.facts, Given) or ":" in self.name:  # which may look at anything
            return
        reward = self.options["reward"]
        if "reward" not in arguments(self.facts):
            raise ConfigError(f"{what}: selector '{self.name}' does not look at it; leave it out")
        if not getattr(reward, flag):
            fitting = " or ".join(one.__name__ for one in REWARDS.values() if getattr(one, flag))
            raise ConfigError(
                f"{what}: the reward, {type(reward).__name__}, does not look at it. Give a reward that does,"
                f" such as {fitting} of pausefl.bandit.rewards (one of your own says so with"
                f" {flag} = True), or leave it out"
            )

    def _check_made(self, saved: Mapping[str, Any], changed: Collection[str]) -> None:
        """Raise `PauseflError` if a saved picker was made with other arguments than those that may change."""
        # States from before a constant or the accountant could be chosen have the one that there was.
        made = {**CONSTANTS.get(self.name, {}), "accountant": comparable(PureAccountant())}
        before, now = made | {"over_selection": None, **saved}, self._made()
        differ = [name for name in now if name in before and not is_same(before[name], now[name])]
        if "timeout" in differ and "round_latency_max" in differ:  # the same number
            differ.remove("round_latency_max")
        if not (wrong := [name for name in differ if name not in changed]):
            return

        def shown(value: Any) -> str:
            return value if isinstance(value, str) and value.isidentifier() else shortened(value)

        told = ", ".join(f"{name} = {shown(before[name])} (here {shown(now[name])})" for name in wrong)
        hint = ""
        if set(wrong) <= set(CHANGEABLE):
            keys = ", ".join(f"'{name}'" for name in differ)
            hint = f". To go on with the values of this one: restore(state, changed=[{keys}])"
        raise PauseflError(f"the saved state is of a picker with {told}{hint}")

    def _check_seconds(self, state: State) -> None:
        """Raise `PauseflError` if a saved floor, or a late answer's seconds, cannot be of this picker."""
        floor, own = state.get("latency_floor"), self.history.latency_floor
        if floor is not None and not self._learns_floor and floor != own:
            raise PauseflError(
                f"'latency_floor' of the saved state is {shortened(floor)}, and that of this picker {own:g}"
            )
        timeouts = [one for one in (state.get("made", {}).get("timeout"), self.timeout) if is_real(one)]
        rounds = [one for own in state.get("late", {}).values() for one in listed_late(own)]
        late = [("late", one if is_real(one) else Late(*one).least) for one in rounds]
        for name, seconds in [("latency_floor", floor or own), *late]:
            if seconds > max(timeouts):
                raise PauseflError(
                    f"'{name}' of the saved state has {shortened(seconds)}, more than the timeout of"
                    f" {max(timeouts):g} s"
                )

    def _go_on(self, state: State) -> None:
        """Take over a state that fits."""
        clients = state["clients"]
        later = [one for one in clients["data_size"] if one not in self.index]
        if [*self.ids, *later] != list(clients["data_size"]):
            raise PauseflError("the saved state is of other clients, or has them in another order")
        self.join({one: clients["data_size"][one] for one in later})
        for name in OF_CLIENTS:
            getattr(self.history, name)[:] = list(clients[name].values())
        parts: dict[str, State] = {"history": {}, "selector": {}}
        for path, value in state.items():
            part, _, name = path.partition("/")
            if name:
                parts[part][name] = value
        self.history.latency_floor = float(state.get("latency_floor", self.history.latency_floor))
        self.history.restore(parts["history"])
        check_remembered(self.selector, parts["selector"], len(self.ids), self.history.round)
        self.selector.restore(parts["selector"])
        self.ledger.restore(saved(state, "participations", np.int64, (len(self.ids),), 0))
        check_counts(self._users(state["asked"]), self.ledger.participations, self.history.participations)
        self._left = set(state.get("left", ()))
        before = float(state.get("made", {}).get("timeout", self.timeout))
        self._late = {
            one: [self._late_of(one, late, before) for late in listed_late(own)]
            for one, own in state.get("late", {}).items()
            if listed_late(own)
        }
        self._check_late()
        if before != self.timeout or (self.history.mean_latency > self.timeout).any():
            self._follow_timeout(before)
        self.epsilon = dict.fromkeys(state["asked"], np.inf)
        if self.epsilon:
            self.observe({})
        self.size_guessed = set(state.get("guessed", ()))  # which older states lack

    def _late_of(self, one: Hashable, saved: Any, timeout: float) -> Late:
        """A saved round that a client has not answered, of a picker with a timeout in seconds."""
        if isinstance(saved, list | tuple):
            round, least, counted, nth = saved
            return Late(int(round), min(float(least), self.timeout), float(counted), int(nth))
        # Earlier versions saved the least seconds alone, of the last participation.
        user, history = self.index[one], self.history
        if nth := int(history.participations[user]):
            timeout = min(timeout, float(history.mean_latency[user]) / history.weight(user, nth))
        return Late(history.round - 1, min(float(saved), self.timeout, timeout), timeout, nth)

    def _check_late(self) -> None:
        """Raise `PauseflError` if the means of a client cannot have its rounds without an answer in them."""
        for one, rounds in self._late.items():
            user, history = self.index[one], self.history
            known = all(
                0 < late.round < history.round and 0 < late.nth <= history.participations[user]
                for late in rounds
            )
            counted = sum(late.counted * history.weight(user, late.nth) for late in rounds) if known else 0.0
            rounding = 1e-9 * max(late.counted for late in rounds)
            if not known or not counted <= history.mean_latency[user] + rounding:
                raise PauseflError(
                    f"'late' of the saved state has rounds of client {shortened(one)} that do not agree with"
                    " its history"
                )

    def _follow_timeout(self, before: float) -> None:
        """Have the means follow from a former timeout, in seconds, to that of this picker.

        Clients whose every round counted the former timeout have the new one, and no mean is above it. Of one
        who answered some rounds, the others count as before with a longer timeout: it may be just too slow
        for the former one.
        """
        history, floor = self.history, self.history.latency_floor
        if self._learns_floor and floor >= before:  # nobody has answered in time
            floor = self.timeout
        history.change_floor(min(floor, self.timeout))
        asked = history.participations > 0
        slow = asked & (history.mean_latency >= before)  # before corrections, which round
        for one, rounds in self._late.items():
            for late in rounds:
                if late.counted > self.timeout:
                    history.correct(self.index[one], late.nth, late.counted, self.timeout)
        slow |= asked & (history.mean_latency >= self.timeout)
        history.mean_latency[slow] = self.timeout
        history.mean_speed[slow] = history.latency_floor / self.timeout
        for one, rounds in self._late.items():
            user = self.index[one]
            self._late[one] = [
                late._replace(counted=self.timeout if slow[user] else min(late.counted, self.timeout))
                for late in rounds
            ]
            if self._owes(one):
                self._correct_selector(user, self._late[one][-1].counted)

    def _correct(self, one: Hashable, late: Late, seconds: float) -> None:
        """Have means and selector know after how many seconds a client answered an earlier round."""
        took, user = min(max(seconds, late.least, self.history.latency_floor), self.timeout), self.index[one]
        if self._owes(one) and late == self._late[one][-1]:
            self._correct_selector(user, took)
        self.history.correct(user, late.nth, late.counted, took)
        self._forget(one, late)

    def _owes(self, one: Hashable) -> bool:
        """Whether a client has not answered the last round that it was asked in."""
        rounds = self._late.get(one, [])
        return bool(rounds) and rounds[-1].nth == self.history.participations[self.index[one]]

    def _correct_selector(self, user: int, took: float) -> None:
        with self._naming("when a latency was corrected"):
            self.selector.correct(user, took)

    def _forget(self, one: Hashable, late: Late) -> None:
        """Expect no answer of a client to an earlier round any more."""
        self._late[one].remove(late)
        if not self._late[one]:
            del self._late[one]

    def _seconds(self, latency: Mapping[Hashable, Any]) -> dict[Hashable, float]:
        """Measured times by client; `PauseflError` names one that cannot be."""
        measured = {one: seconds_of(value) for one, value in latency.items()}
        for one, seconds in measured.items():
            if not 0 <= seconds < math.inf:
                raise PauseflError(
                    f"latency of client {one!r} = {shortened(latency[one])} must be a number of at least 0"
                )
        return measured

    def _made(self) -> dict[str, Any]:
        """Arguments that coming selections depend on, in values that another process has alike."""
        schedule, taken = self.ledger.schedule, arguments(self.facts)
        values = {name: value for name, value in self.options.items() if name in taken}
        values |= {"selector": self.name, "timeout": self.timeout, "seed": self.streams.seed}
        values |= {"n_selected": self.n_selected, "over_selection": self.over_selection}
        values |= {"latency_floor": "auto" if self._learns_floor else self.history.latency_floor}
        values |= {"forgetting": self.history.forgetting}
        values |= {"schedule": schedule, "epsilon_total": getattr(schedule, "epsilon_total", None)}
        values |= {"accountant": self.ledger.accountant}
        return {name: comparable(value) for name, value in values.items()}

    def _users(self, ids: Iterable[Hashable]) -> NDArray[np.int64]:
        """Numbers of clients from 0."""
        try:
            return np.array([self.index[one] for one in ids], np.int64)
        except KeyError as error:
            raise PauseflError(f"client {error.args[0]!r} is not known: it joins with Picker.join") from None

    def _asked(self, what: str, ids: Iterable[Hashable]) -> list[Any]:
        """Some ids, all of clients who were asked in the round that is under way."""
        ids = listed(what, ids, self.ids)
        for one in ids:
            if one not in self.epsilon:
                raise PauseflError(f"client {one!r} was not asked in round {self.history.round}")
        return ids

    def _counts(self, seconds: NDArray[np.float64], answered: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whose answers (n,) count, by their seconds (n,) and by who answered at all (n,)."""
        if self.over_selection is None:
            return answered
        return in_time(seconds, answered, self.n_selected, self.timeout)

    def _floor(self, seconds: Mapping[Hashable, float]) -> float:
        """The floor after answers of clients in so many seconds."""
        floor = self.history.latency_floor
        if not self._learns_floor:
            return floor
        # Whoever was never asked, or never answered in time, gives its first answer now.
        users = self._users(seconds)
        never = (self.history.participations[users] == 0) | (self.history.mean_latency[users] >= self.timeout)
        first = [seconds[self.ids[user]] for user in users[never]]
        return min([floor, *(max(one, _LEAST_FLOOR * self.timeout) for one in first)])

    def _warn_if_cut(self, seconds: list[float]) -> None:
        """Warn once if nearly all of the first answers count as the floor, or as the timeout."""
        if self._cut is None:
            return
        floor = 0.0 if self._learns_floor else self.history.latency_floor
        low, high = (sum(one <= floor for one in seconds), sum(one >= self.timeout for one in seconds))
        self._cut = n, low, high = [
            sum(both) for both in zip(self._cut, (len(seconds), low, high), strict=True)
        ]
        if n < _FIRST_ANSWERS or self.history.round <= _FIRST_ROUNDS:
            return
        self._cut = None
        for cut, where, key, value in (
            (low, "at or below", "latency_floor", floor),
            (high, "at or above", "timeout", self.timeout),
        ):
            if cut >= _NEARLY_ALL * n:
                warnings.warn(
                    f"{cut} of the first {n} latencies are {where} {key} = {value:g} s, and so count as"
                    f" equal: selector '{self.name}' cannot tell fast clients from slow ones. Latencies,"
                    " latency_floor and timeout are in seconds; the floor should be about the fastest answer,"
                    " which latency_floor='auto' learns",
                    stacklevel=3,
                )

    @contextmanager
    def _naming(self, when: str) -> Iterator[None]:
        """Have an error of a selector that was handed over say which one it is, and the round."""
        try:
            yield
        except Exception as error:  # whatever a user's code raises
            if isinstance(error, (PauseflError, MemoryError)) or not issubclass(self.facts, Given):
                raise
            why = f"failed in round {self.history.round}, {when}: {type(error).__name__}: {error}"
            raise OwnPartError(why, f"selector '{self.name}'") from error

    def _told(self, what: str, by_id: Mapping[Hashable, Any], ids: list[Any], kind: Any, n_axes: int) -> Any:
        """What the a clients who answered told: (a,) numbers, or (a, d) with one axis each."""
        if missing := [one for one in ids if one not in by_id]:
            raise PauseflError(f"selector '{self.name}' looks at {what}: none of client {missing[0]!r}")
        if wrong := [one for one in ids if not is_number(by_id[one])]:
            asked = "numbers" if n_axes else "a number"
            raise PauseflError(f"{what} of client {wrong[0]!r} = {by_id[wrong[0]]!r:.80} must be {asked}")
        try:
            values = np.array([by_id[one] for one in ids], kind)
        except (RuntimeError, TypeError, ValueError) as error:  # of PyTorch, too
            raise PauseflError(f"{what} of {', '.join(map(repr, ids))}: {error}") from None
        if ids and values.ndim != 1 + n_axes:
            asked = "an array (d,)" if n_axes else "a number"
            raise PauseflError(
                f"{what} of client {ids[0]!r} must be {asked}, and not of shape {values.shape[1:]}"
            )
        for one, own in zip(ids, values, strict=True):
            if not np.isfinite(own).all():
                raise PauseflError(
                    f"{what} of client {one!r} = {own} must be finite; if it diverged, it failed"
                )
        return values
