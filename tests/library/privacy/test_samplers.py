"""Noise follows Laplace's law, from the seed or on a grid from the operating system."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from pausefl.privacy import CoordinateMechanism, Protection, SecureSampler, SimulatedSampler, philox
from pausefl.privacy.samplers import discrete_laplace
from pausefl.streams import Streams

N = 200_000
Vector = NDArray[np.float32]


def draws(n: int = N, user: int = 1, round: int = 2, seed: int = 0) -> Vector:
    return SimulatedSampler(Streams(seed)).sample(n, 1.0, user, round)


# The generator


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0, 0, 0), (0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((1, 0, 0), (0, 0), None),
        ((2**32 - 1, 2**32 - 1, 2**32 - 1), (2**32 - 1, 2**32 - 1), None),
    ],
)
def test_words_are_those_of_philox(
    counter: tuple[int, int, int], key: tuple[int, int], expected: str | None
) -> None:
    """Known answer of Random123 for zeros; the others against the definition, in whole numbers of Python."""
    words = np.empty((4, 1), np.uint32)
    philox._philox(key, counter[0], counter[1], counter[2], words)
    x, k = [*counter, 0], list(key)
    for _ in range(10):
        first, second = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [
            (second >> 32) ^ x[1] ^ k[0],
            second & 0xFFFFFFFF,
            (first >> 32) ^ x[3] ^ k[1],
            first & 0xFFFFFFFF,
        ]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    assert words[:, 0].tolist() == x
    if expected:
        assert " ".join(f"{word:08x}" for word in x) == expected


def test_a_word_becomes_its_signed_logarithm() -> None:
    rng = np.random.default_rng(0)
    words = rng.integers(0, 2**32, 4096, np.uint32)
    words[:6] = [0, 1, 2, 3, 2**32 - 1, 2**32 - 2]
    numbers, found = np.empty(4096, np.float32), np.empty(4096, np.float32)
    philox._laplace(words, numbers, numbers.view(np.int32), found)
    magnitude = -np.log(((words >> 1) + 0.5) / 2**31)
    expected = np.where(words & 1, -magnitude, magnitude)
    np.testing.assert_allclose(found, expected, rtol=3e-7, atol=2e-7)


@pytest.mark.parametrize("n", [0, 1, 3, 4, 1023, 1024, 1025])
def test_a_draw_is_the_same_however_many_are_asked_for(n: int) -> None:
    found = draws(n)
    assert (found.shape, found.dtype) == ((n,), np.float32)
    np.testing.assert_array_equal(found, draws(3000)[:n])


def test_streams_differ_between_users_rounds_and_seeds() -> None:
    noise = draws(1000)
    np.testing.assert_array_equal(draws(1000), noise)
    for other in (draws(1000, user=3), draws(1000, round=3), draws(1000, seed=1), draws(1000, 2, 1)):
        assert (other != noise).mean() > 0.99
        assert abs(stats.pearsonr(other, noise).statistic) < 0.15


# The law


@pytest.mark.parametrize("seed", range(3))
def test_draws_follow_scipys_laplace_law(seed: int) -> None:
    assert stats.kstest(draws(seed=seed).astype(float), "laplace").pvalue > 1e-3


def test_signs_are_fair_and_tell_nothing_of_magnitudes() -> None:
    noise = draws()
    positive = noise > 0
    assert stats.binomtest(int(positive.sum()), N).pvalue > 1e-4
    assert stats.ks_2samp(noise[positive], -noise[~positive]).pvalue > 1e-4


def test_coordinates_are_independent() -> None:
    noise = draws().astype(float)
    for series in (noise, np.abs(noise), np.sign(noise)):
        for lag in (1, 2, 4, 256, 512, 1024):  # words of one counter are a block apart
            assert stats.pearsonr(series[lag:], series[:-lag]).pvalue > 1e-5


# From the operating system


@pytest.mark.parametrize("t", [0.3, 1.0, 5.5, 1000.0])
def test_discrete_noise_follows_its_law(t: float) -> None:
    """Chi-squared on the most likely values; the law is P(x) = (1 - q) / (1 + q) q^|x|, q = exp(-1 / t)."""
    found, q = discrete_laplace(N, t), math.exp(-1 / t)
    assert (found == np.round(found)).all()
    width = max(int(t / 8), 1)
    edges = np.arange(-int(3 * t) - 1, int(3 * t) + 2, width) - 0.5
    values = np.arange(-int(60 * t) - 60, int(60 * t) + 61)
    probability = (1 - q) / (1 + q) * q ** np.abs(values)
    expected, _ = np.histogram(values, edges, weights=probability)
    counts, _ = np.histogram(found, edges)
    inside = expected.sum()
    observed = np.append(counts, N - counts.sum())
    theory = N * np.append(expected, 1 - inside)
    assert stats.chisquare(observed, theory * observed.sum() / theory.sum()).pvalue > 1e-4


def test_secure_noise_follows_scipys_laplace_law_and_differs_from_draw_to_draw() -> None:
    sampler = SecureSampler()
    noise = sampler.sample(N, 0.7, 1, 2)
    assert stats.kstest(noise, stats.laplace(scale=0.7).cdf).pvalue > 1e-4
    assert (sampler.sample(N, 0.7, 1, 2) != noise).mean() > 0.99


@pytest.mark.parametrize("scale", [1e-4, 0.0123, 3.0, 4096.0])
def test_secure_releases_lie_on_a_grid_that_does_not_depend_on_the_update(scale: float) -> None:
    sampler, rng = SecureSampler(), np.random.default_rng(0)
    grid = sampler.grid(scale)
    assert 2**16 <= scale / grid < 2**17
    assert math.frexp(grid)[0] == 0.5
    update = (rng.standard_normal(1000) * scale / 2).astype(np.float32)
    noise = sampler.sample(1000, scale, 0, 0)
    before = update.copy()
    steps = (np.trunc(before.astype(float) / grid) * grid + noise) / grid
    assert (steps == np.round(steps)).all()
    sampler.add(update, noise, scale)
    np.testing.assert_array_equal(update, (steps * grid).astype(np.float32))
    assert (np.abs(update - noise) <= np.abs(before) + 1e-6 * np.abs(update)).all()  # towards 0


def test_secure_rounding_moves_no_two_clamped_values_further_apart() -> None:
    mechanism = CoordinateMechanism(0.012)
    sampler, scale = SecureSampler(), mechanism.scale(1.0)
    update = np.float32([-1, 1, 0.0059999, -0.0059999])
    mechanism.clip(update)
    sampler.add(update, np.zeros(4), scale)
    assert np.ptp(update.astype(float)) <= mechanism.sensitivity


@pytest.mark.parametrize("epsilon", [0.8, 3.0])
@pytest.mark.parametrize("sampler", [SimulatedSampler(Streams(3)), SecureSampler()])
def test_no_outcome_is_more_than_e_to_the_epsilon_times_likelier_for_other_data(
    epsilon: float, sampler: SimulatedSampler | SecureSampler
) -> None:
    given, bins = Protection(CoordinateMechanism(1.0), sampler, 4 * N), np.linspace(-2, 2, 13)
    counts = []
    for user, value in enumerate((-9.0, 9.0)):
        update = np.full(4 * N, value, np.float32)
        given.release(update, given.noise(epsilon, user, 1), epsilon, user, 1)
        counts.append(np.histogram(update, bins)[0])
    ratio, error = np.log(counts[0] / counts[1]), np.sqrt(1 / counts[0] + 1 / counts[1])
    assert (np.abs(ratio) < epsilon + 5 * error).all()
    assert np.abs(ratio).max() > epsilon - 5 * error.max()  # and no more noise than that takes
