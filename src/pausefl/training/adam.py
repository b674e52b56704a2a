"""Adam with a state per user, many users a step."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.optim.adam import adam


class UserAdam:
    """First and second moments and step counts of every user.

    With ``persist`` a user's moments live on from one participation to the next, as in the authors' code.
    Memory: 8 bytes a user and trainable value, touched on a user's first participation.

    Parameters
    ----------
    n_users, n_trainable
        Shape of each moment array.
    learning_rate
        Step size; the other constants are Adam's defaults.
    persist
        Whether moments survive between participations.
    device
        Where the moments live.
    """

    def __init__(
        self, n_users: int, n_trainable: int, learning_rate: float, persist: bool, device: torch.device
    ) -> None:
        self.learning_rate = learning_rate
        self.persist = persist
        self.first = torch.zeros(n_users, n_trainable, device=device)
        self.second = torch.zeros(n_users, n_trainable, device=device)
        self.steps = torch.zeros(n_users, device=device)

    def begin(self, users: list[int]) -> None:
        """Start a participation of these users."""
        if not self.persist:
            for state in (self.first, self.second, self.steps):
                state[users] = 0

    def step(self, users: list[int], values: list[Tensor], gradients: list[Tensor]) -> None:
        """Step ``values[i]`` (n_trainable,) of ``users[i]`` along ``gradients[i]``, for all i."""
        adam(
            values,
            gradients,
            [self.first[user] for user in users],
            [self.second[user] for user in users],
            [],
            [self.steps[user] for user in users],
            foreach=False,
            fused=True,
            capturable=False,
            differentiable=False,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self.learning_rate,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )
