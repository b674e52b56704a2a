"""Every registered selector keeps the contract of `pausefl.testing`, and breaking a rule is found out."""

from __future__ import annotations

import inspect
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from pausefl.bandit.history import Feedback, History
from pausefl.bandit.rewards import AverageReward
from pausefl.selectors import SELECTORS, Selector
from pausefl.testing import SelectorContract
from pausefl.testing.contract import world

Users = NDArray[np.int64]


class TestEverySelector(SelectorContract):
    selector = tuple(SELECTORS)


def test_only_federated_averaging_without_privacy_is_not_private() -> None:
    assert {name for name, info in SELECTORS.items() if not info.private} == {"fedavg_no_privacy"}


class Rare(Selector):
    """The users who took part least, by its own count."""

    remembered: ClassVar[tuple[str, ...]] = ("count",)

    def __init__(self) -> None:
        self.count = np.zeros(0)

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        users = rng.permutation(history.candidates())
        count = self.count if len(self.count) else np.zeros(len(history.data_size))
        return np.sort(users[np.argsort(count[users], kind="stable")[: history.n_selected]])

    def observe(self, feedback: Feedback, history: History) -> None:
        if len(self.count) == 0:
            self.count = np.zeros(len(history.data_size))
        self.count[feedback.users] += 1


class SelectsTheAbsent(Rare):
    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        return np.sort(rng.choice(len(history.available), history.n_selected, replace=False))


class CountsItsCalls(Rare):
    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        self.calls = getattr(self, "calls", 0) + 1
        return np.sort(
            np.random.default_rng(self.calls).permutation(history.candidates())[: history.n_selected]
        )


class Forgets(Rare):
    remembered: ClassVar[tuple[str, ...]] = ()


class Peeks(Rare):
    def __init__(self, mean_latency: NDArray[np.float64]) -> None:
        super().__init__()
        self.truth = mean_latency

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        users = history.candidates()
        wait = self.truth[users] * rng.exponential(size=len(users))
        return np.sort(users[np.argsort(wait)[: history.n_selected]])


class Weighs(Selector):
    """Looks at the reward, and does not say so."""

    def __init__(self, reward: AverageReward) -> None:
        self.alpha = reward.alpha

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        users = history.candidates()
        return np.sort(users[np.argsort(history.mean_speed[users] * (self.alpha - 1))[: history.n_selected]])


@pytest.mark.parametrize(
    ("cls", "broken"),
    [
        (SelectsTheAbsent, "takes_as_many_of_the_available_users_as_it_should"),
        (CountsItsCalls, "is_a_pure_function_of_history_and_stream"),
        (Peeks, "never_sees_the_latency_law"),
        (Forgets, "goes_on_from_a_saved_state_as_if_never_stopped"),
        (Weighs, "says_whether_it_looks_at_the_reward"),
    ],
)
def test_a_selector_that_breaks_a_rule_is_found_out(cls: type[Selector], broken: str) -> None:
    assert breaks(cls, f"test_{broken}")


def test_a_selector_of_a_few_lines_keeps_all_rules() -> None:
    rules = [rule for rule in vars(SelectorContract) if rule.startswith("test_")]
    assert (len(rules), [rule for rule in rules if breaks(Rare, rule)]) == (9, [])


def breaks(cls: type[Selector], rule: str) -> bool:
    """Whether a new selector, with a line beside the others, fails the test of a rule."""
    test = getattr(SelectorContract(), rule)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SELECTORS._classes, "new", cls)
        try:
            test("new", *[world()] if "scenario" in inspect.signature(test).parameters else [])
        except (AssertionError, pytest.fail.Exception):
            return True
    return False
