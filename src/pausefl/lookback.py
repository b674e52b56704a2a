"""From results back to what they come from: the runs behind a figure, and two runs side by side."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pausefl.config import Config, Scenario, load_scenario, scenario_names
from pausefl.errors import PauseflError, suggest
from pausefl.provenance import code_hash
from pausefl.tables import smoothed

#: Parts of a summary that say how a run went, not what was run.
_COURSE = ("timings_s", "peak_memory_bytes", "diverged_round", "resumed_from_rounds", "refused_updates")


def explain(figure: str, config: Config, scenarios: Path, results: Path) -> str:
    """Where a figure comes from: rows of the table, runs, seeds, code, settings, deviations.

    Parameters
    ----------
    figure
        Its name in a scenario file, e.g. ``pause_v2_fig8``.
    config
        The configuration that has its rows.
    scenarios
        Folder of scenario files.
    results
        Folder of results.

    Raises
    ------
    PauseflError
        If no scenario has the figure, or it has not been drawn.
    """
    owners = {key: scenario for scenario in _all(scenarios) for key in scenario.figures}
    if figure not in owners:
        raise PauseflError(f"unknown figure '{figure}'. {suggest(figure, owners)}")
    scenario = owners[figure]
    sidecar = results / "figures" / scenario.name / f"{scenario.figures[figure]}.json"
    if not sidecar.is_file():
        raise PauseflError(f"{sidecar} is missing: draw the figure with snakemake --cores 2 {figure}")
    facts = json.loads(sidecar.read_text("utf-8"))
    caption = facts["caption"]
    selectors = sorted({e.selector for e in config.experiments if e.scenario == scenario.name})
    lines = [
        f"{sidecar.with_suffix('.png')}",
        f"  {scenario.title}; {facts['kind']}; in the papers: {caption['paper_figures']}",
        f"Rows of the experiment table: {scenario.name}, {', '.join(selectors) or 'none any more'}",
        f"Settings: {scenarios / scenario.name}.yaml{_changed(facts['scenario'], scenario)}",
        f"Data: {caption['origin']}",
        "Runs:",
        *[f"  {line}" for path in facts["runs"] for line in _run_lines(_moved(path, results))],
        "Deviations from the papers (docs/deviations.md):",
        *[f"  {deviation}" for deviation in caption["deviations"] or ["none that bears on this figure"]],
    ]
    return "\n".join(lines)


def compare(first: Path, second: Path) -> str:
    """Two runs side by side: settings that differ, results, and the first round in which they differ.

    Parameters
    ----------
    first, second
        Folders of finished runs.

    Raises
    ------
    PauseflError
        If one of them is not a finished run.
    """
    runs = [_read(folder) for folder in (first, second)]
    settings = [dict(_flat({k: v for k, v in summary.items() if k not in _COURSE})) for summary, _ in runs]
    keys = dict.fromkeys(key for flat in settings for key in flat)
    differing = [
        (key, *(str(flat.get(key, "–")) for flat in settings))
        for key in keys
        if settings[0].get(key) != settings[1].get(key)
    ]
    results = [_results(summary, rounds) for summary, rounds in runs]
    measured = [(key, results[0][key], results[1][key]) for key in results[0]]
    head = [("", "A", "B")]
    return "\n".join(
        [
            f"A: {first}",
            f"B: {second}",
            "",
            "What differs of settings, code and machine:",
            *_columns([*head, *differing] if differing else [("nothing", "", "")]),
            "",
            "Results:",
            *_columns([*head, *measured]),
            "",
            _first_difference(runs[0][1], runs[1][1]),
        ]
    )


def _all(folder: Path) -> list[Scenario]:
    return [load_scenario(name, folder) for name in scenario_names(folder)]


def _changed(drawn: Mapping[str, Any], scenario: Scenario) -> str:
    """A note where the settings that a figure was drawn with are not those of the file any more."""
    then, now = dict(_flat(drawn)), dict(_flat(scenario.as_dict()))
    keys = sorted(key for key in then if key in now and then[key] != now[key])
    return f" (changed since: {', '.join(keys)})" if keys else ""


def _moved(path: str, results: Path) -> Path:
    """A run's folder as a sidecar has it, ``results/runs/…``, under ``results``."""
    return results.joinpath(*Path(path).parts[1:])


def _run_lines(folder: Path) -> Iterable[str]:
    """One line on a run."""
    if not (folder / "summary.json").is_file():
        yield f"{folder}: not there any more"
        return
    summary, rounds = _read(folder)
    now = code_hash("pausefl.job", selectors=[summary["selector"]])
    notes = [
        f"{len(rounds)} rounds",
        f"code {summary['code_hash']}"
        + ("" if summary["code_hash"] == now else " (the code has changed since)"),
        summary["hardware"]["processor"],
    ]
    if summary["diverged_round"] is not None:
        notes.append(f"diverged in round {summary['diverged_round']}")
    if summary["resumed_from_rounds"]:
        notes.append(f"resumed after rounds {', '.join(map(str, summary['resumed_from_rounds']))}")
    yield f"{folder}: {', '.join(notes)}"


def _read(folder: Path) -> tuple[dict[str, Any], pd.DataFrame]:
    """Summary and rounds of a finished run."""
    if not (folder / "summary.json").is_file():
        raise PauseflError(f"{folder} is not a finished run: it has no summary.json")
    return json.loads((folder / "summary.json").read_text("utf-8")), pd.read_parquet(
        folder / "rounds.parquet"
    )


def _flat(values: Any, prefix: str = "") -> Iterable[tuple[str, Any]]:
    """Every value of nested mappings by its dotted key."""
    if not isinstance(values, Mapping):
        yield prefix, list(values) if isinstance(values, tuple) else values
        return
    for key, value in values.items():
        yield from _flat(value, f"{prefix}.{key}" if prefix else str(key))


def _results(summary: Mapping[str, Any], rounds: pd.DataFrame) -> dict[str, str]:
    """What came out of a run, in words."""
    accuracy, loss = (
        smoothed(rounds, column)[1] if column in rounds else np.empty(0) for column in ("accuracy", "loss")
    )
    return {
        "rounds": str(len(rounds)),
        "accuracy (%), mean of the last 10 evaluations": f"{100 * accuracy[-1]:.2f}"
        if len(accuracy)
        else "–",
        "loss, likewise": f"{loss[-1]:.4f}" if len(loss) else "–",
        "simulated time (s)": f"{rounds['elapsed_s'].iloc[-1]:.2f}",
        "largest leakage (ε)": f"{rounds['leakage_max'].iloc[-1]:.4f}",
        "diverged in round": str(summary["diverged_round"] or "–"),
        "wall-clock time (s)": f"{summary['timings_s']['total']:.1f}",
        "peak memory (MB)": f"{summary['peak_memory_bytes'] / 1e6:.0f}",
    }


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows as lines, in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _first_difference(first: pd.DataFrame, second: pd.DataFrame) -> str:
    """In which round each column of the rounds first differs."""
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
