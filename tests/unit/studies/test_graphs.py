"""The graphs listed are those of the definition."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from pausefl.selectors.graphs import CRITERIA, Swaps, sample_criteria
from pausefl.studies import graphs
from pausefl.studies.graphs import Graphs

Edges = set[frozenset[frozenset[int]]]


def listed(swaps: Swaps, criteria: list[np.ndarray]) -> Edges:
    """The edges as pairs of sets of users."""
    users = [frozenset(np.flatnonzero(row).tolist()) for row in swaps.member]
    kept = swaps.kept(criteria)
    return {frozenset((users[u], users[v])) for u, v in zip(swaps.u[kept], swaps.v[kept], strict=True)}


def reachable(n_users: int, m: int, criteria: list[np.ndarray]) -> Edges:
    """The edges as moves: a least member leaves for anyone (N1), or any for one who is then least (N2)."""
    edges = set()
    for members in map(frozenset, combinations(range(n_users), m)):
        for out in members:
            for entering in set(range(n_users)) - members:
                new = members - {out} | {entering}
                if any(
                    out == min(members, key=lambda k: values[k])
                    or entering == min(new, key=lambda k: values[k])
                    for values in criteria
                ):
                    edges.add(frozenset((members, new)))
    return edges


def test_two_of_four_users_by_hand() -> None:
    swaps, ucb = Swaps.of(4, 2), np.array([1.0, 2.0, 3.0, 4.0])
    pairs = {
        (u, v) for u, v in combinations(["01", "02", "03", "12", "13", "23"], 2) if len(set(u) & set(v)) == 1
    }
    assert len(pairs) == len(listed(swaps, [])) == 12
    # These share their slowest user, 0 or 1, so neither of the two who differ is least.
    dropped = {("01", "02"), ("01", "03"), ("02", "03"), ("12", "13")}
    expected = {frozenset(frozenset(map(int, s)) for s in pair) for pair in pairs - dropped}
    assert listed(swaps, [ucb]) == expected
    # By the reverse order they do differ in a least user.
    assert listed(swaps, [ucb, -ucb]) == {frozenset(frozenset(map(int, s)) for s in pair) for pair in pairs}


@pytest.mark.parametrize(("n_users", "m"), [(2, 1), (5, 1), (5, 2), (6, 3), (6, 5)])
def test_the_listing_is_that_of_the_moves(n_users: int, m: int) -> None:
    swaps = Swaps.of(n_users, m)
    for instance in range(5):
        sampled = sample_criteria(n_users, instance)
        for names in CRITERIA.values():
            if names:
                criteria = [sampled[name] for name in names]
                assert listed(swaps, criteria) == reachable(n_users, m, criteria)


@pytest.mark.parametrize(("n_users", "m"), [(2, 1), (7, 3), (8, 4)])
def test_degrees_follow_the_formulas(n_users: int, m: int) -> None:
    degrees = (
        Graphs(title="", n_users=n_users, n_selected=m, n_instances=20)
        .compute(print)["degrees.parquet"]
        .set_index("selector")
    )
    plain, one = degrees.loc["sa_bsfl"], degrees.loc["sa_pause"]
    n_swaps = m * (n_users - m)
    assert set(plain["degree_min"]) == set(plain["degree_max"]) == {n_swaps}
    assert one["degree_mean"].to_numpy() == pytest.approx(2 * n_swaps / (m + 1))
    for selector in ("alsa", "sa_pause_v1"):
        bound = graphs.mean_degree(selector, n_users, m)
        assert (degrees.loc[selector, "degree_mean"] <= bound + 1e-12).all()
        assert (degrees.loc[selector, "degree_mean"].to_numpy() >= one["degree_mean"].to_numpy()).all()
    assert (degrees["degree_min"] >= n_users - m).all()


def test_mean_degrees_by_hand() -> None:
    """5 of 12 users, 35 swaps: all of them, 2 / 6 for each criterion, and never more than all."""
    found = [graphs.mean_degree(selector, 12, 5) for selector in ("sa_bsfl", "sa_pause", "alsa")]
    assert found == pytest.approx([35, 70 / 6, 140 / 6])
    assert graphs.mean_degree("alsa", 5, 2) == 6


def test_energy_is_the_least_ucb_and_the_mean_g() -> None:
    energies = Swaps.of(3, 2).energies(np.array([3.0, 1.0, 2.0]), np.array([0.0, 4.0, 8.0]))
    assert energies.tolist() == [1 + 2, 2 + 4, 1 + 6]  # users 01, 02, 12


def test_diameter() -> None:
    def of(n: int, *edges: tuple[int, int]) -> float:
        u, v = np.array(edges).T
        return graphs.diameter(n, u, v)

    assert of(4, (0, 1), (1, 2), (2, 3)) == 3
    assert of(3, (0, 1), (1, 2), (0, 2)) == 1
    assert of(4, (0, 1), (2, 3)) == np.inf


def test_edges_kept_and_dropped_make_up_those_of_plain_annealing() -> None:
    degrees = (
        Graphs(title="", n_users=6, n_selected=3, n_instances=4)
        .compute(print)["degrees.parquet"]
        .set_index(["instance", "selector"])
    )
    for instance in range(4):
        plain, alsa = degrees.loc[(instance, "sa_bsfl")], degrees.loc[(instance, "alsa")]
        n_dropped = plain["n_edges"] - alsa["n_edges"]
        for column in ("low", "step"):
            total = alsa["n_edges"] * alsa[f"{column}_kept"] + n_dropped * alsa[f"{column}_dropped"]
            assert total == pytest.approx(plain["n_edges"] * plain[f"{column}_kept"])
        assert np.isnan(plain["low_dropped"])


def test_summary_counts_what_is_not_connected() -> None:
    degrees = Graphs(title="", n_users=5, n_selected=2, n_instances=4).compute(print)["degrees.parquet"]
    degrees.loc[degrees["instance"] == 0, "diameter"] = np.inf
    summary = graphs.summarise(degrees, 5, 2).set_index("selector")
    assert (summary["connected"] == 0.75).all()
    assert summary.loc["alsa", "degree_formula"] == 6
    assert summary.loc["sa_bsfl", ["n_edges", "degree_min", "degree_max"]].tolist() == [30, 6, 6]
    text = graphs.to_markdown(summary.reset_index(), 5, 2)
    (row,) = [line for line in text.splitlines() if line.startswith("| ALSA")]
    assert "ucb, g" in row
    assert "75.0" in row
    assert "4(K − m) = 12" in text
