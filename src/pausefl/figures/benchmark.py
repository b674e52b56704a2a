"""Selectors side by side: accuracy against leakage and against time, and who is on the front."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from adjustText import adjust_text
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pausefl.figures.panels import Plotted, titled_panels
from pausefl.figures.style import theme
from pausefl.registry.selectors import LABELS, in_legend_order, look_of
from pausefl.results import markdown
from pausefl.results.outcomes import TARGET_SHARE
from pausefl.results.tables import mean_sd
from pausefl.settings.studies import Benchmark
from pausefl.studies.benchmark import UNACCOUNTED, summary

#: Axes that accuracy is shown against: column, label.
_AGAINST = (("leakage_max", "Largest leakage (ε)"), ("seconds_to_target", "Time to target (simulated s)"))

#: Mark in the table of a selector on the front, and of one whose reported losses no budget pays for.
_FRONT, _UNPAID = "●", "†"

#: What the columns of the table and the mark of the front mean.
COLUMNS = f"""Mean ± standard deviation, if there are several seeds. A run that ends early keeps what it had.

- *Minus …*: mean over time less that of the first selector, under the same seeds, with its 95 % interval.
- *Time to target*: the target is {100 * TARGET_SHARE:.0f} % of the best accuracy of a private selector at the
  end. A run that does not reach it at an evaluation counts with the whole time; in brackets is how many do.
- *Leakage*: the largest ε per coordinate of any user. *Jain's index* is that of the leakage over users (of
  participations without privacy), 1 if all are equal.
- *Slow users*: participations of the slower half. *Worst class*: accuracy of the last model on it.
- *Selection*: wall-clock time a round, with bookkeeping.
- {_FRONT}: on the front. In the means of accuracy over time, leakage and time to the target no other is as
  good in all three and better in one. Only private selectors count, without the genie and the fastest users,
  which know latencies beforehand.
