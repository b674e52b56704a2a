"""Scales of noise, as OpenDP accounts for them."""

from __future__ import annotations

import math

import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pausefl.privacy import CoordinateMechanism, VectorMechanism

dp.enable_features("contrib")

EPSILON = st.floats(1e-3, 50)
BOUND = st.floats(1e-4, 10)


def opendp_epsilon(space: tuple[dp.Domain, dp.Metric], scale: float, distance: float) -> float:
    """Epsilon of Laplace noise of a scale between inputs at most so far apart."""
    # Inputs are on the finest grid of floats, 2^k: rounding to it costs nothing.
    return float(dp.m.make_laplace(*space, scale=scale, k=-1074).map(distance))


@given(EPSILON, BOUND)
def test_one_coordinate_has_the_budget(epsilon: float, width: float) -> None:
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    scale = CoordinateMechanism(width).scale(epsilon)
    # Two coordinates in [-width / 2, width / 2].
    assert opendp_epsilon(space, scale, width) == pytest.approx(epsilon, rel=1e-9)


@given(EPSILON, BOUND, st.integers(1, 1000))
def test_an_update_clipped_in_l1_norm_has_the_budget(epsilon: float, norm: float, n: int) -> None:
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=n), dp.l1_distance(T=float)
    scale = VectorMechanism(norm).scale(epsilon)
    # Two updates of L1 norm up to norm each.
    assert opendp_epsilon(space, scale, 2 * norm) == pytest.approx(epsilon, rel=1e-9)


@given(st.floats(1e-3, 5), BOUND, st.integers(1, 1000))
def test_a_clamped_update_has_n_times_the_budget(epsilon: float, width: float, n: int) -> None:
    mechanism = CoordinateMechanism(width)
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=n), dp.l1_distance(T=float)
    # All n coordinates may move by the width.
    found = opendp_epsilon(space, mechanism.scale(epsilon), n * width)
    assert found == pytest.approx(mechanism.update_epsilon(epsilon, n), rel=1e-9)
    assert math.isfinite(found)
