"""Random streams: fixed by (seed, purpose, user, round), and by nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from pausefl.streams import Streams

KEY: dict[str, Any] = {"seed": 3, "purpose": "noise", "user": 5, "round": 7}
keys = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**70),
        "purpose": st.sampled_from(["latency", "noise", "batches", "select/pause", "select/random"]),
        "user": st.integers(0, 10**6),
        "round": st.integers(0, 10**6),
    }
)


def draws(key: dict[str, Any]) -> list[int]:
    rng = Streams(key["seed"]).generator(key["purpose"], user=key["user"], round=key["round"])
    return [int(value) for value in rng.integers(2**63, size=4)]


@given(keys, keys)
@example(KEY, KEY | {"user": 7, "round": 5})
@example(KEY, KEY | {"seed": 3 + 2**32})
@example(KEY, KEY | {"round": 8})
def test_streams_coincide_exactly_when_their_keys_do(a: dict[str, Any], b: dict[str, Any]) -> None:
    assert (draws(a) == draws(b)) == (a == b)


def test_draws_do_not_depend_on_which_streams_were_made_or_used_before() -> None:
    streams = Streams(3)
    streams.generator("latency", round=7).random(100)
    streams.generator("noise", user=5, round=6).random(3)
    late = streams.generator("noise", user=5, round=7).random(4)
    np.testing.assert_array_equal(late, Streams(3).generator("noise", user=5, round=7).random(4))


def test_draws_are_the_same_in_another_process() -> None:
    code = (
        "from pausefl.streams import Streams; print(Streams(3).generator('noise', user=5, round=7).random())"
    )
    environment = os.environ | {"PYTHONHASHSEED": "12345"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert float(done.stdout) == Streams(3).generator("noise", user=5, round=7).random()


@pytest.mark.parametrize("part", ["seed", "user", "round"])
def test_first_draws_of_neighbouring_streams_are_uniform_and_uncorrelated(part: str) -> None:
    first = np.empty(1500)
    for i in range(len(first)):
        key = KEY | {part: i}
        rng = Streams(key["seed"]).generator(key["purpose"], user=key["user"], round=key["round"])
        first[i] = rng.random()
    assert stats.kstest(first, "uniform").pvalue > 1e-4
    assert stats.pearsonr(first[1:], first[:-1]).pvalue > 1e-4
