"""Kinds of figures, and tables, of a scenario's runs: what they need, and plotting them."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import GetJsonSchemaHandler, model_serializer, model_validator
from pydantic_core import CoreSchema

from pausefl.errors import ConfigError, suggest
from pausefl.schema.base import Settings
from pausefl.schema.types import Count, Items, Name, OneOf, Real, Text
from pausefl.selectors import SELECTORS
from pausefl.settings import Scenario

if TYPE_CHECKING:
    from pausefl.analysis.figures.beside import Source
    from pausefl.analysis.figures.panels import Plotted
    from pausefl.runs.run import Rounds

#: Keys of ``network`` that say how fast each user is.
SPEEDS = (
    "latency",
    "latency_file",
    "latency_floor",
    "fast_latency_max",
    "slow_latency_min",
    "slow_latency_max",
)

#: Up to this many users have a line each in them; of more, quantiles are shown.
MOST_LINES = 40


@dataclass(frozen=True)
class Kind:
    """A kind of figure, or of table, of a scenario's runs."""

    #: What it shows.
    shows: str
    #: Of a figure: a function of the rounds (`pausefl.runs.run.rounds_of`) and the scenario, as module and
    #: name, that returns a `Plotted`.
    code: str = ""
    #: ``training``: trained runs; ``budget``: a private selector and a privacy budget; ``accuracy``: a data
    #: set with classes. Scenarios that lack one of them leave this kind out.
    needs: Collection[str] = frozenset()
    #: Whether it is made only where a scenario names one, and by ``pausefl plot``.
    asked: bool = False
    #: What all runs in it must share: sections and dotted keys of settings, ``kind of loss`` and ``kind of
    #: protection``.
    shown_once: tuple[str, ...] = ()
    #: Whether its function takes a ``source``, of values that stand beside those of the runs.
    compared: bool = False


#: Every kind of figure, in the order of pages.
FIGURES: dict[str, Kind] = {
    "accuracy_vs_time": Kind(
        "test accuracy against simulated time",
        "pausefl.analysis.figures.runs:plot_accuracy_vs_time",
        needs={"training", "accuracy"},
        compared=True,
    ),
    "leakage_vs_time": Kind(
        "budget spent against simulated time",
        "pausefl.analysis.figures.runs:plot_leakage_vs_time",
        needs={"budget"},
        shown_once=("kind of protection",),
        compared=True,
    ),
    "leakage_vs_rounds": Kind(
        "budget spent against rounds",
        "pausefl.analysis.figures.runs:plot_leakage_vs_rounds",
        needs={"budget"},
        shown_once=("kind of protection",),
        compared=True,
    ),
    "loss_vs_time": Kind(
        "test loss against simulated time",
        "pausefl.analysis.figures.runs:plot_loss_vs_time",
        needs={"training"},
        shown_once=("kind of loss",),
        compared=True,
    ),
    "time_to_target": Kind(
        "when each selector reaches the target accuracy",
        "pausefl.analysis.figures.runs:plot_time_to_target",
        needs={"training", "accuracy"},
        asked=True,
    ),
    "spending_vs_rounds": Kind(
        "what every user has spent, against rounds",
        "pausefl.analysis.figures.spending:plot_spending_vs_rounds",
        needs={"budget"},
        asked=True,
        shown_once=("privacy", "network.n_users"),
    ),
    "selections": Kind(
        "who was selected when",
        "pausefl.analysis.figures.selections:plot_selections",
        asked=True,
        shown_once=tuple(f"network.{key}" for key in ("n_users", *SPEEDS)),
    ),
}

#: The tables of a scenario, which are no targets of their own.
TABLES: dict[str, Kind] = {
    "summary": Kind("summary of all selectors"),
    "speed": Kind("accuracy and time to targets", needs={"training", "accuracy"}),
    "budget": Kind("budget spent and its parts", needs={"training", "accuracy", "budget"}),
    "privacy": Kind("what users have spent", needs={"budget"}),
}


AxisScale = Literal["linear", "log"]
Limits = Annotated[tuple[Annotated[float, Real()], ...], Items(2, 2)]


