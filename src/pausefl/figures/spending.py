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
from pausefl.figures.panels import Plotted
from pausefl.figures.style import COLUMN_WIDTH, new_grid
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


def plot_spending_vs_rounds(rounds: pd.DataFrame, scenario: Scenario) -> Plotted:
    """What every user has spent against rounds, in a panel for each private selector; first seed.

    Up to `MOST_LINES` users are lines, more are bands: of all users, and of those between two quantiles. The
    highest of them is bold, the budget a thin line.
    """
    shown = {selector: one.spent for selector, (one,) in accounts(rounds, scenario, n_seeds=1).items()}
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


def plot_signal_vs_rounds(rounds: pd.DataFrame, scenario: Scenario) -> Plotted:
    """Signal to noise of a user's next participation against rounds.

    In a panel for each private selector, over the users of all seeds that may still take part: their median,
    a band between two quantiles, and the lowest. Selectors that choose the same users in every round use up
    their budgets early and do not scale the axis; their panels say how far down they go. Where a budget
    forbids users to take part, a last panel has the share of users that may, of every selector.
    """
    seeds = accounts(rounds, scenario)
    shown = {name: _side_by_side([one.upcoming for one in own]) for name, own in seeds.items()}
    shares = {name: np.mean(upcoming > 0, axis=1) for name, upcoming in shown.items()}
    ratios = {name: _ratio(upcoming, name, scenario) for name, upcoming in shown.items()}
    lowest = {name: float(np.nanmin(ratio)) for name, ratio in ratios.items()}
    highest = max(float(np.nanmax(ratio)) for ratio in ratios.values())
    bottom = min([low for name, low in lowest.items() if not _same_users(name)] or lowest.values())
    end = min(0.8 * bottom, highest / 10)  # at least a decade, for the ticks
    one = {name: ", n\u00a0=\u00a01" if len(own) == 1 else "" for name, own in seeds.items()}
    cut = {name: f" (to\u00a0{low:.1g})" if low < end else "" for name, low in lowest.items()}
    titles = [look_of(name).label + one[name] + cut[name] for name in shown]
    some_may_not = any(share.min() < 1 for share in shares.values())
    figure, panels = _panels(shown, titles + ["May take part"] * some_may_not)
    for axes, (name, ratio) in zip(panels, ratios.items(), strict=False):
        some = np.flatnonzero(~np.isnan(ratio).all(axis=1))
        _plot_parts(axes, some, ratio[some], [INNER, MEDIAN, LOWEST], look_of(name).color)
        axes.set_yscale("log")
        axes.set_ylim(end, 1.25 * highest)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 3)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_locator(NullLocator())
    if some_may_not:
        for name, share in shares.items():
            curve = Band(np.arange(len(share), dtype=np.float64), share, share, share, n_seeds=1)
            plot_band(panels[-1], name, curve, step=True)
        panels[-1].set_ylim(0, 1.08)
        panels[-1].yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
        panels[-1].tick_params(labelleft=True)
    _label(figure, "Largest signal to noise, next participation")
    _explain(figure, [MEDIAN, INNER, LOWEST])
    rows = {
        look_of(name).label: (len(seeds[name]), len(ratio) - 1, *_quantiles(ratio[-1])[1:], shares[name][-1])
        for name, ratio in ratios.items()
    }
    heads = [
        "Seeds",
        "Round",
        "Largest signal to noise: median user",
        "Lowest user",
        "Share that may take part",
    ]
    return Plotted(figure, numbers=_numbers(rows, heads))


def _ratio(upcoming: Floats, selector: str, scenario: Scenario) -> Floats:
    assert scenario.privacy is not None  # else there are no accounts
    return signal_to_noise((1 - loss_share(scenario.privacy, selector)) * upcoming, scenario.privacy)


def _quantiles(values: Floats) -> Floats:
    """Highest, median and lowest of the users that have a value; NaN if none has."""
    some = values[~np.isnan(values)]
    return np.quantile(some, (1, 0.5, 0), method="inverted_cdf") if len(some) else np.full(3, np.nan)


def _numbers(rows: Mapping[str, tuple[float, ...]], heads: Sequence[str]) -> pd.DataFrame:
    """One row a selector, of its last round."""
    return pd.DataFrame([(name, *row) for name, row in rows.items()], columns=["Selector", *heads])


def _same_users(selector: str) -> bool:
    record = SELECTORS[selector]
    return record.takes_everyone or record.fixed_users


def _side_by_side(seeds: Sequence[Floats]) -> Floats:
    """The users of all seeds, in the rounds that every seed has."""
    n = min(map(len, seeds))
    return np.concatenate([values[:n] for values in seeds], axis=1)


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
