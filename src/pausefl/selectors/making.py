"""Selectors for a scenario. What a user's own returns is checked in every round, what it raises names it."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from operator import methodcaller
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import Feedback, History
from pausefl.bandit.settings import NetworkSettings, RewardSettings
from pausefl.errors import ConfigError
from pausefl.plugins import OwnPartError, arguments, build, missing, naming
from pausefl.selectors import SELECTORS
from pausefl.selectors.base import Selector, Users
from pausefl.selectors.settings import BESIDES, SelectionSettings, unknown_argument

#: What a selector may know of each user by definition, and what it is in a simulation.
TRUTHS = {"speeds": methodcaller("expected_speeds"), "mean_latency": methodcaller("means")}


def fault(returned: Any, history: History, facts: type[Selector], any_number: bool = False) -> str:
    """What is wrong with what a selector returned, in words that follow "returned"; empty if nothing is."""
    if not isinstance(returned, np.ndarray):
        return "None" if returned is None else f"a {type(returned).__name__}, {returned!r:.80},"
    if returned.ndim != 1 or returned.dtype != np.int64:
        return f"an array of shape {returned.shape} and type {returned.dtype}"
    n_users, n_available = len(history.available), np.count_nonzero(history.available)
    if len(returned) and not 0 <= returned.min() <= returned.max() < n_users:
        return f"ids from {returned.min()} to {returned.max()}, of {n_users} users from 0,"
    if not history.available[returned].all():
        return f"user {returned[~history.available[returned]][0]}, who is away or has no budget left,"
    steps = np.diff(returned)
    if (steps < 0).any():
        return f"ids that do not ascend, {returned.tolist()!s:.80},"
    if (steps == 0).any() and not facts.uniform_weights:
        return f"user {returned[:-1][steps == 0][0]} twice (which needs the attribute uniform_weights = True)"
    if facts.own_number or any_number:
        return "" if len(returned) else "nobody"
    wanted = n_available if facts.takes_everyone else history.n_selected
    if len(returned) == wanted:
        return ""
    return f"{len(returned)} users and not {wanted} (which needs the attribute own_number = True)"


def read_only(history: History) -> History:
    """The history with arrays that cannot be changed by mistake."""
    shown = copy.copy(history)
    for key, value in vars(history).items():
        if isinstance(value, np.ndarray):
            view = value.view()
            view.flags.writeable = False
            setattr(shown, key, view)
    return shown


class Checked(Selector):
    """A user's own selector, or function, whose choices are checked and whose errors say which one it is.

    With ``forgiving`` any sequence of distinct ids will do, of any length, and what it raises is left alone.
    """

    def __init__(self, given: Any, name: str, facts: type[Selector], forgiving: bool = False) -> None:
        self.given, self.name, self.facts, self.forgiving = given, name, facts, forgiving
        self._warned = False

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """The users that the given selector chooses."""
        with self._named(f"in round {history.round}, when it selected"):
            users: Users = self.given(read_only(history), rng)
        if self.forgiving:
            users = np.asarray(users)
            if users.ndim == 1 and (np.issubdtype(users.dtype, np.integer) or not users.size):
                users = np.sort(users.astype(np.int64))
        if what := fault(users, history, self.facts, any_number=self.forgiving):
            hint = "" if self.forgiving else ". To test what every selector must do: pausefl.testing"
            raise OwnPartError(
                f"returned {what} in round {history.round}. Return the ids of history.n_selected of the"
                f" history.candidates(), each once and ascending, as an int64 array{hint}",
                f"selector '{self.name}'",
            )
        return users

    def observe(self, feedback: Feedback, history: History) -> None:
        """Let the given selector learn, if it is more than a function."""
        if isinstance(self.given, Selector):
            with self._named(f"in round {history.round}, when it observed"):
                self.given.observe(feedback, read_only(history))

    def correct(self, user: int, took: float) -> None:
        """Let the given selector learn that a user took other seconds than it was told."""
        if isinstance(self.given, Selector):
            with self._named("when a latency was corrected"):
                self.given.correct(user, took)

    def join(self, n_users: int) -> None:
        """Let the given selector make room for another user."""
        if isinstance(self.given, Selector):
            with self._named("when a user joined"):
                self.given.join(n_users)

    def state(self) -> dict[str, NDArray[np.generic]]:
        """What the given selector remembers; a warning if it learns and remembers nothing."""
        self._warn_if_forgetful()
        with self._named("when it was asked for what it remembers"):
            return self.given.state() if isinstance(self.given, Selector) else {}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Let the given selector go on from what it remembered."""
        if isinstance(self.given, Selector):
            with self._named("when it was restored"):
                self.given.restore(state)

    def _warn_if_forgetful(self) -> None:
        """Warn once of a class that learns in `observe` and has nothing of it saved."""
        own = type(self.given)
        if self._warned or not isinstance(self.given, Selector) or own.observe is Selector.observe:
            return
        if self.given.remembered or (own.state, own.restore) != (Selector.state, Selector.restore):
            return
        self._warned = True
        warnings.warn(
            f"selector '{self.name}' has a method observe and names no arrays in remembered, so what it"
            " learns there is not saved: after a stop it begins anew. Name these arrays in remembered",
            stacklevel=2,
        )

    def _named(self, when: str) -> AbstractContextManager[None]:
        own = f"selector '{self.name}'"
        return nullcontext() if self.forgiving else naming(type(self.given), own, when)


