"""Computed runs beside the published ones of the same scenarios, for the end of a workflow."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from pausefl.analysis.formats import number
from pausefl.analysis.markdown import aligned
from pausefl.errors import PauseflError
from pausefl.runs.collected import LINES, runs_in
from pausefl.runs.run import Run
from pausefl.selectors import LABELS, in_legend_order

#: Evaluations at the end of a run whose mean accuracy is shown.
_N_LAST = 10


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
        ours, theirs = computed / name, published / name
        if (
            (theirs / LINES).is_file()
            and (ours / LINES).is_file()
            and (ours / LINES).stat().st_mtime >= since
        ):
            try:
                parts.append(_table(name, runs_in(ours), runs_in(theirs), theirs))
            except (PauseflError, KeyError) as error:  # as of a selector whose code is not at hand
                parts.append(f"{name}: not compared with the published runs: {error}")
    return "".join(f"{part}\n" for part in parts)


def _table(name: str, ours: Iterable[Run], theirs: Iterable[Run], folder: Path) -> str:
    """The selectors of a scenario that have computed runs."""
    here, there = ({(run.selector, run.seed): run for run in runs} for runs in (ours, theirs))
    lines = [["", "computed", "seeds", "published", "seeds", "difference", "same digits"]]
    for selector in in_legend_order({one for one, _ in here}):
        own, other = ([run for key, run in runs.items() if key[0] == selector] for runs in (here, there))
        both = [key for key in here if key[0] == selector and key in there]
        gaps = [_accuracy(here[key]) - _accuracy(there[key]) for key in both]
        same = sum(_same(here[key], there[key]) for key in both)
        values = [
            number(100 * float(np.mean([_accuracy(run) for run in runs] or [np.nan])), ".1f")
            for runs in (own, other)
        ]
        gap = number(100 * float(np.mean(gaps or [np.nan])), "+.1f")
        lines.append(
            [
                LABELS[selector],
                values[0],
                str(len(own)),
                values[1],
                str(len(other)),
                gap,
                f"{same} of {len(both)}",
            ]
        )
    return "\n".join(
        [
            f"{name}, computed now, beside the published runs in {folder}: mean accuracy at the end in %, and"
            " its difference under the same seeds in points.",
            *(f"  {line}" for line in aligned(lines, "lrrrrrr")),
        ]
    )


def _accuracy(run: Run) -> float:
    """Mean accuracy of the last evaluations, in [0, 1]; NaN without any."""
    known = run.rounds["accuracy"].dropna().to_numpy(np.float64)[-_N_LAST:]
    return float(known.mean()) if len(known) else float("nan")


def _same(one: Run, other: Run) -> bool:
    """Whether two runs have the same accuracy and time in all of their rounds."""
    columns = ["elapsed_s", "accuracy"]
    return one.rounds[columns].reset_index(drop=True).equals(other.rounds[columns].reset_index(drop=True))
