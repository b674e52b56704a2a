"""What leaves a user: clipped, noised by its own stream, and never anything that is not finite."""

from __future__ import annotations

import numpy as np
import pytest

from pausefl.errors import PrivacyError
from pausefl.privacy import CoordinateMechanism, Protection, SimulatedSampler, VectorMechanism
from pausefl.streams import Streams


def protection(n: int = 3, mechanism: CoordinateMechanism | VectorMechanism | None = None) -> Protection:
    return Protection(mechanism or CoordinateMechanism(0.5), SimulatedSampler(Streams(0)), n)


@pytest.mark.parametrize("mechanism", [CoordinateMechanism(0.5), VectorMechanism(0.5)])
def test_a_release_is_the_clipped_update_and_the_noise(
    mechanism: CoordinateMechanism | VectorMechanism,
) -> None:
    update = np.float32([1, -2, 0.1, 7, 8])
    given, expected = protection(3, mechanism), update[:3].copy()
    noise = given.noise(2.0, user=4, round=5)
    mechanism.clip(expected)
    given.release(update, noise, 2.0, user=4, round=5)
    np.testing.assert_allclose(update[:3], expected + noise, rtol=1e-6)
    np.testing.assert_array_equal(update[3:], [7, 8])  # not protected


def test_noise_is_that_of_the_user_and_the_round_with_the_scale_of_the_budget() -> None:
    given = protection(1000)
    noise = given.noise(1.0, user=1, round=1)
    np.testing.assert_array_equal(given.noise(1.0, user=1, round=1), noise)
    np.testing.assert_allclose(given.noise(0.25, user=1, round=1), 4 * noise, rtol=1e-6)
    for user, round in ((2, 1), (1, 2), (0, 1)):
        assert (given.noise(1.0, user=user, round=round) != noise).mean() > 0.99


@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 4])
def test_an_update_that_is_not_finite_is_refused_by_name_and_left_alone(broken: float, place: int) -> None:
    update = np.float32([1, -2, 0.1, 7, 8])
    update[place] = broken
    kept, given = update.copy(), protection(3)
    with pytest.raises(PrivacyError, match=r"user 4, round 5: .* nothing of it is released"):
        given.release(update, given.noise(1.0, 4, 5), 1.0, user=4, round=5)
    np.testing.assert_array_equal(update, kept)