class Given(Selector):
    """Base of the classes that stand for selectors that are handed over, not named."""

    #: A class of selectors, an object of one, or a function of a history and a random stream.
    given: ClassVar[Any]


def name_of(given: Any) -> str:
    """The name of a selector that is handed over; `ConfigError` if it is none."""
    if not callable(given) or (isinstance(given, type) and not issubclass(given, Selector)):
        raise ConfigError(
            f"{given!r} is no selector: give a name, a subclass of pausefl.Selector, an object of one, or a"
            " function of a history and a random stream"
        )
    return str(getattr(given, "__name__", type(given).__name__))


def class_of(given: Any, name: str) -> type[Selector]:
    """The class that stands for a selector that is handed over: it has the facts that that one declares.

    `OwnPartError` if it is made from what is no key of settings.
    """
    facts = {key: getattr(given, key) for key in Selector.__annotations__ if hasattr(given, key)}
    taken = {"__signature__": inspect.signature(given)} if isinstance(given, type) else {}
    made = type(name, (Given,), {**facts, **taken, "given": given})
    if why := unknown_argument(made):
        raise OwnPartError(why, f"selector '{name}'")
    return made


def lacking(name: str, selection: SelectionSettings, network: NetworkSettings) -> list[str]:
    """Dotted keys that a selector must be given and that two sections of a scenario leave out."""
    sections = {"network": vars(network), "selection": vars(selection)}
    keys = missing(SELECTORS.find(name), {**vars(network), **vars(selection), **dict.fromkeys(BESIDES, "")})
    return [f"{section}.{key}" for key in keys for section, values in sections.items() if key in values]


def make_selector(
    name: str, selection: SelectionSettings, network: NetworkSettings, reward: RewardSettings
) -> Selector:
    """A selector for the sections of a scenario, from what `selector_from` makes one of."""
    part = SELECTORS.find(name)
    values = {**vars(selection), **vars(network), "reward": reward.make()}
    for truth, of in TRUTHS.items():
        if truth in arguments(part):
            values[truth] = of(network.make_latency())
    return selector_from(name, part, values)


def selector_from(name: str, part: type[Selector], values: Mapping[str, Any]) -> Selector:
    """A selector of a class, from the values that its constructor takes; a user's own is `Checked`.

    `OwnPartError` if its code raises anything but a `PauseflError`.
    """
    if issubclass(part, Given):
        given = vars(part)["given"]
        made = build(given, values) if isinstance(given, type) else copy.deepcopy(given)
        return Checked(made, name, part, forgiving=True)
    if ":" not in name:
        return build(part, values)
    with naming(part, f"selector '{name}'", "when it was built"):
        given = build(part, values)
    return Checked(given, name, part)