"""


def plot(tables: Mapping[str, pd.DataFrame], study: Benchmark) -> Plotted:
    """Figure and ``summary`` of the table of `pausefl.studies.benchmark.compute`."""
    across = in_order(tables["runs"], study)
    text = f"{to_markdown(across, study)}\n{COLUMNS}"
    return Plotted(plot_front(across, study.title), {"summary": across}, text)


def in_order(runs: pd.DataFrame, study: Benchmark) -> pd.DataFrame:
    """`pausefl.studies.benchmark.summary` in the order of the legends."""
    across = summary(runs, study)
    return across.set_index("selector").loc[in_legend_order(across["selector"])].reset_index()


def plot_front(across: pd.DataFrame, title: str) -> Figure:
    """Mean accuracy over time against leakage, and against time to the target; the front is filled.

    The axis of accuracy holds the private selectors that reach the target under most seeds. Others are
    triangles at its ends, and their labels have their accuracy.

    Parameters
    ----------
    across
        As `pausefl.studies.benchmark.summary` returns it.
    title
        Of the study.
    """
    points = across.assign(y=100 * across["accuracy_over_time_mean"])
    compared = np.isfinite(points["leakage_max_mean"]) & (points["n_reached"] > points["n_seeds"] / 2)
    y = points.loc[compared, "y"] if compared.any() else points["y"]
    margin = 0.15 * (y.max() - y.min()) or 1.0
    low, high = y.min() - margin, y.max() + margin
    with theme():
        figure, grid = titled_panels(title, (1, 2), 4.2, sharey=True)
        for axes, (column, label) in zip(grid.flat, _AGAINST, strict=True):
            axes.set_ylim(low, high)
            axes.set_xlabel(label)
            _plot_points(axes, points.assign(x=points[f"{column}_mean"]))
        grid[0, 0].set_ylabel("Mean accuracy over time (%)")
        for axes in grid.flat:
            _separate_names(axes)
    return figure


def _plot_points(axes: Axes, points: pd.DataFrame) -> None:
    """A named point a selector; those of infinite ``x`` right of a line."""
    low, high = axes.get_ylim()
    finite = points["x"][np.isfinite(points["x"])]
    least, most = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    span = most - least or 1.0
    beyond = most + 0.2 * span
    for _, row in points.iterrows():
        marker = "v" if row["y"] < low else "^" if row["y"] > high else "o"
        at = min(row["x"], beyond), min(max(row["y"], low), high)
        color = look_of(row["selector"]).color
        style: dict[str, Any] = {"color": color, "markersize": 4.5, "zorder": 4, "clip_on": False}
        axes.plot(*at, marker, markerfacecolor=color if row["on_front"] else "white", **style)
        words = LABELS[row["selector"]] + ("" if marker == "o" else f" ({row['y']:.0f} %)")
        axes.text(*at, words, color=color, weight="bold" if row["on_front"] else "normal", fontsize=6.5)
    axes.set_xlim(least - 0.1 * span, beyond + 0.1 * span)
    if len(finite) < len(points):
        axes.axvline(most + 0.1 * span, color="#BBBBBB", linewidth=0.6, linestyle=(0, (2, 2)))
        ticks = [float(tick) for tick in axes.get_xticks() if least - 0.1 * span <= tick <= most]
        axes.set_xticks([*ticks, beyond], [*[f"{tick:g}" for tick in ticks], "∞"])


def _separate_names(axes: Axes) -> None:
    """Move the names of points to where they hide least, with a line to the point if it is far."""
    adjust_text(
        list(axes.texts), ax=axes, iter_lim=500, arrowprops={"arrowstyle": "-", "color": "#999999", "lw": 0.4}
    )


def to_markdown(across: pd.DataFrame, study: Benchmark) -> str:
    """The table for people, those on the front marked, with its target; `COLUMNS` explains it.

    Parameters
    ----------
    across
        As `pausefl.studies.benchmark.summary` returns it.
    study
        The study.
    """
    first, time_s = LABELS[study.scenario.selectors[0]], study.time_s
    columns: dict[str, Callable[[pd.Series], str]] = {
        "Selector": _name,
        f"Accuracy at {time_s:g} s (%)": lambda row: mean_sd(row, "accuracy", 1, 100),
        "Mean over time (%)": lambda row: mean_sd(row, "accuracy_over_time", 1, 100),
        f"Minus {first} (points)": _difference,
        "Time to target (s)": _time_to_target,
        "Leakage (ε)": lambda row: mean_sd(row, "leakage_max", 2),
        "Jain's index": lambda row: mean_sd(row, "fairness", 3),
        "Slow users (%)": lambda row: mean_sd(row, "slow_share", 1, 100),
        "Worst class (%)": lambda row: mean_sd(row, "worst_class_accuracy", 1, 100),
        "Selection (ms)": lambda row: mean_sd(row, "selection_ms", 2),
        "Rounds": lambda row: mean_sd(row, "n_rounds", 0),
        "Seeds": lambda row: str(row["n_seeds"]),
    }
    rows = [[cell(row) for cell in columns.values()] for _, row in across.iterrows()]
    table = markdown.table(list(columns), rows, "l" + "r" * (len(columns) - 1))
    target = across["target_accuracy"].iloc[0]
    note = f"Until {time_s:g} simulated seconds. The target is {100 * target:.1f} %.\n"
    if (across["losses"] == UNACCOUNTED).any():
        note += f"{_UNPAID} looks at losses that no budget pays for: it leaks more than is shown.\n"
    return f"{table}\n{note}"


def _difference(row: pd.Series) -> str:
    """Points with their interval; a dash where there is no difference, as from itself."""
    mean, low, high = (100 * row[f"difference{end}"] for end in ("", "_low", "_high"))
    if mean == 0:
        return "–"
    text = f"{mean:+.1f}" + ("" if math.isnan(low) else f" ({low:+.1f} to {high:+.1f})")
    return text.replace("-", "−")


def _time_to_target(row: pd.Series) -> str:
    reached, n_seeds = row["n_reached"], row["n_seeds"]
    if not reached:
        return "not reached"
    return mean_sd(row, "seconds_to_target", 1) + (f" ({reached} of {n_seeds})" if reached < n_seeds else "")


def _name(row: pd.Series) -> str:
    marks = _FRONT * bool(row["on_front"]) + _UNPAID * (row["losses"] == UNACCOUNTED)
    return f"{LABELS[row['selector']]} {marks}".rstrip()
