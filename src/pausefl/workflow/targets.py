"""What can be asked for by name, in one table: scenarios, figures, studies, claims, collections of these."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from pausefl.claims.load import Claim, places
from pausefl.errors import ConfigError
from pausefl.figures.papers import in_parts
from pausefl.project import Project
from pausefl.registry import FIGURES, kinds_of
from pausefl.registry.figures import features
from pausefl.registry.own import as_folder
from pausefl.report.questions import LONG_RUNS
from pausefl.settings import Experiment
from pausefl.studies import kinds
from pausefl.workflow import paths

#: Targets that stand for others; some are there only where there is something that they stand for.
COLLECTIONS = {
    "all": "everything that the configuration asks for",
    "studies": "all studies without training",
    "benchmark": "selectors side by side, beyond the papers",
    "metrics": "numbers and curves that Git keeps",
    "claims": "verdicts on all claims",
    "overview": "the papers' figures of accuracy at a glance, and a reader's first questions",
    "demo": "everything on an embedded data set, in minutes",
    "publish": "what Git keeps of finished runs and studies",
    "republish": "the same, in place of what is published with other content",
}


#: Published scenarios that one process tabulates, or plots, since it starts slower than it does either.
_AT_ONCE = 6

#: What has the name of one of these, in messages.
RULE = "a rule of the workflow"


@dataclass(frozen=True)
class Target:
    """Something that can be asked for by name."""

    table: Project = field(repr=False)
    name: str
    title: str
    #: What has the name, in messages.
    owner: str
    #: What it ends in, lost runs included; none if it has a rule of its own.
    files: Sequence[str] = ()
    #: Whose runs it needs.
    scenarios: Sequence[str] = ()
    studies: Sequence[str] = ()
    #: Of the verdicts in its report.
    scales: Sequence[str] = ()
    #: Whether there is a report on it.
    reported: bool = False

    @property
    def jobs(self) -> list[Experiment]:
        """Jobs that it needs."""
        jobs = [one for name in self.scenarios for one in self.table.experiments[name]]
        jobs += [one for name in self.studies for one in self.table.runs_of_study(name)]
        return list(dict.fromkeys(jobs))


def targets(table: Project) -> dict[str, Target]:
    """Every target by name."""
    return {target.name: target for target in every(table)}


def find(table: Project, name: str) -> Target:
    """A target by its name; `ConfigError` if there is none."""
    known = targets(table)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3)
        hint = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
        raise ConfigError(
            f"unknown target '{name}', or not part of this configuration. {hint}All names: pausefl list"
        )
    return known[name]


@cache
def every(table: Project) -> tuple[Target, ...]:
    """Every target; `pausefl.workflow.checks` refuses equal names."""
    parts = list(_parts(table))
    return (*_scenarios(table), *parts, *_in_parts(table, parts), *_claims(table), *_collections(table))


def _scenarios(table: Project) -> Iterator[Target]:
    for name, one in table.scenarios.items():
        files = of_scenario(table, name)
        yield Target(table, name, one.title, "a scenario", files, [name], reported=True)


def _parts(table: Project) -> Iterator[Target]:
    """Figures of scenarios, and studies."""
    for name, one in table.scenarios.items():
        for figure, kind in one.figures.items():
            title, owner = f"{FIGURES[kind].label}: {one.title}", f"a figure of scenario '{name}'"
            yield Target(table, figure, title, owner, paths.figure(name, kind), [name])
    for name, study in table.studies.items():
        title, files = f"{study.label}: {study.title}", of_study(table, name)
        yield Target(table, name, title, "a study", files, studies=[name], reported=True)


def _in_parts(table: Project, parts: Iterable[Target]) -> Iterator[Target]:
    """Figures of the papers that have several parts, such as ``bsfl_fig5``."""
    by_name = {part.name: part for part in parts}
    for name, names in in_parts(by_name).items():
        own, owner = [by_name[part] for part in names], f"the whole of {' and '.join(names)}"
        files, scenarios, studies = (
            [one for part in own for one in getattr(part, of)] for of in ("files", "scenarios", "studies")
        )
        yield Target(table, name, ", ".join(names), owner, files, scenarios, studies)


def _claims(table: Project) -> Iterator[Target]:
    """What each claim needs at the scales that the configuration has."""
    for claim in table.claims:
        title, owner = f"what this claim needs: {claim.sentence}", f"the target of claim '{claim.id}'"
        files = [file for scale in table.scales for file in claim_inputs(table, scale, [claim])]
        yield Target(
            table, f"claim_{claim.id}", title, owner, list(dict.fromkeys(files)), *_tested(table, [claim])
        )


def _collections(table: Project) -> Iterator[Target]:
    own, studies, scales = table.own, reproduced(table), table.scales
    untrained = [name for name, study in table.studies.items() if not study.trained]
    beyond = [name for name, study in table.studies.items() if study.beyond]

    def with_report(name: str, *shown: Sequence[str]) -> Target:
        """All of some scenarios, of some studies, and the verdicts at some scales."""
        scenarios, studies, scales = shown
        files = [file for one in scenarios for file in of_scenario(table, one)]
        files += [file for one in studies for file in of_study(table, one)]
        files += [file for scale in scales for file in paths.claims(scale)]
        files += paths.overview(table) if name == "all" else []
        files.append(f"results/report/{name}.html")
        title = COLLECTIONS[name]
        return Target(table, name, title, RULE, files, scenarios, studies, scales, reported=True)

    def target(name: str, files: Sequence[str], scenarios: Sequence[str], studies: Sequence[str]) -> Target:
        return Target(table, name, COLLECTIONS[name], RULE, files, scenarios, studies)

    yield target("studies", [file for name in untrained for file in of_study(table, name)], (), untrained)
    if beyond:
        yield target("benchmark", [file for name in beyond for file in of_study(table, name)], (), beyond)
    yield target("metrics", metrics(table), own, studies)
    if files := paths.overview(table):
        shown = [Path(path).parent.name for path in paths.overview_inputs(table)["rounds"]]
        yield target("overview", files, shown, [name for name in [LONG_RUNS] if name in table.studies])
    if scales:
        files = [file for scale in scales for file in paths.claims(scale) + claim_inputs(table, scale)]
        yield target("claims", files, *_tested(table, table.claims))
    if not table.config.published:
        yield with_report("demo", table.demo, (), table.demo_scales)
        yield target("publish", (), own, studies)
        yield target("republish", (), own, studies)
    yield with_report("all", own, studies, scales)


def of_scenario(table: Project, scenario: str) -> list[str]:
    """Everything that a scenario ends in; the runs too, so that a lost one is made again."""
    return [
        *paths.run_files(table, scenario),
        *paths.tables(table, scenario),
        *[path for kind in figure_kinds(table, scenario) for path in paths.figure(scenario, kind)],
        *partition_picture(table, scenario),
    ]


def of_study(table: Project, study: str) -> list[str]:
    """Everything that a study ends in; what it computes too, so that a lost file is made again."""
    verdict = [f"results/studies/{study}/verdict.txt"] if table.studies[study].judged else []
    return [*paths.study_data(table, study), *paths.study_plots(table, study), *verdict]


def figure_kinds(table: Project, scenario: str) -> list[str]:
    """Kinds of figures that are made of the runs of a scenario."""
    return kinds_of(table.scenarios[scenario], table.selectors(scenario))


def partition_picture(table: Project, scenario: str) -> list[str]:
    """Picture of the partition of a scenario's first seed; with published runs there are no data to show.

    Those of the other seeds look the same. They can be asked for by path.
    """
    if table.config.published:
        return []
    return [paths.partition(table, scenario, table.seeds(scenario)[0], "png")]


def scenarios_by_figures(table: Project) -> dict[str, list[str]]:
    """Scenarios with the same kinds of figures, by a name for that.

    The name is ``figures`` where all kinds apply but that of selections, else it says what is lacking, and
    whether that is there: ``figures_without_spending_with_selections``.
    """
    needed = {need for record in FIGURES.values() for need in record.needs} - {"selections"}
    found: dict[str, list[str]] = {}
    for name, scenario in table.scenarios.items():
        has = features(scenario, table.selectors(name))
        lacking = sorted(needed - has)
        parts = ["figures", *(["without", *lacking] if lacking else [])]
        parts += ["with_selections"] if "selections" in has else []
        found.setdefault("_".join(parts), []).append(name)
    return _in_steps(table, found)


def scenarios_by_tables(table: Project) -> dict[str, list[str]]:
    """Scenarios with the same tables, by a name that says what there is besides means: ``table_privacy``."""
    found: dict[str, list[str]] = {}
    for name in table.scenarios:
        others = [kind for kind in paths.table_kinds(table, name) if kind != "summary"]
        found.setdefault("_".join(["table", *others]), []).append(name)
    return _in_steps(table, found)


def _in_steps(table: Project, found: dict[str, list[str]]) -> dict[str, list[str]]:
    """With published runs, which are all there, one process shows a few scenarios: a name for each few."""
    if not table.config.published:
        return found
    return {
        f"{name}_{i // _AT_ONCE + 1}" if i else name: scenarios[i : i + _AT_ONCE]
        for name, scenarios in found.items()
        for i in range(0, len(scenarios), _AT_ONCE)
    }


def array_rules(table: Project) -> list[str]:
    """Rules with many short jobs of one size, one for each scenario, seed or run, which train nothing."""
    by_run = [f"compute_{kind}" for kind, facts in kinds().items() if facts.by_run()]
    figures = [f"plot_{figures}" for figures in scenarios_by_figures(table)]
    return ["partition", "plot_partition", *by_run, *scenarios_by_tables(table), *figures]


def reproduced(table: Project) -> list[str]:
    """Studies of a whole configuration: the published ones, else those that do not go beyond the papers."""
    return [name for name, study in table.studies.items() if table.config.published or not study.beyond]


def claim_scenarios(table: Project, scale: str, claims: Sequence[Claim] = ()) -> list[str]:
    """Scenarios whose runs claims are tested on at a scale; all claims by default."""
    return sorted(filter(table.judged, places(claims or table.claims, scale)[0]))


def claim_studies(table: Project, scale: str, claims: Sequence[Claim] = ()) -> list[str]:
    """Studies on which claims are tested at a scale; some stand in for runs of a scenario."""
    scenarios, names = places(claims or table.claims, scale)
    names |= {table.studies.simulation_of(name) or "" for name in scenarios}
    return sorted(names & table.studies.keys())


def _tested(table: Project, claims: Sequence[Claim]) -> tuple[list[str], list[str]]:
    """Scenarios and studies on which claims are tested at the scales of the configuration."""
    scenarios = [name for scale in table.scales for name in claim_scenarios(table, scale, claims)]
    studies = [name for scale in table.scales for name in claim_studies(table, scale, claims)]
    return list(dict.fromkeys(scenarios)), list(dict.fromkeys(studies))


def claim_inputs(table: Project, scale: str, claims: Sequence[Claim] = ()) -> list[str]:
    """Runs and tables of studies that claims need at a scale."""
    scenarios, studies = claim_scenarios(table, scale, claims), claim_studies(table, scale, claims)
    runs = [path for name in scenarios for path in paths.run_files(table, name)]
    return runs + [path for name in studies for path in paths.study_claims(table, name)]


def metrics(table: Project) -> list[str]:
    """The small files that Git keeps and DVC compares."""
    return [
        *[
            f"results/metrics/{name}/{as_folder(one)}.json"
            for name in table.own
            for one in table.selectors(name)
        ],
        *[f"results/metrics/claims/{scale}.json" for scale in table.scales],
        *[f"results/plots/{name}.csv" for name in table.own],
    ]
