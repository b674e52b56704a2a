"""Slow but obvious answers, and the problems on which the searches are compared with them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pausefl.bandit.history import Feedback, History
from pausefl.bandit.rewards import AverageReward
from pausefl.selectors import Selector
from pausefl.selectors.by_losses import Oort
from pausefl.selectors.search import Objective

Floats = NDArray[np.float64]
Chosen = tuple[int, ...]
INF = float("inf")
KINDS = ("r1", "r2", "convex", "one cluster", "all apart")


def problem(bound: Any, score: Any, m: int, cluster: Any = None, costs: Any = None) -> Objective:
    return Objective(
        np.array(bound, float),
        np.array(score, float),
        np.zeros(len(bound), np.int64) if cluster is None else np.array(cluster),
        np.zeros(m) if costs is None else np.array(costs, float),
    )


def worth(objective: Objective, users: Chosen) -> float:
    """Value of a selection, as defined."""
    bound, score = objective.bound.tolist(), objective.score.tolist()
    cluster = objective.cluster.tolist()
    met: list[int] = []
    total = 0.0
    for k in users:
        total += score[k] - float(objective.costs[met.count(cluster[k])])
        met.append(cluster[k])
    return min(bound[k] for k in users) + total


def maximisers(objective: Objective, users: Iterable[int] | None = None) -> set[Chosen]:
    """All best selections among ``users`` (everyone by default), by enumeration."""
    everyone = range(len(objective.bound)) if users is None else sorted(users)
    values = {s: worth(objective, s) for s in combinations(everyone, objective.n_selected)}
    best = max(values.values())
    return {s for s, value in values.items() if value == best}


def random_problem(rng: np.random.Generator, kind: str, most_users: int = 8) -> Objective:
    """Small, all values multiples of 1/8, so that sums are exact and equal values equal to the last bit.

    Fewer than m bounds are infinite. Often many values are the same.
    """
    n_users = int(rng.integers(1, most_users + 1))
    m = int(rng.integers(1, n_users + 1))
    spread = int(rng.choice([0, 1, 3, 12]))
    bound = rng.integers(-spread, spread + 1, n_users) / 8
    bound[rng.permutation(n_users)[: rng.integers(m)]] = INF
    score = rng.integers(-spread, int(rng.choice([0, spread])) + 1, n_users) / 8
    labels = rng.permutation(12)
    cluster = {
        "r1": np.zeros(n_users, np.int64),
        "one cluster": np.full(n_users, 3),
        "all apart": labels[:n_users],
    }.get(kind, rng.choice(labels[: rng.integers(1, 6)], n_users))
    costs = {
        "r1": np.zeros(m),
        "r2": np.where(np.arange(m) > 0, rng.integers(spread + 1) / 8, 0.0),
    }.get(kind, np.sort(rng.integers(-spread, spread + 1, m)) / 8)
    return Objective(bound, score, cluster, costs)


def solved_by_milp(objective: Objective) -> float:
    """Largest value, by HiGHS. The costs are convex, so the y of a cluster fill up in the right order.

    Maximise t + sum_k score_k x_k - sum_rj cost_j y_rj subject to sum x = m, sum of x over cluster r = sum of
    y_r, and t <= bound_k where x_k = 1.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import lil_array

    n_users, m, top = len(objective.bound), objective.n_selected, objective.bound.max()
    labels, cluster = np.unique(objective.cluster, return_inverse=True)
    t = n_users + len(labels) * m
    rows = lil_array((1 + len(labels) + n_users, t + 1))
    low, high = np.zeros(rows.shape[0]), np.zeros(rows.shape[0])
    rows[0, :n_users] = 1
    low[0] = high[0] = m
    for r in range(len(labels)):
        rows[1 + r, np.flatnonzero(cluster == r)] = 1
        rows[1 + r, n_users + r * m : n_users + (r + 1) * m] = -1
    for k in range(n_users):
        row = 1 + len(labels) + k
        rows[row, t], rows[row, k] = 1, top - objective.bound[k]
        low[row], high[row] = -np.inf, top
    upper = np.ones(t + 1)
    lower = np.zeros(t + 1)
    lower[t], upper[t] = -np.inf, top
    solution = milp(
        -np.concatenate([objective.score, -np.tile(objective.costs, len(labels)), [1.0]]),
        integrality=np.arange(t + 1) < n_users,
        bounds=Bounds(lower, upper),
        constraints=LinearConstraint(rows.tocsr(), low, high),
        options={"mip_rel_gap": 0.0},
    )
    assert solution.success
    return float(-solution.fun)


