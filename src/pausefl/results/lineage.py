"""From results back to what they come from: the runs behind a figure, and two runs side by side."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pausefl.errors import PauseflError
from pausefl.figures.captions import wholes
from pausefl.figures.notes import scale_note
from pausefl.provenance import code_hash
from pausefl.results.outcomes import WINDOW, smoothed
from pausefl.settings import Config, Scenario, load_scenario, scenario_names
from pausefl.settings.studies import Studies, load_studies, settings_of
from pausefl.studies.code import study_code

_OTHER_CODE = " (the code has changed since)"

#: Parts of a summary that say how a run went, not what was run.
_COURSE = ("timings_s", "peak_memory_bytes", "diverged_round", "resumed_from_rounds", "refused_updates")


@dataclass(frozen=True)
class Sources:
    """Where results come from, and where they are.

    Attributes
    ----------
    config
        The configuration, which has the rows of the experiment table.
    scenarios
        Folder of scenario files.
    studies
        The file of studies.
    results
        Folder of results.
    captions
        Folder of the captions of studies.
    """

    config: Config
    scenarios: Path
    studies: Path
    results: Path
    captions: Path


def explain(figure: str, sources: Sources) -> str:
    """Where a figure comes from: rows of the table, runs, seeds, code, settings, warnings, deviations.

    Parameters
    ----------
    figure
        Its name in a scenario file, e.g. ``pause_v2_fig8``; that of a study, e.g. ``bsfl_fig4``; or that of a
        figure in parts, e.g. ``bsfl_fig5``, of which all are explained.
    sources
        Where to look.

    Raises
    ------
    PauseflError
        If there is no such figure, or it has not been drawn.
    """
    scenarios = [load_scenario(name, sources.scenarios) for name in scenario_names(sources.scenarios)]
    owners = {key: scenario for scenario in scenarios for key in scenario.figures}
    studies = load_studies(sources.studies, sources.scenarios)
    parts = wholes([*owners, *studies.names()])
    known = [*owners, *studies.names(), *parts]
    if figure not in known:
        near = difflib.get_close_matches(figure, known, n=5, cutoff=0.5)
        question = f"Did you mean {', '.join(map(repr, near))}? " if near else ""
        raise PauseflError(f"unknown figure '{figure}'. {question}All names: snakemake --list-target-rules")

    def lines_on(name: str) -> list[str]:
        if name in owners:
            return _explain_curves(name, owners[name], sources)
        return _explain_study(name, studies, sources)

    if figure not in parts:
        return "\n".join(lines_on(figure))
    blocks, problems = [], []
    for name in parts[figure]:
        try:
            blocks.append("\n".join(lines_on(name)))
        except PauseflError as error:
            problems.append(str(error))
    if not blocks:
        raise PauseflError("; ".join(problems))
    return "\n\n".join([*blocks, *problems])


def _explain_curves(figure: str, scenario: Scenario, sources: Sources) -> list[str]:
    """Where a figure of a scenario comes from."""
    results, config = sources.results, sources.config
    sidecar = results / "figures" / scenario.name / f"{scenario.figures[figure]}.json"
    facts = _drawn(figure, sidecar)
    caption = facts["caption"]
    selectors = sorted({e.selector for e in config.experiments if e.scenario == scenario.name})
    then, now = dict(_flat(facts["scenario"])), dict(_flat(scenario.as_dict()))
    return [
        f"{sidecar.with_suffix('.png')}",
        f"  {scenario.title}; {facts['kind']}; in the papers: {caption['paper_figures']}",
        *[f"  {note}" for note in [scale_note(scenario)] if note],
        f"Rows of the experiment table: {scenario.name}, {', '.join(selectors) or 'none any more'}",
        f"Settings: {sources.scenarios / scenario.name}.yaml{_changed(then, now)}",
        f"Data: {caption['origin']}",
        "Runs:",
        *[f"  {line}" for path in facts["runs"] for line in _run_lines(_moved(path, results))],
        *_ending(facts["notes"], caption["deviations"]),
    ]


def _explain_study(name: str, studies: Studies, sources: Sources) -> list[str]:
    """Where the figure of a study comes from."""
    sidecar = sources.results / "studies" / name / f"{name}.json"
    facts = _drawn(name, sidecar)
    kind, study = studies.kind(name), studies.study(name)
    then, now = dict(_flat(facts["study"])), dict(_flat(settings_of(study)))
    place, deviations = _caption(sources.captions / f"{kind}.rst", facts["study"], study.title)
    # A regret study is played run by run, so each selector has code of its own.
    codes = facts.get("code_hashes") or {"": facts["code_hash"]}
    scenario = getattr(study, "scenario", None)
    selectors = scenario.selectors if scenario is not None else ()
    lines = [
        f"{sidecar.with_suffix('.png')}",
        f"  {study.title}; {kind}; in the papers: {place}",
        f"Settings: {sources.studies}, {name}{_changed(then, now)}",
    ]
    if scenario is not None:
        lines.append(f"Scenario: {sources.scenarios / scenario.name}.yaml; selectors: {', '.join(selectors)}")
    seeds = facts["study"].get("seeds", [facts["study"].get("seed", 0)])
    lines.append(
        f"Seeds: {', '.join(map(str, seeds)) if kind != 'generalization' else 'none, nothing is drawn'}"
    )
    for selector, code in codes.items():
        current = code == study_code(kind, [selector] if selector else selectors)
        lines.append(f"Code{f' of {selector}' if selector else ''}: {code}{'' if current else _OTHER_CODE}")
    return [
        *lines,
        "Data:",
        *[f"  {_file_line(_moved(path, sources.results))}" for path in facts["data"]],
        *_ending(facts["notes"], deviations),
    ]


def _drawn(figure: str, sidecar: Path) -> dict[str, Any]:
    """What stands beside a figure that has been drawn."""
    if not sidecar.is_file():
        raise PauseflError(f"{sidecar} is missing: draw the figure with snakemake --cores 2 {figure}")
    facts: dict[str, Any] = json.loads(sidecar.read_text("utf-8"))
    if "notes" not in facts:
        raise PauseflError(
            f"{sidecar} is of an earlier version: draw the figure anew with snakemake --cores 2 {figure}"
        )
    return facts


def _caption(template: Path, study: Mapping[str, Any], title: str) -> tuple[str, list[str]]:
    """Where the papers have a study, and the deviations that bear on it, as its caption states them."""
    import jinja2

    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    params = {"study": {**study, "title": title}, "title": title}
    text = environment.from_string(template.read_text("utf-8")).render(snakemake={"params": params})
    place = re.search(r"\*Where the papers have it\.\* (.*?)\n\n", text, re.DOTALL)
    return (
        " ".join(place[1].split()).rstrip(".") if place else "nowhere",
        re.findall(r"^- (D\d+: .*)$", text, re.MULTILINE),
    )


def _ending(notes: Iterable[str], deviations: Iterable[str]) -> list[str]:
    """What warns of a figure, and where it deviates."""
    return [
        "Notes:",
        *[f"  {note}" for note in list(notes) or ["nothing to warn of"]],
        "Deviations from the papers (docs/deviations.md):",
        *[f"  {deviation}" for deviation in list(deviations) or ["none that bears on this figure"]],
    ]


def _file_line(path: Path) -> str:
    return f"{path}" + ("" if path.is_file() else ": not there any more")


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


def _changed(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """A note where the settings that a figure was drawn with are not those of the file any more."""
    titles = ("title", "scenario.title")
    keys = sorted(key for key in then if key in now and key not in titles and then[key] != now[key])
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
    now = code_hash("pausefl.federated.job", selectors=[summary["selector"]])
    notes = [
        f"{len(rounds)} rounds",
        f"code {summary['code_hash']}" + ("" if summary["code_hash"] == now else _OTHER_CODE),
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
        f"accuracy (%), mean of the last {WINDOW} rounds": f"{100 * accuracy[-1]:.2f}"
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
