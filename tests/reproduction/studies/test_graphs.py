"""The graphs listed are those of the definition, with the degrees of the formulas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from neighbourhoods import graph

from pausefl.reproduction.searches.swap_graphs import CRITERIA, Swaps, sample_criteria
from pausefl.reproduction.studies import graphs
from pausefl.reproduction.studies.graphs import Graphs


@pytest.mark.parametrize(("n_users", "m"), [(2, 1), (4, 2), (5, 1), (5, 2), (6, 3), (6, 5)])
def test_the_listing_is_that_of_the_moves(n_users: int, m: int) -> None:
    """Of a walk: a least member leaves for anyone, or any member for one who is then least."""
    swaps = Swaps.of(n_users, m)
    users = [frozenset(np.flatnonzero(row).tolist()) for row in swaps.member]
    for instance in range(5):
        sampled = sample_criteria(n_users, instance)
        for names in CRITERIA.values():
            criteria = [sampled[name] for name in names]
            moves = graph(n_users, m, [np.argsort(values).tolist() for values in criteria])
            kept = swaps.kept(criteria)
            ends = zip(swaps.u[kept], swaps.v[kept], strict=True)
            listed = [frozenset((users[u], users[v])) for u, v in ends]
            assert len(set(listed)) == len(listed)
            assert set(listed) == {frozenset((one, two)) for one, others in moves.items() for two in others}


def degrees_of(n_users: int, m: int, n_instances: int) -> pd.DataFrame:
    study = Graphs(title="", n_users=n_users, n_selected=m, n_instances=n_instances)
    return study.compute(print)["degrees.parquet"].set_index("selector")


@pytest.mark.parametrize(("n_users", "m"), [(2, 1), (7, 3), (8, 4)])
def test_degrees_follow_the_formulas(n_users: int, m: int) -> None:
    degrees = degrees_of(n_users, m, 20)
    plain, one = degrees.loc["sa_bsfl"], degrees.loc["sa_pause"]
    n_swaps = m * (n_users - m)
    assert set(plain["degree_min"]) == set(plain["degree_max"]) == {n_swaps}
    assert one["degree_mean"].to_numpy() == pytest.approx(2 * n_swaps / (m + 1))
    for selector in ("alsa", "sa_pause_v1"):
        bound = graphs.mean_degree(selector, n_users, m)
        assert (degrees.loc[selector, "degree_mean"] <= bound + 1e-12).all()
        assert (degrees.loc[selector, "degree_mean"].to_numpy() >= one["degree_mean"].to_numpy()).all()
    assert (degrees["degree_min"] >= n_users - m).all()
