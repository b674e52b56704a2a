"""What the studies are about: ``config/studies.yaml``, read and checked.

The networks, rewards and selection constants of a study are those of a scenario, save for its ``changes``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from pausefl.errors import ConfigError, suggest
from pausefl.registry.selectors import SELECTORS
from pausefl.settings.scenario import Scenario, check_schema, load_scenario, read_yaml, scenario_from_dict


@dataclass(frozen=True)
class Runs:
    """Selectors that play against the latency law of a scenario. See the schema for each key.

    Attributes
    ----------
    title
        For figures.
    scenario
        With the changes made; its selectors are those of the study.
    seeds, n_rounds
        One run for each selector and seed.
    """

    title: str
    scenario: Scenario
    seeds: tuple[int, ...]
    n_rounds: int


@dataclass(frozen=True)
class Selections:
    """The jobs of a scenario without training, for as many rounds as the scenario has."""

    title: str
    scenario: Scenario
    seeds: tuple[int, ...]

    @property
    def n_rounds(self) -> int:
        """Of each job."""
        return self.scenario.training.n_rounds


@dataclass(frozen=True)
class Comparison:
    """Two annealers on the same instances: ALSA against plain annealing (BSFL, V-C and Fig. 4)."""

    title: str
    scenario: Scenario
    n_instances: int
    n_iterations: int
    temperature_divisors: tuple[float, ...]


@dataclass(frozen=True)
class Graphs:
    """The graphs that annealing walks on, drawn for a few users (BSFL, Fig. 3)."""

    title: str
    n_users: int
    n_selected: int
    n_instances: int


@dataclass(frozen=True)
class Runtime:
    """Time of one round's search against the number of users (PAUSE v2, Table I)."""

    title: str
    scenario: Scenario
    n_users: tuple[int, ...]
    selected_share: float
    budget_s: float


@dataclass(frozen=True)
class Audit:
    """Lower bounds on epsilon of the noise as implemented, beside what is claimed."""

    title: str
    mechanisms: tuple[str, ...]
    sampler: str
    epsilons: tuple[float, ...]
    dimensions: tuple[int, ...]
    n_trials: int
    confidence: float
    seed: int


@dataclass(frozen=True)
class Generalization:
    """The generalisation reward against the share of rounds (PAUSE v2, Fig. 1; BSFL, Fig. 2)."""

    title: str
    n_users: int
    n_selected: int
    betas: tuple[float, ...]
    n_rounds: int


@dataclass(frozen=True)
class Studies:
    """All studies of a file, by kind and name; the name is the workflow's target."""

    regret: dict[str, Runs]
    optimality_gap: dict[str, Runs]
    selection: dict[str, Selections]
    comparison: dict[str, Comparison]
    graphs: dict[str, Graphs]
    runtime: dict[str, Runtime]
    audit: dict[str, Audit]
    generalization: dict[str, Generalization]

    def kind(self, name: str) -> str:
        """Of which kind a study is."""
        return next(kind.name for kind in fields(self) if name in getattr(self, kind.name))

    def played(self, scenario: str) -> str | None:
        """The study that plays a scenario as it is, if there is one."""
        return next((name for name, study in self.selection.items() if study.scenario.name == scenario), None)

    def study(self, name: str) -> Any:
        """A study by its name."""
        return getattr(self, self.kind(name))[name]

    def names(self) -> list[str]:
        """Names of all studies, in the order of the file."""
        return [name for kind in fields(self) for name in getattr(self, kind.name)]


_KINDS: dict[str, type] = {
    "regret": Runs,
    "optimality_gap": Runs,
    "selection": Selections,
    "comparison": Comparison,
    "graphs": Graphs,
    "runtime": Runtime,
    "audit": Audit,
    "generalization": Generalization,
}


