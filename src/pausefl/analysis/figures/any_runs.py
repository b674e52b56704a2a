"""Figures of any finished runs, whatever scenarios, selectors and seeds they are of."""

from __future__ import annotations

import importlib
import io
import math
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from pausefl.analysis.figures import kinds
from pausefl.analysis.figures.kinds import FIGURES, Kind, find_kind
from pausefl.analysis.figures.notes import run_notes
from pausefl.analysis.figures.panels import Plotted
from pausefl.analysis.figures.style import DPI, theme, to_latex
from pausefl.analysis.groups import Group, grouped, named_runs, rounds_of_groups
from pausefl.errors import ConfigError, PauseflError, suggest
from pausefl.files import path_of, replacing
from pausefl.runs.collected import Given, as_runs
from pausefl.runs.run import Run
from pausefl.selectors import SELECTORS, Selector, look_of
from pausefl.selectors.look import spare_look
from pausefl.settings import Scenario

#: How the names of files end that have a figure, or its numbers.
PICTURES, TABLES = ("png", "pdf", "svg", "eps", "jpg"), ("csv", "tex")

#: What runs lack that do not have what a figure needs, and what makes such runs.
_LACKING = {
    "training": "not trained (--no-train)",
    "accuracy": "regressions, which have a loss but no accuracy",
    "budget": "without a privacy budget",
}

_MARKERS = "sD^vP<>X"


def plot(
    runs: Given,
    figure: str | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
) -> Figure:
    """Plot runs of any scenarios, selectors and seeds.

    Seeds of one selector in the same settings are a line with their range. Runs of a selector in other
    settings are called by what differs.

    Parameters
    ----------
    runs
        A run or several: each from `run` or `read_run`, or the folder of one, or that of a scenario's
        collected runs.
    figure
        Kind of figure, ``accuracy_vs_time``; None for the first that the runs can have.
    out
        File to write it to; its suffix is that of a picture (png, pdf, svg), or ``.csv`` or ``.tex`` for the
        numbers.

    Returns
    -------
    matplotlib.figure.Figure
        One column of a paper wide. It needs the extra ``workflow``.

    Raises
    ------
    PauseflError
        If the kind is unknown, the runs lack what it needs, or they differ in what it shows once.
    """
    plotted = plot_to(runs, figure, None if out is None else path_of(out))[0]
    show_in_notebooks()
    return plotted


def plot_to(
    runs: Given, figure: str | None, out: Path | None, default: bool = False
) -> tuple[Figure, Path | None]:
    """What `plot` returns, and the file that has it: by ``default`` KIND.png in the working directory."""
    kind, plotted = plot_runs(as_runs(runs), figure)
    file = Path(f"{kind}.png") if out is None and default else out
    if file is not None:
        write_figure(plotted, file)
    return plotted.figure, file


def plot_runs(runs: Iterable[Run], kind: str | None = None) -> tuple[str, Plotted]:
    """A figure of some runs, and its kind: by default the first that they can have.

    A line, or a panel, for each group of runs (`pausefl.analysis.groups.grouped`), with a band of its seeds.
    `PauseflError` if the kind is unknown, the runs lack what it needs, or differ in what it can show only
    once.
    """
    groups = grouped(runs)
    if not groups:
        raise PauseflError("there are no runs to plot")
    obstacles = {one: _obstacle(record, groups) for one, record in FIGURES.items()}
    possible = [one for one, obstacle in obstacles.items() if not obstacle]
    kind = kind or (possible or ["selections"])[0]
    find_kind(kind)  # raises if it is unknown
    if obstacle := obstacles[kind]:
        listed = ", ".join(possible) or "none"
        raise PauseflError(f"figure '{kind}' {obstacle}. Figures of these runs: {listed}")
    with SELECTORS.including(_looking_apart(groups)):
        # Notes are for the picture.
        notes = run_notes({**run.summary, "selector": of.selector} for of, run in named_runs(groups).items())
        return kind, kinds.plot(kind, rounds_of_groups(groups), _common_scenario(groups), notes.shown)


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
            plotted.figure.savefig(buffer := io.BytesIO(), format=suffix, dpi=DPI, metadata=undated)
            file.write_bytes(buffer.getvalue())  # so that a full disk is one, and no error of Matplotlib's
        elif plotted.numbers is not None:
            text = plotted.numbers.to_csv(index=False) if suffix == "csv" else to_latex(plotted.numbers)
            file.write_text(text, encoding="utf-8")


