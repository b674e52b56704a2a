"""A configuration, ``config/config.yaml``: where the data are, and which experiments are run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pausefl.analysis.figures.kinds import figures_of
from pausefl.data.settings import RawData
from pausefl.data.sources import SOURCES
from pausefl.errors import ConfigError
from pausefl.federated.runnable import check_runnable
from pausefl.runs.run_id import RunId
from pausefl.schema.base import Settings
from pausefl.schema.types import Distinct, Flag, OneOf, Place, Seed, Several, Text
from pausefl.schema.yaml import read_yaml
from pausefl.settings.load import SHIPPED, check_folder, home, load_scenario, scenario_file, scenario_names
from pausefl.settings.scenario import Scenario, SelectorName


class ConfigFile(Settings):
    """What to run, and where the data are."""

    class Entry(Settings):
        """One scenario, selectors compared in it and the seeds each of them runs with."""

        scenario: Text
        """Name of a scenario file, without its ending. A scenario may have several entries, so that selectors
        run with different seeds."""
        selectors: Distinct[SelectorName] | None = None
        """Selectors to run; those that the scenario lists if left out."""
        seeds: Distinct[Seed]
        """Seeds, one job for each. Selectors under the same seed share partition, initial weights, latencies
        and noise, so that their differences are paired."""

    data_root: Text
    """Folder of the raw data sets, in torchvision's layout (for example ROOT/MNIST/raw); relative paths start
    at the working directory."""
    download: Flag
    """Whether missing data sets are downloaded; if false, a missing one is an error."""
    image_folders: dict[Annotated[str, OneOf([name for name, r in SOURCES.items() if r.in_folder])], Text]
    """Folders of images in place of official files, by data source, for example CIFAR-10 re-encoded as JPEG.
    Each is a folder under `data_root` with train/CLASS/ and test/CLASS/ inside; {} for none."""
    scenarios: Place
    """Folder of the scenario files NAME.yaml; relative paths start at the working directory. A scenario that
    is not there is looked for in `config/scenarios`."""
    studies: Place | None
    """File of the studies; a relative path starts at the working directory, null for none."""
    runs: Literal["computed", "published"] = "computed"
    """`computed`: what is missing is run. `published`: tables, figures and verdicts are made from
    `results/published`, and nothing is trained."""
    titles: Flag = False
    """Whether figures have titles, as slides need them; captions name what they show."""
    experiments: Several[Entry]
    """The experiment table: a job for each selector and seed of each entry."""

    @property
    def raw(self) -> RawData:
        """Where raw data are."""
        return RawData(Path(self.data_root), self.download, dict(self.image_folders))


@dataclass(frozen=True)
class Config:
    """What to run."""

    raw: RawData
    #: The scenarios in use.
    scenarios: dict[str, Scenario]
    #: The table of jobs.
    experiments: tuple[RunId, ...]
    #: File of the studies.
    studies: Path | None
    #: Whether the runs are those of ``results/published``, so that nothing is trained.
    published: bool = False
    #: Whether figures have titles.
    titles: bool = False


def load_places(
    path: Path | None, data_root: Path | None, download: bool | None, scenarios: Path | None
) -> tuple[RawData, Path]:
    """Where raw data and the user's scenarios are: as the arguments say, else the file, else by default.

    Raises
    ------
    ConfigError
        If anything in the file is wrong, or there are no scenarios.
    """
    raw, folder = RawData(Path("data/raw"), True, {}), SHIPPED if SHIPPED.is_dir() else home() / SHIPPED
    if path is not None:
        file = ConfigFile.read(read_yaml(path), str(path))
        raw, folder = file.raw, Path(file.scenarios)
    check_folder(folder := scenarios or folder)
    return RawData(data_root or raw.root, raw.download if download is None else download, raw.folders), folder


def load_config(document: Mapping[str, Any], origin: str = "config", shipped: Path = SHIPPED) -> Config:
    """A checked configuration with its scenarios and the expanded experiment table.

    Parameters
    ----------
    document
        The merged configuration, as Snakemake passes it.
    origin
        Named in error messages.
    shipped
        Folder of scenarios that the configuration's own folder does not have.

    Raises
    ------
    ConfigError
        For the first thing that is wrong.
    """
    file = ConfigFile.read(document, origin)
    check_folder(Path(file.scenarios))
    folders = Path(file.scenarios), shipped
    entries = [(one, load_checked(one.scenario, *folders)) for one in file.experiments]
    table = [
        RunId(entry.scenario, selector, seed)
        for entry, scenario in entries
        for selector in entry.selectors or scenario.selectors
        for seed in entry.seeds
    ]
    if twice := next((job for job, n in Counter(table).items() if n > 1), None):
        job = f"{twice.selector} with seed {twice.seed}"
        raise ConfigError(f"{origin}: the entries of scenario '{twice.scenario}' have {job} twice")
    scenarios = {entry.scenario: scenario for entry, scenario in entries}
    studies = None if file.studies is None else Path(file.studies)
    return Config(file.raw, scenarios, tuple(table), studies, file.runs == "published", file.titles)


def check_table(config: Config) -> None:
    """Raise `ConfigError` unless every row of the experiment table can run."""
    for row in config.experiments:
        check_runnable(config.scenarios[row.scenario], [row.selector])


def load_checked(name: str, *folders: Path) -> Scenario:
    """A scenario whose figures and scale are checked, too; `ConfigError` as of `load_scenario`.

    At scale ``paper`` it has the settings of that name in the last of the folders, which is the workflow's.
    """
    scenario = load_scenario(name, *folders)
    file = scenario_file(name, *folders)
    figures_of(scenario, str(file))
    if scenario.scale == "paper":
        shipped = folders[-1]
        theirs = load_scenario(name, shipped) if name in scenario_names(shipped) else None
        if theirs is None or theirs.job_settings() != scenario.job_settings():
            raise ConfigError(
                f"{file}: scale = 'paper' is for the papers' scenarios with their settings, as they come"
                " with the workflow; leave scale out, and figures say that the settings are your own"
            )
    return scenario
