"""Figures of any finished runs, whatever scenarios, selectors and seeds they are of."""

from __future__ import annotations

import importlib
import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from pausefl.errors import ConfigError, PauseflError, suggest
from pausefl.figures.kinds import plot
from pausefl.figures.notes import run_notes
from pausefl.figures.panels import Plotted
from pausefl.figures.style import DPI, theme, to_latex
from pausefl.files import replacing
from pausefl.registry.figures import ASKED, FIGURES, FigureRecord, is_regression, protected
from pausefl.registry.selectors import (
    DASH,
    DASH_DOT,
    DASH_DOT_DOT,
    DOT,
    LONG_DASH,
    SELECTORS,
    Line,
    SelectorRecord,
    registered,
    spare_look,
)
from pausefl.runs.groups import Group, grouped, rounds_of_groups
from pausefl.runs.run import Run
from pausefl.settings import Scenario
from pausefl.settings.changes import differing

#: How the names of files end that have a figure, or its numbers.
PICTURES, TABLES = ("png", "pdf", "svg", "eps", "jpg"), ("csv", "tex")

#: What runs lack that do not have what a figure needs, and what makes such runs.
_LACKING = {
    "training": "not trained (--no-train)",
    "accuracy": "regressions, which have a loss but no accuracy",
    "budget": "without a privacy budget",
}

#: Lines of one selector in other settings than the first.
_COLORS = ("#D55E00", "#009E73", "#AA3377", "#000000", "#56B4E9", "#B8860B", "#8A6D3B", "#4B3A6B")
_MARKERS = "sD^vP<>X"
_DASHES: tuple[Line, ...] = (DASH, DOT, DASH_DOT, LONG_DASH, DASH_DOT_DOT)


def plot_runs(runs: Iterable[Run], kind: str | None = None) -> tuple[str, Plotted]:
    """A figure of some runs, and its kind: by default the first that they can have.

    A line, or a panel, for each group of runs (`pausefl.runs.groups.grouped`), with a band of its seeds.
    `PauseflError` if the kind is unknown, the runs lack what it needs, or differ in what it can show only
    once.
    """
    groups = grouped(runs)
    if not groups:
        raise PauseflError("there are no runs to plot")
    if kind is not None:
        FIGURES.find(kind)  # raises if it is unknown
    obstacles = {one: _obstacle(one, groups) for one in FIGURES}
    possible = [one for one, obstacle in obstacles.items() if not obstacle]
    if kind is None:
        kind = possible[0] if possible else "selections"
    if obstacle := obstacles[kind]:
        listed = ", ".join(possible) or "none"
        raise PauseflError(f"figure '{kind}' {obstacle}. Figures of these runs: {listed}")
    with registered(_records(groups)):
        # Notes are for the picture.
        notes = run_notes({**run.summary, "selector": one.name} for one in groups for run in one.runs)
        return kind, plot(kind, rounds_of_groups(groups), _common(groups), notes.shown)


