"""What opens the report of the demo: what was trained, a picture of the runs and one of the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pausefl.analysis.formats import in_words
from pausefl.reproduction.report.parts import ReportParts, ScenarioPart
from pausefl.selectors import LABELS


@dataclass(frozen=True)
class Demo:
    """What was trained and what there is to see."""

    #: Number of models, title and selectors of each scenario.
    trained: list[tuple[int, str, str]]
    #: PNG files of one scenario: when selectors reach the target accuracy, and the data of each client; empty
    #: without one.
    target: str
    partition: str

    @property
    def pictures(self) -> list[str]:
        """The pictures that there are."""
        return list(filter(None, [self.target, self.partition]))


def demo(parts: ReportParts) -> Demo | None:
    """What opens the report of the demo; None for another report."""
    if parts.name != "demo":
        return None
    scenarios = parts.scenarios.values()
    trained = [(len(part.runs), part.settings["title"], "; ".join(_selectors(part))) for part in scenarios]
    pictures = (
        (path, part.partition)
        for part in scenarios
        for kind, path in part.figures.values()
        if kind == "time_to_target"
    )
    return Demo(trained, *next(pictures, ("", "")))


def _selectors(part: ScenarioPart) -> Iterator[str]:
    """``PAUSE, Random with three seeds`` for each number of seeds, the largest first."""
    by_seeds: dict[int, list[str]] = {}
    for selector, n_seeds in Counter(run.selector for run in part.runs).items():
        by_seeds.setdefault(n_seeds, []).append(LABELS[selector])
    for n, names in sorted(by_seeds.items(), reverse=True):
        yield f"{', '.join(names)} with {in_words(n)} seed{'s' * (n > 1)}"
