"""Clustered sampling: bins hold what the paper's algorithms put into them, and draws follow the bins."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from pausefl.bandit.history import Feedback, History
from pausefl.selectors.clustered import (
    ClusteredBySimilarity,
    Pieces,
    pour_by_similarity,
    pour_by_size,
    sample_from_bins,
)
from pausefl.settings import Scenario

Floats = NDArray[np.float64]
Users = NDArray[np.int64]


def matrix(pieces: Pieces, m: int, n_users: int) -> Users:
    """Units of each user in each bin, (m, n), by walking along the line."""
    capacity = int(pieces[1].sum()) // m
    units = np.zeros((m, n_users), np.int64)
    start = 0
    for user, amount in zip(*(p.tolist() for p in pieces), strict=True):
        end = start + amount
        for i in range(m):
            units[i, user] += max(0, min(end, (i + 1) * capacity) - max(start, i * capacity))
        start = end
    assert units.sum() == pieces[1].sum() == m * capacity
    return units


def pour(amounts: list[tuple[int, int]], room: list[int], n_users: int) -> Users:
    """Amounts poured one after another into bins with some room left, (bins, n)."""
    units, room, i = np.zeros((len(room), n_users), np.int64), list(room), 0
    for user, amount in amounts:
        while amount > 0:
            if room[i] == 0:
                i += 1
                continue
            poured = min(amount, room[i])
            units[i, user] += poured
            room[i] -= poured
            amount -= poured
    return units


def symmetric(values: Floats) -> Floats:
    upper = np.triu(values, 1)
    return upper + upper.T


def random_angles(rng: np.random.Generator, n_users: int, kind: str) -> Floats:
    if kind == "none seen":
        return np.zeros((n_users, n_users))
    if kind == "right angles":
        return symmetric(np.full((n_users, n_users), np.pi / 2))
    if kind == "some unseen":
        angles = random_angles(rng, n_users, "generic")
        unseen = rng.random(n_users) < 0.4
        angles[unseen] = angles[:, unseen] = 0.0
        return angles
    return symmetric(rng.uniform(0.1, np.pi, (n_users, n_users)))


ANGLES = ("none seen", "right angles", "some unseen", "generic")


@st.composite
def shares(draw: st.DrawFn) -> tuple[list[int], int]:
    """Sizes of the users' data and how many bins there are."""
    n_users = draw(st.integers(1, 12))
    largest = draw(st.sampled_from([1, 3, 1000, 10**12]))
    sizes = draw(st.lists(st.integers(1, largest), min_size=n_users, max_size=n_users))
    if draw(st.booleans()):
        sizes[0] = draw(st.integers(1, 20 * largest))
    return sizes, draw(st.integers(1, n_users))


