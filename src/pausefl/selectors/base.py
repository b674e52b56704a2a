"""Base of all selectors: a choice from what was observed, and what it remembers beyond the history."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import Feedback, History
from pausefl.settings import Scenario

Users = NDArray[np.int64]


class Selector(ABC):
    """Chooses the users of the coming round.

    A call changes nothing: the same history and stream always give the same choice. Most selectors need only
    the `History`. One that must remember more does so in `observe`, in arrays listed in ``remembered``, so
    that a resumed run continues with them.
    """

    #: Names of the array attributes that are the selector's state.
    remembered: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def build(cls, scenario: Scenario) -> Self:
        """Make the selector for a scenario.

        Only selectors that know the truth by definition (``genie``, ``fastest``) may use the latency law of
        ``scenario.network``.
        """
        return cls()

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

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Copies of the arrays that the selector remembers, by name."""
        return {name: getattr(self, name).copy() for name in self.remembered}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Continue from a `state`."""
        for name in self.remembered:
            setattr(self, name, state[name].copy())
