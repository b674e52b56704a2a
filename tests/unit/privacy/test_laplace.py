"""The mechanism: clamp, then Laplace noise of scale sensitivity / epsilon, from the given stream alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from pausefl.privacy import CoordinateMechanism
from pausefl.privacy.laplace import standard_laplace
from pausefl.streams import Streams

Vector = NDArray[np.float32]
N = 200_000
NO_NOISE = 1e30


def release(update: Vector, sensitivity: float, epsilon: float, seed: int = 0) -> Vector:
    released = update.copy()
    rng = Streams(seed).generator("noise", user=1, round=2)
    mechanism = CoordinateMechanism(sensitivity)
    mechanism.release(released, mechanism.noise(len(update), epsilon, rng))
    return released


@pytest.mark.parametrize("sensitivity", [0.003, 0.012, 2.0])
def test_values_are_clamped_to_half_the_sensitivity(sensitivity: float) -> None:
    half = sensitivity / 2
    update = np.array([-1e9, -half * 1.01, -half / 2, 0, half / 3, half * 1.01, np.inf, -np.inf], np.float32)
    expected = [-half, -half, -half / 2, 0, half / 3, half, half, -half]
    np.testing.assert_allclose(release(update, sensitivity, NO_NOISE), expected, rtol=1e-6, atol=1e-12)


def test_a_value_that_is_no_number_is_not_released_as_it_is() -> None:
    # Otherwise it would tell for certain that training diverged on this user's data.
    assert np.isfinite(release(np.array([np.nan, 1], np.float32), 0.003, 1.0)).all()


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(0.003, 1.57), (0.012, 0.01), (1.0, 40.0)])
@pytest.mark.parametrize("value", [0.0, 1e6])
def test_noise_follows_the_laplace_law_around_the_clamped_value(
    sensitivity: float, epsilon: float, value: float
) -> None:
    released = release(np.full(N, value, np.float32), sensitivity, epsilon)
    law = stats.laplace(min(value, sensitivity / 2), sensitivity / epsilon)
    assert stats.kstest(released.astype(float), law.cdf).pvalue > 1e-3


def test_tails_are_those_of_the_laplace_law() -> None:
    noise = np.abs(standard_laplace(10 * N, np.random.default_rng(0)))
    for threshold in (2, 5, 9):
        n_beyond = int((noise > threshold).sum())
        assert stats.binomtest(n_beyond, 10 * N, math.exp(-threshold)).pvalue > 1e-4


def test_signs_are_fair_and_tell_nothing_of_magnitudes() -> None:
    noise = standard_laplace(N, np.random.default_rng(0))
    positive = noise > 0
    assert stats.binomtest(int(positive.sum()), N).pvalue > 1e-4
    assert stats.ks_2samp(noise[positive], -noise[~positive]).pvalue > 1e-4


def test_coordinates_are_independent() -> None:
    noise = standard_laplace(N, np.random.default_rng(1)).astype(float)
    for series in (noise, np.abs(noise), np.sign(noise)):
        for lag in (1, 2, 7, 8):  # signs come from the bits of bytes
            assert stats.pearsonr(series[lag:], series[:-lag]).pvalue > 1e-5


def test_no_outcome_is_more_than_e_to_the_epsilon_times_likelier_for_other_data() -> None:
    epsilon, bins = 0.8, np.linspace(-4, 4, 25)
    counts = [
        np.histogram(release(np.full(2 * N, value, np.float32), 1.0, epsilon, seed), bins)[0]
        for seed, value in enumerate((-9.0, 9.0))
    ]
    ratio, error = np.log(counts[0] / counts[1]), np.sqrt(1 / counts[0] + 1 / counts[1])
    assert (np.abs(ratio) < epsilon + 5 * error).all()
    assert np.abs(ratio).max() > epsilon - 0.05  # and no more noise than that takes


def test_only_the_part_handed_over_is_changed() -> None:
    update = np.arange(10, dtype=np.float32)
    mechanism = CoordinateMechanism(0.003)
    mechanism.release(update[:6], mechanism.noise(6, 1.0, np.random.default_rng(0)))
    np.testing.assert_array_equal(update[6:], [6, 7, 8, 9])
    assert (update[:6] != np.arange(6)).all()


def test_the_stream_alone_fixes_the_noise() -> None:
    update = np.zeros(100, np.float32)
    np.testing.assert_array_equal(release(update, 1.0, 1.0), release(update, 1.0, 1.0))
    assert (release(update, 1.0, 1.0) != release(update, 1.0, 1.0, seed=1)).all()


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9])
def test_any_number_of_draws_is_single_precision(n: int) -> None:
    noise = standard_laplace(n, np.random.default_rng(0))
    assert (noise.shape, noise.dtype) == ((n,), np.float32)
    assert release(np.zeros(n, np.float32), 1.0, 1.0).dtype == np.float32
