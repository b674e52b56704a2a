"""What every selector is: a choice from what was seen, and what it remembers beyond the history."""

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

    Choosing changes nothing: the same history and stream give the same choice, however often it is asked.
    Most selectors need the `History` alone. One that must remember more does so in `observe`, in arrays whose
    names it lists in ``remembered``, so that a resumed run can go on with what was saved.
    """

    #: Names of the attributes, arrays all of them, that make up the selector's state.
    remembered: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def build(cls, scenario: Scenario) -> Self:
        """Make the selector for a scenario.

        Only selectors that are told the truth by definition (``genie``, ``fastest``) may look at
        ``scenario.network`` for its latency law.
        """
        return cls()

    @abstractmethod
    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Choose users among ``history.candidates()``.

        Parameters
        ----------
        history
            What was seen before the round.
        rng
            The selector's own stream for the round. It breaks all ties: user numbers never do.

        Returns
        -------
        User ids, ascending. Only sampling with replacement names a user more than once.

        Raises
        ------
        PauseflError
            If fewer users are available than are to be selected.
        """

    def observe(self, feedback: Feedback, history: History) -> None:  # noqa: B027 (most need not)
        """Learn from a round beyond what the history keeps; ``history`` is that before the round."""

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Copies of all arrays that the selector remembers, by name."""
        return {name: getattr(self, name).copy() for name in self.remembered}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Go on from a `state`."""
        for name in self.remembered:
            setattr(self, name, state[name].copy())
