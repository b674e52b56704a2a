"""The graphs that annealing walks on, listed from their definition (BSFL, eqs. 18, 19 and Fig. 3).

Vertices are the selections of m of K users. Plain annealing joins those that differ in one user, m (K - m) to
each. The thinner graphs keep an edge if the user who leaves is least of the one selection, or the user who
enters least of the other, by some criterion (BSFL, eq. 19; PAUSE v2, Section IV-A; v1, Algorithm 2). The
annealers sample from these graphs without listing them; here every edge is tried.

Criteria are sampled: independent and uniform on [0, 1], for every user and criterion. Degrees depend only on
the order of the users by each criterion, so any continuous law gives the same. Energies, which place the
vertices in the figure, are min ucb + mean g (BSFL, eq. 17, with alpha = 1).

Mean degree. An outsider ranks below all m members of a random selection with probability 1 / (m + 1), so a
vertex has on average (K - m) / (m + 1) outsiders below its least member. The least member may leave for any
of the K - m outsiders, each of the other m - 1 for one of those below. In sum, the mean degree is
2 m (K - m) / (m + 1) by one criterion, whatever its values, and at most L times that by L of them. BSFL
bounds it by 4 (K - m) for L = 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.results import markdown
from pausefl.selectors.annealing import Alsa, SaBsfl, SaPause, SaPauseV1
from pausefl.settings.studies import Graphs
from pausefl.streams import Streams

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_WALKERS = (("sa_bsfl", SaBsfl), ("alsa", Alsa), ("sa_pause", SaPause), ("sa_pause_v1", SaPauseV1))

#: The criteria by which one of the two users must be least, by the selector that walks on the graph.
CRITERIA = {name: walker.graph for name, walker in _WALKERS}


@dataclass(frozen=True)
class Swaps:
    """All pairs of selections that differ in one user: the edges of plain annealing.

    Attributes
    ----------
    member
        (N, K) whether a user is in a selection.
    u, v
        (E,) the two selections of a pair, u < v.
    only_u, only_v
        (E,) the user of u who is not in v, and the one of v who is not in u.
    """

    member: Bools
    u: Indices
    v: Indices
    only_u: Indices
    only_v: Indices

    @classmethod
    def of(cls, n_users: int, n_selected: int) -> Swaps:
        """List them. Needs 4 N^2 bytes for N selections: 0.7 GB for 8 of 16 users."""
        selections = np.array(list(combinations(range(n_users), n_selected)))
        member = np.zeros((len(selections), n_users), np.bool_)
        np.put_along_axis(member, selections, True, axis=1)
        in_common = member.astype(np.float32) @ member.T.astype(np.float32)
        u, v = np.nonzero(np.triu(in_common == n_selected - 1))
        only_u, only_v = (member[u] & ~member[v]).argmax(axis=1), (member[v] & ~member[u]).argmax(axis=1)
        return cls(member, u, v, only_u, only_v)

    def kept(self, criteria: Sequence[Floats]) -> Bools:
        """Which edges (E,) have a user who is least of its selection by one of the criteria (K,) each."""
        if not criteria:
            return np.ones(len(self.u), np.bool_)
        kept = np.zeros(len(self.u), np.bool_)
        for values in criteria:
            least = np.where(self.member, values, np.inf).argmin(axis=1)
            kept |= (least[self.u] == self.only_u) | (least[self.v] == self.only_v)
        return kept

    def energies(self, ucb: Floats, g: Floats) -> Floats:
        """Min ucb + mean g of every selection (N,)."""
        n_selected = self.member[0].sum()
        return np.asarray(np.where(self.member, ucb, np.inf).min(axis=1) + self.member @ g / n_selected)


def sample_criteria(n_users: int, instance: int) -> dict[str, Floats]:
    """The criteria (K,) of an instance."""
    rng = Streams(instance).generator("graph")
    return {name: rng.random(n_users) for name in ("ucb", "g", "p")}


def diameter(n_vertices: int, u: Indices, v: Indices) -> float:
    """Most steps on a shortest path between two vertices; infinite if the graph is not connected.

    Parameters
    ----------
    n_vertices
        N; the vertices are 0 .. N - 1.
    u, v
        (E,) the ends of the edges.
    """
    joined = np.eye(n_vertices, dtype=np.float32)
    joined[u, v] = joined[v, u] = 1
    steps, reached = 1, joined > 0
    while not reached.all():
        further = reached.astype(np.float32) @ joined > 0
        if (further == reached).all():
            return np.inf
        steps, reached = steps + 1, further
    return float(steps)


def run(study: Graphs) -> pd.DataFrame:
    """List the graphs of every instance.

    Returns
    -------
    pandas.DataFrame
        One row for each ``instance`` and ``selector``: ``n_edges``; ``degree_mean``, ``degree_min`` and
        ``degree_max`` over the vertices; ``diameter``; and of the edges kept, and of those of plain annealing
        that are dropped (NaN where there are none), ``low_kept`` and ``low_dropped``, the share with both
        ends below the median energy, and ``step_kept`` and ``step_dropped``, the mean difference in energy.
    """
    swaps = Swaps.of(study.n_users, study.n_selected)
    n_vertices, rows = len(swaps.member), []
    for instance in range(study.n_instances):
        criteria = sample_criteria(study.n_users, instance)
        energy = swaps.energies(criteria["ucb"], criteria["g"])
        is_low = np.maximum(energy[swaps.u], energy[swaps.v]) < np.median(energy)
        step = np.abs(energy[swaps.u] - energy[swaps.v])
        for selector, names in CRITERIA.items():
            kept = swaps.kept([criteria[name] for name in names])
            u, v = swaps.u[kept], swaps.v[kept]
            degree = np.bincount(np.concatenate([u, v]), minlength=n_vertices)
            rows.append(
                {
                    "instance": instance,
                    "selector": selector,
                    "n_edges": len(u),
                    "degree_mean": degree.mean(),
                    "degree_min": degree.min(),
                    "degree_max": degree.max(),
                    "diameter": diameter(n_vertices, u, v),
                    "low_kept": _mean(is_low[kept]),
                    "low_dropped": _mean(is_low[~kept]),
                    "step_kept": _mean(step[kept]),
                    "step_dropped": _mean(step[~kept]),
                }
            )
    return pd.DataFrame(rows)


def first(study: Graphs) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The graphs of the first instance: its vertices (``users``, separated by spaces; ``energy``) and edges.

    An edge is a row of ``selector``, ``u`` and ``v``, the numbers of two vertices.
    """
    swaps, criteria = Swaps.of(study.n_users, study.n_selected), sample_criteria(study.n_users, 0)
    users = [" ".join(map(str, np.flatnonzero(row))) for row in swaps.member]
    vertices = pd.DataFrame({"users": users, "energy": swaps.energies(criteria["ucb"], criteria["g"])})
    edges = []
    for selector, names in CRITERIA.items():
        kept = swaps.kept([criteria[name] for name in names])
        edges.append(pd.DataFrame({"selector": selector, "u": swaps.u[kept], "v": swaps.v[kept]}))
    return vertices, pd.concat(edges, ignore_index=True)


