"""What can be asked for: selectors, scenarios, figures and studies, with what each is and costs."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping
from typing import Any

from pausefl.project import Project
from pausefl.registry import FIGURES, SELECTORS
from pausefl.results.markdown import aligned
from pausefl.settings import Scenario, load_scenario, scenario_names
from pausefl.workflow.plan import estimate, number

#: What there are lists of.
KINDS = ("selectors", "scenarios", "figures", "studies")


def to_text(table: Project, kind: str, rates: Mapping[str, Any]) -> str:
    """A list of all of a kind, one a line.

    Parameters
    ----------
    table
        Its folders and studies are listed, whether or not the configuration has rows for them.
    kind
        One of `KINDS`.
    rates
        As `pausefl.workflow.plan.shipped_rates` returns them.
    """
    rows = list(_LISTS[kind](table, rates))
    return "\n".join(line.rstrip() for line in aligned(rows, _ALIGNED[kind]))


def _selectors(table: Project, rates: Mapping[str, Any]) -> Iterator[list[str]]:
    yield ["selector", "ms a round", "what it does"]
    for name, record in SELECTORS.items():
        cost = rates["selection_s"].get(name, math.nan)
        yield [name, number(1000 * cost, 1), _first_sentence(record.load())]


def _scenarios(table: Project, rates: Mapping[str, Any]) -> Iterator[list[str]]:
    yield ["scenario", "scale", "core-hours a seed", "title"]
    for scenario in _all(table):
        yield [scenario.name, scenario.scale, number(_hours(table, scenario, rates)), scenario.title]


def _figures(table: Project, rates: Mapping[str, Any]) -> Iterator[list[str]]:
    yield ["figure", "scenario or study", "core-hours", "what it shows"]
    for scenario in _all(table):
        hours = number(_hours(table, scenario, rates))
        for figure, kind in scenario.figures.items():
            yield [figure, scenario.name, hours, FIGURES[kind].label]
    for name, study in table.studies.items():
        yield [name, "study", number(_study_hours(table, name, rates)), study.label]


def _studies(table: Project, rates: Mapping[str, Any]) -> Iterator[list[str]]:
    yield ["study", "core-hours", "title"]
    for name, study in table.studies.items():
        yield [name, number(_study_hours(table, name, rates)), f"{study.title}: {study.label}"]


_LISTS = {"selectors": _selectors, "scenarios": _scenarios, "figures": _figures, "studies": _studies}
_ALIGNED = {"selectors": "lrl", "scenarios": "llrl", "figures": "llrl", "studies": "lrl"}


def _all(table: Project) -> list[Scenario]:
    """Every scenario of the user's folder and of the workflow's."""
    return [load_scenario(name, *table.folders) for name in scenario_names(*table.folders)]


def _hours(table: Project, scenario: Scenario, rates: Mapping[str, Any]) -> float:
    """Core-hours of a scenario's own selectors under one seed."""
    costs = [estimate(scenario, name, table.config.raw, rates).seconds for name in scenario.selectors]
    return math.fsum(costs) / 3600


def _study_hours(table: Project, study: str, rates: Mapping[str, Any]) -> float:
    """Core-hours of a study; if it is of trained runs, those of its jobs."""
    one, raw = table.studies[study], table.config.raw
    jobs = [(scenario, name) for scenario in one.job_scenarios for name, _ in one.runs[scenario.name]]
    seconds = [estimate(scenario, name, raw, rates).seconds for scenario, name in jobs]
    return math.fsum([*seconds, *one.seconds(rates)]) / 3600


def _first_sentence(thing: Any) -> str:
    """The first sentence of a docstring, on one line."""
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())
