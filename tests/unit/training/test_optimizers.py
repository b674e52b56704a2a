"""An optimizer with a state per user equals torch's own, one optimizer a user."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from pausefl.settings import TrainingSettings
from pausefl.training.optimizers import UserOptimizer, make_optimizer

CPU = torch.device("cpu")
N_USERS, N_VALUES, RATE = 5, 30, 0.01
PARTICIPATIONS = [[0, 1], [1, 2, 4], [1], [0, 4], [4, 1]]
OPTIMIZERS: list[dict[str, Any]] = [
    {},
    {"optimizer": "sgd"},
    {"optimizer": "sgd", "momentum": 0.9},
    {"optimizer": "sgd", "momentum": 0.5},
]
#: Those that remember something of a user.
WITH_STATE = [OPTIMIZERS[0], OPTIMIZERS[2]]


def optimizer(state: str = "persist", **changes: Any) -> UserOptimizer:
    values = {"n_rounds": 1, "n_epochs": 1, "batch_size": 1, "max_batches": 1, "learning_rate": 7.0}
    settings = TrainingSettings(optimizer_state=state, **values, **changes)  # type: ignore[arg-type]
    return make_optimizer(settings, N_USERS, N_VALUES, CPU)


def torchs(values: torch.nn.Parameter, changes: dict[str, Any], rate: float = RATE) -> torch.optim.Optimizer:
    if "optimizer" in changes:
        return torch.optim.SGD([values], lr=rate, momentum=changes.get("momentum", 0.0))
    return torch.optim.Adam([values], lr=rate)


@pytest.mark.parametrize("changes", OPTIMIZERS, ids=str)
@pytest.mark.parametrize("state", ["persist", "reset"])
@pytest.mark.parametrize("together", [False, True], ids=["alone", "side by side"])
def test_every_user_has_an_optimizer_of_its_own(changes: dict[str, Any], state: str, together: bool) -> None:
    torch.manual_seed(0)
    ours = torch.randn(N_USERS, N_VALUES)
    theirs = [torch.nn.Parameter(row.clone()) for row in ours]
    optimizers = [torchs(row, changes) for row in theirs]
    made = optimizer(state, **changes)
    for t, users in enumerate(PARTICIPATIONS):
        rate = RATE / (1 + t)
        made.begin(users)
        for user in users:
            if state == "reset":
                optimizers[user] = torchs(theirs[user], changes)
            optimizers[user].param_groups[0]["lr"] = rate
        for n_steps in range(3):
            active = users[: len(users) - (n_steps == 2)]  # the last user has a batch less
            gradients = torch.randn(len(active), N_VALUES)
            if together:
                moments = [moment[active] for moment in made.moments.values()]
                values, steps = ours[active], made.steps[active]
                of_round = torch.tensor(rate, dtype=torch.float64)
                made.step_side_by_side(values, gradients, moments, steps, of_round)
                ours[active], made.steps[active] = values, steps
                for moment, rows in zip(made.moments.values(), moments, strict=True):
                    moment[active] = rows
            for user, gradient in zip(active, gradients, strict=True):
                if not together:
                    made.step(user, ours[user], gradient.clone(), rate)
                theirs[user].grad = gradient.clone()
                optimizers[user].step()
    torch.testing.assert_close(ours, torch.stack([row.data for row in theirs]), rtol=1e-5, atol=1e-6)


def step_once(made: UserOptimizer, user: int) -> torch.Tensor:
    values = torch.zeros(N_VALUES)
    made.begin([user])
    made.step(user, values, torch.linspace(-1, 1, N_VALUES), RATE)
    return values


@pytest.mark.parametrize("changes", WITH_STATE, ids=str)
def test_a_restored_state_steps_to_the_same_bits(changes: dict[str, Any]) -> None:
    whole, first, second = (optimizer(**changes) for _ in range(3))
    for made in (whole, first):
        step_once(made, 1)
        step_once(made, 4)
    state = {name: row.copy() for name, row in first.state().items()}
    assert {name.partition("/")[2] for name in state} == {"1", "4"}
    second.restore(state)
    for user in (4, 2):
        assert torch.equal(step_once(second, user), step_once(whole, user))


def test_what_remembers_nothing_has_no_state() -> None:
    for made in (optimizer(optimizer="sgd"), optimizer("reset"), optimizer("reset", **OPTIMIZERS[2])):
        step_once(made, 1)
        assert made.state() == {}
