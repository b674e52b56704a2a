"""Degrees of the graphs that annealing walks on (BSFL, eqs. 18, 19 and Fig. 3).

Mean degree. An outsider ranks below all m members of a random selection with probability 1 / (m + 1), so a
vertex has on average (K - m) / (m + 1) outsiders below its least member. The least member may leave for any
of the K - m outsiders, each of the other m - 1 for one of those below. In sum, the mean degree is
2 m (K - m) / (m + 1) by one criterion, whatever its values, and at most L times that by L of them.
"""

from __future__ import annotations

from typing import Annotated, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import model_validator

from pausefl.analysis.figures.panels import Plotted, new_panels
from pausefl.reproduction.studies.base import Note, Study, Tables
from pausefl.schema.types import Count, Whole
from pausefl.selectors import look_of

Indices = NDArray[np.int64]


class Graphs(Study):
    """Degrees of the graphs that annealing walks on (BSFL, Fig. 3)."""

    label = "the graphs that annealing walks on"

    n_users: Annotated[int, Whole(ge=2, le=12)]
    """Number of users; every selection is a vertex."""
    n_selected: Count
    """Users in a selection."""
    n_instances: Count
    """Instances over which degrees are averaged; the first is plotted."""

    @model_validator(mode="after")
    def _selections_have_neighbours(self) -> Self:
        if self.n_selected >= self.n_users:
            raise ValueError(
                f"n_selected = {self.n_selected} must be less than n_users = {self.n_users}:"
                " the only selection has no neighbour"
            )
        return self

    def compute(self, note: Note) -> Tables:
        """List the graphs of every instance.

        ``degrees``, one row for each ``instance`` and ``selector``: ``n_edges``; ``degree_mean``,
        ``degree_min`` and ``degree_max`` over the vertices; ``diameter``; and of the edges kept, and of those
        of plain annealing that are dropped (NaN where there are none), ``low_kept`` and ``low_dropped``, the
        share with both ends below the median energy, and ``step_kept`` and ``step_dropped``, the mean
        difference in energy. Of the first instance, ``vertices`` (``users``, separated by spaces;
        ``energy``), and ``edges`` (``selector``, ``u`` and ``v``, the numbers of two vertices).
        """
        from pausefl.reproduction.searches.swap_graphs import CRITERIA, Swaps, sample_criteria

        swaps = Swaps.of(self.n_users, self.n_selected)
        users = [" ".join(map(str, np.flatnonzero(row))) for row in swaps.member]
        rows, edges = [], []
        for instance in range(self.n_instances):
            criteria = sample_criteria(self.n_users, instance)
            energy = swaps.energies(criteria["ucb"], criteria["g"])
            if instance == 0:
                vertices = pd.DataFrame({"users": users, "energy": energy})
            is_low = np.maximum(energy[swaps.u], energy[swaps.v]) < np.median(energy)
            step = np.abs(energy[swaps.u] - energy[swaps.v])
            for selector, names in CRITERIA.items():
                kept = swaps.kept([criteria[name] for name in names])
                u, v = swaps.u[kept], swaps.v[kept]
                if instance == 0:
                    edges.append(pd.DataFrame({"selector": selector, "u": u, "v": v}))
                degree = np.bincount(np.concatenate([u, v]), minlength=len(users))
                row = {"instance": instance, "selector": selector, "n_edges": len(u)}
                row |= {"degree_mean": degree.mean(), "degree_min": degree.min(), "degree_max": degree.max()}
                row["diameter"] = diameter(len(users), u, v)
                for name, values in (("low", is_low), ("step", step)):
                    for which, there in (("kept", values[kept]), ("dropped", values[~kept])):
                        row[f"{name}_{which}"] = float(there.mean()) if there.size else np.nan
                rows.append(row)
        return {
            "degrees.parquet": pd.DataFrame(rows),
            "vertices.parquet": vertices,
            "edges.parquet": pd.concat(edges, ignore_index=True),
        }

    def plot(self, tables: Tables) -> Plotted:
        """How many selections have how many neighbours in the first instance; ``summary.csv`` of all."""
        edges, n_vertices = tables["edges.parquet"], len(tables["vertices.parquet"])
        counts = {
            selector: np.bincount(own[["u", "v"]].to_numpy().ravel(), minlength=n_vertices)
            for selector, own in edges.groupby("selector", sort=False)
        }
        figure, (panels,) = new_panels((1, len(counts)), 2.1, sharex=True, sharey=True)
        for axes, (selector, degrees) in zip(panels, counts.items(), strict=True):
            values, n_selections = np.unique(degrees, return_counts=True)
            axes.bar(values, n_selections, color=look_of(str(selector)).color, width=0.9)
            axes.axvline(degrees.mean(), color="black", linewidth=0.8, linestyle="--", label="Mean")
            axes.set_title(f"{look_of(str(selector)).label}:\n{degrees.sum() // 2} edges")
            axes.set_xlabel("Neighbours of a selection")
            axes.grid(visible=False, axis="x")
        panels[0].set(ylabel="Selections", xlim=(0, None))
        figure.legend(handles=panels[0].lines, loc="outside lower center")
        summary = summarise(tables["degrees.parquet"], self.n_users, self.n_selected)
        return Plotted(figure, {"summary.csv": summary})


