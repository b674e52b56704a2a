"""The latency law: its means, its floor, its draws, and the expected speeds it implies."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from pausefl.errors import ConfigError, DataError
from pausefl.settings import NetworkSettings
from pausefl.streams import Streams

N_ROUNDS = 4000
#: Of a law that is read from a file.
NONE = dict.fromkeys(("fast_latency_max", "slow_latency_min", "slow_latency_max", "latency_std"))


def network(n_users: int = 30, **changes: Any) -> NetworkSettings:
    values: dict[str, Any] = {
        "latency_floor": 0.05,
        "fast_latency_max": 0.2,
        "slow_latency_min": 0.7,
        "slow_latency_max": 0.9,
        "latency_std": 0.05,
    }
    return NetworkSettings(n_users=n_users, n_selected=1, **(values | changes))


@pytest.fixture(scope="module")
def drawn() -> Any:
    """Latencies (rounds, users) of the papers' 30 users."""
    law = network().make_latency()
    return np.array([law.sample(Streams(0), t) for t in range(1, N_ROUNDS + 1)])


@pytest.mark.parametrize(
    ("n_users", "expected"),
    [
        (1, [0.9]),  # an odd user out is slow
        (2, [0.2, 0.9]),
        (5, [0.125, 0.2, 0.7 + 0.2 / 3, 0.7 + 0.4 / 3, 0.9]),
        (30, [0.05 + i / 100 for i in range(1, 16)] + [0.7 + i / 75 for i in range(1, 16)]),
    ],
)
def test_means_are_those_of_the_paper(n_users: int, expected: list[float]) -> None:
    np.testing.assert_allclose(network(n_users).make_latency().means(), expected, rtol=0, atol=1e-15)


def test_no_latency_is_below_the_floor_and_the_floor_has_mass(drawn: Any) -> None:
    assert drawn.min() == 0.05
    at_floor = (drawn[:, 0] == 0.05).mean()
    expected = stats.norm.cdf(0.05, 0.06, 0.05)
    assert at_floor == pytest.approx(expected, abs=5 * math.sqrt(expected * (1 - expected) / N_ROUNDS))


def test_slow_users_are_normal_around_their_means(drawn: Any) -> None:
    standardised = (drawn[:, 15:] - network().make_latency().means()[15:]) / 0.05
    assert np.abs(standardised.mean(axis=0)).max() < 5 / math.sqrt(N_ROUNDS)
    assert np.abs(standardised.std(axis=0) - 1).max() < 5 / math.sqrt(2 * N_ROUNDS)
    assert stats.kstest(standardised.ravel(), "norm").pvalue > 1e-4


def test_users_and_rounds_are_independent(drawn: Any) -> None:
    correlation = np.corrcoef(np.hstack([drawn[1:, 15:], drawn[:-1, 15:]]).T)
    np.fill_diagonal(correlation, 0)
    assert np.abs(correlation).max() < 5.5 / math.sqrt(N_ROUNDS)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"n_users": 7},
        {"latency_std": 0.001},
        {"latency_std": 0.3},
        {"latency_floor": 0.2},
        {"latency_floor": 0.01, "latency_std": 0.02},
    ],
)
def test_expected_speeds_are_the_integral_of_the_law(changes: dict[str, Any]) -> None:
    settings = network(**changes)
    floor, std = settings.latency_floor, settings.latency_std
    for mean, speed in zip(
        settings.make_latency().means(), settings.make_latency().expected_speeds(), strict=True
    ):
        law = stats.norm(mean, std)
        low, high = max(floor, mean - 12 * std), mean + 12 * std
        above, _ = integrate.quad(
            lambda x, law=law: floor / x * law.pdf(x), low, high, epsabs=1e-13, epsrel=1e-13, limit=500
        )
        assert speed == pytest.approx(law.cdf(floor) + above, rel=0, abs=1e-9)


