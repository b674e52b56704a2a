"""What the kinds of studies have in common: settings, the scenario that they change, files of tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Strict, ValidationInfo, WithJsonSchema, model_validator

from pausefl.data.sources import SOURCES
from pausefl.errors import ConfigError
from pausefl.runs.reading import read_table
from pausefl.schema.base import Settings
from pausefl.schema.types import Distinct, Seed, Whole
from pausefl.selectors import SELECTORS
from pausefl.settings.load import load_scenario
from pausefl.settings.scenario import Scenario, SelectorName

if TYPE_CHECKING:
    from pausefl.analysis.figures.panels import Plotted

Floats = NDArray[np.float64]

#: Tables by the names of their files.
Tables = Mapping[str, pd.DataFrame]

#: A scenario, and selectors and seeds of jobs in it.
Runs = tuple[Scenario, list[tuple[str, int]]]

#: Takes lines for the log.
Note = Callable[[str], None]

AtLeastTwo = Annotated[int, Whole(ge=2)]


class Study(Settings):
    """One study: settings, a computation and a figure.

    A kind is a subclass in a module of its own that has its name; its docstring says what is studied. Its
    caption, with the place in the papers and the deviations from them, is in
    `pausefl.reproduction.studies.words`.
    """

    #: What is shown, for headings.
    label: ClassVar[str]
    #: Kinds of figures of its scenario that it makes without training.
    repeats: ClassVar[tuple[str, ...]] = ()
    #: Selectors that it uses besides those it names.
    besides: ClassVar[frozenset[str]] = frozenset()
    #: Whether ``verdict(tables)`` returns a line, or raises if the tables refute a claim.
    judged: ClassVar[bool] = False
    #: Whether it measures time, so that nothing may run beside it.
    exclusive: ClassVar[bool] = False
    #: Whether it goes beyond the papers: then it is made only if asked for.
    beyond: ClassVar[bool] = False

    title: Annotated[str, Strict()]
    """Title of the figure."""

    def compute(self, *args: Any) -> Tables:
        """Computed tables, all that the figure and claims need.

        Arguments are a `Note` and, if the study is `trained`, the folder of each of its `runs`.
        """
        raise NotImplementedError

    def plot(self, tables: Tables) -> Plotted:
        """Figure of the computed tables, without a title, and derived tables."""
        raise NotImplementedError

    def write(self, tables: Tables, plotted: Plotted, folder: Path) -> None:
        """Write what is derived from the computed tables, beside the figure, into a folder."""
        write_tables(plotted.tables, folder)

    @property
    def kind(self) -> str:
        """Name of its kind."""
        return type(self).__module__.rpartition(".")[2]

    def settings(self) -> dict[str, Any]:
        """All that its numbers depend on, in plain values: no titles."""
        plain = self.model_dump(exclude={"title", "changes", "selectors"})
        return {key: list(value) if isinstance(value, tuple) else value for key, value in plain.items()}

    def parts(self) -> list[type]:
        """Classes that its settings name."""
        return []

    @property
    def in_scenario(self) -> Scenario | None:
        """Scenario whose network, reward and constants are used, if any."""
        return getattr(self, "scenario", None)

    @property
    def trained(self) -> bool:
        """Whether it collects `runs`."""
        return False

    @property
    def runs(self) -> list[Runs]:
        """Jobs that it collects."""
        return []

    def check(self) -> None:
        """Raise `ConfigError` if a selector cannot run."""

    def seconds(self, rates: Mapping[str, Any]) -> float:
        """Time of its computation by the rates of ``targets/rates.json``; NaN if it is not known."""
        return math.nan


class ScenarioStudy(Study):
    """One study with the network, the reward and the constants of a scenario, some of them changed."""

    scenario: Annotated[Scenario, WithJsonSchema({"type": "string"})]
    """Scenario whose network, reward and constants are used."""
    selectors: Distinct[SelectorName]
    """Selectors to study."""
    changes: dict[str, dict[str, Any] | None] = {}
    """Keys that replace those of the scenario, by section; null for a section that is left out."""

    @model_validator(mode="before")
    @classmethod
    def _with_scenario(cls, values: Any, info: ValidationInfo) -> Any:
        """Replace the name of a scenario, as files have it, by the scenario with the study's changes."""
        if not isinstance(values, Mapping) or "scenario" not in values or set(values) - set(cls.model_fields):
            return values
        scenario = values["scenario"]
        if isinstance(scenario, str) and info.context is not None:
            return {**values, "scenario": _changed(scenario, values, info.context["scenarios"])}
        if isinstance(scenario, Mapping):
            if info.context is not None:  # of a file
                raise ValueError("scenario: must be the name of a scenario; what differs goes into changes")
            scenario = Scenario.read(scenario, "scenario")
        selectors = scenario.selectors if isinstance(scenario, Scenario) else ()
        return {**values, "scenario": scenario, "selectors": selectors}

    @model_validator(mode="after")
    def _nobody_needs_training(self) -> Self:
        for name in () if self.trained else self.selectors:
            if seen := SELECTORS[name].looks_at():
                raise ValueError(f"selectors: '{name}' looks at the users' {seen}, so it needs training")
        return self

    def settings(self) -> dict[str, Any]:
        """All that its numbers depend on, in plain values: no titles."""
        return super().settings() | {"scenario": self.scenario.as_dict() | {"title": self.scenario.name}}

    def parts(self) -> list[type]:
        """Classes of selectors, reward, privacy, model and data source."""
        scenario = self.scenario
        source = SOURCES.find(scenario.data.source)
        return [*scenario.parts(sorted({*scenario.selectors} | self.besides)), source]


