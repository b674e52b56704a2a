"""Origins of a figure: runs or computed files, settings, code, deviations from the papers."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pausefl.data.sources import describe_origin
from pausefl.errors import PauseflError
from pausefl.figures.captions import paper_figures, scenario_deviations
from pausefl.figures.notes import scale_note
from pausefl.figures.papers import in_parts
from pausefl.project import Project
from pausefl.provenance import job_code
from pausefl.registry.own import from_folder
from pausefl.results.compare import code_changes
from pausefl.results.published import RunFiles, run_folder
from pausefl.results.reading import read_json
from pausefl.results.runs import has_settings, read_run
from pausefl.results.verified import current_codes
from pausefl.settings import Experiment, Scenario, load_scenario, scenario_file, scenario_names
from pausefl.settings.changes import differing
from pausefl.settings.scenario import scenario_of_job
from pausefl.studies import Study, load_studies


@dataclass(frozen=True)
class Lineage:
    """Origins of the figures of a project, with the folder of results and the file of studies."""

    project: Project
    results: Path
    studies: Path

    def explain(self, figure: str) -> str:
        """Origins of a figure: table rows, runs, seeds, code, settings, notes, deviations.

        It is one of a scenario, ``pause_v2_fig8``, a study, ``bsfl_fig4``, or a figure in several parts,
        ``bsfl_fig5``. Of a figure that is not made yet: what will run.

        Raises
        ------
        PauseflError
            If there is no such figure, or its JSON is of an earlier version.
        """
        folders = self.project.folders
        scenarios = [load_scenario(name, *folders) for name in scenario_names(*folders)]
        owners = {key: scenario for scenario in scenarios for key in scenario.figures}
        studies = load_studies(self.studies, *folders)
        parts = in_parts([*owners, *studies])
        known = [*owners, *studies, *parts]
        if figure not in known:
            near = difflib.get_close_matches(figure, known, n=5, cutoff=0.5)
            question = f"Did you mean {', '.join(map(repr, near))}? " if near else ""
            raise PauseflError(f"unknown figure '{figure}'. {question}All names: pausefl list")
        found, problems = [], []
        for name in parts.get(figure, [figure]):
            try:
                if name in owners:
                    lines = self._of_scenario(name, owners[name])
                else:
                    lines = self._of_study(name, studies[name])
                found.append("\n".join(lines))
            except PauseflError as error:
                problems.append(str(error))
            except (AttributeError, LookupError, TypeError, ValueError) as error:
                problems.append(
                    f"the JSON beside figure '{name}', or of a run in it, is damaged ({error!r}): make the"
                    f" figure again with snakemake --cores 2 --force {name}"
                )
        if not found:
            raise PauseflError("; ".join(problems))
        return "\n\n".join([*found, *problems])

    def _of_scenario(self, figure: str, scenario: Scenario) -> list[str]:
        """Origins of a figure of a scenario."""
        kind = scenario.figures[figure]
        sidecar = self.results / "figures" / scenario.name / f"{kind}.json"
        jobs = [job for job in self.project.config.experiments if job.scenario == scenario.name]
        made = _metadata(figure, sidecar)
        if made:
            then = made["scenario"]
            selectors = ", ".join(sorted({job.selector for job in jobs})) or "none"
            runs = [
                f"Rows of the experiment table: {scenario.name}, {selectors}",
                *self._runs([self._moved(path) for path in made["runs"]], scenario),
            ]
            origins = "; ".join(made["dataset_origins"])
        else:
            then, runs = None, self._jobs(jobs, scenario)
            origins = describe_origin(scenario.data, self.project.config.raw)
        note, file = scale_note(scenario), scenario_file(scenario.name, *self.project.folders)
        return [
            f"{sidecar.with_suffix('.png')}" if made else f"{figure} is not made yet",
            f"  {scenario.title}; {kind}; in the papers: {paper_figures(scenario, kind)}",
            *([f"  {note}"] if note else []),
            f"Settings: {file}{_changed(then, scenario.as_dict())}",
            f"Data: {origins}",
            *runs,
            *_ending(figure if jobs else "", made, scenario_deviations(kind, scenario)),
        ]

    def _of_study(self, name: str, study: Study) -> list[str]:
        """Origins of the figure of a study."""
        sidecar = self.results / "studies" / name / f"{name}.json"
        made = _metadata(name, sidecar)
        settings = made.get("study", study.settings())
        scenario = study.in_scenario
        figures = load_scenario(scenario.name, *self.project.folders).figures if scenario is not None else {}
        lines = [
            f"{sidecar.with_suffix('.png')}" if made else f"{name} is not made yet",
            f"  {study.title}; {study.kind}; in the papers: {study.place_in(figures)}",
            f"Settings: {self.studies}, {name}{_changed(made.get('study'), study.settings())}",
        ]
        if scenario is not None:
            file = scenario_file(scenario.name, *self.project.folders)
            lines.append(f"Scenario: {file}; selectors: {', '.join(scenario.selectors)}")
        if "n_instances" in settings:
            lines.append(f"Seeds: 0 .. {settings['n_instances'] - 1}, one an instance")
        elif seeds := settings.get("seeds") or [settings[key] for key in ("seed",) if key in settings]:
            lines.append(f"Seeds: {', '.join(map(str, seeds))}")
        if made:
            # A study that is computed run by run has a code hash for each selector.
            current = study.current_codes(name, self.results / "published")
            for selector, recorded in (made.get("code_hashes") or {"": made["code_hash"]}).items():
                codes = dict.fromkeys([recorded] if isinstance(recorded, str) else recorded, ())
                of = f" of {selector}" if selector else ""
                lines.append(f"Code{of}: {_codes(codes, current.get(selector, []))}")
            files = [self._moved(path) for path in made["data"]]
            lines += [
                "Data:",
                *(f"  {file}{'' if file.is_file() else ': no longer exists'}" for file in files),
            ]
        return [*lines, *_ending(name, made, study.applying())]

    def _jobs(self, jobs: Iterable[Experiment], scenario: Scenario) -> list[str]:
        """The jobs of a figure that is not made yet, and which of them are finished with today's settings."""
        results = self.results / "published" if self.project.config.published else self.results
        seeds: dict[str, list[int]] = {}
        done: dict[str, list[int]] = {}
        for job in jobs:
            seeds.setdefault(job.selector, []).append(job.seed)
            if has_settings(run_folder(results, job), scenario):
                done.setdefault(job.selector, []).append(job.seed)
        return [
            f"Jobs, in {run_folder(results, Experiment(scenario.name, 'any', 0)).parents[1]}:",
            *(
                f"  {selector}: seeds {', '.join(map(str, own))};"
                f" finished: {', '.join(map(str, done.get(selector, []))) or 'none'}"
                for selector, own in sorted(seeds.items())
            ),
            *([] if seeds else [f"  none; a row of {scenario.name} in the configuration is needed"]),
        ]

    def _runs(self, folders: Sequence[Path], scenario: Scenario) -> Iterator[str]:
        """Yield a line on the runs of each selector: seeds, rounds, code, processor, what went wrong."""
        yield f"Runs, in {folders[0].parents[1]}:"
        selectors = dict.fromkeys(from_folder(folder.parent.name) for folder in folders)
        current = current_codes(scenario, selectors, self.results / "published")
        for selector in selectors:
            own = {
                int(folder.name.removeprefix("seed-")): folder
                for folder in folders
                if from_folder(folder.parent.name) == selector
            }
            lost = [seed for seed, folder in own.items() if not RunFiles.of(folder).there()]
            runs = {seed: read_run(folder) for seed, folder in own.items() if seed not in lost}
            notes = list(_notes(runs, current[selector])) if runs else []
            if lost:
                notes.append(f"{_of_seeds(lost)} no longer there")
            yield f"  {selector}: {'; '.join(notes)}"

    def _moved(self, path: str) -> Path:
        """A path of a JSON file, ``results/runs/…``, below the folder of results."""
        return self.results.joinpath(*Path(path).parts[1:])