def show_in_notebooks() -> None:
    """Have a notebook show figures as pictures, as ``%matplotlib inline`` does, unless it already does."""
    shell = importlib.import_module("IPython").get_ipython() if "IPython" in sys.modules else None
    if shell and Figure not in shell.display_formatter.formatters["image/png"]:
        importlib.import_module("IPython.core.pylabtools").select_figure_formats(shell, {"png"})


def _obstacle(record: Kind, groups: Sequence[Group]) -> str:
    """Why runs cannot have a kind of figure; empty if they can."""
    for need, words in _LACKING.items():
        lacking = [one.label for one in groups if need in record.needs and not _has(one, need)]
        everyone = len(lacking) == len(groups)
        # As in the workflow, a figure of leakage leaves out what leaks without bound.
        if everyone or (lacking and need != "budget"):
            return f"cannot show runs that are {words}: {'all of these' if everyone else '; '.join(lacking)}"
    settings = [_settings(one) for one in groups if all(_has(one, need) for need in record.needs)]
    for key in settings[0]:
        if any(f"{key}.".startswith(f"{part}.") for part in record.shown_once):
            values = dict.fromkeys(one.get(key, "None") for one in settings)
            if len(values) > 1:
                return f"needs runs of one {key}, and these have {' or '.join(values)}"
    return ""


def _has(group: Group, need: str) -> bool:
    """Whether the runs of a group have what a figure needs."""
    if need == "training":
        return all(run.summary["trained"] for run in group.runs)
    if need == "accuracy":
        return not group.scenario.is_regression
    leakage = group.runs[0].rounds["leakage_max"].max()
    return group.scenario.privacy is not None and math.isfinite(leakage)


def _settings(group: Group) -> dict[str, str]:
    """Settings of a group in words, and what follows from them for a figure."""
    loss = "squared error" if group.scenario.is_regression else "cross-entropy"
    kinds = {"kind of loss": loss, "kind of protection": f"ε per {group.scenario.protects}"}
    return kinds | {key: str(value) for key, value in group.runs[0].settings.items()}


def _looking_apart(groups: Sequence[Group]) -> dict[str, type[Selector]]:
    """Classes of groups whose names are no selectors: the first of a selector looks as that does."""
    found: dict[str, type[Selector]] = {}
    for i, group in enumerate(groups):
        if group.name not in SELECTORS:
            known, marker = group.selector in SELECTORS, _MARKERS[len(found) % len(_MARKERS)]
            again = group.selector in (one.selector for one in groups[:i])
            spare = spare_look(group.label, len(found))._replace(marker=marker)
            look = look_of(group.selector)._replace(label=group.label) if known and not again else spare
            base = SELECTORS[group.selector] if known else Selector
            found[group.name] = type("Group", (base,), {"look": look})
    return found


def _common_scenario(groups: Sequence[Group]) -> Scenario:
    """The scenario that a figure of some groups is of: what it says of them holds for all."""
    first, *others = [group.scenario for group in groups]
    if all(one == first for one in others):
        return first
    privacies = [one.privacy for one in (first, *others) if one.privacy is not None]
    privacy = privacies[0] if privacies else None
    if privacy is not None and len({one.epsilon_total for one in privacies}) > 1:  # no line across
        privacy = privacy.model_copy(update={"epsilon_total": math.inf})
    name = " and ".join(dict.fromkeys(one.name for one in (first, *others)))
    # A note on the scale of some runs would be false of the others.
    scale = first.scale if all(one.scale == first.scale for one in others) else "paper"
    return first.model_copy(update={"name": name, "scale": scale, "changed": {}, "privacy": privacy})
