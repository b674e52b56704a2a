"""Adam with a state per user equals torch's own, one optimiser a user."""

from __future__ import annotations

import pytest
import torch

from pausefl.training.adam import UserAdam

CPU = torch.device("cpu")
N_USERS, N_VALUES, RATE = 5, 30, 0.01
PARTICIPATIONS = [[0, 1], [1, 2, 4], [1], [0, 4], [4, 1]]


@pytest.mark.parametrize("persist", [True, False])
def test_every_user_has_an_adam_of_its_own(persist: bool) -> None:
    torch.manual_seed(0)
    ours = torch.randn(N_USERS, N_VALUES)
    theirs = [torch.nn.Parameter(row.clone()) for row in ours]
    optimisers = [torch.optim.Adam([row], lr=RATE) for row in theirs]
    adam = UserAdam(N_USERS, N_VALUES, RATE, persist, CPU)
    for users in PARTICIPATIONS:
        adam.begin(users)
        for user in users:
            if not persist:
                optimisers[user] = torch.optim.Adam([theirs[user]], lr=RATE)
        for n_steps in range(3):
            active = users[: len(users) - (n_steps == 2)]  # the last user has a batch less
            gradients = [torch.randn(N_VALUES) for _ in active]
            for user, gradient in zip(active, gradients, strict=True):
                adam.step(user, ours[user], gradient)
                theirs[user].grad = gradient.clone()
                optimisers[user].step()
    torch.testing.assert_close(ours, torch.stack([row.data for row in theirs]), rtol=1e-5, atol=1e-6)


def step_once(adam: UserAdam, user: int) -> torch.Tensor:
    values = torch.zeros(N_VALUES)
    adam.begin([user])
    adam.step(user, values, torch.linspace(-1, 1, N_VALUES))
    return values


def test_moments_persist_or_are_forgotten_between_participations() -> None:
    for persist in (True, False):
        adam = UserAdam(N_USERS, N_VALUES, RATE, persist, CPU)
        adam.begin([0])
        adam.step(0, torch.zeros(N_VALUES), torch.full((N_VALUES,), 3.0))
        again, fresh = step_once(adam, 0), step_once(adam, 1)
        assert torch.equal(again, fresh) is not persist


def test_a_users_steps_do_not_touch_the_others() -> None:
    adam = UserAdam(N_USERS, N_VALUES, RATE, True, CPU)
    expected = step_once(UserAdam(N_USERS, N_VALUES, RATE, True, CPU), 3)
    for _ in range(4):
        step_once(adam, 2)
    assert torch.equal(step_once(adam, 3), expected)
    assert adam.steps.tolist() == [0, 0, 4, 1, 0]


def test_reset_forgets_only_those_who_take_part() -> None:
    adam = UserAdam(N_USERS, N_VALUES, RATE, False, CPU)
    step_once(adam, 0)
    step_once(adam, 1)
    adam.begin([1])
    assert adam.steps.tolist() == [1, 0, 0, 0, 0]
    assert adam.first[0].any()
    assert not adam.first[1].any()