class SeededStudy(ScenarioStudy):
    """One study whose selectors run as jobs do."""

    seeds: Distinct[Seed]
    """Seeds, one run of each selector for each."""

    @property
    def length(self) -> int:
        """Rounds of each run, at most."""
        return self.scenario.training.n_rounds

    @property
    def n_variants(self) -> int:
        """Number of runs of a selector under one seed."""
        return 1

    def check(self) -> None:
        """Raise `ConfigError` if a selector cannot run."""
        from pausefl.federated.runnable import check_runnable

        check_runnable(self.scenario, self.selectors)

    def seconds(self, rates: Mapping[str, Any]) -> float:
        """Time of all rounds of selections.

        Rates are for 300 users; fewer take less. Of a selector without a rate, that of exact search counts.
        The genie searches as well, in the same round.
        """
        if self.trained:
            return 0.0
        rate = rates["selection_s"]
        genie = rate["pause"] - rate.get("random", 0) if self.besides else 0
        a_round = sum(rate.get(name, rate["pause"]) + genie for name in self.selectors)
        return float(rates["start_s"] + self.length * len(self.seeds) * self.n_variants * a_round)


def log_spaced(n: int, at_most: int) -> NDArray[np.int64]:
    """At most so many of 1, ..., n, the first and the last among them, as evenly spaced in ln as can be."""
    return np.unique(np.rint(np.geomspace(1, n, at_most)).astype(np.int64))


def seeds_of(study: Study) -> tuple[int, ...]:
    """Seeds of a study; none where its settings have none."""
    return getattr(study, "seeds", ())


def read_tables(folder: Path) -> dict[str, pd.DataFrame]:
    """All tables of a folder by the names of their files; `PauseflError` if one is damaged."""
    files = (path for path in folder.iterdir() if path.suffix in (".csv", ".parquet"))
    return {path.name: read_table(path) for path in files if not path.name.startswith(".")}


def write_tables(tables: Tables, folder: Path) -> None:
    """Write tables to the files of a folder that have their names."""
    for file, table in tables.items():
        if file.endswith(".parquet"):
            table.to_parquet(folder / file, index=False)
        else:
            table.to_csv(folder / file, index=False)


def _changed(name: str, values: Mapping[str, Any], folders: Iterable[Path]) -> Scenario:
    """The scenario of a study: some keys are changed, and the selectors are the study's."""
    try:
        scenario = load_scenario(name, *folders)
    except ConfigError as error:
        raise ValueError(f"scenario: {error}") from None
    changes, selectors = values.get("changes", {}), values.get("selectors")
    listed = selectors if isinstance(selectors, list | tuple) else ()
    known = [name for name in listed if isinstance(name, str) and name in SELECTORS]
    sections = changes.values() if isinstance(changes, Mapping) else [0]
    if not (known and all(keys is None or isinstance(keys, Mapping) for keys in sections)):
        return scenario  # what is wrong with them is said elsewhere
    document = scenario.as_dict() | {"selectors": known, "figures": {}}
    for section, keys in changes.items():
        whole = document.get(section)
        document[section] = None if keys is None else (whole if isinstance(whole, dict) else {}) | keys
    try:
        return Scenario.read(document, "changes")
    except ConfigError as error:
        raise ValueError(str(error)) from None
