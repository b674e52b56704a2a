"""A configuration with everything that it names: scenarios, jobs, studies, claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pausefl.analysis.figures.kinds import TABLES, FigureSettings, figures_of, kinds_of, undrawn
from pausefl.data.partition import partition_key
from pausefl.data.raw_data import dataset_key, is_downloadable, missing_files, raw_files, source_class
from pausefl.data.sources.torchvision_download import Official
from pausefl.federated.runnable import can_reuse_training
from pausefl.files import path_of
from pausefl.reproduction.authors_archive import has_runs
from pausefl.reproduction.claims.load import (
    Check,
    Claim,
    Headline,
    load_checks,
    load_claims,
    load_headlines,
    scales,
)
from pausefl.reproduction.config import Config, load_config
from pausefl.reproduction.studies import Studies, load_studies
from pausefl.runs.run_id import RunId
from pausefl.selectors import SELECTORS
from pausefl.settings import (
    SHIPPED,
    DataSettings,
    Scenario,
    load_scenario,
    read_yaml,
)


class ScenarioFigure(NamedTuple):
    """A figure of the runs of a scenario."""

    scenario: str
    asked: FigureSettings


@dataclass(frozen=True, eq=False)
class Project:
    """What a configuration asks for, and the demo, which is always there unless runs are published."""

    #: Folder of the workflow: ``config/demo.yaml``, scenarios and the ledger are there.
    root: Path
    #: Where scenario files are looked for: the configuration's folder, then the workflow's own.
    folders: tuple[Path, Path]
    #: Its scenarios and jobs are those of the demo, then its own.
    config: Config
    #: Names of the configuration's own scenarios, and of those of the demo.
    own: tuple[str, ...]
    demo: tuple[str, ...]
    studies: Studies
    claims: tuple[Claim, ...]
    headlines: tuple[Headline, ...]
    checks: tuple[Check, ...]

    @classmethod
    def load(cls, document: Mapping[str, Any], root: Path, origin: str = "configuration") -> Project:
        """Read and check everything that a merged configuration names; ``origin`` is its name in messages.

        A relative path of it that exists in ``root``, the folder of the workflow, and not in the working
        directory, starts there.

        Raises
        ------
        ConfigError
            For the first thing that is wrong.
        """
        shipped = root / SHIPPED
        document = _located(document, root)
        config = load_config(document, origin, shipped)
        folders = (Path(document["scenarios"]), shipped)
        studies, own_names = load_studies(config.studies, *folders), tuple(config.scenarios)
        demo: tuple[str, ...] = ()
        if config.published:
            studies = studies.published(Path("results/published/studies"))
        else:
            document = _located(read_yaml(root / "config/demo.yaml"), root)
            small = load_config(document, "config/demo.yaml", shipped)
            demo = tuple(small.scenarios)
            jobs = (*(job for job in small.experiments if job.scenario not in own_names), *config.experiments)
            config = replace(config, scenarios=small.scenarios | config.scenarios, experiments=jobs)
        # Claims of the working directory, if it has some, else those of the workflow.
        file = Path("config/claims.yaml")
        file = file if file.is_file() else root / file
        claims = load_claims(file, *folders)
        return cls(
            root, folders, config, own_names, demo, studies, claims, load_headlines(file), load_checks(file)
        )

    @property
    def scenarios(self) -> dict[str, Scenario]:
        """Scenarios by name: those of the demo, then those of the configuration."""
        return self.config.scenarios

    @property
    def runs_folder(self) -> str:
        """Folder of the runs that tables, figures and verdicts are made from, by scenario."""
        return "results/published" if self.config.published else "results/collected"

    @property
    def studies_folder(self) -> str:
        """Folder of what each study computed."""
        return "results/published/studies" if self.config.published else "results/studies"

    @cached_property
    def figures(self) -> dict[str, ScenarioFigure]:
        """Each figure that runs of its scenario have the data for, by name.

        A kind that the scenario gives no name is called ``SCENARIO_KIND``.
        """
        found: dict[str, ScenarioFigure] = {}
        for name, one in self.scenarios.items():
            for kind in kinds_of(one, self.selectors(name)):
                own = {figure: shown for figure, shown in figures_of(one).items() if shown.kind == kind}
                own = own or {f"{name}_{kind}": FigureSettings(kind=kind)}
                found |= {figure: ScenarioFigure(name, shown) for figure, shown in own.items()}
        return found

    @cached_property
    def undrawn(self) -> dict[str, str]:
        """A sentence for each figure that a scenario names and that its runs have no data for."""
        return {
            figure: f"Figure '{figure}' of scenario '{name}' is not drawn: {why}."
            for name, one in self.scenarios.items()
            for figure, why in undrawn(one, self.selectors(name)).items()
        }

    @cached_property
    def figures_by_scenario(self) -> dict[str, dict[str, FigureSettings]]:
        """What each figure asks for, by scenario and name; without scenarios that have no figure."""
        found: dict[str, dict[str, FigureSettings]] = {}
        for figure, (scenario, asked) in self.figures.items():
            found.setdefault(scenario, {})[figure] = asked
        return found

    def tables(self, scenario: str) -> list[str]:
        """Kinds of tables of a scenario."""
        kinds = kinds_of(self.scenarios[scenario], self.selectors(scenario), TABLES)
        return [*kinds, *(["authors"] if has_runs(scenario) else [])]

    @property
    def reproduced(self) -> list[str]:
        """Studies of a whole configuration: what is published, else those not beyond the papers."""
        return [name for name, one in self.studies.items() if self.config.published or not one.beyond]

    @cached_property
    def job_scenarios(self) -> dict[str, Scenario]:
        """Scenarios that jobs can run in: besides the others, those of studies that collect runs."""
        studied = {one.name: one for study in self.studies.values() for one, _ in study.runs}
        return self.scenarios | studied | self.scenarios  # in this order, and the table's own

    def runs_of_study(self, study: str) -> list[RunId]:
        """Jobs whose runs a study collects."""
        return [RunId(one.name, *run) for one, own in self.studies[study].runs for run in own]

    @cached_property
    def experiments(self) -> dict[str, list[RunId]]:
        """The experiment table by scenario."""
        found: dict[str, list[RunId]] = {name: [] for name in self.scenarios}
        for experiment in self.config.experiments:
            found[experiment.scenario].append(experiment)
        return found

    def settings(self, scenario: str) -> dict[str, Any]:
        """A scenario in plain values; the title says if the images are not the official ones."""
        one = self.scenarios[scenario]
        substitute = " (re-encoded images)" if one.data.source in self.config.raw.folders else ""
        return one.as_dict() | {"title": one.title + substitute}

    def seeds(self, scenario: str) -> list[int]:
        """Seeds of a scenario."""
        return sorted({one.seed for one in self.experiments[scenario]})

    def selectors(self, scenario: str) -> list[str]:
        """Selectors of a scenario that run."""
        return sorted({one.selector for one in self.experiments[scenario]})

    @cached_property
    def datasets(self) -> dict[str, DataSettings]:
        """Data sets by the name of their file."""
        return {self.dataset(name): scenario.data for name, scenario in self.job_scenarios.items()}

    def dataset(self, scenario: str) -> str:
        """Name of the data set of a scenario."""
        return dataset_key(self.job_scenarios[scenario].data, self.config.raw)

    def partition(self, scenario: str) -> str:
        """Name of the partition of a scenario."""
        one = self.job_scenarios[scenario]
        return partition_key(one.data, one.partition, one.network.n_users)

    def partition_file(self, scenario: str) -> str:
        """File of the partition that all selectors of a scenario share, with ``{seed}`` for the seed."""
        return f"data/partitions/{self.dataset(scenario)}/{self.partition(scenario)}/seed-{{seed}}.npz"

    def raw(self, dataset: str) -> list[Path]:
        """Raw files of a data set; of official files their folder, and nothing of what comes with pausefl."""
        settings, raw = self.datasets[dataset], self.config.raw
        root, files = raw.root.absolute(), raw_files(settings, raw)
        inside = [raw.root / one.relative_to(root) if one.is_relative_to(root) else one for one in files]
        if not issubclass(source_class(settings, raw), Official):
            return inside
        return [raw.root / inside[0].relative_to(raw.root).parts[0]]

    @cached_property
    def downloads(self) -> dict[Path, str]:
        """Data source of each folder of official files that are missing and may be downloaded."""
        raw = self.config.raw
        missing = {
            name: data
            for name, data in self.datasets.items()
            if is_downloadable(data, raw) and missing_files(data, raw)
        }
        return {self.raw(name)[0]: data.source for name, data in missing.items()}

    @cached_property
    def divided(self) -> dict[tuple[str, str], Scenario]:
        """A scenario by the names of its data set and its partition, which scenarios can share."""
        found: dict[tuple[str, str], Scenario] = {}
        for name, scenario in self.job_scenarios.items():
            found.setdefault((self.dataset(name), self.partition(name)), scenario)
        return found

    @cached_property
    def scales(self) -> list[str]:
        """Scales at which claims have a test on something that the configuration lists."""
        simulated = {one.simulates for one in self.studies.of_kind("selection").values()} - {""}
        return scales(self.claims, {*self.own, *simulated}, self.studies)

    @cached_property
    def demo_scales(self) -> list[str]:
        """Scales at which claims have a test on the demo."""
        return scales(self.claims, self.demo, ())

    def trained_by(self, experiment: RunId) -> RunId | None:
        """The job whose training a job takes over: the first of the table that trains the same, if any."""
        if SELECTORS[experiment.selector].uses_reward:
            return None
        others = (experiment._replace(scenario=name) for name in self._alike.get(experiment.scenario, []))
        return next((other for other in others if other in self.experiments[other.scenario]), None)

    @cached_property
    def _alike(self) -> dict[str, list[str]]:
        """Earlier scenarios of the table that train the same, by scenario."""
        of, found = list(self.scenarios.values()), {}
        for i, one in enumerate(of):
            found[one.name] = [other.name for other in of[:i] if can_reuse_training(one, other)]
        return found

    def repeated_figures(self, study: str) -> dict[str, FigureSettings]:
        """Figures of its scenario that a study makes without training."""
        one = self.studies[study]
        if not one.repeats or one.in_scenario is None:
            return {}
        figures = figures_of(load_scenario(one.in_scenario.name, *self.folders))
        return {figure: shown for figure, shown in figures.items() if shown.kind in one.repeats}


def _located(document: Mapping[str, Any], root: Path) -> dict[str, Any]:
    """A configuration with the paths of its scenarios and studies as they are from the working directory."""
    located = dict(document)
    for key in ("scenarios", "studies"):
        value = located.get(key)
        if isinstance(value, str):
            path, shipped = path_of(value), root / value
            located[key] = str(shipped if shipped.exists() and not path.exists() else path)
    return located