def random_history(
    rng: np.random.Generator, n_users: int = 9, m: int = 3, n_unseen: int = 0, n_clusters: int = 4
) -> History:
    """A history after some rounds; sizes, qualities and what was seen are generic, so nothing is tied."""
    size, quality = rng.integers(20_000, 90_000, n_users), rng.uniform(0.2, 1, n_users)
    history = History.empty(size, m, 0.05, quality, rng.integers(n_clusters, size=n_users))
    seen = rng.permutation(n_users)[n_unseen:]
    for _ in range(int(rng.integers(1, 12))):
        users = rng.permutation(seen)[: rng.integers(len(seen) + 1)]
        history.observe(Feedback(users, rng.uniform(0.05, 1, len(users)), rng.uniform(0, 1, n_users)))
    users = seen[history.participations[seen] == 0]
    history.observe(Feedback(users, rng.uniform(0.05, 1, len(users)), rng.uniform(0, 1, n_users)))
    return history


class Concave(AverageReward):
    """R1 with a discount for further users of a cluster: not convex."""

    def clusters(self, history: History) -> NDArray[np.int64]:
        return history.cluster

    def costs(self, n_selected: int) -> Floats:
        return np.where(np.arange(n_selected) > 0, -0.5, 3.0)


#: What the server saw of a round: who was available, who took part, and their latencies in seconds.
Round = tuple[list[int], list[int], list[float]]


def tifl_chances(
    past: list[Round],
    coming: list[int],
    n_users: int,
    m: int,
    n_tiers: int,
) -> list[float]:
    """Probability that TiFL selects each user in the coming round, in which ``coming`` are available."""
    times = [list[float]() for _ in range(n_users)]
    tiers: list[list[int]] = []
    final = False
    for available, users, latency in [*past, (coming, [], [])]:
        if not final:
            tiers = []
        if not tiers and all(times[k] for k in available):
            mean = {k: sum(one) / len(one) for k, one in enumerate(times) if one}
            places = {
                k: sum(other < own for other in mean.values()) * n_tiers // len(mean)
                for k, own in mean.items()
            }
            tiers = [[k for k, place in places.items() if place == i] for i in range(n_tiers)]
            final = len(mean) == n_users
        there = [[k for k in tier if k in available] for tier in tiers]
        full = [tier for tier in there if len(tier) >= m] or [coming]
        for k, seconds in zip(users, latency, strict=True):
            times[k].append(seconds)
    chances = [0.0] * n_users
    if not tiers:
        due = [k for k in coming if not times[k]]
        rest = [k for k in coming if k not in due]
        for group, places_left in ((due, m), (rest, m - len(due))):
            for k in group:
                chances[k] = max(0.0, min(1.0, places_left / len(group)))
        return chances
    for group in full:
        for k in group:
            chances[k] = m / len(group) / len(full)
    return chances


def assert_chances(select: Selector, history: History, chances: list[float], n_streams: int = 250) -> None:
    """Over many streams a selector takes m users in order, each as often as these chances say."""
    expected, n_users = n_streams * np.array(chances), len(history.available)
    assert sum(chances) == pytest.approx(history.n_selected)
    made = [select(history, np.random.default_rng([history.round, seed])) for seed in range(n_streams)]
    assert all(len(users) == history.n_selected and (np.diff(users) > 0).all() for users in made)
    counts = np.bincount(np.concatenate(made), minlength=n_users)
    assert not counts[expected < 1e-9].any()
    deviation = np.sqrt((expected * (1 - np.array(chances))).clip(0))
    assert (np.abs(counts - expected) <= 5 * deviation + 1e-6).all(), history.round


def fedcs_largest(candidates: list[int], expected: list[float], deadline: float) -> set[int]:
    """The largest subset of the candidates whose slowest user meets the deadline, by enumeration."""
    in_time = [
        subset
        for size in range(1, len(candidates) + 1)
        for subset in combinations(candidates, size)
        if max(expected[k] for k in subset) <= deadline
    ]
    return set(max(in_time, key=len)) if in_time else {min(candidates, key=lambda k: expected[k])}


#: A round with the losses that its users reported: users, latencies and losses.
Reports = tuple[list[int], list[float], list[float]]