class FigureSettings(Settings):
    """A figure of a scenario. Where nothing but its kind is given, the name of that will do."""

    kind: Annotated[str, OneOf(FIGURES)]
    """What it shows."""
    x_scale: AxisScale | None = None
    """Scale of its horizontal axis; by default `linear`. Not of `selections`, which has axes of its own."""
    y_scale: AxisScale | None = None
    """Scale of its vertical axis; by default `linear`, but `log` for losses that span much."""
    x_limits: Limits | None = None
    """Where its horizontal axis begins and ends."""
    y_limits: Limits | None = None
    """Where its vertical axis begins and ends."""
    window: Count | None = None
    """Rounds of the trailing mean that is shown of an accuracy or a loss; by default 10."""
    caption: Text | None = None
    """What stands below it in the report, as plain text, in place of the usual words. The details that unfold
    there stay as they are."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Also the name of a kind alone."""
        whole = super().__get_pydantic_json_schema__(core, handler)
        return {"anyOf": [whole, {"type": "string", "enum": [*FIGURES]}]}

    @model_validator(mode="before")
    @classmethod
    def _kind_alone(cls, value: Any) -> Any:
        return {"kind": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _axes_can_be_so(self) -> Self:
        if self.kind == "selections" and (given := self.model_fields_set - {"kind", "caption"}):
            raise ValueError(f"{min(given)} does not apply: maps of users and rounds have axes of their own")
        if self.window and self.kind not in ("accuracy_vs_time", "loss_vs_time"):
            raise ValueError("window does not apply: only accuracies and losses are smoothed")
        for axis in "xy":
            limits, log = getattr(self, f"{axis}_limits"), getattr(self, f"{axis}_scale") == "log"
            if limits is not None and not limits[0] < limits[1]:
                raise ValueError(f"{axis}_limits = {list(limits)} must begin below where they end")
            if limits is not None and log and limits[0] <= 0:
                raise ValueError(f"{axis}_limits = {list(limits)} must be above 0 on a logarithmic axis")
        return self

    @model_serializer
    def _shortly(self) -> str | dict[str, Any]:
        given = {key: value for key, value in self if value is not None}
        return self.kind if given.keys() == {"kind"} else given


class _Figures(Settings):
    figures: dict[Name, FigureSettings]


def figures_of(scenario: Scenario, origin: str = "") -> dict[str, FigureSettings]:
    """The figures that a scenario names; `ConfigError`, which names ``origin``, if one cannot be."""
    origin = origin or f"scenario '{scenario.name}'"
    return _Figures.read({"figures": scenario.figures}, origin).figures


def kinds_of(
    scenario: Scenario, selectors: Collection[str], records: Mapping[str, Kind] = FIGURES
) -> list[str]:
    """The kinds of figures, or of ``TABLES``, that apply to runs of some selectors in a scenario."""
    named = {shown.kind for shown in figures_of(scenario).values()}
    lacking = _lacking(scenario, selectors)
    return [
        kind
        for kind, record in records.items()
        if not lacking.keys() & record.needs and (kind in named or not record.asked)
    ]


def undrawn(scenario: Scenario, selectors: Collection[str]) -> dict[str, str]:
    """The figures that a scenario names and that do not apply to runs of some selectors, and why."""
    lacking = _lacking(scenario, selectors)
    return {
        name: lacking[need]
        for name, shown in figures_of(scenario).items()
        for need in sorted(lacking.keys() & FIGURES[shown.kind].needs)
    }


def _lacking(scenario: Scenario, selectors: Collection[str]) -> dict[str, str]:
    """What figures need (`Kind.needs`) and runs of some selectors lack, and why."""
    lacking = {}
    if scenario.privacy is None:
        lacking["budget"] = "the scenario has no budget"
    elif not any(SELECTORS[name].private for name in selectors):
        lacking["budget"] = "none of its selectors spends a budget"
    if scenario.is_regression:
        lacking["accuracy"] = "a regression has no accuracy"
    return lacking


def find_kind(name: str) -> Kind:
    """The kind of figure of a name; `ConfigError` suggests the nearest name if there is none."""
    if name not in FIGURES:
        raise ConfigError(f"unknown kind of figure '{name}'. {suggest(name, FIGURES)}")
    return FIGURES[name]


def plot(
    asked: FigureSettings | str,
    rounds: Rounds,
    scenario: Scenario,
    notes: Sequence[str] = (),
    title: bool = False,
    source: Source | None = None,
) -> Plotted:
    """Plot a figure, or one of a kind, of the rounds that `pausefl.runs.run.rounds_of` returns of a scenario.

    Below it are the scale, unless that of the papers, and ``notes``, sentences that warn of the runs
    (`pausefl.analysis.figures.notes`); above it the scenario's ``title``, if asked for. Values of a
    ``source`` stand beside the curves. `ConfigError` if the kind is
    unknown, `PauseflError` if no run has anything to plot.
    """
    from pausefl.analysis.figures.notes import scale_note
    from pausefl.analysis.figures.style import add_notes, add_title, set_axes, theme

    kind = asked if isinstance(asked, str) else asked.kind
    module, _, name = find_kind(kind).code.partition(":")
    function = getattr(importlib.import_module(module), name)
    more: dict[str, Any] = (
        {"window": asked.window} if isinstance(asked, FigureSettings) and asked.window else {}
    )
    if source and find_kind(kind).compared:
        more["source"] = source
    with theme():
        plotted: Plotted = function(rounds, scenario, **more)
        if isinstance(asked, FigureSettings):
            set_axes(plotted.figure, asked.x_scale, asked.y_scale, asked.x_limits, asked.y_limits)
        if title:
            add_title(plotted.figure, scenario.title)
    add_notes(plotted.figure, [scale_note(scenario), *notes])
    return plotted
