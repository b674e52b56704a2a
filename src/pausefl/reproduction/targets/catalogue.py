"""What there is: selectors, scenarios, figures and studies, with what each is and costs."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Iterator

from pausefl.analysis import formats
from pausefl.analysis.figures.kinds import FIGURES, figures_of
from pausefl.analysis.markdown import aligned
from pausefl.reproduction.targets.plan import estimate, shipped_rates
from pausefl.reproduction.targets.project import Project
from pausefl.selectors import SELECTORS
from pausefl.settings import Scenario, load_scenario, scenario_names

#: What there are lists of: the head of each, and the sides of its columns.
KINDS = {
    "selectors": (["selector", "ms a round", "what it does"], "lrl"),
    "scenarios": (["scenario", "scale", "core-hours a seed", "title"], "llrl"),
    "figures": (["figure", "scenario or study", "core-hours", "what it shows"], "llrl"),
    "studies": (["study", "core-hours", "title"], "lrl"),
}


def to_text(project: Project, kind: str) -> str:
    """A list of all of a kind of `KINDS`, one a line, whether or not the configuration has rows for them."""
    head, sides = KINDS[kind]
    lines = aligned([head, *_rows(project, kind)], sides)
    return "\n".join(line.rstrip() for line in lines)


def _rows(project: Project, kind: str) -> Iterator[list[str]]:
    """Yield the rows of a list below its head."""
    rates = shipped_rates()

    def hours(jobs: Iterable[tuple[Scenario, str]], more: Iterable[float] = ()) -> str:
        costs = [estimate(scenario, name, project.config.raw, rates) for scenario, name in jobs]
        return formats.cost(math.fsum([*costs, *more]) / 3600)

    if kind == "selectors":
        for name, part in SELECTORS.items():
            what = (inspect.getdoc(part) or "").partition("\n\n")[0]
            per_round = formats.cost(1000 * rates["selection_s"].get(name, math.nan), 1)
            yield [name, per_round, " ".join(what.split())]
    if kind in ("scenarios", "figures"):
        for one in (load_scenario(name, *project.folders) for name in scenario_names(*project.folders)):
            cost = hours((one, name) for name in one.selectors)
            if kind == "scenarios":
                yield [one.name, one.scale, cost, one.title]
            else:
                for name, asked in figures_of(one).items():
                    yield [name, one.name, cost, FIGURES[asked.kind].shows]
    if kind in ("figures", "studies"):
        for name, study in project.studies.items():
            jobs = [(one, selector) for one, runs in study.runs for selector, _ in runs]
            cost = hours(jobs, [study.seconds(rates)])
            if kind == "figures":
                yield [name, "study", cost, study.label]
            else:
                yield [name, cost, f"{study.title}: {study.label}"]
