"""A reported loss is clamped, noised by a stream of its own, and paid for from the budget."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from pausefl.errors import ConfigError
from pausefl.privacy import LossProtection, SecureSampler
from pausefl.selectors import SELECTORS
from pausefl.settings import PrivacySettings, Scenario
from pausefl.streams import Streams

Floats = NDArray[np.float64]
BOUND, SHARE = 3.0, 0.25
PRIVATE = PrivacySettings(epsilon_total=10, decay=0.04, sensitivity=0.003)
PAID = PRIVATE.replace(loss_share=SHARE, loss_bound=BOUND)
N = 4000


def made(sampler: str = "simulated") -> LossProtection:
    return LossProtection.build(PAID.replace(sampler=sampler), SHARE, Streams(1))


def reports(protection: LossProtection, loss: float, epsilon: float, n: int = N) -> Floats:
    """Reports of one loss by n users in different rounds."""
    one = np.zeros(1, np.int64)
    of = np.array([loss]), np.array([epsilon])
    return np.array([protection.release(*of, one + t % 7, 1 + t)[0] for t in range(n)])


@pytest.mark.parametrize("sampler", ["simulated", "secure"])
@pytest.mark.parametrize(("loss", "centre"), [(-1.0, 0.0), (1.25, 1.25), (1e9, BOUND), (np.inf, BOUND)])
def test_a_report_is_the_clamped_loss_and_laplace_noise(sampler: str, loss: float, centre: float) -> None:
    epsilon = 2.0
    released = reports(made(sampler), loss, epsilon, 2000)
    scale = BOUND / (SHARE * epsilon)
    # No seed makes the secure noise the same again: it fails once in a million runs.
    assert stats.kstest(released, stats.laplace(centre, scale).cdf).pvalue > 1e-6
    assert np.abs(released - centre).mean() == pytest.approx(scale, rel=5 / np.sqrt(2000))


def test_a_loss_that_is_not_a_number_is_reported_as_the_largest() -> None:
    users, epsilon = np.arange(3), np.full(3, 2.0)
    broken = made().release(np.array([np.nan, np.inf, 7.0]), epsilon, users, 5)
    np.testing.assert_array_equal(broken, made().release(np.full(3, BOUND), epsilon, users, 5))


def test_the_noise_is_that_of_the_user_the_round_and_the_budget() -> None:
    protection, loss = made(), np.zeros(4)
    users, epsilon = np.array([2, 5, 7, 11]), np.array([1.0, 0.5, 1.0, 2.0])
    released = protection.release(loss, epsilon, users, 3)
    np.testing.assert_array_equal(protection.release(loss, epsilon, users, 3), released)
    np.testing.assert_array_equal(protection.release(loss[1:], epsilon[1:], users[1:], 3), released[1:])
    np.testing.assert_allclose(protection.release(loss, epsilon / 4, users, 3), 4 * released, rtol=1e-5)
    assert not np.isclose(protection.release(loss, epsilon, users, 4), released).any()


def test_it_is_not_the_noise_of_the_update() -> None:
    """Otherwise the difference of a loss and a coordinate would be free of noise."""
    sampler = PAID.make_sampler(Streams(1))
    of_update = np.array([sampler.sample(1, 1.0, t % 7, 1 + t)[0] for t in range(N)])
    of_loss = reports(made(), 0.0, BOUND / SHARE)
    assert abs(stats.spearmanr(of_update, of_loss).statistic) < 5 / np.sqrt(N)


def test_secure_noise_is_on_a_grid() -> None:
    released = reports(made("secure"), 0.7, 2.0, 50)
    grid = SecureSampler().grid(BOUND / (SHARE * 2.0))
    steps = (released - BOUND / 2) / grid
    np.testing.assert_array_equal(steps, np.round(steps))


def test_only_selectors_that_look_at_losses_pay_for_them(demo: Scenario) -> None:
    paid, private, none = (demo.model_copy(update={"privacy": one}) for one in (PAID, PRIVATE, None))
    for name, selector in SELECTORS.items():
        assert paid.loss_share(name) == (SHARE if selector.needs_losses else 0)
        assert private.loss_share(name) == none.loss_share(name) == 0
        expected = ("accounted", "unaccounted") if selector.needs_losses else (None, None)
        assert (paid.losses_reported(name), private.losses_reported(name)) == expected
        assert none.losses_reported(name) is None


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"loss_share": 0.1}, "loss_share needs loss_bound"),
        ({"loss_bound": 2.0}, "loss_bound needs loss_share"),
        ({"loss_share": 0.0, "loss_bound": 2.0}, "loss_share"),
        ({"loss_share": 1, "loss_bound": 2.0}, "loss_share"),
    ],
)
def test_a_share_needs_a_bound(values: dict[str, float], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        PRIVATE.replace(**values)
