"""What the kinds of studies have in common: settings, facts, files, code and words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import pandas as pd
from pydantic import Strict, ValidationInfo, WithJsonSchema, model_validator

from pausefl.errors import ConfigError, suggest
from pausefl.figures.captions import places_of, values_of
from pausefl.figures.deviations import applying, iterates
from pausefl.figures.words import Caption, caption, render
from pausefl.registry import SELECTORS, SOURCES, Record
from pausefl.runs.reading import read_table
from pausefl.settings.base import Settings
from pausefl.settings.load import load_scenario
from pausefl.settings.scenario import Scenario, SelectorName
from pausefl.settings.types import Distinct, Seed, Whole

if TYPE_CHECKING:
    from pausefl.figures.panels import Plotted

#: Tables by the names of their files without suffix.
Tables = Mapping[str, pd.DataFrame]

#: Takes lines for the log.
Note = Callable[[str], None]

AtLeastTwo = Annotated[int, Whole(ge=2)]

#: Deviations that can bear on whatever anneals.
ANNEALING = ("D1", "D2", "D4")

#: Sentences that the words of several kinds share, by the name there: ``lines``, ``runs``, ``simulated`` ...
_LINES = "{% if seeds|length > 1 %}Lines are means over {{ all_seeds }}, bands their range.{% endif %}"
_RUNS = "Runs: {% include '_seeds.md.jinja' %}."
_SIMULATED = """
{{ scenario.network.n_users }} users, {{ scenario.network.n_selected }} selected in each of
{{ study.length }} rounds
{%- include "_everyone.md.jinja" %}; nothing is trained. Scenario `{{ scenario.name }}`, reward
`{{ scenario.reward.name }}` with α = {{ scenario.reward.alpha }}, β = {{ scenario.reward.beta }},
γ = {{ scenario.reward.gamma }}
{%- if privacy and scenario.reward.gamma %}, the weight of the budget that is left{% endif %}. The bandit
index multiplies the mean speed by ζ = {{ scenario.selection.exploitation }}.
"""
#: ... and ``annealing``.
_ANNEALING = """
Annealers run {{ search.n_iterations }} iterations a round, with temperatures divided by
κ = {{ search.temperature_divisor }}.
"""

#: What ends all captions.
_ENDING = """
{% if seeds %}{% include "_privacy.md.jinja" %}{% endif %}

*In the papers.* {{ place }}.