def test_lognormal_latencies_have_the_expectations_that_they_say() -> None:
    law = network(6, latency="lognormal", latency_std=None, latency_sigma=0.8).make_latency()
    drawn = np.array([law.sample(Streams(1), t) for t in range(1, 20_001)])
    np.testing.assert_allclose(np.median(drawn, axis=0), law.means(), rtol=0.04)
    np.testing.assert_allclose(drawn.mean(axis=0), law.expected_latencies(), rtol=0.03)
    np.testing.assert_allclose((0.05 / drawn).mean(axis=0), law.expected_speeds(), rtol=0.03)
    assert drawn.min() >= 0.05


def test_after_a_drift_the_slow_users_are_fast_and_there_is_no_genie() -> None:
    drifting = network(latency="drift", swap_round=9)
    law, paper = drifting.make_latency(), network().make_latency()
    np.testing.assert_array_equal(law.sample(Streams(0), 8), paper.sample(Streams(0), 8))
    after = np.mean([law.sample(Streams(0), t) for t in range(9, 400)], axis=0)
    assert after[15:].max() < 0.3 < 0.6 < after[:15].min()
    with pytest.raises(ConfigError, match="Drift has no expected speeds"):
        drifting.make_latency().expected_speeds()


def test_measured_latencies_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "measured.csv"
    file.write_text("user,mean,std\n1,0.9,0.1\n0,0.3,0.02\n", "utf-8")
    measured = network(2, latency="measured", latency_file=str(file), **NONE)
    np.testing.assert_array_equal(measured.make_latency().means(), [0.3, 0.9])
    drawn = np.array([measured.make_latency().sample(Streams(0), t) for t in range(1, 2001)])
    np.testing.assert_allclose(drawn.std(axis=0), [0.02, 0.1], rtol=0.1)
    np.testing.assert_allclose(drawn.mean(axis=0), measured.make_latency().expected_latencies(), rtol=0.02)

    file.write_text("user,round,seconds\n0,1,0.2\n1,1,0.01\n0,2,0.4\n1,2,0.5\n", "utf-8-sig")  # as of Excel
    trace = network(2, latency="trace", latency_file=str(file), **NONE)
    rounds = [trace.make_latency().sample(Streams(0), t).tolist() for t in (1, 2, 3)]
    assert rounds == [[0.2, 0.05], [0.4, 0.5], [0.2, 0.05]]  # 0.01 is below the floor
    np.testing.assert_allclose(trace.make_latency().expected_speeds(), [(0.25 + 0.125) / 2, (1 + 0.1) / 2])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("user,seconds\n0,1\n", "must have the columns user, round, seconds"),
        ("user,round,seconds\n0,1,fast\n", "line 2: seconds is 'fast', not a finite number"),
        ("user,round,seconds\n0,1,0,2\n1,1,0,3\n", "line 2 has more values than columns"),
        ("user,round,seconds\n0,1,1_0\n1,1,2\n", "line 2: seconds is '1_0'"),
        ("user,round,seconds\n0,1\n", "line 2: seconds is missing"),
        ("", "must have the columns user, round, seconds, and lacks user, round, seconds"),
        ("user,round,seconds\n0,1,0.2\n0,2,0.2\n", "no user 0 in round 2"),
        ("user,round,seconds\n0,1,0.2\n0,1,0.2\n", "needs one row for each of 2 users in each round"),
        ("user,round,seconds\n0,1,0.2\n1,1,0.2\n0,1,9\n", "needs one row for each of 2 users in each round"),
        ("user,round,seconds\n0,1,nan\n1,1,2\n", "is 'nan', not a finite"),
        ("user,round,seconds\n0,1,0.3\n1,1,-2\n", "user 1 in round 1 cannot take -2 s"),
        ("user,round,seconds\n0,1,0.3\n0.5,1,2\n", r"user 0\.5 in round 1 cannot"),
    ],
)
def test_a_trace_that_is_none_names_the_file(tmp_path: Path, text: str, words: str) -> None:
    (file := tmp_path / "trace.csv").write_text(text, "utf-8")
    with pytest.raises(DataError, match=words) as error:
        network(2, latency="trace", latency_file=str(file), **NONE).make_latency()
    assert str(file) in str(error.value)
    with pytest.raises(DataError, match=r"network\.latency_file: nowhere\.csv: no such file"):
        network(2, latency="trace", latency_file="nowhere.csv", **NONE).make_latency()
