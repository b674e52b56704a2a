"""Which examples are visited: each once an epoch, in a random order, within the limits of the scenario."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pausefl.settings import TrainingSettings
from pausefl.training.batches import plan_batches


def plan(n_examples: int, smallest: int = 1, seed: int = 0, **changes: Any) -> list[list[int]]:
    values = {"n_epochs": 1, "batch_size": 20, "max_batches": 10**6} | changes
    settings = TrainingSettings(n_rounds=1, learning_rate=0.01, optimizer_state="persist", **values)
    batches = plan_batches(n_examples, settings, smallest, np.random.default_rng(seed))
    return [batch.tolist() for batch in batches]


@given(st.integers(1, 200), st.integers(1, 30), st.integers(1, 3))
def test_every_epoch_visits_every_example_once(n_examples: int, batch_size: int, n_epochs: int) -> None:
    batches = plan(n_examples, batch_size=batch_size, n_epochs=n_epochs)
    assert Counter(chain.from_iterable(batches)) == Counter(dict.fromkeys(range(n_examples), n_epochs))
    n_full, left = divmod(n_examples, batch_size)
    assert [len(batch) for batch in batches] == ([batch_size] * n_full + [left] * bool(left)) * n_epochs


@given(st.integers(2, 200), st.integers(2, 30))
def test_a_last_batch_of_one_example_is_dropped_for_batch_normalisation(
    n_examples: int, batch_size: int
) -> None:
    batches = plan(n_examples, smallest=2, batch_size=batch_size)
    assert min(map(len, batches)) >= 2
    assert sum(map(len, batches)) == n_examples - (n_examples % batch_size == 1)


@given(st.integers(1, 200), st.integers(1, 30), st.integers(1, 8))
def test_no_more_batches_than_allowed(n_examples: int, batch_size: int, max_batches: int) -> None:
    batches = plan(n_examples, batch_size=batch_size, max_batches=max_batches)
    assert len(batches) == min(max_batches, -(-n_examples // batch_size))
    assert batches == plan(n_examples, batch_size=batch_size)[:max_batches]


def test_every_example_is_equally_likely_to_come_first() -> None:
    first = Counter(plan(10, seed=seed, batch_size=1)[0][0] for seed in range(2000))
    assert len(first) == 10
    assert stats.chisquare(list(first.values())).pvalue > 1e-4


@given(st.integers(1, 200), st.integers(1, 30), st.integers(1, 2))
def test_short_batches_can_be_skipped(n_examples: int, batch_size: int, smallest: int) -> None:
    """Only full ones are left, or the only one of an epoch if it has two examples."""
    batches = plan(n_examples, smallest, batch_size=batch_size, short_batches="skip")
    n_full = n_examples // batch_size
    alone = [n_examples] if n_full == 0 and n_examples > 1 else []
    assert [len(batch) for batch in batches] == [batch_size] * n_full + alone
    assert batches == plan(n_examples, batch_size=batch_size)[: len(batches)]


@pytest.mark.parametrize(
    ("n_examples", "n_steps"), [(1666, 83), (200, 10), (49, 2), (20, 1), (19, 1), (2, 1), (1, 0)]
)
def test_steps_of_the_authors_logs(n_examples: int, n_steps: int) -> None:
    """The first three are logged."""
    assert len(plan(n_examples, short_batches="skip", max_batches=100)) == n_steps
