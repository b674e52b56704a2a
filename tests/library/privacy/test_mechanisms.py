"""What leaves a user: clipping bounds every update, and the noise is as wide as its guarantee asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from pausefl.errors import PrivacyError
from pausefl.privacy import (
    CoordinateMechanism,
    Mechanism,
    PrivacySettings,
    Protection,
    SimulatedSampler,
    VectorMechanism,
)
from pausefl.streams import Streams

Vector = NDArray[np.float32]
updates = arrays(
    np.float32, st.integers(0, 40), elements=st.floats(-(2.0**100), 2.0**100, width=32, allow_subnormal=False)
)
widths = st.floats(1e-6, 1e6)


def clipped(mechanism: Mechanism, update: Any) -> Vector:
    found = np.array(update, np.float32)
    mechanism.clip(found)
    return found


def test_coordinates_are_clamped_to_half_the_width() -> None:
    found = clipped(CoordinateMechanism(0.5), [-9, -0.25, -0.1, 0, 0.2, 0.2501])
    np.testing.assert_allclose(found, [-0.25, -0.25, -0.1, 0, 0.2, 0.25])


@given(updates, updates, widths)
def test_no_two_clamped_coordinates_are_further_apart_than_the_sensitivity(
    first: Vector, second: Vector, width: float
) -> None:
    mechanism, n = CoordinateMechanism(width), min(len(first), len(second))
    a, b = (clipped(mechanism, update[:n]).astype(float) for update in (first, second))
    assert (np.abs(a - b) <= mechanism.sensitivity).all()


@given(updates, updates, widths)
def test_no_two_clipped_updates_are_further_apart_than_the_sensitivity(
    first: Vector, second: Vector, norm: float
) -> None:
    mechanism, n = VectorMechanism(norm), min(len(first), len(second))
    a, b = (clipped(mechanism, update[:n]).astype(float) for update in (first, second))
    assert np.abs(a).sum() <= norm
    assert np.abs(a - b).sum() <= mechanism.sensitivity


def test_a_longer_update_keeps_its_direction_and_gets_the_norm_and_others_are_left() -> None:
    np.testing.assert_array_equal(clipped(VectorMechanism(1.0), [0.5, -0.25]), np.float32([0.5, -0.25]))
    found = clipped(VectorMechanism(1.0), [3, -1, 0])
    np.testing.assert_allclose(found, [0.75, -0.25, 0], rtol=1e-6)


def test_scales_of_the_noise() -> None:
    assert CoordinateMechanism(0.012).scale(1.5) == pytest.approx(0.008)  # Delta / eps
    assert VectorMechanism(0.012).scale(1.5) == pytest.approx(0.016)  # 2 C / eps


def test_an_update_costs_as_much_as_its_coordinates_or_its_norm() -> None:
    # Delta = 0.012 and 170,474 coordinates, the papers' setting for CIFAR-10.
    assert CoordinateMechanism(0.012).update_epsilon(40.0, 170_474) == 6_818_960
    assert VectorMechanism(0.012).update_epsilon(40.0, 170_474) == 40


# Both together


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


def test_settings_name_the_mechanism() -> None:
    vector = PrivacySettings(epsilon_total=40, decay=0.04, mechanism="vector", clip_norm=3.0)
    made = vector.make_mechanism()
    assert isinstance(made, VectorMechanism)
    assert made.sensitivity == 6.0
