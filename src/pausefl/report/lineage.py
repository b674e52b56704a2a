"""Where a figure comes from: runs or computed files, settings, code, deviations from the papers."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pausefl.data.sources import describe_origin
from pausefl.errors import PauseflError
from pausefl.figures.captions import (
    paper_figures,
    scenario_deviations,
)
from pausefl.figures.notes import scale_note
from pausefl.figures.papers import wholes
from pausefl.provenance import job_code
from pausefl.results.compare import code_changes
from pausefl.results.published import RunFiles, run_folder
from pausefl.results.reading import read_json
from pausefl.results.runs import has_settings, read_run
from pausefl.results.verified import current_codes, current_study_codes
from pausefl.settings import Config, Experiment, Scenario, load_scenario, scenario_file, scenario_names
from pausefl.settings.changes import flattened
from pausefl.settings.scenario import scenario_of_job
from pausefl.studies import Study, load_studies

_OTHER_CODE, _EQUAL_CODE = "the code has changed since", "an earlier version, found equal to today's"


@dataclass(frozen=True)
class Project:
    """Configuration and results of a working directory.

    Attributes
    ----------
    config
        The configuration, with the experiment table.
    scenarios
        Folders in which scenario files are looked for.
    studies
        File of studies.
    results
        Folder of results.
    """

    config: Config
    scenarios: tuple[Path, ...]
    studies: Path
    results: Path


def explain(figure: str, project: Project) -> str:
    """Where a figure comes from: table rows, runs, seeds, code, settings, notes, deviations.

    Of a figure that is not made yet: what will run.

    Parameters
    ----------
    figure
        A figure of a scenario, e.g. ``pause_v2_fig8``; a study, e.g. ``bsfl_fig4``; or a figure in several
        parts, e.g. ``bsfl_fig5``.
    project
        Its configuration and results.

    Raises
    ------
    PauseflError
        If there is no such figure, or its JSON is of an earlier version.
    """
    scenarios = [load_scenario(name, *project.scenarios) for name in scenario_names(*project.scenarios)]
    owners = {key: scenario for scenario in scenarios for key in scenario.figures}
    studies = load_studies(project.studies, *project.scenarios)
    parts = wholes([*owners, *studies])
    known = [*owners, *studies, *parts]
    if figure not in known:
        near = difflib.get_close_matches(figure, known, n=5, cutoff=0.5)
        question = f"Did you mean {', '.join(map(repr, near))}? " if near else ""
        raise PauseflError(f"unknown figure '{figure}'. {question}All names: pausefl list")

    def lines_on(name: str) -> list[str]:
        try:
            if name in owners:
                return _explain_curves(name, owners[name], project)
            return _explain_study(name, studies[name], project)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise PauseflError(
                f"the JSON beside figure '{name}', or of a run in it, is damaged ({error!r}): make the figure"
                f" again with snakemake --cores 2 --force {name}"
            ) from None

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


def explain_run(folder: Path) -> str:
    """What differs between the code that made a run and today's.

    Raises
    ------
    PauseflError
        If there is no such run, or it does not say what its code was made of, as those of earlier versions.
    """
    summary, rounds = read_run(folder)
    scenario, then = scenario_of_job(summary["scenario"]), summary.get("code")
    now = {
        job_code(scenario, summary["selector"], summary["device"] or "cpu", genie=genie, in_folder=in_folder)
        for genie in (bool(rounds["pseudo_regret"].notna().any()),)
        for in_folder in (False, True)
    }
    head = f"{folder}: {scenario.name}, {summary['selector']}, seed {summary['seed']}"
    if summary["code_hash"] in now:
        return f"{head}\nCode: {summary['code_hash']}, as today"
    if not then:
        raise PauseflError(
            f"{folder} does not say which definitions its code ({summary['code_hash']}) is made of"
        )
    found = min((list(code_changes(then, code.parts)) for code in now), key=len)
    return "\n".join([head, f"Code: {summary['code_hash']}, since then:", *found])


def _explain_curves(figure: str, scenario: Scenario, project: Project) -> list[str]:
    """Where a figure of a scenario comes from."""
    results, config = project.results, project.config
    sidecar = results / "figures" / scenario.name / f"{scenario.figures[figure]}.json"
    if not sidecar.is_file():
        return _planned_curves(figure, scenario, project)
    metadata = _metadata(figure, sidecar)
    kind = metadata["kind"]
    selectors = sorted({e.selector for e in config.experiments if e.scenario == scenario.name})
    then, now = flattened(metadata["scenario"]), flattened(scenario.as_dict())
    return [
        f"{sidecar.with_suffix('.png')}",
        f"  {scenario.title}; {kind}; in the papers: {paper_figures(scenario, kind)}",
        *[f"  {note}" for note in [scale_note(scenario)] if note],
        f"Rows of the experiment table: {scenario.name}, {', '.join(selectors) or 'none'}",
        f"Settings: {scenario_file(scenario.name, *project.scenarios)}{_changed(then, now)}",
        f"Data: {'; '.join(metadata['dataset_origins'])}",
        *_run_lines([_moved(path, results) for path in metadata["runs"]], scenario, results / "published"),
        *_ending(metadata["notes"], scenario_deviations(kind, scenario)),
    ]


def _planned_curves(figure: str, scenario: Scenario, project: Project) -> list[str]:
    """What will run for a figure of a scenario."""
    kind = scenario.figures[figure]
    config = project.config
    results = project.results / "published" if config.published else project.results
    runs: dict[str, list[Experiment]] = {}
    for row in config.experiments:
        if row.scenario == scenario.name:
            runs.setdefault(row.selector, []).append(row)
    jobs = [f"{selector}: {_progress(results, own, scenario)}" for selector, own in sorted(runs.items())]
    missing = f"none; a row of {scenario.name} in the configuration is needed"
    return [
        f"{figure} is not made yet",
        f"  {scenario.title}; {kind}; in the papers: {paper_figures(scenario, kind)}",
        *[f"  {note}" for note in [scale_note(scenario)] if note],
        f"Settings: {scenario_file(scenario.name, *project.scenarios)}",
        f"Data: {describe_origin(scenario.data, config.raw)}",
        f"Jobs, in {run_folder(results, Experiment(scenario.name, 'any', 0)).parents[1]}:",
        *[f"  {line}" for line in jobs or [missing]],
        *_deviations(scenario_deviations(kind, scenario)),
        *([_how(figure)] if jobs else []),
    ]


def _progress(results: Path, rows: Sequence[Experiment], scenario: Scenario) -> str:
    """Seeds of a selector, and which of their jobs are finished with today's settings."""
    done = [str(row.seed) for row in rows if has_settings(run_folder(results, row), scenario)]
    return f"seeds {', '.join(str(row.seed) for row in rows)}; finished: {', '.join(done) or 'none'}"


