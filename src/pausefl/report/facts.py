"""Rows of the report's tables: verdicts, the experiment table, what runs cost, and what made them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from pausefl.claims.statistics import ROUNDING
from pausefl.figures.style import LABELS
from pausefl.report.contents import selectors_of
from pausefl.report.sources import ScenarioPart
from pausefl.settings import Experiment

#: Keys of a scenario that the experiment table, or the figures, have.
_SHOWN = ("name", "title", "selectors", "figures", "scale", "reduced")


@dataclass(frozen=True)
class Cost:
    """What the jobs of one selector took, or all jobs of a scenario: hours of the wall clock and of cores."""

    selector: str
    n_jobs: int
    wall_hours: float
    core_hours: float
    peak_bytes: int
    devices: str


def number(value: float | None, digits: int = 3) -> str:
    """A number in a few significant digits, 0 if it is but rounding; a dash if there is none."""
    if value is None or not math.isfinite(value):
        return "–"
    if abs(value) < ROUNDING:
        return "0"
    return (f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}").replace("-", "−")


def interval(test: Mapping[str, Any]) -> str:
    """From low to high; a dash if there is none."""
    if test["low"] is None or test["high"] is None:
        return "–"
    return f"{number(test['low'])} to {number(test['high'])}"


def tally(outcomes: Iterable[str]) -> str:
    """How many tests came out in which way, in words."""
    counts = Counter(outcomes)
    words = {"holds": "hold", "fails": "fail"}
    known = [outcome for outcome in ("holds", "fails", "undecided", "not run") if counts[outcome]]
    return ", ".join(f"{counts[outcome]} {words.get(outcome, outcome)}" for outcome in known)


def gaps(tests: Iterable[Mapping[str, Any]]) -> list[str]:
    """What was measured, by unit: a gap and its interval, or the least and the greatest of several."""
    by_unit: dict[str, list[Mapping[str, Any]]] = {}
    for test in tests:
        if test["gap"] is not None:
            by_unit.setdefault(test["unit"], []).append(test)
    lines = []
    for unit, several in by_unit.items():
        low, high = min(test["gap"] for test in several), max(test["gap"] for test in several)
        ends = [test[end] for test in several for end in ("low", "high") if test[end] is not None]
        first, last = number(low, 4), number(high, 4)
        line = first if first == last else f"{first} to {last}"
        line += f" [{number(min(ends))}, {number(max(ends))}]" if ends else " [no interval]"
        lines.append(f"{line} {unit}".rstrip())
    return lines


def settings_text(settings: Mapping[str, Any]) -> str:
    """A scenario as YAML, without what is said of it elsewhere and what it leaves out."""
    plain = {
        key: {k: v for k, v in value.items() if v is not None} if isinstance(value, Mapping) else value
        for key, value in settings.items()
        if key not in _SHOWN and value is not None
    }
    return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)


def reductions(settings: Mapping[str, Any]) -> list[str]:
    """What a reduced scenario has in place of what its base has."""
    lines = []
    for key, full in settings["reduced"].items():
        value: Any = settings
        for part in key.split("."):
            value = value[part]
        lines.append(f"{key}: {value} instead of {full}")
    return lines


def costs(part: ScenarioPart, summaries: Mapping[Experiment, Mapping[str, Any]]) -> Iterator[Cost]:
    """What a scenario took: all of it, then one row a selector."""
    yield _cost("all", [summaries[run] for run in part.runs])
    for selector in selectors_of(part):
        runs = [summaries[run] for run in part.runs if run.selector == selector]
        yield _cost(LABELS.get(selector, selector), runs)


def _cost(selector: str, runs: Sequence[Mapping[str, Any]]) -> Cost:
    hours = [summary["timings_s"]["total"] / 3600 for summary in runs]
    return Cost(
        selector,
        len(runs),
        math.fsum(hours),
        math.fsum(h * run["n_threads"] for h, run in zip(hours, runs, strict=True)),
        max(run["peak_memory_bytes"] for run in runs),
        ", ".join(sorted({_device(run) for run in runs})),
    )


def duration(hours: float) -> str:
    """A time in seconds, minutes or hours, whichever reads best."""
    seconds = 3600 * hours
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{hours:,.1f} h"


def _device(summary: Mapping[str, Any]) -> str:
    if summary["device"] != "cpu":
        return str(summary["device"])
    n = summary["n_threads"]
    return f"CPU, {n} thread{'s' if n > 1 else ''}"


def environments(summaries: Mapping[Experiment, Mapping[str, Any]]) -> dict[str, list[tuple[str, int]]]:
    """Each kind of software, machine, code and data that runs were made with, and how many were."""
    found: dict[str, Counter[str]] = {"Software": Counter(), "Machine": Counter(), "Data": Counter()}
    code: dict[str, set[str]] = {}
    n_code: Counter[str] = Counter()
    for run, summary in summaries.items():
        versions = ", ".join(f"{name} {version}" for name, version in summary["versions"].items())
        found["Software"][versions] += 1
        found["Machine"][_machine(summary["hardware"])] += 1
        found["Data"][summary["dataset_origin"]] += 1
        code.setdefault(summary["code_hash"], set()).add(LABELS.get(run.selector, run.selector))
        n_code[summary["code_hash"]] += 1
    rows = {title: sorted(counts.items()) for title, counts in found.items()}
    rows["Code"] = [(f"{name} ({', '.join(sorted(of))})", n_code[name]) for name, of in sorted(code.items())]
    return rows


def _machine(hardware: Mapping[str, Any]) -> str:
    return f"{hardware['processor']}, {hardware['cores']} cores, {hardware['system']}"