def compute(study: Graphs, note: Callable[[str], None]) -> dict[str, pd.DataFrame]:
    """Tables ``degrees`` of all instances (`run`), ``vertices`` and ``edges`` of the first (`first`)."""
    vertices, edges = first(study)
    return {"degrees": run(study), "vertices": vertices, "edges": edges}


def _mean(values: Bools | Floats) -> float:
    """Mean, or NaN of no values."""
    return float(values.mean()) if values.size else np.nan


def mean_degree(selector: str, n_users: int, n_selected: int) -> float:
    """The mean degree with one criterion or none; its upper bound with several (see the module)."""
    n_criteria, n_swaps = len(CRITERIA[selector]), n_selected * (n_users - n_selected)
    return min(n_swaps, 2 * n_criteria * n_swaps / (n_selected + 1)) if n_criteria else n_swaps


def summarise(degrees: pd.DataFrame, n_users: int, n_selected: int) -> pd.DataFrame:
    """One row a selector.

    Parameters
    ----------
    degrees
        As `run` returns them.
    n_users, n_selected
        K and m.

    Returns
    -------
    pandas.DataFrame
        ``selector``, ``criteria``, ``n_instances``; over all instances ``n_edges`` and ``degree`` (means),
        with ``_min`` and ``_max``; ``degree_formula``, the `mean_degree`; ``connected``, the share of
        connected graphs; ``diameter_min``, ``diameter_max``; means of the columns on edges kept and dropped.
    """
    rows = []
    for selector, graphs in degrees.groupby("selector", sort=False):
        row = {
            "selector": selector,
            "criteria": ", ".join(CRITERIA[str(selector)]),
            "n_instances": len(graphs),
            "n_edges": graphs["n_edges"].mean(),
            "n_edges_min": graphs["n_edges"].min(),
            "n_edges_max": graphs["n_edges"].max(),
            "degree": graphs["degree_mean"].mean(),
            "degree_min": graphs["degree_min"].min(),
            "degree_max": graphs["degree_max"].max(),
            "degree_formula": mean_degree(str(selector), n_users, n_selected),
            "connected": np.isfinite(graphs["diameter"]).mean(),
            "diameter_min": graphs["diameter"].min(),
            "diameter_max": graphs["diameter"].max(),
        }
        of_edges = ["low_kept", "low_dropped", "step_kept", "step_dropped"]
        rows.append(row | graphs[of_edges].mean().to_dict())
    return pd.DataFrame(rows)


