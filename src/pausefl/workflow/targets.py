"""Files behind the names that a user can ask for: scenarios, figures, studies, claims."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

from pausefl.errors import ConfigError
from pausefl.figures.papers import wholes
from pausefl.registry import FIGURES, kinds_of
from pausefl.registry.figures import features
from pausefl.results import manifest
from pausefl.results.published import CODE
from pausefl.settings import Experiment
from pausefl.settings.claims import Claim, places
from pausefl.workflow import paths
from pausefl.workflow.experiments import Experiments


def figure_kinds(table: Experiments, scenario: str) -> list[str]:
    """Kinds of figures that are made of the runs of a scenario."""
    return kinds_of(table.scenarios[scenario], table.selectors(scenario))


def scenarios_by_figures(table: Experiments) -> dict[str, list[str]]:
    """Scenarios with the same kinds of figures, by a name for that.

    The name is ``figures`` where all kinds apply, else it says what is lacking: ``figures_without_spending``.
    """
    needed = {need for record in FIGURES.values() for need in record.needs}
    found: dict[str, list[str]] = {}
    for name, scenario in table.scenarios.items():
        lacking = sorted(needed - features(scenario, table.selectors(name)))
        found.setdefault("_".join(["figures", *(["without", *lacking] if lacking else [])]), []).append(name)
    return found


def scenarios_by_tables(table: Experiments) -> dict[str, list[str]]:
    """Scenarios with the same tables, by a name that says what there is besides means: ``table_privacy``."""
    found: dict[str, list[str]] = {}
    for name in table.scenarios:
        others = [kind for kind in paths.table_kinds(table, name) if kind != "summary"]
        found.setdefault("_".join(["table", *others]), []).append(name)
    return found


def partition_picture(table: Experiments, scenario: str) -> list[str]:
    """Picture of the partition of a scenario's first seed; with published runs there are no data to show.

    Those of the other seeds look the same. They can be asked for by path.
    """
    if table.config.published:
        return []
    return [paths.partition(table, scenario, table.seeds(scenario)[0], "png")]


def of_scenario(table: Experiments, scenario: str) -> list[str]:
    """Everything that a scenario ends in; the runs too, so that a lost one is made again."""
    return [
        *paths.run_files(table, scenario),
        *paths.tables(table, scenario),
        *[path for kind in figure_kinds(table, scenario) for path in paths.figure(scenario, kind)],
        *partition_picture(table, scenario),
    ]


def of_study(table: Experiments, study: str) -> list[str]:
    """Everything that a study ends in; what it computes too, so that a lost file is made again."""
    verdict = [f"results/studies/{study}/verdict.txt"] if table.studies[study].judged else []
    return [*paths.study_data(table, study), *paths.study_plots(table, study), *verdict]


def untrained(table: Experiments) -> list[str]:
    """Studies that need neither data nor training."""
    return [name for name, study in table.studies.items() if not study.trained]


def benchmarks(table: Experiments) -> list[str]:
    """Studies that compare selectors beyond the papers."""
    return [name for name, study in table.studies.items() if study.beyond]


def reproduced(table: Experiments) -> list[str]:
    """Studies of a whole configuration: the published ones, else those that do not go beyond the papers."""
    return [name for name, study in table.studies.items() if table.config.published or not study.beyond]


def claim_rows(table: Experiments, scale: str, claims: Sequence[Claim] = ()) -> list[Experiment]:
    """Rows of the experiment table on which claims are tested at a scale; all claims by default."""
    names, _ = places(claims or table.claims, scale)
    return [row for name in sorted(names & table.whole.judged.keys()) for row in table.rows[name]]


def claim_studies(table: Experiments, scale: str, claims: Sequence[Claim] = ()) -> list[str]:
    """Studies on which claims are tested at a scale; some stand in for runs of a scenario."""
    scenarios, names = places(claims or table.claims, scale)
    names |= {table.studies.simulation_of(name) or "" for name in scenarios}
    return sorted(names & table.studies.keys())


def claim_inputs(table: Experiments, scale: str, claims: Sequence[Claim] = ()) -> list[str]:
    """Runs and tables of studies that claims need at a scale."""
    scenarios = dict.fromkeys(row.scenario for row in claim_rows(table, scale, claims))
    runs = [path for name in scenarios for path in paths.run_files(table, name)]
    return runs + claim_study_files(table, scale, claims)


def claim_study_files(table: Experiments, scale: str, claims: Sequence[Claim] = ()) -> list[str]:
    """Tables of studies that claims need at a scale."""
    studies = claim_studies(table, scale, claims)
    return [path for name in studies for path in paths.study_claims(table, name)]


def claim_tables(table: Experiments, scale: str) -> dict[str, str]:
    """Tables of the rounds on which claims are tested at a scale, by scenario."""
    names = dict.fromkeys(row.scenario for row in claim_rows(table, scale))
    return {name: f"results/tables/{name}/rounds.parquet" for name in names}


def claims(table: Experiments, scales: Iterable[str]) -> list[str]:
    """Verdicts at these scales, and the runs, so that a lost one is made again."""
    return [path for scale in scales for path in paths.claims(scale) + claim_inputs(table, scale)]


def metrics(table: Experiments) -> list[str]:
    """The small files that Git keeps and DVC compares."""
    scenarios = table.config.scenarios
    return [
        *[f"results/metrics/{name}/{one}.json" for name in scenarios for one in table.selectors(name)],
        *[f"results/metrics/claims/{scale}.json" for scale in table.scales],
        *[f"results/plots/{name}.csv" for name in scenarios],
    ]


def everything(table: Experiments) -> list[str]:
    """All that a configuration asks for."""
    return [
        *[path for name in table.config.scenarios for path in of_scenario(table, name)],
        *[path for name in reproduced(table) for path in of_study(table, name)],
        *[path for scale in table.scales for path in paths.claims(scale)],
        "results/report/all.html",
    ]


def figures(table: Experiments) -> dict[str, tuple[str, str]]:
    """Scenario and kind of each of its figures, by the name of the figure."""
    return {
        figure: (name, kind)
        for name, scenario in table.scenarios.items()
        for figure, kind in scenario.figures.items()
    }


def parts_of_figures(table: Experiments) -> dict[str, list[str]]:
    """The parts of each figure of the papers that has several, such as ``bsfl_fig5``."""
    return wholes([*figures(table), *table.studies])


def of_crate(table: Experiments, name: str) -> list[str]:
    """Results in a crate: everything, or what a target of `named` is."""
    files = everything(table) if name == "all" else named(table)[name]
    beside = (Path(paths.finished(table), name) for name in (CODE, manifest.FILE))
    return [*files, *(str(path) for path in beside if path.is_file())]


#: Targets that write into ``results/published``, which have no files of their own.
PUBLISHING = {
    "publish": "what Git keeps of finished runs and studies",
    "republish": "the same, in place of what is published with other content",
}

#: Targets that stand for many others.
COLLECTIONS = ("studies", "benchmark", "claims", "metrics", "demo", "crate", *PUBLISHING)


def named(table: Experiments) -> dict[str, list[str]]:
    """Files by target: the demo, each scenario, figure, study and claim, all claims, all studies."""
    studies = {name: of_study(table, name) for name in table.studies}
    parts = {name: paths.figure(*place) for name, place in figures(table).items()} | studies
    found = {name: of_scenario(table, name) for name in table.scenarios} | parts
    found |= {
        whole: [path for part in names for path in parts[part]]
        for whole, names in parts_of_figures(table).items()
    }
    found |= {f"claim_{claim.id}": _of_claim(table, claim) for claim in table.claims}
    found["studies"] = [path for name in untrained(table) for path in studies[name]]
    if names := benchmarks(table):
        found["benchmark"] = [path for name in names for path in studies[name]]
    found["metrics"] = metrics(table)
    found["crate"] = ["results/crates/all.zip"]
    if table.scales:
        found["claims"] = claims(table, table.scales)
    if not table.config.published:
        found["demo"] = [
            *[path for name in table.demo.scenarios for path in of_scenario(table, name)],
            *[path for scale in table.demo_scales for path in paths.claims(scale)],
            "results/report/demo.html",
        ]
    return found


def titles(table: Experiments) -> dict[str, str]:
    """What each target of `named` is, in a line."""
    found = {name: scenario.title for name, scenario in table.scenarios.items()}
    parts = {
        figure: f"{FIGURES[kind].label}: {found[scenario]}"
        for figure, (scenario, kind) in figures(table).items()
    }
    parts |= {name: f"{study.label}: {study.title}" for name, study in table.studies.items()}
    found |= parts | {whole: ", ".join(names) for whole, names in parts_of_figures(table).items()}
    found |= {f"claim_{claim.id}": f"what this claim needs: {claim.sentence}" for claim in table.claims}
    return found | {
        "studies": "all studies without training",
        "benchmark": "selectors side by side, beyond the papers",
        "claims": "verdicts on all claims",
        "metrics": "numbers and curves that Git keeps",
        "demo": "everything on an embedded data set, in minutes",
        "crate": "an archive of the workflow and all results, as an RO-Crate",
    }


def needs(table: Experiments, target: str | None = None) -> tuple[list[Experiment], list[str]]:
    """Jobs and studies that a target needs.

    Parameters
    ----------
    table
        The experiment table.
    target
        A name of `named` or of `PUBLISHING`; all of the configuration by default.

    Raises
    ------
    ConfigError
        If there is no such target.
    """
    known = [*named(table), *(() if table.config.published else PUBLISHING)]
    if target is not None and target not in known:
        near = difflib.get_close_matches(target, known, n=3)
        hint = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
        raise ConfigError(
            f"unknown target '{target}', or not part of this configuration. {hint}All names: pausefl list"
        )
    scenarios: Iterable[str] = table.config.scenarios
    studies = reproduced(table)
    if target == "demo":
        scenarios, studies = table.demo.scenarios, []
    elif target == "studies":
        scenarios, studies = [], untrained(table)
    elif target == "claims" or (target or "").startswith("claim_"):
        chosen = [claim for claim in table.claims if target in ("claims", f"claim_{claim.id}")]
        rows = [row for scale in table.scales for row in claim_rows(table, scale, chosen)]
        found = [name for scale in table.scales for name in claim_studies(table, scale, chosen)]
        return list(dict.fromkeys(rows)), list(dict.fromkeys(found))
    elif target == "benchmark":
        scenarios, studies = [], benchmarks(table)
    elif target in table.scenarios:
        scenarios, studies = [target], []
    elif target is not None and target not in COLLECTIONS:
        parts = parts_of_figures(table).get(target, [target])
        owners = figures(table)
        scenarios = dict.fromkeys(owners[part][0] for part in parts if part in owners)
        studies = [part for part in parts if part in table.studies]
    rows = [row for name in scenarios for row in table.rows[name]]
    return list(
        dict.fromkeys([*rows, *[row for name in studies for row in table.runs_of_study(name)]])
    ), studies


def _of_claim(table: Experiments, claim: Claim) -> list[str]:
    """What one claim needs at the scales that the configuration has."""
    found = [path for scale in table.scales for path in claim_inputs(table, scale, [claim])]
    return list(dict.fromkeys(found))
