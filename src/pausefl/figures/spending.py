"""What every user has spent, and what its next participation would be worth: for a reviewer of privacy.

Both figures follow from the selections and the schedule of the scenario, and are checked against the recorded
leakage. A user sampled twice in a round (clustered sampling) takes part once.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from pausefl.errors import PauseflError
from pausefl.figures.curves import mark_budget
from pausefl.figures.panels import Plotted
from pausefl.figures.style import COLUMN_WIDTH, new_grid
from pausefl.privacy import Ledger, make_schedule
from pausefl.registry.figures import MOST_LINES, protected
from pausefl.registry.selectors import in_legend_order, look_of
from pausefl.results.runs import runs_of
from pausefl.settings import PrivacySettings, Scenario

Floats = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Panels side by side.
COLUMNS = 4


class Part(NamedTuple):
    """A part of a panel: its name, Matplotlib's keywords, and the quantiles over users that it joins."""

    name: str
    look: dict[str, Any]
    quantiles: tuple[float, ...] = ()

    def plot(self, axes: Axes, x: IntArray, edges: Sequence[Floats], color: str) -> None:
        """Plot a line through one edge, or a band between two."""
        if len(edges) == 1:
            axes.plot(x, edges[0], drawstyle="steps-post", color=color, **self.look)
        else:
            axes.fill_between(x, edges[0], edges[1], step="post", color=color, **self.look)


USER = Part("Every user", {"linewidth": 0.5, "alpha": 0.6})
ALL = Part("All users", {"alpha": 0.18, "linewidth": 0}, (0, 1))
INNER = Part("10 to 90 % of users", {"alpha": 0.4, "linewidth": 0}, (0.1, 0.9))
MEDIAN = Part("Median", {"linewidth": 0.9}, (0.5,))
HIGHEST = Part("Highest user", {"linewidth": 1.6}, (1,))


def spent_in(run: pd.DataFrame, n_users: int, privacy: PrivacySettings) -> Floats:
    """Epsilon that each of K users has spent in a run of T rounds, (T + 1, K); row 0 is before the first.

    ``run`` has the rounds in order, with ``selection`` and ``leakage_max``.

    Raises
    ------
    PauseflError
        If the selections do not add up to the recorded leakage.
    """
    took_part = np.zeros((len(run) + 1, n_users), np.int64)
    for t, users in enumerate(run["selection"], start=1):
        took_part[t, np.asarray(users, np.int64)] = 1
    participations = took_part.cumsum(axis=0)
    most = int(participations.max())
    # One user of the ledger for each number of participations.
    ledger = Ledger(most + 1, 0, 0, make_schedule(privacy))
    ledger.restore(np.arange(most + 1))
    spent: Floats = ledger.spent()[participations]
    if not np.allclose(spent[1:].max(axis=1), run["leakage_max"].to_numpy(np.float64), rtol=1e-9):
        raise PauseflError("the selections of a run do not add up to the leakage that it recorded")
    return spent


def first_seeds(rounds: pd.DataFrame, scenario: Scenario) -> dict[str, Floats]:
    """What users have spent in the first seed of each private selector, in legend order.

    Raises
    ------
    PauseflError
        If there is no such run.
    """
    privacy, runs = scenario.privacy, dict[str, dict[int, pd.DataFrame]]()
    for selector, seed, run in runs_of(rounds):
        if np.isfinite(run["leakage_max"]).all():
            runs.setdefault(selector, {})[seed] = run
    if privacy is None or not runs:
        raise PauseflError(f"scenario '{scenario.name}': no run has a budget to plot")
    return {
        selector: spent_in(runs[selector][min(runs[selector])], scenario.network.n_users, privacy)
        for selector in in_legend_order(runs)
    }


def plot_spending_vs_rounds(rounds: pd.DataFrame, scenario: Scenario) -> Plotted:
    """What every user has spent against rounds, in a panel for each private selector; first seed.

    Up to `MOST_LINES` users are lines, more are bands: of all users, and of those between two quantiles. The
    highest of them is bold, the budget a thin line.
    """
    shown = first_seeds(rounds, scenario)
    figure, panels = _panels(shown, [look_of(selector).label for selector in shown])
    few = scenario.network.n_users <= MOST_LINES
    parts = [HIGHEST] if few else [ALL, INNER, MEDIAN, HIGHEST]
    for axes, (selector, spent) in zip(panels, shown.items(), strict=True):
        color, x = look_of(selector).color, np.arange(len(spent))
        for user in np.unique(spent, axis=1).T if few else ():
            USER.plot(axes, x, [user], color)
        _plot_parts(axes, x, spent, parts, color)
        axes.sharey(panels[0])
        mark_budget(axes, scenario, words=axes is panels[0])
    _label(figure, what := f"Spent (ε per {protected(scenario)})")
    _explain(figure, [HIGHEST, USER] if few else [HIGHEST, MEDIAN, INNER, ALL])
    ends = {look_of(name).label: (len(spent) - 1, *_quantiles(spent[-1])) for name, spent in shown.items()}
    return Plotted(
        figure, numbers=_numbers(ends, ["Round", f"{what}: highest user", "Median", "Lowest user"])
    )


def _quantiles(values: Floats) -> Floats:
    """Highest, median and lowest of the users."""
    return np.quantile(values, (1, 0.5, 0), method="inverted_cdf")


def _numbers(rows: Mapping[str, tuple[float, ...]], heads: Sequence[str]) -> pd.DataFrame:
    """One row a selector, of its last round."""
    return pd.DataFrame([(name, *row) for name, row in rows.items()], columns=["Selector", *heads])


def _panels(shown: Mapping[str, Floats], titles: Sequence[str]) -> tuple[Figure, list[Axes]]:
    """A grid of small panels over rounds."""
    n_columns = min(COLUMNS, len(titles))
    width = max(COLUMN_WIDTH, 2 * COLUMN_WIDTH * n_columns / COLUMNS)
    figure, panels = new_grid(titles, "Round", COLUMNS, width, height=1.25)
    for axes in panels:
        axes.set_xlim(0, max(map(len, shown.values())) - 1)
    return figure, panels


def _label(figure: Figure, words: str) -> None:
    """Name the ordinate of all panels, beside their middle: there is more below them than above."""
    height = figure.get_figheight()
    lines = textwrap.fill(words, int(14 * height))
    figure.supylabel(lines, y=0.5 + 0.17 / height, fontsize="medium", multialignment="center")


def _plot_parts(axes: Axes, x: IntArray, values: Floats, parts: Sequence[Part], color: str) -> None:
    """Plot quantiles of ``values`` (rounds, users) over the users."""
    wanted = sorted({one for part in parts for one in part.quantiles})
    edges = dict(zip(wanted, np.quantile(values, wanted, axis=1, method="inverted_cdf"), strict=True))
    for part in parts:
        part.plot(axes, x, [edges[one] for one in part.quantiles], color)


def _explain(figure: Figure, parts: Sequence[Part]) -> None:
    """A legend of lines and bands below the panels; selectors have panels of their own."""
    handles = [
        Line2D([], [], color="black", label=name, **look)
        if look["linewidth"]
        else Patch(facecolor="black", label=name, **look)
        for name, look, _ in parts
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(parts), fontsize="small")