def to_markdown(table: pd.DataFrame, n_users: int, n_selected: int, labels: Mapping[str, str]) -> str:
    """The table of `summarise` in Markdown, with a note; ``labels`` name the selectors."""
    cells = [
        {
            "Graph": labels[row["selector"]],
            "Criteria": row["criteria"] or "none",
            "Edges": f"{row['n_edges']:.1f}",
            "Degree": f"{row['degree']:.2f}",
            "Degree, range": f"{row['degree_min']:.0f} to {row['degree_max']:.0f}",
            "Degree by formula": ("≤ " if "," in row["criteria"] else "") + f"{row['degree_formula']:.2f}",
            "Connected (%)": f"{100 * row['connected']:.1f}",
            "Diameter": f"{row['diameter_min']:.0f} to {row['diameter_max']:.0f}",
            "Low: kept (%)": _percent(row["low_kept"]),
            "Low: dropped (%)": _percent(row["low_dropped"]),
            "Step: kept": f"{row['step_kept']:.3f}",
            "Step: dropped": "–" if np.isnan(row["step_dropped"]) else f"{row['step_dropped']:.3f}",
        }
        for row in table.to_dict("records")
    ]
    note = (
        f"Means over {table['n_instances'].iloc[0]:,} instances of K = {n_users} and m = {n_selected}, ranges"
        " over all their vertices. By formula, the mean degree is m(K − m) without a criterion and"
        " 2m(K − m)/(m + 1) with one, and at most L times that with L. BSFL bounds that of ALSA by"
        f" 4(K − m) = {4 * (n_users - n_selected)}. Low are edges both of whose ends have less than the"
        " median energy; a step is the difference in energy along an edge. Dropped are the edges that only"
        " plain annealing has."
    )
    rows = markdown.of_records(cells, "ll" + 10 * "r")
    return f"{rows}\n{note}\n"


def _percent(share: float) -> str:
    return "–" if np.isnan(share) else f"{100 * share:.1f}"
