"""What every user has spent: for a reviewer of privacy.

It follows from the selections and the schedule of the scenario, and is checked against the recorded leakage.
"""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.patches import Patch
from numpy.typing import NDArray

from pausefl.analysis.figures.curves import THIN, mark_budget
from pausefl.analysis.figures.kinds import MOST_LINES
from pausefl.analysis.figures.panels import Plotted
from pausefl.analysis.figures.selections import first_seeds, who_took_part
from pausefl.analysis.figures.style import COLUMN_WIDTH, label_all, legend_key, new_grid
from pausefl.errors import PauseflError
from pausefl.runs.run import Rounds, runs_of
from pausefl.selectors import look_of
from pausefl.settings import PrivacySettings, Scenario

Floats = NDArray[np.float64]

#: Panels side by side.
COLUMNS = 3

#: Parts of a panel of few users, and of many: quantiles over users that a line goes through, or a band lies
#: between, none for a line each; and Matplotlib's keywords.
Parts = dict[str, tuple[tuple[float, ...], dict[str, Any]]]
HIGHEST: Parts = {"Highest user": ((1,), {"linewidth": 1.6})}
FEW: Parts = {"Every user": ((), {"linewidth": 0.5, "alpha": 0.6}), **HIGHEST}
MANY: Parts = {
    "All users": ((0, 1), {"alpha": 0.18, "linewidth": 0}),
    "10 to 90 % of users": ((0.1, 0.9), {"alpha": 0.4, "linewidth": 0}),
    "Median": ((0.5,), {"linewidth": 0.9}),
    **HIGHEST,
}


def spent_in(run: pd.DataFrame, n_users: int, privacy: PrivacySettings) -> Floats:
    """Epsilon that each of K users has spent in a run of T rounds, (T + 1, K); row 0 is before the first.

    ``run`` has the rounds in order, with ``selection`` and ``leakage_max``. `PauseflError` if the selections
    do not add up to the recorded leakage.
    """
    counts = np.zeros((len(run) + 1, n_users), np.int64)
    counts[1:] = who_took_part(run, n_users).T.cumsum(axis=0)
    spent: Floats = privacy.make_account().spent(counts)
    if not np.allclose(spent[1:].max(axis=1), run["leakage_max"].to_numpy(np.float64), rtol=1e-9):
        raise PauseflError("the selections of a run do not add up to the budget spent that it recorded")
    return spent


def plot_spending_vs_rounds(rounds: Rounds, scenario: Scenario) -> Plotted:
    """What every user has spent against rounds, in a panel for each private selector; first seed.

    Up to `MOST_LINES` users are lines, more are bands: of all users, and of those between two quantiles. The
    highest of them is bold, the budget a thin line. `PauseflError` if no run has a budget.
    """
    privacy, n_users = scenario.privacy, scenario.network.n_users
    runs = first_seeds(run for run in runs_of(rounds) if np.isfinite(run[2]["leakage_max"]).all())
    if privacy is None or not runs:
        raise PauseflError(f"scenario '{scenario.name}': no run has a budget to plot")
    titles = [look_of(selector).label for selector in runs]
    figure, panels = new_grid(titles, "Round", COLUMNS, COLUMN_WIDTH, height=0.95)
    parts = FEW if n_users <= MOST_LINES else MANY
    ends = []
    for axes, (selector, (_, run)) in zip(panels, runs.items(), strict=True):
        spent, x = spent_in(run, n_users, privacy), np.arange(len(run) + 1)
        for quantiles, look in parts.values():
            look = look | {"color": look_of(selector).color}
            if len(quantiles) == 2:
                low, high = _over_users(spent, quantiles)
                axes.fill_between(x, low, high, step="post", **look)
            else:
                for y in _over_users(spent, quantiles) if quantiles else np.unique(spent, axis=1).T:
                    axes.plot(x, y, drawstyle="steps-post", **look)
        axes.set_xlim(0, max(len(run) for _, run in runs.values()))
        axes.sharey(panels[0])
        mark_budget(axes, scenario, words=False)
        ends.append((look_of(selector).label, len(run), *_over_users(spent[-1:], (1, 0.5, 0))[:, 0]))
    what = f"Spent (ε per {scenario.protects})"
    label_all(figure, textwrap.fill(what, int(14 * figure.get_figheight())))
    handles = [
        legend_key(name, color="black", **look)
        if look["linewidth"]
        else Patch(facecolor="black", label=name, **look)
        for name, (_, look) in reversed(parts.items())
    ]
    handles.append(legend_key(f"Budget ε = {privacy.epsilon_total:,.10g}", **THIN))
    figure.legend(handles=handles, loc="outside lower center", ncols=2, fontsize="small")
    heads = ["Selector", "Round", f"{what}: highest user", "Median", "Lowest user"]
    return Plotted(figure, numbers=pd.DataFrame(ends, columns=heads))


def _over_users(spent: Floats, quantiles: tuple[float, ...]) -> Floats:
    """Quantiles (n, rounds) over the users of what they have spent, (rounds, users)."""
    return np.quantile(spent, quantiles, axis=1, method="inverted_cdf")
