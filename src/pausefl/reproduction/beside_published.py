"""Computed runs beside the published ones of the same scenarios, for the end of a workflow."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from pausefl.analysis.formats import number
from pausefl.analysis.markdown import aligned
from pausefl.analysis.outcomes import smoothed_at
from pausefl.errors import PauseflError
from pausefl.runs.collected import LINES, runs_in
from pausefl.runs.run import Run
from pausefl.selectors import LABELS, in_legend_order


def beside_published(names: Iterable[str], computed: Path, published: Path, since: float) -> str:
    """A table for each scenario that has computed and published runs; empty if none has.

    Parameters
    ----------
    names
        Of scenarios.
    computed, published
        Folders with collected runs, as ``results/collected`` and ``results/published``.
    since
        Scenarios whose runs were collected earlier are left out; seconds, as of `time.time`.
    """
    parts = list[str]()
    for name in names:
        ours, theirs = computed / name / LINES, published / name / LINES
        if not (ours.is_file() and theirs.is_file() and ours.stat().st_mtime >= since):
            continue
        try:
            parts.append(_table(name, runs_in(ours.parent), runs_in(theirs.parent), theirs.parent))
        except (PauseflError, KeyError) as error:  # as of a selector whose code is not at hand
            parts.append(f"{name}: not compared with the published runs: {error}")
    return "".join(f"{part}\n" for part in parts)


def _table(name: str, ours: Iterable[Run], theirs: Iterable[Run], folder: Path) -> str:
    """The selectors of a scenario that have computed runs."""
    computed, published = ({(run.selector, run.seed): run for run in runs} for runs in (ours, theirs))
    lines = [["", "computed", "seeds", "published", "seeds", "difference", "same digits"]]
    for selector in in_legend_order({one for one, _ in computed}):
        cells = [LABELS[selector]]
        for runs in (computed, published):
            ends = [_accuracy(run) for (name, _), run in runs.items() if name == selector]
            cells += [_mean(ends, ".1f"), str(len(ends))]
        both = [key for key in computed if key[0] == selector and key in published]
        gaps = [_accuracy(computed[key]) - _accuracy(published[key]) for key in both]
        n_same = sum(_same(computed[key], published[key]) for key in both)
        lines.append([*cells, _mean(gaps, "+.1f"), f"{n_same} of {len(both)}"])
    return "\n".join(
        [
            f"{name}, computed now, beside the published runs in {folder}: mean accuracy at the end in %, and"
            " its difference under the same seeds in points.",
            *(f"  {line}" for line in aligned(lines, "lrrrrrr")),
        ]
    )


def _accuracy(run: Run) -> float:
    """Smoothed accuracy at the end, in [0, 1]; NaN without any."""
    return smoothed_at(run.rounds, "accuracy", math.inf)


def _mean(shares: list[float], form: str) -> str:
    """Mean of some shares in %; a dash of none."""
    return number(100 * float(np.mean(shares or [np.nan])), form)


def _same(one: Run, other: Run) -> bool:
    """Whether two runs have the same accuracy and time in all of their rounds."""
    columns = ["elapsed_s", "accuracy"]
    return one.rounds[columns].reset_index(drop=True).equals(other.rounds[columns].reset_index(drop=True))
