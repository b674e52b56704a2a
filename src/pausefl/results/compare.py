"""Two runs side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pausefl.errors import PauseflError
from pausefl.provenance import changes
from pausefl.results.markdown import aligned
from pausefl.results.outcomes import WINDOW, smoothed
from pausefl.results.published import RunFiles
from pausefl.results.runs import read_run
from pausefl.settings.changes import differing, flattened
from pausefl.settings.scenario import as_of_today

#: Keys of a summary that say how a run went, not what was run.
_COURSE = (
    *("timings_s", "peak_memory_bytes", "diverged_round", "resumed_from_rounds", "refused_updates"),
    *("rounds_made", "ended_by", "trained_by", "class_accuracy", "code"),
)
#: Digests that say no more than that the rounds differ, which is told by round.
_TOLD = ("digests.rounds.parquet", "digests.ledger.parquet")


def compare(first: Path, second: Path) -> str:
    """Two runs side by side: settings that differ, results, and the first round that differs.

    Parameters
    ----------
    first, second
        Folders of finished runs, or names of published ones.

    Raises
    ------
    PauseflError
        If one of them is not a finished run.
    """
    runs = [_finished(folder) for folder in (first, second)]
    settings = [
        flattened(
            {key: value for key, value in summary.items() if key not in _COURSE}
            | {"scenario": as_of_today(summary["scenario"])}
        )
        for summary, _ in runs
    ]
    apart = [
        (key, *_apart(key, *("–" if value is None else str(value) for value in values)))
        for key, values in differing(*settings).items()
        if key not in _TOLD
    ]
    codes = [summary.get("code") or {} for summary, _ in runs]
    results = [_results(summary, rounds) for summary, rounds in runs]
    measured = [(key, results[0][key], results[1][key]) for key in results[0]]
    head = ("", "A", "B")

    def indented(rows: list[tuple[str, ...]]) -> list[str]:
        return [f"  {line}" for line in aligned(rows)]

    return "\n".join(
        [
            f"A: {first}",
            f"B: {second}",
            "",
            "Settings, code and machine that differ:",
            *indented([head, *apart] if apart else [("nothing", "", "")]),
            *(code_changes(*codes) if all(codes) and codes[0] != codes[1] else ()),
            "",
            "Results:",
            *indented([head, *measured]),
            "",
            _first_difference(runs[0][1], runs[1][1]),
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


def _apart(key: str, *values: str) -> tuple[str, ...]:
    """Values of a key as they are told: of instructions, those that the other machine lacks."""
    if key != "hardware.instructions":
        return values
    sets = [set(value.split()) for value in values]
    return tuple(" ".join(sorted(own - other)) or "–" for own, other in (sets, sets[::-1]))


def _finished(folder: Path) -> tuple[dict[str, Any], pd.DataFrame]:
    """Summary and rounds of a finished run; `PauseflError` if it is none."""
    if not RunFiles.of(folder).there():
        raise PauseflError(f"{folder} is not a finished run: it has no summary.json")
    return read_run(folder)


def _results(summary: Mapping[str, Any], rounds: pd.DataFrame) -> dict[str, str]:
    """Results of a run in words."""
    accuracy, loss = (
        smoothed(rounds, column)[1] if column in rounds else np.empty(0) for column in ("accuracy", "loss")
    )
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
    n = min(len(first), len(second))
    found = {}
    for column in first.columns.intersection(second.columns):
        pairs = zip(first[column].iloc[:n], second[column].iloc[:n], strict=True)
        unequal = (
            i for i, (a, b) in enumerate(pairs) if not np.array_equal(a, b, equal_nan=column != "selection")
        )
        if (i := next(unequal, None)) is not None:
            found[column] = i + 1
    if not found:
        return f"Their first {n} rounds are identical."
    listed = ", ".join(f"{column} in round {t}" for column, t in sorted(found.items(), key=lambda f: f[1]))
    return f"First difference: {listed}."