def diameter(n_vertices: int, u: Indices, v: Indices) -> float:
    """Most steps on a shortest path between two vertices; infinite if the graph is not connected.

    Vertices are 0 .. N - 1; ``u`` and ``v`` (E,) are the ends of the edges.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    edges = csr_array((np.ones(len(u)), (u, v)), (n_vertices, n_vertices))
    return float(shortest_path(edges, directed=False, unweighted=True).max())


def mean_degree(selector: str, n_users: int, n_selected: int) -> float:
    """The mean degree with one criterion or none; its upper bound with several (see the module)."""
    from pausefl.reproduction.searches.swap_graphs import CRITERIA

    n_criteria, n_swaps = len(CRITERIA[selector]), n_selected * (n_users - n_selected)
    return min(n_swaps, 2 * n_criteria * n_swaps / (n_selected + 1)) if n_criteria else n_swaps


def summarise(degrees: pd.DataFrame, n_users: int, n_selected: int) -> pd.DataFrame:
    """One row a selector, of graphs of m of K users.

    ``selector``, ``criteria``, ``n_instances``; over all instances ``n_edges`` and ``degree`` (means), with
    ``_min`` and ``_max``; ``degree_formula``, the `mean_degree`; ``connected``, the share of connected
    graphs; ``diameter_min``, ``diameter_max``; means of the columns on edges kept and dropped.
    """
    from pausefl.reproduction.searches.swap_graphs import CRITERIA

    degrees = degrees.assign(connected=np.isfinite(degrees["diameter"]))
    graphs = degrees.groupby("selector", sort=False)
    columns = {
        "n_instances": ("instance", "size"),
        **{
            f"n_edges{end}": ("n_edges", how) for end, how in (("", "mean"), ("_min", "min"), ("_max", "max"))
        },
        "degree": ("degree_mean", "mean"),
        "degree_min": ("degree_min", "min"),
        "degree_max": ("degree_max", "max"),
        "connected": ("connected", "mean"),
        "diameter_min": ("diameter", "min"),
        "diameter_max": ("diameter", "max"),
        **{name: (name, "mean") for name in ("low_kept", "low_dropped", "step_kept", "step_dropped")},
    }
    summary = graphs.agg(**columns).reset_index()
    summary.insert(1, "criteria", [", ".join(CRITERIA[name]) for name in summary["selector"]])
    formula = [mean_degree(name, n_users, n_selected) for name in summary["selector"]]
    summary.insert(list(summary).index("connected"), "degree_formula", formula)
    return summary
