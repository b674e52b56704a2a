"""Adam and SGD with a state per user."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.optim.adam import adam

from pausefl.errors import PauseflError
from pausefl.training.settings import TrainingSettings

#: Adam's constants (Kingma and Ba 2015, Algorithm 1) besides the step size.
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


class UserOptimizer(ABC):
    """Moments and step counts of every user.

    With ``persist`` a user keeps its moments from one participation to the next, as in the authors' code.
    Memory: 4 bytes a user, moment and trainable value, allocated at a user's first participation.

    Parameters
    ----------
    n_users, n_trainable
        Shape of each moment's array.
    persist
        Whether moments are kept between participations.
    device
        Device of the moments.
    names
        Names of the moments.

    Attributes
    ----------
    moments
        (n_users, n_trainable) arrays by name.
    steps
        (n_users,) steps that each user has taken since its moments were zero.
    """

    def __init__(
        self, n_users: int, n_trainable: int, persist: bool, device: torch.device, names: Sequence[str]
    ) -> None:
        self.persist = persist
        # NumPy's zeros, unlike PyTorch's, take no memory until they are written.
        shape, dtype = (n_users, n_trainable), torch.empty(0).numpy().dtype
        self.moments = {name: torch.from_numpy(np.zeros(shape, dtype)).to(device) for name in names}
        self.steps = torch.zeros(n_users, device=device)

    def begin(self, users: list[int]) -> None:
        """Start a participation of these users."""
        if not self.persist:
            for state in (*self.moments.values(), self.steps):
                state[users] = 0

    @abstractmethod
    def step(self, user: int, values: Tensor, gradient: Tensor, rate: float) -> None:
        """Step a user's ``values`` (n_trainable,) along its gradient (n_trainable,)."""

    @abstractmethod
    def step_side_by_side(
        self, values: Tensor, gradient: Tensor, moments: Sequence[Tensor], steps: Tensor, rate: Tensor
    ) -> None:
        """Step ``values`` (n, n_trainable) of some users along their gradients, at a rate () in float64.

        Their ``moments``, each (n, n_trainable), and ``steps`` (n,) are given, and changed in place.
        """

    def state(self) -> dict[str, NDArray[Any]]:
        """State after a participation, of the users who took part; empty without ``persist`` or moments.

        One array a user and moment. Arrays on the CPU are not copied, since they can be half of a job's
        memory: write or copy them before the next step.
        """
        if not (self.persist and self.moments):
            return {}
        users = self.steps.nonzero().squeeze(1).tolist()
        rows = {f"{name}/{user}": values[user] for name, values in self._kept.items() for user in users}
        return {name: row.cpu().numpy() for name, row in rows.items()}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Continue from a `state`, which is emptied; call it before anyone takes part.

        `PauseflError` names an array that cannot be of it. Moments may be infinite or NaN, as those of a user
        whose local model diverged.
        """
        while state:
            key, row = state.popitem()
            name, _, user = key.partition("/")
            kept = self._kept.get(name)
            if kept is None or not user.isascii() or not user.isdigit() or int(user) >= len(self.steps):
                raise PauseflError(f"'{key}' of the saved state is of no moment of {len(self.steps)} users")
            wanted = kept[int(user)].cpu().numpy()
            if not isinstance(row, np.ndarray) or (row.dtype, row.shape) != (wanted.dtype, wanted.shape):
                raise PauseflError(
                    f"'{key}' of the saved state must be an array of {wanted.dtype} {wanted.shape}"
                )
            if name == "steps" and not (row >= 0 and row % 1 == 0):
                raise PauseflError(f"'{key}' of the saved state has {row}, and must have a whole number")
            kept[int(user)] = torch.from_numpy(row)

    @property
    def _kept(self) -> dict[str, Tensor]:
        return {**self.moments, "steps": self.steps}


class UserAdam(UserOptimizer):
    """Adam (Kingma and Ba 2015, Algorithm 1)."""

    def __init__(self, n_users: int, n_trainable: int, persist: bool, device: torch.device) -> None:
        super().__init__(n_users, n_trainable, persist, device, ("first", "second"))

    def step(self, user: int, values: Tensor, gradient: Tensor, rate: float) -> None:
        """See `UserOptimizer.step`."""
        adam(
            [values],
            [gradient],
            [self.moments["first"][user]],
            [self.moments["second"][user]],
            [],
            [self.steps[user]],
            foreach=False,
            fused=True,
            capturable=False,
            differentiable=False,
            amsgrad=False,
            beta1=BETA_1,
            beta2=BETA_2,
            lr=rate,
            weight_decay=0.0,
            eps=EPSILON,
            maximize=False,
        )

    @torch.no_grad()
    def step_side_by_side(
        self, values: Tensor, gradient: Tensor, moments: Sequence[Tensor], steps: Tensor, rate: Tensor
    ) -> None:
        """See `UserOptimizer.step_side_by_side`; each user has its own number of steps."""
        first, second = moments
        steps += 1
        count = steps.unsqueeze(1).double()
        size = (rate / (1 - BETA_1**count)).to(first.dtype)
        scale = (1 - BETA_2**count).rsqrt().to(first.dtype)
        first.lerp_(gradient, 1 - BETA_1)
        second.mul_(BETA_2).addcmul_(gradient, gradient, value=1 - BETA_2)
        values.sub_((first * size).div_(second.sqrt().mul_(scale).add_(EPSILON)))


class UserSgd(UserOptimizer):
    """Stochastic gradient descent, with momentum as in `torch.optim.SGD` (no dampening, not Nesterov's).

    Parameters
    ----------
    momentum
        Factor on the velocity in each step, in [0, 1); 0 for none, and no moments.
    """

    def __init__(
        self, n_users: int, n_trainable: int, persist: bool, device: torch.device, momentum: float
    ) -> None:
        super().__init__(n_users, n_trainable, persist, device, ("velocity",) if momentum else ())
        self.momentum = momentum

    def step(self, user: int, values: Tensor, gradient: Tensor, rate: float) -> None:
        """See `UserOptimizer.step`."""
        self.steps[user] += 1
        for velocity in self.moments.values():
            gradient = velocity[user].mul_(self.momentum).add_(gradient)
        values.add_(gradient, alpha=-rate)

    @torch.no_grad()
    def step_side_by_side(
        self, values: Tensor, gradient: Tensor, moments: Sequence[Tensor], steps: Tensor, rate: Tensor
    ) -> None:
        """See `UserOptimizer.step_side_by_side`."""
        steps += 1
        for velocity in moments:
            gradient = velocity.mul_(self.momentum).add_(gradient)
        values.sub_(gradient * rate.to(gradient.dtype))


def make_optimizer(
    training: TrainingSettings, n_users: int, n_trainable: int, device: torch.device
) -> UserOptimizer:
    """The optimizer of a scenario, for ``n_users`` users with ``n_trainable`` values each."""
    persist = training.optimizer_state == "persist"
    if training.optimizer == "sgd":
        return UserSgd(n_users, n_trainable, persist, device, training.momentum)
    return UserAdam(n_users, n_trainable, persist, device)
