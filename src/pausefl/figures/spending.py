"""What every user has spent, and what its next participation would be worth: for a reviewer of privacy.

Both figures follow from the selections and the schedule of the scenario, and are checked against the recorded
leakage. A user sampled twice in a round (clustered sampling) takes part once.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullLocator, PercentFormatter, StrMethodFormatter
from numpy.typing import NDArray

from pausefl.errors import PauseflError
from pausefl.figures.curves import Band, mark_budget, plot_band
from pausefl.figures.style import COLUMN_WIDTH, title_lines
from pausefl.privacy import Ledger, loss_share, make_mechanism, make_schedule
from pausefl.registry import SELECTORS
from pausefl.registry.figures import MOST_LINES, protected
from pausefl.registry.selectors import DOT, in_legend_order, look_of
from pausefl.results.runs import runs_of
from pausefl.settings import PrivacySettings, Scenario

Floats = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Panels side by side.
COLUMNS = 4

_TITLE: dict[str, Any] = {"loc": "left", "fontsize": "small", "fontweight": "normal", "pad": 3}


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
LOWEST = Part("Lowest user", {"linewidth": 0.7, "linestyle": DOT}, (0,))


@dataclass(frozen=True)
class Account:
    """Every user's epsilon over one run of T rounds, shape (T + 1, K); row 0 is before the first round."""

    spent: Floats
    #: Of the next participation; 0 where there is none.
    upcoming: Floats


