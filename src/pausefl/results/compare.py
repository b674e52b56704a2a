"""Two runs side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas as pd

from pausefl.errors import PauseflError
from pausefl.provenance import changes
from pausefl.results.differences import first_differences
from pausefl.results.markdown import aligned
from pausefl.results.outcomes import WINDOW, evaluations
from pausefl.results.published import RunFiles
from pausefl.results.runs import read_run
from pausefl.settings.changes import differing, flattened
from pausefl.settings.scenario import as_of_today

#: Keys of a summary that say how a run went, not what was run.
_COURSE = (
    *("timings_s", "peak_memory_bytes", "diverged_round", "resumed_from_rounds", "refused_updates"),
    *("rounds_made", "ended_by", "trained_by", "class_accuracy", "code"),
)
#: Digests that say no more than that the rounds differ, which is reported by round.
_REPORTED = ("digests.rounds.parquet", "digests.ledger.parquet")


def compare(first: Path, second: Path) -> str:
    """Two runs side by side: settings that differ, results, and the first round that differs.

    Raises
    ------
    PauseflError
        If a folder is neither that of a finished run nor the name of a published one.
    """
    for folder in (first, second):
        if not RunFiles.of(folder).there():
            raise PauseflError(f"{folder} is not a finished run: it has no summary.json")
    (ours, our_rounds), (theirs, their_rounds) = read_run(first), read_run(second)
    settings = _settings(ours), _settings(theirs)
    rows = [
        (key, *_apart(key, *(str(values.get(key, "–")) for values in settings)))
        for key in differing(*settings)
        if key not in _REPORTED
    ]
    codes = ours.get("code") or {}, theirs.get("code") or {}
    results = [_results(summary, rounds) for summary, rounds in ((ours, our_rounds), (theirs, their_rounds))]
    measured = [(key, value, results[1][key]) for key, value in results[0].items()]
    head = ("", "A", "B")
    return "\n".join(
        [
            f"A: {first}",
            f"B: {second}",
            "",
            "Settings, code and machine that differ:",
            *[f"  {line}" for line in aligned([head, *rows] if rows else [("nothing",)])],
            *(code_changes(*codes) if all(codes) and codes[0] != codes[1] else ()),
            "",
            "Results:",
            *[f"  {line}" for line in aligned([head, *measured])],
            "",
            _first_difference(our_rounds, their_rounds),
        ]
    )


def code_changes(then: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each definition that differs between the parts of two codes."""
    found = changes(then, now)
    for what, names in found.items():
        for name in names:
            yield f"  {what}: {name}"
    if not any(found.values()):
        yield "  the same definitions, of which some use others than before"


def _settings(summary: Mapping[str, Any]) -> dict[str, Any]:
    """What was run, by dotted key."""
    what = {key: value for key, value in summary.items() if key not in _COURSE}
    return flattened(what | {"scenario": as_of_today(summary["scenario"])})


def _apart(key: str, *texts: str) -> Iterable[str]:
    """Values of a key as text: of instructions, those that the other machine lacks."""
    if key != "hardware.instructions":
        return texts
    ours, theirs = (set(text.split()) for text in texts)
    return [" ".join(sorted(only)) or "–" for only in (ours - theirs, theirs - ours)]


def _results(summary: Mapping[str, Any], rounds: pd.DataFrame) -> dict[str, str]:
    """Results of a run in words."""
    accuracy, loss = (evaluations(rounds, column) for column in ("accuracy", "loss"))
    final = f"mean of at most {WINDOW} last rounds"
    return {
        "rounds": str(len(rounds)),
        f"accuracy (%), {final}": f"{100 * accuracy[-1]:.2f}" if len(accuracy) else "–",
        f"loss, {final}": f"{loss[-1]:.4f}" if len(loss) else "–",
        "simulated time (s)": f"{rounds['elapsed_s'].iloc[-1]:.2f}",
        "largest leakage (ε)": f"{rounds['leakage_max'].iloc[-1]:.4f}",
        "diverged in round": str(summary["diverged_round"] or "–"),
        "wall-clock time (s)": f"{summary['timings_s']['total']:.1f}",
        "peak memory (MB)": f"{summary['peak_memory_bytes'] / 1e6:.0f}",
    }


def _first_difference(first: pd.DataFrame, second: pd.DataFrame) -> str:
    """The first round in which each column differs."""
    found = first_differences(first, second)
    if not found:
        return f"Their first {min(len(first), len(second))} rounds are identical."
    listed = [f"{column} in round {row + 1}" for column, row in sorted(found.items(), key=itemgetter(1))]
    return f"First difference: {', '.join(listed)}."