def explain_run(folder: Path) -> str:
    """Differences between the code that made a run and today's.

    Raises
    ------
    PauseflError
        If there is no such run, or it does not say what its code was made of, as those of earlier versions.
    """
    summary, rounds = read_run(folder)
    scenario, then = scenario_of_job(summary["scenario"]), summary.get("code")
    genie, device = bool(rounds["pseudo_regret"].notna().any()), summary["device"] or "cpu"
    now = [
        job_code(scenario, summary["selector"], device, genie=genie, in_folder=in_folder)
        for in_folder in (False, True)
    ]
    head = f"{folder}: {scenario.name}, {summary['selector']}, seed {summary['seed']}"
    if summary["code_hash"] in now:
        return f"{head}\nCode: {summary['code_hash']}, as today"
    if not then:
        raise PauseflError(
            f"{folder} does not say which definitions its code ({summary['code_hash']}) is made of"
        )
    found = min((list(code_changes(then, code.parts)) for code in now), key=len)
    return "\n".join([head, f"Code: {summary['code_hash']}, since then:", *found])


def _metadata(figure: str, sidecar: Path) -> dict[str, Any]:
    """Contents of the JSON file beside a figure; empty if the figure is not made yet."""
    if not sidecar.is_file():
        return {}
    metadata = read_json(sidecar)
    if "notes" not in metadata:
        raise PauseflError(
            f"{sidecar} is of an earlier version: make the figure again with snakemake --cores 2 {figure}"
        )
    return metadata


