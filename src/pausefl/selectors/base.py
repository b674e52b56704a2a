"""Base of all selectors: a choice from what was observed, and what it remembers beyond the history."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pausefl.bandit.history import Feedback, History
from pausefl.errors import PauseflError
from pausefl.selectors.look import Look

Users = NDArray[np.int64]


class Remembered(NamedTuple):
    """An array that a selector remembers: what it must be, where a saved one is taken over."""

    kind: type[np.generic]
    least: float = -1e300
    most: float = 1e300
    #: What whole numbers are below: ``round``, that of the coming round, or an attribute of the selector.
    below: str = ""
    #: ``K`` stands for the number of users, None for any length.
    shape: tuple[str | int | None, ...] = ("K",)


class Selector(ABC):
    """Chooses the users of the coming round.

    A call changes nothing: the same history and stream always give the same choice. Most selectors need only
    the `History`. One that must remember more does so in `observe`, in arrays listed in ``remembered``, so
    that a resumed run continues with them.

    Its constructor takes keys of the sections ``selection`` and ``network`` of a scenario, and ``reward``,
    the `Reward` of a selection. Only selectors that know the truth by definition may take ``mean_latency``
    (K,) in seconds (``fastest``) or ``speeds``, the true expected speeds (K,) (``genie``).
    """

    #: Names of the array attributes that are the selector's state; as a mapping, with what each must be.
    remembered: ClassVar[tuple[str, ...] | Mapping[str, Remembered]] = ()
    #: Whether all available users take part in every round.
    takes_everyone: ClassVar[bool] = False
    #: Whether it selects the same users in every round, as long as they have budget.
    fixed_users: ClassVar[bool] = False
    #: Whether the number of users it selects is its own and not ``n_selected``.
    own_number: ClassVar[bool] = False
    #: Whether updates are clamped and noised; without, nothing bounds the leakage.
    private: ClassVar[bool] = True
    #: Whether the choice depends on the scenario's reward. Without, what was trained under one reward is not
    #: trained again under another.
    uses_reward: ClassVar[bool] = False
    #: Whether it searches by the papers' simulated annealing, in which all neighbours are equally likely.
    anneals: ClassVar[bool] = False
    #: Whether an update counts 1/m for each time its user was sampled, as clustered sampling requires, not
    #: by its share of the selected data.
    uniform_weights: ClassVar[bool] = False
    #: Whether it looks at the users' updates, or at their training losses, so that it needs training.
    needs_updates: ClassVar[bool] = False
    needs_losses: ClassVar[bool] = False
    #: Whether it asks users for the loss of the coming round's model before it selects, `History.losses`.
    asks_losses: ClassVar[bool] = False
    #: Which mean of its examples' losses a user reports: 1, the mean, or 2, the root of the mean square.
    loss_power: ClassVar[Literal[1, 2]] = 1
    #: Most sets of ``n_selected`` users that it can enumerate; None for a selector that enumerates none.
    most_selections: ClassVar[int | None] = None
    #: Name and line in figures; None for a spare one, with ``label`` and ``color`` if they are given.
    look: ClassVar[Look | None] = None
    label: ClassVar[str] = ""
    color: ClassVar[Annotated[str, Field(pattern="^(#[0-9A-Fa-f]{6})?$")]] = ""

    @classmethod
    def looks_at(cls) -> str:
        """What it looks at that only training makes, in words; empty if it selects without training, too."""
        if cls.needs_updates:
            return "updates"
        return "training losses" if cls.needs_losses or cls.asks_losses else ""

    @classmethod
    def releases_losses(cls) -> bool:
        """Whether its users report training losses out of budgets that protect their updates."""
        return cls.private and cls.needs_losses

    @abstractmethod
    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Choose users among ``history.candidates()``.

        Parameters
        ----------
        history
            What was observed before the round.
        rng
            The selector's own stream for the round. It breaks all ties; user numbers never do.

        Returns
        -------
        User ids, ascending. Only sampling with replacement returns a user more than once.

        Raises
        ------
        PauseflError
            If fewer than m users are available.
        """

    def observe(self, feedback: Feedback, history: History) -> None:  # noqa: B027 (most need not)
        """Learn more from a round than the history keeps; ``history`` is that before the round."""

    def correct(self, user: int, took: float) -> None:  # noqa: B027 (most need not)
        """Learn that the last participation of a user took other seconds than `observe` was told.

        It answered after the round had ended, for example. The history knows by itself.
        """

    def join(self, n_users: int) -> None:
        """Make room for users who joined after the others, so that there are ``n_users`` now.

        `PauseflError` of a selector that remembers arrays and does not override this.
        """
        if self.remembered:
            raise PauseflError(f"{type(self).__name__} has no method join, so no user can join later")

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Copies of the arrays that the selector remembers, by name."""
        return {name: getattr(self, name).copy() for name in self.remembered}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Continue from a `state`."""
        for name in self.remembered:
            setattr(self, name, state[name].copy())