def _how(figure: str) -> str:
    """How to make a figure."""
    return f"To make it: snakemake --cores 2 {figure}. What that takes: pausefl plan {figure}"


def _study_head(
    title: str, name: str, study: Study, project: Project, settings: Mapping[str, Any], changes: str = ""
) -> list[str]:
    """What a study is and what it is computed with; ``settings`` are those of its figure, if it is made."""
    scenario = study.in_scenario
    figures = load_scenario(scenario.name, *project.scenarios).figures if scenario is not None else {}
    lines = [
        title,
        f"  {study.title}; {study.kind}; in the papers: {study.place_in(figures)}",
        f"Settings: {project.studies}, {name}{changes}",
    ]
    if scenario is not None:
        file = scenario_file(scenario.name, *project.scenarios)
        lines.append(f"Scenario: {file}; selectors: {', '.join(scenario.selectors)}")
    if seeds := _seeds(settings):
        lines.append(f"Seeds: {seeds}")
    return lines


def _planned_study(name: str, study: Study, project: Project) -> list[str]:
    """What will run for the figure of a study."""
    return [
        *_study_head(f"{name} is not made yet", name, study, project, study.settings()),
        *_deviations(study.applying()),
        _how(name),
    ]


def _explain_study(name: str, study: Study, project: Project) -> list[str]:
    """Where the figure of a study comes from."""
    sidecar = project.results / "studies" / name / f"{name}.json"
    if not sidecar.is_file():
        return _planned_study(name, study, project)
    metadata = _metadata(name, sidecar)
    then, now = flattened(metadata["study"]), flattened(study.settings())
    # A study that is computed run by run has a code hash for each selector.
    codes = metadata.get("code_hashes") or {"": metadata["code_hash"]}
    versions = current_study_codes(name, study.codes(), project.results / "published")
    lines = _study_head(
        f"{sidecar.with_suffix('.png')}", name, study, project, metadata["study"], _changed(then, now)
    )
    for selector, recorded in codes.items():
        code = [recorded] if isinstance(recorded, str) else recorded
        own = versions.get(selector, [])
        told = _codes(dict.fromkeys(code, ()), own, dict.fromkeys(own[:1], "today's"))
        lines.append(f"Code{f' of {selector}' if selector else ''}: {told}")
    return [
        *lines,
        "Data:",
        *[f"  {_file_line(_moved(path, project.results))}" for path in metadata["data"]],
        *_ending(metadata["notes"], study.applying()),
    ]


def _seeds(study: Mapping[str, Any]) -> str:
    """Seeds of a study; empty if its settings have none."""
    if "n_instances" in study:
        return f"0 .. {study['n_instances'] - 1}, one an instance"
    return ", ".join(map(str, study.get("seeds") or [study[key] for key in ("seed",) if key in study]))


def _metadata(figure: str, sidecar: Path) -> dict[str, Any]:
    """Contents of the JSON file beside a figure."""
    metadata = read_json(sidecar)
    if "notes" not in metadata:
        raise PauseflError(
            f"{sidecar} is of an earlier version: make the figure again with snakemake --cores 2 {figure}"
        )
    return metadata


def _ending(notes: Iterable[str], deviations: Iterable[str]) -> list[str]:
    """Notes and deviations of a figure."""
    return [
        "Notes:",
        *[f"  {note}" for note in list(notes) or ["none"]],
        *_deviations(deviations),
    ]


def _deviations(deviations: Iterable[str]) -> list[str]:
    return [
        "Deviations from the papers (docs/deviations.md):",
        *[f"  {deviation}" for deviation in list(deviations) or ["none"]],
    ]


def _file_line(path: Path) -> str:
    return f"{path}" + ("" if path.is_file() else ": no longer exists")


def _changed(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """The settings that have changed since the figure was made."""
    titles = ("title", "scenario.title")
    keys = sorted(key for key in then if key in now and key not in titles and then[key] != now[key])
    return f" (changed since: {', '.join(keys)})" if keys else ""


def _moved(path: str, results: Path) -> Path:
    """A path of a JSON file, ``results/runs/…``, below the folder ``results``."""
    return results.joinpath(*Path(path).parts[1:])


def _run_lines(folders: Sequence[Path], scenario: Scenario, published: Path) -> Iterator[str]:
    """Yield a line on the runs of each selector."""
    yield f"Runs, in {folders[0].parents[1]}:"
    by_selector: dict[str, list[Path]] = {}
    for folder in folders:
        by_selector.setdefault(folder.parent.name, []).append(folder)
    for selector, own in by_selector.items():
        lost = [folder for folder in own if not RunFiles.of(folder).there()]
        runs = {_seed(folder): read_run(folder) for folder in own if folder not in lost}
        notes = list(_notes_on(selector, runs, scenario, published)) if runs else []
        if lost:
            notes.append(f"{_of_seeds([_seed(folder) for folder in lost])} no longer there")
        yield f"  {selector}: {'; '.join(notes)}"


def _notes_on(
    selector: str, runs: Mapping[int, tuple[dict[str, Any], Any]], scenario: Scenario, published: Path
) -> Iterator[str]:
    """Yield notes on the runs of a selector, by seed: seeds, rounds, code, processor, what went wrong."""
    codes: dict[str, list[int]] = {}
    for seed, (summary, _) in runs.items():
        codes.setdefault(summary["code_hash"], []).append(seed)
    today: dict[str, str] = {}
    for device, on in (("cpu", ""), ("cuda", ", on a GPU")):
        for in_folder, of in ((False, ""), (True, ", from a folder of images")):
            code = str(job_code(scenario, selector, device, in_folder=in_folder))
            today.setdefault(code, f"today's{on}{of}")
    lengths = sorted({len(rounds) for _, rounds in runs.values()})
    yield _of_seeds(runs)
    yield f"{' to '.join(str(n) for n in dict.fromkeys((lengths[0], lengths[-1])))} rounds"
    yield f"code {_codes(codes, current_codes(scenario, [selector], published)[selector], today)}"
    yield ", ".join(dict.fromkeys(summary["hardware"]["processor"] for summary, _ in runs.values()))
    for seed, (summary, _) in runs.items():
        if summary["diverged_round"] is not None:
            yield f"seed {seed} diverged in round {summary['diverged_round']}"
        if summary["resumed_from_rounds"]:
            yield f"seed {seed} resumed after rounds {', '.join(map(str, summary['resumed_from_rounds']))}"


def _codes(codes: Mapping[str, Collection[int]], current: Collection[str], today: Mapping[str, str]) -> str:
    """Hashes of code, with their seeds; if there are several, or one is not current, with the reason."""
    if len(codes) == 1 and set(codes) <= set(current):
        return next(iter(codes)) or "not recorded"
    return ", ".join(
        f"{code or 'not recorded'}{f' of {_of_seeds(seeds)}' if seeds and len(codes) > 1 else ''}"
        f" ({today.get(code) or (_EQUAL_CODE if code in current else _OTHER_CODE)})"
        for code, seeds in codes.items()
    )


def _of_seeds(seeds: Collection[int]) -> str:
    """Seeds in words: ``seed 3``, ``seeds 0–4, 7``."""
    spans: list[list[int]] = []
    for seed in sorted(seeds):
        if spans and spans[-1][-1] == seed - 1:
            spans[-1] = [spans[-1][0], seed]
        else:
            spans.append([seed])
    return f"seed{'s' if len(seeds) > 1 else ''} {', '.join('–'.join(map(str, span)) for span in spans)}"


def _seed(folder: Path) -> int:
    return int(folder.name.removeprefix("seed-"))