def _changed(then: Mapping[str, Any] | None, now: Mapping[str, Any]) -> str:
    """The settings that have changed since the figure was made."""
    keys = differing(then, now).keys() - {"title", "scenario.title"} if then else ()
    return f" (changed since: {', '.join(sorted(keys))})" if keys else ""


def _ending(figure: str, made: Mapping[str, Any], deviations: Iterable[str]) -> list[str]:
    """Notes and deviations of a figure, and how it is made if it is not."""
    lines = ["Notes:", *(f"  {note}" for note in made["notes"] or ["none"])] if made else []
    lines.append("Deviations from the papers (docs/deviations.md):")
    lines += [f"  {deviation}" for deviation in deviations] or ["  none"]
    if figure and not made:
        lines.append(f"To make it: snakemake --cores 2 {figure}. What that takes: pausefl plan {figure}")
    return lines


def _notes(runs: Mapping[int, tuple[dict[str, Any], Any]], current: Sequence[str]) -> Iterator[str]:
    """Yield notes on the runs of a selector, by seed."""
    codes: dict[str, list[int]] = {}
    for seed, (summary, _) in runs.items():
        codes.setdefault(summary["code_hash"], []).append(seed)
    lengths = sorted({len(rounds) for _, rounds in runs.values()})
    yield _of_seeds(runs)
    yield f"{' to '.join(map(str, dict.fromkeys((lengths[0], lengths[-1]))))} rounds"
    yield f"code {_codes(codes, current)}"
    yield ", ".join(dict.fromkeys(summary["hardware"]["processor"] for summary, _ in runs.values()))
    for seed, (summary, _) in runs.items():
        if summary["diverged_round"] is not None:
            yield f"seed {seed} diverged in round {summary['diverged_round']}"
        if summary["resumed_from_rounds"]:
            yield f"seed {seed} resumed after rounds {', '.join(map(str, summary['resumed_from_rounds']))}"


def _codes(codes: Mapping[str, Collection[int]], current: Sequence[str]) -> str:
    """Hashes of code, with their seeds; if there are several, or one is not current, with what that means.

    ``current`` has today's hash first, then those that count as today's.
    """
    if len(codes) == 1 and set(codes) <= set(current):
        return next(iter(codes)) or "not recorded"
    means = dict.fromkeys(current, "counts as today's") | dict.fromkeys(current[:1], "today's")
    return ", ".join(
        f"{code or 'not recorded'}{f' of {_of_seeds(seeds)}' if seeds and len(codes) > 1 else ''}"
        f" ({means.get(code, 'the code has changed since')})"
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