{% include "_deviations.md.jinja" %}
"""


class Study(Settings):
    """One study.

    A kind is a subclass with a name and words of its own; its docstring says what is studied. ``compute``
    makes the computed tables, and ``draw`` a figure and the derived tables of them.
    """

    #: Name of the kind.
    kind: ClassVar[str]
    #: What is shown, for headings.
    label: ClassVar[str]
    #: The caption (`pausefl.figures.words`). Its first paragraph is what is shown.
    words: ClassVar[str]
    #: Files of the computed tables.
    data: ClassVar[tuple[str, ...]]
    #: Files of the derived tables, which are made with the figure.
    tables: ClassVar[tuple[str, ...]] = ()
    #: Files of ``data`` or ``tables`` that claims are tested on.
    claims: ClassVar[tuple[str, ...]] = ()
    #: Where the papers have it.
    place: ClassVar[str] = "Nowhere"
    #: Kinds of figures that it makes without training; then these figures of its scenario are its place.
    repeats: ClassVar[tuple[str, ...]] = ()
    #: Deviations that can bear on it.
    deviations: ClassVar[tuple[str, ...]] = ()
    #: Selectors that it uses besides those it names.
    besides: ClassVar[frozenset[str]] = frozenset()
    #: Whether ``verdict(tables)`` returns a line, or raises if the tables refute a claim.
    judged: ClassVar[bool] = False
    #: Whether it measures time, so that nothing may run beside it.
    exclusive: ClassVar[bool] = False
    #: Whether it collects `runs`.
    trained: ClassVar[bool] = False
    #: Whether it goes beyond the papers: then it is made only if asked for.
    beyond: ClassVar[bool] = False
    #: Whether it computes in several processes at once.
    parallel: ClassVar[bool] = False

    title: Annotated[str, Strict()]
    """Title of the figure."""

    def compute(self, *args: Any, **kwargs: Any) -> Tables:
        """Computed tables, by the names of their files without suffix.

        Arguments are a function for lines of the log; if it is ``trained``, ``folders`` of `runs`; and if it
        is ``parallel``, ``n_processes``.
        """
        raise NotImplementedError

    def draw(self, tables: Tables) -> Plotted:
        """Figure of the computed tables, without a title, and derived tables."""
        raise NotImplementedError

    def plot(self, tables: Tables) -> Plotted:
        """What `draw` returns, in the theme of all and with its title unless that is empty."""
        from pausefl.figures.style import add_title, theme

        with theme():
            plotted = self.draw(tables)
            if self.title:
                add_title(plotted.figure, self.title)
        return plotted

    def settings(self) -> dict[str, Any]:
        """All that its numbers depend on, in plain values: no titles."""
        plain = self.model_dump(exclude={"title", "changes", "selectors"})
        return {key: list(value) if isinstance(value, tuple) else value for key, value in plain.items()}

    def records(self) -> list[Record]:
        """Records of what its settings name."""
        return []

    @property
    def all_cores(self) -> bool:
        """Whether it takes all cores of a machine."""
        return self.parallel or self.exclusive

    @property
    def in_scenario(self) -> Scenario | None:
        """Scenario whose network, reward and constants are used, if any."""
        return None

    @property
    def simulates(self) -> str:
        """Name of the scenario whose jobs it simulates, so that claims can be judged on it; empty if none."""
        return ""

    @property
    def job_scenarios(self) -> list[Scenario]:
        """Scenarios of the jobs that it collects."""
        return []

    @property
    def own_names(self) -> tuple[str, ...]:
        """Names that its settings give to scenarios of jobs."""
        return ()

    @property
    def runs(self) -> dict[str, list[tuple[str, int]]]:
        """Selectors and seeds of the jobs that it collects, by the name of their scenario."""
        return {}

    def check(self) -> None:
        """Raise `ConfigError` if a selector cannot run."""

    def notes(self) -> list[str]:
        """Warnings in the figure."""
        return []

    def seconds(self, rates: Mapping[str, Any]) -> list[float]:
        """Time of each of its steps by the rates of ``workflow/rates.json``; NaN if it is not known."""
        return [0.0 if self.trained else math.nan]

    def caption(self, figures: Mapping[str, str]) -> Caption:
        """Caption of the figure and the table; ``figures`` are names and kinds of those of its scenario."""
        places = [place for kind in self.repeats for place in places_of(figures, kind)]
        place = "; ".join(dict.fromkeys(places)) or self.place
        return caption(self.words + _ENDING, place=place, deviations=self.applying(), **self._values())

    def applying(self) -> list[str]:
        """Deviations that bear on it, in words."""
        return applying(self.deviations, self.in_scenario)

    def _values(self) -> dict[str, Any]:
        """What stands for names in ``words``."""
        return {"study": self, "seeds": ()}


class ScenarioStudy(Study):
    """One study with the network, the reward and the constants of a scenario."""

    scenario: Annotated[Scenario, WithJsonSchema({"type": "string"})]
    """Scenario whose network, reward and constants are used."""
    selectors: Distinct[SelectorName]
    """Selectors to study."""

    @model_validator(mode="before")
    @classmethod
    def _with_scenario(cls, values: Any, info: ValidationInfo) -> Any:
        """Replace the name of a scenario, as files have it, by the scenario with the study's changes."""
        if not isinstance(values, Mapping) or "scenario" not in values or set(values) - set(cls.model_fields):
            return values
        scenario = values["scenario"]
        if isinstance(scenario, str) and info.context is not None:
            scenario = _changed(scenario, values, info.context["scenarios"])
            return {**values, "scenario": scenario}
        if isinstance(scenario, Mapping):
            if info.context is not None:  # of a file
                raise ValueError("scenario: must be the name of a scenario; what differs goes into changes")
            scenario = Scenario.read(scenario, "scenario")
        selectors = scenario.selectors if isinstance(scenario, Scenario) else ()
        return {**values, "scenario": scenario, "selectors": selectors}

    def settings(self) -> dict[str, Any]:
        """All that its numbers depend on, in plain values: no titles."""
        return super().settings() | {"scenario": self.scenario.as_dict() | {"title": self.scenario.name}}

    @property
    def in_scenario(self) -> Scenario:
        """Scenario whose network, reward and constants are used."""
        return self.scenario

    def records(self) -> list[Record]:
        """Records of selectors, reward, privacy and model; of the data the number of examples counts."""
        scenario = self.scenario
        source = replace(SOURCES.find(scenario.data.source), code="pausefl.data.sources:training_size")
        return [*scenario.records(sorted({*scenario.selectors} | self.besides)), source]

    def _values(self) -> dict[str, Any]:
        anneals = any(map(iterates, self.selectors))
        annealing = render(_ANNEALING, search=self.scenario.selection) if anneals else ""
        return super()._values() | {"annealing": annealing}


