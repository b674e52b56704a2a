"""What the report says about its runs: settings, costs, and what they were made with."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from pausefl.figures.style import LABELS
from pausefl.report.contents import selectors_of
from pausefl.report.parts import ScenarioPart
from pausefl.settings import Experiment

#: Keys of a scenario that the report shows elsewhere.
_SHOWN = ("name", "title", "selectors", "figures", "scale", "reduced", "changed")


@dataclass(frozen=True)
class Cost:
    """Hours of wall clock and cores that the jobs of one selector, or all jobs of a scenario, took."""

    selector: str
    n_jobs: int
    wall_hours: float
    core_hours: float
    peak_bytes: int
    devices: str


def settings_text(settings: Mapping[str, Any]) -> str:
    """A scenario as YAML, without what the report shows elsewhere and without empty values."""
    plain = {
        key: {k: v for k, v in value.items() if v is not None} if isinstance(value, Mapping) else value
        for key, value in settings.items()
        if key not in _SHOWN and value is not None
    }
    return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)


def reductions(settings: Mapping[str, Any]) -> list[str]:
    """The values in which a scenario differs from its base or its paper and, beside each, what is there."""
    lines = []
    for key, full in (settings["reduced"] or settings.get("changed", {})).items():
        value: Any = settings
        for part in key.split("."):
            value = value and value[part]
        lines.append(f"{key}: {value} instead of {full}")
    return lines


def costs(part: ScenarioPart, summaries: Mapping[Experiment, Mapping[str, Any]]) -> Iterator[Cost]:
    """Cost of a scenario: all jobs, then one row a selector."""
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
    """A time in seconds, minutes or hours."""
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
    """Software, machines, data and code of the runs, and the number of runs made with each."""
    found: dict[str, Counter[str]] = {"Software": Counter(), "Machine": Counter(), "Data": Counter()}
    code: dict[str, set[str]] = {}
    n_code: Counter[str] = Counter()
    for run, summary in summaries.items():
        versions = ", ".join(f"{name} {version}" for name, version in summary["versions"].items())
        hardware = summary["hardware"]
        machine = f"{hardware['processor']}, {hardware['cores']} cores, {hardware['system']}"
        found["Software"][versions] += 1
        found["Machine"][machine] += 1
        found["Data"][summary["dataset_origin"]] += 1
        code.setdefault(summary["code_hash"], set()).add(LABELS.get(run.selector, run.selector))
        n_code[summary["code_hash"]] += 1
    rows = {title: sorted(counts.items()) for title, counts in found.items()}
    rows["Code"] = [(f"{name} ({', '.join(sorted(of))})", n_code[name]) for name, of in sorted(code.items())]
    return rows
