"""Everything that can be wrong with a configuration, found before anything runs."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pausefl.analysis.figures.kinds import FIGURES
from pausefl.data.partition import check_partition
from pausefl.data.raw_data import check_available, missing_files, training_size
from pausefl.errors import ConfigError
from pausefl.files import check_writable
from pausefl.reproduction.config import check_table
from pausefl.reproduction.figures.papers import in_parts
from pausefl.reproduction.targets.project import Project
from pausefl.runs.collected import collected_in, named

#: Folders that the workflow writes to.
_WRITTEN = ("data", "results", ".snakemake", *(f".snakemake/{name}" for name in ("log", "locks", "metadata")))


def check(project: Project) -> None:
    """Check that every name is one target, and that every job, study, partition and folder can be made.

    Raises
    ------
    ConfigError, DataError
        For the first thing that is wrong.
    """
    check_interpreter(sys.executable)
    check_names(project)
    for folder in map(Path, _WRITTEN):
        if folder.exists():
            check_writable(folder)
    if project.config.published:
        check_published(project)
        return
    check_table(project.config)
    for study in project.studies.values():
        study.check()
    for name, scenario in project.scenarios.items():
        scenario.network.make_latency()  # reads its file
        n_examples = training_size(scenario.data, project.config.raw)
        if n_examples is not None:
            shared = scenario.data, scenario.partition, scenario.network.n_users
            check_partition(*shared, n_examples, project.seeds(name))


def check_interpreter(executable: str) -> None:
    """Refuse an interpreter that Snakemake cannot start scripts with: a shell gets its path as it is."""
    if re.search(r"[\s\"'\\$`&|;<>()*?\[\]{}~#!]", executable):
        raise ConfigError(
            f"Snakemake cannot start scripts with {executable!r}, because of a space or special character in"
            " the path. Move the checkout to a path without, and install again there"
        )


def check_names(project: Project) -> None:
    """Refuse a scenario, figure or study whose name is also that of another one, or of a rule."""
    owners = dict.fromkeys(rules(project.root), "a rule of the workflow")
    scenarios = project.scenarios.items()
    names = [
        *((name, "a scenario") for name, _ in scenarios),
        *((f"figures_{name}", f"the rule of the figures of scenario '{name}'") for name, _ in scenarios),
        *((name, "a study") for name in project.studies),
        *((figure, f"a figure of scenario '{name}'") for name, one in scenarios for figure in one.figures),
        *((f"{name}_{kind}", f"a figure of scenario '{name}'") for name, _ in scenarios for kind in FIGURES),
        *(
            (whole, f"the whole of {' and '.join(parts)}")
            for whole, parts in in_parts(project.figures).items()
        ),
        *((f"claim_{claim.id}", f"the target of claim '{claim.id}'") for claim in project.claims),
        *(
            (study.jobs, f"the scenario of the jobs of study '{name}'")
            for name, study in project.studies.of_kind("benchmark").items()
        ),
    ]
    for name, owner in names:
        if owners.setdefault(name, owner) != owner:
            raise ConfigError(f"{owner} is called '{name}', like {owners[name]}: rename one of them")


def rules(root: Path) -> set[str]:
    """Names of the workflow's own rules."""
    files = [root / "workflow/Snakefile", root / "Snakefile", *(root / "workflow/rules").glob("*.smk")]
    texts = [file.read_text("utf-8") for file in files if file.is_file()]
    return {name for text in texts for name in re.findall(r"^\s*rule (\w+):", text, re.MULTILINE)}


def check_published(project: Project) -> None:
    """Raise `ConfigError` if a run is to be read from ``results/published`` and is not there."""
    for scenario in project.own:
        there = collected_in(folder := Path(project.runs_folder, scenario))
        wanted = {(job.selector, job.seed) for job in project.experiments[scenario]}
        if missing := wanted - (there.summaries.keys() if there else set()):
            raise ConfigError(f"runs = 'published', but {folder} has no run of {named(missing)}")


def check_data(project: Project) -> list[str]:
    """Data sources that the workflow would download; `DataError` if raw files are missing that it cannot."""
    wanted: dict[str, None] = {}
    for data in (project.scenarios[name].data for name in project.own if not project.config.published):
        check_available(data, project.config.raw)
        if missing_files(data, project.config.raw):
            wanted[data.source] = None
    return list(wanted)