def write_figure(plotted: Plotted, path: Path) -> None:
    """Write a figure to a file, whose name ends as one of `PICTURES`, or its numbers, as one of `TABLES`.

    `ConfigError` if it ends otherwise.
    """
    suffix = path.suffix[1:].lower()
    if suffix not in (allowed := (*PICTURES, *TABLES)):
        raise ConfigError(f"a figure cannot be written as '{path.name}'. {suggest(suffix, allowed)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as (file,), theme():
        if suffix in PICTURES:
            undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(suffix)
            plotted.figure.savefig(file, format=suffix, dpi=DPI, metadata=undated)
        elif plotted.numbers is not None:
            text = plotted.numbers.to_csv(index=False) if suffix == "csv" else to_latex(plotted.numbers)
            file.write_text(text, encoding="utf-8")


def show_in_notebooks() -> None:
    """Have a notebook show figures as pictures, as ``%matplotlib inline`` does, unless it already does."""
    if "IPython" not in sys.modules or (shell := importlib.import_module("IPython").get_ipython()) is None:
        return
    if Figure not in shell.display_formatter.formatters["image/png"]:
        importlib.import_module("IPython.core.pylabtools").select_figure_formats(shell, {"png"})


def _obstacle(kind: str, groups: Sequence[Group]) -> str:
    """Why runs cannot have a kind of figure; empty if they can."""
    record = FIGURES[kind]
    for need in sorted(set(record.needs) - set(ASKED), reverse=True):
        lacking = [group.label for group in groups if not _has(need, group)]
        # As in the workflow, a figure of leakage leaves out what leaks without bound.
        if len(lacking) == len(groups) or (lacking and need != "budget"):
            who = "all of these" if len(lacking) == len(groups) else "; ".join(lacking)
            return f"cannot show runs that are {_LACKING[need]}: {who}"
    for key, values in _to_agree(record, groups):
        if len(set(values)) > 1:
            return f"needs runs of one {key}, and these have {' or '.join(dict.fromkeys(values))}"
    return ""


def _has(need: str, group: Group) -> bool:
    """Whether all runs of a group have what a figure needs."""
    if need == "training":
        return all(run.summary["trained"] for run in group.runs)
    if need == "accuracy":
        return not is_regression(group.scenario)
    return group.scenario.privacy is not None and math.isfinite(group.runs[0].rounds["leakage_max"].max())


def _to_agree(record: FigureRecord, groups: Sequence[Group]) -> Iterator[tuple[str, list[str]]]:
    """What all runs of a figure must have in common, and what each group has."""
    if "budget" in record.needs:
        private = [group for group in groups if _has("budget", group)]
        yield "kind of protection", [f"ε per {protected(group.scenario)}" for group in private]
    if "training" in record.needs:
        yield (
            "kind of loss",
            ["squared error" if is_regression(one.scenario) else "cross-entropy" for one in groups],
        )
    for key in dict.fromkeys(key for group in groups for key in group.runs[0].settings):
        if any(f"{key}.".startswith(f"{part}.") for part in record.alike):
            yield key, [str(group.runs[0].settings.get(key)) for group in groups]


def _records(groups: Sequence[Group]) -> dict[str, SelectorRecord]:
    """Records of the groups whose names are not registered.

    The first group of a selector looks as that does. The others have dashes of their own, or, where all
    groups are of one selector, colours.
    """
    found: dict[str, SelectorRecord] = {}
    several = len({group.selector for group in groups}) > 1
    before: Counter[str] = Counter()
    for group in groups:
        place = before[group.selector] - 1  # among those that do not look as their selector
        before[group.selector] += 1
        if group.name in SELECTORS:
            continue
        record = SELECTORS.get(group.selector, SelectorRecord("pausefl.selectors.base:Selector"))
        look = (record.look or spare_look(group.selector, len(found)))._replace(label=group.label)
        if place >= 0 and several:
            look = look._replace(line=_DASHES[place % len(_DASHES)], hollow=not look.hollow)
        elif place >= 0:
            color, mark = _COLORS[place % len(_COLORS)], _MARKERS[place % len(_MARKERS)]
            look = look._replace(color=color, marker=mark)
        found[group.name] = replace(record, look=look)
    return found


def _common(groups: Sequence[Group]) -> Scenario:
    """The scenario that a figure of some groups is of: what it says of them holds for all."""
    scenarios = [group.scenario for group in groups]
    first = scenarios[0]
    if all(scenario == first for scenario in scenarios) and not first.changed:
        return first
    names = (f"{one.name}, changed" if one.changed else one.name for one in scenarios)
    differ = {key for other in scenarios for key in differing(first.as_dict(), other.as_dict())}
    privacies = [scenario.privacy for scenario in scenarios if scenario.privacy is not None]
    privacy = privacies[0] if privacies else None
    if privacy is not None and len({one.epsilon_total for one in privacies}) > 1:  # no line across
        privacy = privacy.model_copy(update={"epsilon_total": math.inf})
    update: dict[str, Any] = {
        "name": " and ".join(dict.fromkeys(names)),
        "scale": first.scale if len({scenario.scale for scenario in scenarios}) == 1 else "own",
        "changed": {
            key: old
            for key, old in first.changed.items()
            if key not in differ and all(one.changed.get(key, ...) == old for one in scenarios)
        },
        "privacy": privacy,
    }
    return first.model_copy(update=update)
