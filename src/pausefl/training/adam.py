"""Adam with a state per user."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.optim.adam import adam

#: Adam's constants (Kingma and Ba 2015, Algorithm 1) besides the step size.
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


class UserAdam:
    """First and second moments and step counts of every user.

    With ``persist`` a user keeps its moments from one participation to the next, as in the authors' code.
    Memory: 8 bytes a user and trainable value, allocated at a user's first participation.

    Parameters
    ----------
    n_users, n_trainable
        Shape of each moment array.
    learning_rate
        Step size; the other constants are Adam's defaults.
    persist
        Whether moments are kept between participations.
    device
        Device of the moments.
    """

    def __init__(
        self, n_users: int, n_trainable: int, learning_rate: float, persist: bool, device: torch.device
    ) -> None:
        self.learning_rate = learning_rate
        self.persist = persist
        # NumPy's zeros, unlike PyTorch's, take no memory until they are written.
        shape, dtype = (n_users, n_trainable), torch.empty(0).numpy().dtype
        self.first, self.second = (torch.from_numpy(np.zeros(shape, dtype)).to(device) for _ in range(2))
        self.steps = torch.zeros(n_users, device=device)

    def begin(self, users: list[int]) -> None:
        """Start a participation of these users."""
        if not self.persist:
            for state in (self.first, self.second, self.steps):
                state[users] = 0

    def step(self, user: int, values: Tensor, gradient: Tensor) -> None:
        """Step a user's ``values`` (n_trainable,) along its gradient (n_trainable,)."""
        adam(
            [values],
            [gradient],
            [self.first[user]],
            [self.second[user]],
            [],
            [self.steps[user]],
            foreach=False,
            fused=True,
            capturable=False,
            differentiable=False,
            amsgrad=False,
            beta1=BETA_1,
            beta2=BETA_2,
            lr=self.learning_rate,
            weight_decay=0.0,
            eps=EPSILON,
            maximize=False,
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """What outlives a participation, of the users who took part; nothing without ``persist``.

        One array a user and moment. Arrays on the CPU are not copied, since they can be half of a job's
        memory: write or copy them before the next step.
        """
        if not self.persist:
            return {}
        users = self.steps.nonzero().squeeze(1).tolist()
        rows = {f"{name}/{user}": moments[user] for name, moments in self._moments.items() for user in users}
        return {name: row.cpu().numpy() for name, row in rows.items()}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Continue from a `state`, which is emptied; call it before anyone takes part."""
        while state:
            key, row = state.popitem()
            name, _, user = key.partition("/")
            self._moments[name][int(user)] = torch.from_numpy(row)

    @property
    def _moments(self) -> dict[str, Tensor]:
        return {"first": self.first, "second": self.second, "steps": self.steps}