def chances_of_draws(weights: dict[int, float], n: int) -> dict[tuple[int, ...], float]:
    """Probability of each sequence of n draws without replacement in proportion to weights."""
    found = {}
    for drawn in permutations(weights, n):
        probability, left = 1.0, sum(weights.values())
        for k in drawn:
            probability *= weights[k] / left
            left -= weights[k]
        found[drawn] = probability
    return found


def power_of_choice_chances(
    past: list[Reports], coming: list[int], sizes: list[int], m: int, n_candidates: int
) -> list[float]:
    """Probability that rpow-d selects each user in the coming round, ties shared equally."""
    loss = [INF] * len(sizes)
    for users, _, losses in past:
        for k, value in zip(users, losses, strict=True):
            loss[k] = value
    chances = [0.0] * len(sizes)
    draws = chances_of_draws({k: sizes[k] for k in coming}, min(n_candidates, len(coming)))
    for candidates, probability in draws.items():
        last = sorted((loss[k] for k in candidates), reverse=True)[m - 1]
        above = [k for k in candidates if loss[k] > last]
        tied = [k for k in candidates if loss[k] == last]
        for k in above:
            chances[k] += probability
        for k in tied:
            chances[k] += probability * (m - len(above)) / len(tied)
    return chances


def oort_chances(
    past: list[Reports], coming: list[int], sizes: list[int], m: int, settings: Oort, percentile: float
) -> list[float]:
    """Probability that the released Oort selects each user in the coming round, step by step."""
    last, duration = dict[int, int](), dict[int, float]()
    utility = {k: float(size) for k, size in enumerate(sizes)}
    history, step = [0.0], settings.pacer_step  # mean utility of whom the round before exploited
    share = settings.exploration_share
    for now in range(1, len(past) + 2):
        share = max(share * settings.exploration_decay, settings.exploration_least)
        if now % step == 0 and now >= 2 * step:
            before, lately = sum(history[-2 * step : -step]), sum(history[-step:])
            if abs(lately - before) <= before / 10:
                percentile = min(100, percentile + settings.pacer_delta)
            elif abs(lately - before) >= 5 * before:
                percentile = max(settings.pacer_delta, percentile - settings.pacer_delta)
        if now > len(past):
            break
        users, latency, losses = past[now - 1]
        exploited = [k for k in users if k in last]
        for k, seconds, loss in zip(users, latency, losses, strict=True):
            utility[k], duration[k], last[k] = sizes[k] * loss, seconds, now
        history.append(sum(utility[k] for k in exploited) / len(exploited) if exploited else 0.0)
    if len(last) == len(sizes):
        share = 0.0
    known, unknown = [k for k in coming if k in last], [k for k in coming if k not in last]
    n_known = min(int(m * (1 - share) + 1e-9), len(known))
    n_unknown = min(m - n_known, len(unknown))
    pool = sorted(unknown, key=lambda k: -sizes[k])[: int(settings.exploration_window * n_unknown)]
    ordered = sorted(utility[k] for k in coming if utility[k] > 0)
    clip = ordered[min(int(len(ordered) * settings.utility_clip), len(ordered) - 1)]
    least, most = 0.999 * ordered[0], ordered[-1]
    times = sorted(duration.values())
    preferred = INF
    if times and percentile < 100:
        preferred = times[min(int(len(times) * percentile / 100), len(times) - 1)]
    score = {}
    for k in known:
        score[k] = (min(max(utility[k], least), clip) - least) / max(most - least, 1e-4)
        score[k] += float(np.sqrt(settings.staleness_bonus * np.log(len(past) + 1) / last[k]))
        if duration[k] > preferred:
            score[k] *= (preferred / duration[k]) ** settings.straggler_penalty
    best = sorted(score.values(), reverse=True)
    cutoff = settings.utility_cutoff * best[min(n_known, len(best) - 1)] if best else 0.0
    admitted = {k: score[k] for k in known if score[k] >= cutoff}
    chances = [0.0] * len(sizes)
    for exploited, p in chances_of_draws(admitted, n_known).items():
        for explored, q in chances_of_draws({k: sizes[k] for k in pool}, n_unknown).items():
            rest = [k for k in coming if k not in (*exploited, *explored)]
            for k in (*exploited, *explored):
                chances[k] += p * q
            for k in rest:
                chances[k] += p * q * (m - n_known - n_unknown) / len(rest)
    return chances
