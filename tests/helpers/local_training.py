"""Rounds of local training, and whether two backends train alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pausefl.data.partition import Partition
from pausefl.training.engine import Trainer


def partition(sizes: list[int]) -> Partition:
    """Random shares of the first examples, of these sizes, without a validation set."""
    order = np.random.default_rng(9).permutation(sum(sizes))
    return Partition(tuple(np.split(order, np.cumsum(sizes)[:-1])), np.ones(len(sizes)), np.arange(0))


def train(made: Trainer, rounds: dict[int, list[int]]) -> list[Any]:
    """By round, each from another model: updates by user; losses, of all, by user, and squared by user."""
    found = []
    for t, users in rounds.items():
        noise = np.random.default_rng(t).random(len(made.initial)).astype(made.initial.dtype)
        locals_ = list(made.train(made.initial * (1 + noise / 10), np.array(users), t))
        rows = {
            int(u): row.copy() for each in locals_ for u, row in zip(each.users, each.updates, strict=True)
        }
        losses, squares = (
            {u: x for each in locals_ for u, x in zip(each.users.tolist(), getattr(each, name), strict=True)}
            for name in ("losses", "squared_losses")
        )
        total = sum(each.loss_sum for each in locals_)
        assert sum(losses.values()) == pytest.approx(total, rel=1e-5)
        found.append((rows, [total, *(each[user] for each in (losses, squares) for user in sorted(each))]))
    return found


def assert_same(found: list[Any], expected: list[Any], atol: float | NDArray[np.float64]) -> None:
    """The same updates of the same users, which are not all but 0, and the same losses.

    ``atol`` bounds the difference of every value of an update, or of each its own.
    """
    for (rows, loss), (expected_rows, expected_loss) in zip(found, expected, strict=True):
        assert rows.keys() == expected_rows.keys()
        for user, row in rows.items():
            np.testing.assert_array_less(np.abs(row - expected_rows[user]), atol)
            assert np.abs(row).max() > 1e4 * np.min(atol)
        assert loss == pytest.approx(expected_loss, rel=1e-10)


def assert_equal(found: list[Any], expected: list[Any]) -> None:
    """The same updates and losses, bit for bit."""
    for (rows, loss), (expected_rows, expected_loss) in zip(found, expected, strict=True):
        assert loss == expected_loss
        for user, row in rows.items():
            np.testing.assert_array_equal(row, expected_rows[user])