def load_studies(path: Path | None, scenario_folder: Path) -> Studies:
    """Read and check a file of studies; None gives no studies.

    Raises
    ------
    ConfigError
        For the first thing that is wrong, naming the study.
    """
    if path is None:
        return Studies(**{kind: {} for kind in _KINDS})
    document = read_yaml(path)
    check_schema(document, "studies", str(path))
    built: dict[str, dict[str, Any]] = {kind: {} for kind in _KINDS}
    seen: set[str] = set()
    for kind, studies in document.items():
        for name, settings in studies.items():
            if name in seen:
                raise ConfigError(f"{path}: study '{name}' is there twice")
            seen.add(name)
            try:
                built[kind][name] = _study(_KINDS[kind], settings, scenario_folder)
            except ConfigError as error:
                raise ConfigError(f"{path}: study '{name}': {error}") from None
    found = Studies(**built)
    for name, study in found.selection.items():
        if (first := found.played(study.scenario.name)) != name:
            raise ConfigError(
                f"{path}: study '{name}': '{first}' plays scenario '{study.scenario.name}', too"
            )
    return found


def _study(cls: type, settings: Mapping[str, Any], scenario_folder: Path) -> Any:
    """Build a study from its settings."""
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in settings.items()
    }
    if "scenario" in values:
        values["scenario"] = _changed(
            load_scenario(values["scenario"], scenario_folder),
            values.pop("changes", {}),
            values.pop("selectors"),
        )
    study = cls(**values)
    if isinstance(study, Runs | Selections):
        for name in study.scenario.selectors:
            if SELECTORS[name].needs_updates:
                raise ConfigError(
                    f"selectors: '{name}' looks at the users' updates, so it cannot play without training"
                )
    if isinstance(study, Selections):
        private = [name for name in study.scenario.selectors if SELECTORS[name].private]
        if study.scenario.privacy is None or not private:
            raise ConfigError("selectors: none of them has a budget, so there is no leakage to show")
    if isinstance(study, Comparison):
        for name in study.scenario.selectors:
            if not SELECTORS[name].anneals:
                raise ConfigError(f"selectors: '{name}' does not anneal, so it cannot be compared")
    if isinstance(study, Graphs) and study.n_selected >= study.n_users:
        raise ConfigError(
            f"n_selected = {study.n_selected} must be less than n_users = {study.n_users}: the only selection"
            " has no neighbour"
        )
    if isinstance(study, Generalization) and study.n_selected > study.n_users:
        raise ConfigError(f"n_selected = {study.n_selected} exceeds n_users = {study.n_users}")
    return study


def settings_of(study: Any) -> dict[str, Any]:
    """All that a study's numbers depend on, in plain values: no titles."""
    settings = {
        key: list(value) if isinstance(value, tuple) else value for key, value in asdict(study).items()
    }
    del settings["title"]
    if "scenario" in settings:
        settings["scenario"] = study.scenario.as_dict() | {"title": study.scenario.name}
    return settings


def study_from_dict(kind: str, settings: Mapping[str, Any], title: str = "") -> Any:
    """A study from what `settings_of` returns, and its title."""
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in settings.items()
    }
    if "scenario" in values:
        values["scenario"] = scenario_from_dict(values["scenario"])
    return _KINDS[kind](title=title, **values)


def one_run(study: Any, selector: str, seed: int) -> Any:
    """The part of a study that is one selector's run under one seed."""
    return replace(study, scenario=replace(study.scenario, selectors=(selector,)), seeds=(seed,))


def _changed(scenario: Scenario, changes: Mapping[str, Any], selectors: tuple[str, ...]) -> Scenario:
    """The scenario with some keys changed, and the study's selectors in place of its own."""
    document = scenario.as_dict()
    for section, keys in changes.items():
        if not isinstance(document.get(section), dict):
            sections = [name for name, value in document.items() if isinstance(value, dict)]
            raise ConfigError(f"changes: unknown section '{section}'. {suggest(section, sections)}")
        document[section] |= keys
    return scenario_from_dict({**document, "selectors": list(selectors), "figures": {}})
