"""The authors' runs, to stand beside ours in figures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pausefl.analysis.figures.beside import Points, ReferenceRuns
from pausefl.analysis.figures.curves import Shown
from pausefl.analysis.outcomes import smoothed
from pausefl.reproduction.authors_archive import archived, log_of, logged
from pausefl.settings import Scenario

#: How their runs look: curves of the archive, and single rounds.
_CURVE: dict[str, Any] = {"linewidth": 0.7, "color": "black"}
_ROUNDS: dict[str, Any] = _CURVE | {
    "linestyle": "none",
    "marker": "o",
    "markersize": 2.6,
    "markerfacecolor": "none",
    "markeredgewidth": 0.5,
}

#: A leakage of a log is that of the users who were read: the largest is no less.
_LEAST = _ROUNDS | {"marker": "^"}


def of_authors(scenario: Scenario, shown: Shown, selectors: Iterable[str]) -> ReferenceRuns:
    """What there is of the authors' runs of some selectors; nothing for most scenarios.

    Archived accuracy and loss are smoothed like ours. Rounds of a log are single, and so are the four that
    have a leakage in the archive.
    """
    log, found = logged(scenario), dict[str, Points]()
    theirs = log or archived(scenario.name)
    for selector in [name for name in selectors if name in theirs]:
        run = theirs[selector].dropna(subset=shown.column)
        if log or shown.is_leakage:
            x, y = run[shown.x_column].to_numpy(np.float64), run[shown.column].to_numpy(np.float64)
        else:
            x, y = smoothed(run, shown.column, shown.window)
        if len(x):
            found[selector] = x, shown.scale * y
    if not found:
        return ReferenceRuns()
    at_least = bool(log) and shown.is_leakage
    look = _LEAST if at_least else _ROUNDS if log or shown.is_leakage else _CURVE
    seed = log_of(scenario.name)["seed"] if log else 0
    return ReferenceRuns(found, f"Authors' run, seed {seed}{': at least' * at_least}", look)