@given(shares(), st.sampled_from(ANGLES), st.integers(0, 1000))
@example(([7], 1), "none seen", 0)
@example(([5, 5, 5, 5], 4), "generic", 0)
@example(([5, 5, 5, 5], 2), "none seen", 0)
@example(([1, 1, 10**12], 3), "right angles", 0)
@example(([1, 2, 3, 4], 1), "generic", 0)
@settings(max_examples=300)
def test_every_bin_is_full_and_every_user_has_its_share(drawn: Any, kind: str, seed: int) -> None:
    (sizes, m), rng = drawn, np.random.default_rng(seed)
    size, n_users = np.array(sizes), len(sizes)
    similar = pour_by_similarity(size, random_angles(rng, n_users, kind), m, rng)
    for pieces in (pour_by_size(size, m, rng), similar):
        units = matrix(pieces, m, n_users)
        np.testing.assert_array_equal(units.sum(axis=1), np.full(m, sum(sizes)))
        np.testing.assert_array_equal(units.sum(axis=0), m * size)
    alone = (units == sum(sizes)).sum(axis=0)  # the bins that a user fills alone are as many as can be
    assert (alone >= m * size // sum(sizes)).all()


def nested_by_scipy(Z: Floats, n_points: int) -> Any:
    trees: list[Any] = list(range(n_points))
    for a, b, *_ in Z:
        trees.append((trees[int(a)], trees[int(b)]))
    return trees[-1]


def leaves(tree: Any) -> list[int]:
    return leaves(tree[0]) + leaves(tree[1]) if isinstance(tree, tuple) else [tree]


def slow_cut(tree: Any, weight: Any, capacity: int) -> list[list[int]]:
    """The largest subtrees that weigh no more than the capacity, and heavier points."""
    if not isinstance(tree, tuple) or sum(int(weight[k]) for k in leaves(tree)) <= capacity:
        return [leaves(tree)]
    return slow_cut(tree[0], weight, capacity) + slow_cut(tree[1], weight, capacity)


def test_by_size_users_of_equal_size_are_poured_by_index_if_asked(demo: Scenario) -> None:
    """Bins of two users, and of three users in falling order of size: 2, then 0, 1, 3, 4 and 5 tied."""
    by_index = demo.replace(selection=demo.selection.replace(size_ties="index")).make_selector(
        "clustered_size"
    )
    for sizes, bins in (
        ([10] * 6, [{0, 1}, {2, 3}, {4, 5}]),
        ([10, 10, 20, 10, 10, 10], [{2, 0}, {0, 1, 3}, {3, 4, 5}]),
    ):
        m = 3
        units = matrix(pour_by_size(np.array(sizes), m, None), m, 6)
        assert [set(np.flatnonzero(one).tolist()) for one in units] == bins
        history, rng = History.empty(np.array(sizes), m, 0.05), np.random.default_rng(3)
        random = demo.make_selector("clustered_size")
        made = {
            select: {tuple(select(history, rng).tolist()) for _ in range(300)}
            for select in (by_index, random)
        }
        possible = {tuple(sorted(drawn)) for drawn in product(*bins)}
        assert made[by_index] <= possible
        assert not made[random] <= possible


@pytest.mark.parametrize("largest", [500, 10**6])
@pytest.mark.parametrize("heavy", [0, 1, 2])
def test_by_similarity_bins_are_those_of_a_slow_algorithm_2(largest: int, heavy: int) -> None:
    rng, splits, compared = np.random.default_rng([largest, heavy]), 0, 0
    for _ in range(150):
        n_users = int(rng.integers(3, 15))
        m = int(rng.integers(1, n_users + 1))
        sizes = rng.integers(largest // 2, largest, n_users)
        sizes[:heavy] *= int(rng.integers(2, 9))
        angles, capacity = random_angles(rng, n_users, "generic"), int(sizes.sum())
        units = matrix(pour_by_similarity(sizes, angles, m, rng), m, n_users)

        alone = [m * int(size) // capacity for size in sizes]
        rest = [m * int(size) % capacity for size in sizes]
        n_bins = m - sum(alone)
        for i, k in enumerate(np.repeat(np.arange(n_users), alone)):
            assert units[i, k] == capacity
        tree = nested_by_scipy(linkage(squareform(angles), "ward"), n_users)
        clusters = slow_cut(tree, rest, capacity)
        weights = [sum(rest[k] for k in cluster) for cluster in clusters]
        if len(set(weights)) < len(weights):
            continue  # any of those that weigh the same may be a core
        compared += 1
        order = sorted(range(len(clusters)), key=lambda c: -weights[c])
        cores, others = order[:n_bins], order[n_bins:]
        expected = pour(
            [(c, weights[c]) for c in reversed(others)],
            [capacity - weights[c] for c in cores],
            len(clusters),
        )
        for i, c in enumerate(cores):
            expected[i, c] += weights[c]
        made = np.stack([units[sum(alone) :, cluster].sum(axis=1) for cluster in clusters], axis=1)
        np.testing.assert_array_equal(made, expected)
        splits += int(((units > 0).sum(axis=0) > 1).any())
    assert compared > 75
    assert splits > 40


@pytest.mark.parametrize(
    ("user", "units", "m"),
    [
        ([0, 1, 2], [3, 5, 4], 3),
        ([2, 0, 1, 0], [6, 0, 3, 3], 2),
        ([0, 1, 0, 2, 1], [0, 7, 1, 8, 4], 4),
        ([0], [5], 1),
    ],
)
def test_one_user_is_drawn_from_each_bin_as_often_as_it_has_units_in_it(
    user: list[int], units: list[int], m: int
) -> None:
    pieces, rng = (np.array(user), np.array(units)), np.random.default_rng(2)
    inside = matrix(pieces, m, 3)
    made = np.array([sample_from_bins(pieces, m, rng) for _ in range(3000)])
    assert made.shape == (3000, m)
    for drawn, row in zip(made.T, inside, strict=True):
        found = np.bincount(drawn, minlength=3)
        assert (found[row == 0] == 0).all()
        if (row > 0).sum() > 1:
            expected = 3000 * row[row > 0] / row.sum()
            assert stats.chisquare(found[row > 0], expected).pvalue > 1e-4


def true_angles(updates: Floats) -> Floats:
    """By definition; at angle 0 to everything if zero or not finite."""
    n_users = len(updates)
    angles = np.zeros((n_users, n_users))
    usable = [k for k in range(n_users) if np.isfinite(updates[k]).all() and updates[k].any()]
    for i, k in combinations(usable, 2):
        cosine = updates[i] @ updates[k] / np.sqrt((updates[i] @ updates[i]) * (updates[k] @ updates[k]))
        angles[i, k] = angles[k, i] = np.arccos(np.clip(cosine, -1, 1))
    return angles


@pytest.mark.parametrize("seed", range(5))
def test_angles_are_those_between_the_last_updates_whether_or_not_these_can_be_used(seed: int) -> None:
    rng, n_users, dimension = np.random.default_rng(seed), 7, 6
    select, history = ClusteredBySimilarity(), History.empty(np.full(n_users, 10), 3, 0.05)
    last = np.zeros((n_users, dimension))
    for t in range(12):
        users = rng.permutation(n_users)[: rng.integers(1, n_users)]
        updates = (rng.normal(size=(len(users), dimension)) * 10.0 ** rng.integers(-9, 9)).astype(np.float32)
        if t > 4:
            updates[0] = [0.0, np.nan, np.inf, -np.inf, 0.0][t % 5]
            updates[0, 1:] = rng.choice([0.0, updates[0, 0]], dimension - 1)
        last[users] = updates
        select.observe(Feedback(users, np.ones(len(users)), np.ones(n_users), updates), history)
        asked = rng.permutation(n_users)[: rng.integers(2, n_users + 1)]
        assert np.isfinite(select.direction).all()
        expected = true_angles(last)[np.ix_(asked, asked)]
        np.testing.assert_allclose(select.angle(asked), expected, atol=1e-5)
    assert true_angles(last).any()
    # What is kept round by round is what all updates together give.
    np.testing.assert_allclose(select.cosine, select.direction @ select.direction.T, atol=1e-6)
    length = np.linalg.norm(select.direction, axis=1)
    np.testing.assert_allclose(length, np.where(true_angles(last).any(axis=1), 1.0, 0.0), atol=1e-6)