class ChangedScenarioStudy(ScenarioStudy):
    """One study with the network, the reward and the constants of a scenario, some of them changed."""

    changes: dict[str, dict[str, Any]] = {}
    """Keys that replace those of the scenario, by section."""


class SeededStudy(ScenarioStudy):
    """One study of selectors that run as jobs do, under seeds; without training, unless it is ``trained``."""

    seeds: Distinct[Seed]
    """Seeds, one run of each selector for each."""

    @model_validator(mode="after")
    def _nobody_needs_training(self) -> Self:
        for name in () if self.trained else self.selectors:
            record = SELECTORS[name]
            if record.needs_updates or record.needs_losses:
                seen = "updates" if record.needs_updates else "training losses"
                raise ValueError(f"selectors: '{name}' looks at the users' {seen}, so it needs training")
        return self

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

    def notes(self) -> list[str]:
        """Warnings in the figure: of a single seed."""
        from pausefl.figures.notes import seed_notes

        return seed_notes(self.seeds)

    def seconds(self, rates: Mapping[str, Any]) -> list[float]:
        """Time of each of its steps: rounds of selections.

        Rates are for 300 users; fewer take less. Of a selector without a rate, that of exact search counts.
        The genie searches as well, in the same round.
        """
        if self.trained:
            return super().seconds(rates)
        rate, n_runs = rates["selection_s"], len(self.seeds) * self.n_variants
        genie = rate["pause"] - rate.get("random", 0) if self.besides else 0
        runs = [
            self.length * (rate.get(name, rate["pause"]) + genie)
            for name in self.selectors
            for _ in range(n_runs)
        ]
        return [rates["start_s"] + run for run in (runs if self.parallel else [math.fsum(runs)])]

    def _values(self) -> dict[str, Any]:
        known = super()._values() | values_of(self.scenario, self.seeds)
        shared = {"lines": _LINES, "runs": _RUNS, "simulated": _SIMULATED}
        return known | {name: render(text, **known) for name, text in shared.items()}


def read_tables(folder: Path, files: Iterable[str]) -> dict[str, pd.DataFrame]:
    """Tables by the names of their files without suffix; `PauseflError` if one is missing or damaged."""
    return {Path(file).stem: read_table(folder / file) for file in files}


def write_tables(tables: Tables, folder: Path, files: Iterable[str]) -> None:
    """Write tables to the files of a folder that have their names."""
    for file in files:
        path, table = folder / file, tables[Path(file).stem]
        if path.suffix == ".parquet":
            table.to_parquet(path, index=False)
        else:
            table.to_csv(path, index=False)


def _changed(name: str, values: Mapping[str, Any], folders: Iterable[Path]) -> Scenario:
    """The scenario of a study: some keys are changed, and the selectors are the study's."""
    try:
        scenario = load_scenario(name, *folders)
    except ConfigError as error:
        raise ValueError(f"scenario: {error}") from None
    changes, selectors = values.get("changes", {}), values.get("selectors")
    listed = selectors if isinstance(selectors, list | tuple) else ()
    known = [name for name in listed if isinstance(name, str) and name in SELECTORS]
    if not (isinstance(changes, Mapping) and known):
        return scenario  # what is wrong with them is said elsewhere
    document = scenario.as_dict() | {"selectors": known}
    for section, keys in changes.items():
        if not isinstance(document.get(section), dict):
            sections = [name for name, value in document.items() if isinstance(value, dict)]
            raise ValueError(f"changes: unknown section '{section}'. {suggest(section, sections)}")
        if not isinstance(keys, Mapping):
            raise ValueError(f"changes.{section} = {keys!r} must have keys and values")
        document[section] |= keys
    try:
        return Scenario.read({**document, "figures": {}}, "changes")
    except ConfigError as error:
        raise ValueError(str(error)) from None