def account(run: pd.DataFrame, n_users: int, privacy: PrivacySettings) -> Account:
    """The account of one run of K users, from its rounds in order, with ``selection`` and ``leakage_max``.

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
    schedule = make_schedule(privacy)
    ledger = Ledger(most + 1, 0, 0, schedule)
    ledger.restore(np.arange(most + 1))
    upcoming = np.where(ledger.may_take_part(), schedule.epsilon(np.arange(1, most + 2)), 0.0)
    spent = ledger.spent()[participations]
    if not np.allclose(spent[1:].max(axis=1), run["leakage_max"].to_numpy(np.float64), rtol=1e-9):
        raise PauseflError("the selections of a run do not add up to the leakage that it recorded")
    return Account(spent, upcoming[participations])


def signal_to_noise(upcoming: Floats, privacy: PrivacySettings) -> Floats:
    """Largest signal of a coordinate over the standard deviation of its noise, elementwise.

    The largest signal is half the clamp width, or the clipping norm if all of it is on one coordinate: half
    the sensitivity either way. So the ratio is eps / (2 sqrt 2); NaN where ``upcoming`` is 0.
    """
    mechanism = make_mechanism(privacy)
    # Noise of scale b has variance 2 b^2.
    unit = mechanism.sensitivity / 2 / (np.sqrt(2) * mechanism.scale(1.0))
    return np.where(upcoming > 0, unit * upcoming, np.nan)


def accounts(
    rounds: pd.DataFrame, scenario: Scenario, n_seeds: int | None = None
) -> dict[str, list[Account]]:
    """The accounts of the private runs by selector, in legend order; of all seeds, or of the first ones.

    Raises
    ------
    PauseflError
        If there is no such run.
    """
    privacy, n_users = scenario.privacy, scenario.network.n_users
    runs: dict[str, dict[int, pd.DataFrame]] = {}
    for selector, seed, run in runs_of(rounds):
        if np.isfinite(run["leakage_max"]).all():
            runs.setdefault(selector, {})[seed] = run
    if privacy is None or not runs:
        raise PauseflError(f"scenario '{scenario.name}': no run has a budget to plot")
    return {
        selector: [
            account(runs[selector][seed], n_users, privacy) for seed in sorted(runs[selector])[:n_seeds]
        ]
        for selector in in_legend_order(runs)
    }


def plot_spending_vs_rounds(rounds: pd.DataFrame, scenario: Scenario) -> Figure:
    """What every user has spent against rounds, in a panel for each private selector; first seed.

    Up to `MOST_LINES` users are lines, more are bands: of all users, and of those between two quantiles. The
    highest of them is bold, the budget a thin line.
    """
    shown = {selector: one.spent for selector, (one,) in accounts(rounds, scenario, n_seeds=1).items()}
    figure, panels = _panels(scenario, shown, [])
    few = scenario.network.n_users <= MOST_LINES
    parts = [HIGHEST] if few else [ALL, INNER, MEDIAN, HIGHEST]
    for axes, (selector, spent) in zip(panels, shown.items(), strict=True):
        color, x = look_of(selector).color, np.arange(len(spent))
        for user in np.unique(spent, axis=1).T if few else ():
            USER.plot(axes, x, [user], color)
        _plot_parts(axes, x, spent, parts, color)
        axes.sharey(panels[0])
        mark_budget(axes, scenario, words=axes is panels[0])
    _label(figure, f"Spent (ε per {protected(scenario)})")
    _explain(figure, [HIGHEST, USER] if few else [HIGHEST, MEDIAN, INNER, ALL])
    return figure


def plot_signal_vs_rounds(rounds: pd.DataFrame, scenario: Scenario) -> Figure:
    """Signal to noise of a user's next participation against rounds, and how many users may have one.

    In a panel for each private selector, over the users of all seeds that may still take part: their median,
    a band between two quantiles, and the lowest. Where not everybody always may, a last panel has their
    share. Selectors that choose the same users in every round use up their budgets early and do not scale
    the axis; their panels say how far down they go.
    """
    shown = {
        selector: _side_by_side([one.upcoming for one in seeds])
        for selector, seeds in accounts(rounds, scenario).items()
    }
    mays = {selector: np.mean(upcoming > 0, axis=1) for selector, upcoming in shown.items()}
    exhausted = any(share.min() < 1 for share in mays.values())
    figure, panels = _panels(scenario, shown, ["May take part"] * exhausted)
    lowest, highest = {}, 0.0
    for axes, (selector, upcoming) in zip(panels, shown.items(), strict=False):
        assert scenario.privacy is not None
        of_update = (1 - loss_share(scenario.privacy, selector)) * upcoming
        ratio = signal_to_noise(of_update, scenario.privacy)
        some = np.flatnonzero(~np.isnan(ratio).all(axis=1))
        _plot_parts(axes, some, ratio[some], [INNER, MEDIAN, LOWEST], look_of(selector).color)
        lowest[selector], highest = float(np.nanmin(ratio)), max(highest, float(np.nanmax(ratio)))
        if exhausted:
            share, x = mays[selector], np.arange(len(upcoming), dtype=np.float64)
            plot_band(panels[-1], selector, Band(x, share, share, share, n_seeds=1), step=True)
    varying = [low for name, low in lowest.items() if not _same_users(name)]
    bottom = min(varying or lowest.values())
    end = min(0.8 * bottom, highest / 10)  # at least a decade, for the ticks
    for axes, (selector, low) in zip(panels, lowest.items(), strict=False):
        if low < end:
            axes.set_title(f"{look_of(selector).label} (falls to {low:.1g})", **_TITLE)
        axes.set_yscale("log")
        axes.set_ylim(end, 1.25 * highest)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 3)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_locator(NullLocator())
    if exhausted:
        panels[-1].set_ylim(0, 1.08)
        panels[-1].yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
        panels[-1].tick_params(labelleft=True)
    _label(figure, "Largest signal to noise, next participation")
    _explain(figure, [MEDIAN, INNER, LOWEST])
    return figure


def _same_users(selector: str) -> bool:
    record = SELECTORS[selector]
    return record.takes_everyone or record.fixed_users


def _side_by_side(seeds: Sequence[Floats]) -> Floats:
    """The users of all seeds, in the rounds that every seed has."""
    n = min(map(len, seeds))
    return np.concatenate([values[:n] for values in seeds], axis=1)


def _panels(
    scenario: Scenario, shown: Mapping[str, Floats], more: Sequence[str]
) -> tuple[Figure, list[Axes]]:
    """A grid of small panels over rounds, one for each selector and title, the scenario's title above."""
    titles = [*(look_of(selector).label for selector in shown), *more]
    n_columns = min(COLUMNS, len(titles))
    n_rows = -(-len(titles) // n_columns)
    width = max(COLUMN_WIDTH, 2 * COLUMN_WIDTH * n_columns / COLUMNS)
    figure = Figure(figsize=(width, 0.75 + 1.25 * n_rows), layout="constrained")
    title = "\n".join(title_lines(scenario.title, int(15 * width)))
    figure.suptitle(title, x=0.01, ha="left", fontsize="medium", fontweight="bold")
    panels = [figure.add_subplot(n_rows, n_columns, i + 1) for i in range(len(titles))]
    for i, (axes, words) in enumerate(zip(panels, titles, strict=True)):
        bottom = i + n_columns >= len(titles)
        axes.set_title(words, **_TITLE)
        axes.tick_params(labelsize="small", labelbottom=bottom, labelleft=i % n_columns == 0)
        axes.set_xlim(0, max(map(len, shown.values())) - 1)
        if bottom:
            axes.set_xlabel("Round", fontsize="small", labelpad=1)
    return figure, panels


def _label(figure: Figure, words: str) -> None:
    """Name the ordinate of all panels, beside their middle: there is more below them than above."""
    height = figure.get_figheight()
    lines = textwrap.fill(words, int(14 * height))
    figure.supylabel(lines, y=0.5 + 0.17 / height, fontsize="medium", multialignment="center")


def _plot_parts(axes: Axes, x: IntArray, values: Floats, parts: Sequence[Part], color: str) -> None:
    """Plot quantiles of ``values`` (rounds, users) over the users; NaN are no users."""
    quantile = np.nanquantile if np.isnan(values).any() else np.quantile
    wanted = sorted({one for part in parts for one in part.quantiles})
    edges = dict(zip(wanted, quantile(values, wanted, axis=1, method="inverted_cdf"), strict=True))
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
