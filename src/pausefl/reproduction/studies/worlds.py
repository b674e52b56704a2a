"""The published side of the selection benchmark: selectors in several worlds, under the same seeds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import BeforeValidator, WithJsonSchema

from pausefl.analysis.benchmark.comparisons import row_of
from pausefl.analysis.benchmark.figures import plot_ranks
from pausefl.analysis.benchmark.page import write_page
from pausefl.analysis.benchmark.suite import Cell, Suite, find_suite
from pausefl.analysis.figures.panels import Plotted
from pausefl.reproduction.studies.base import Note, Runs, Study, Tables
from pausefl.runs.collected import read_run
from pausefl.runs.run_id import RunId
from pausefl.selectors import SELECTORS
from pausefl.settings.scenario import SelectorName


def _suite(value: Any) -> Any:
    return find_suite(value) if isinstance(value, str) else value


class Worlds(Study):
    """Selectors in all worlds of a benchmark: accuracy at equal time, time to a target, budget spent."""

    label = "selectors in several worlds"
    beyond = True

    benchmark: Annotated[Suite, BeforeValidator(_suite), WithJsonSchema({"type": "string"})]
    """Name of the benchmark, a key of `config/benchmarks.yaml`."""
    reference: SelectorName
    """The selector that the others are compared with."""

    @property
    def trained(self) -> bool:
        """Whether it collects `runs`."""
        return True

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds of the benchmark."""
        return self.benchmark.seeds

    @cached_property
    def cells(self) -> dict[Cell, list[str]]:
        """Selectors of each cell: those of the benchmark that its scenario lists."""
        return {
            cell: [name for name in self.benchmark.selectors if name in scenario.selectors]
            for cell, scenario in self.benchmark.cells.items()
        }

    @cached_property
    def runs(self) -> list[Runs]:
        """Each scenario with the selectors that can run in it."""
        return [
            (self.benchmark.cells[cell], [(name, seed) for name in names for seed in self.seeds])
            for cell, names in self.cells.items()
        ]

    def parts(self) -> list[type]:
        """Classes of the selectors."""
        return [SELECTORS.find(name) for name in self.benchmark.selectors]

    def compute(self, note: Note, folders: Mapping[RunId, Path]) -> Tables:
        """``runs.csv``, one row a run, as `pausefl.analysis.benchmark.comparisons.row_of` makes them."""
        rows = []
        for selector in self.benchmark.selectors:
            cells = [cell for cell, names in self.cells.items() if selector in names]
            note(f"{selector}: {len(cells)} cells")
            for cell in cells:
                scenario = self.benchmark.cells[cell]
                runs = (read_run(folders[RunId(scenario.name, selector, seed)]) for seed in self.seeds)
                rows += [row_of(run, cell, scenario, self.benchmark.target) for run in runs]
        return {"runs.csv": pd.DataFrame(rows)}

    def plot(self, tables: Tables) -> Plotted:
        """Mean ranks over worlds and laws of labels."""
        figure = plot_ranks(tables["runs.csv"], self.benchmark, self.reference)
        assert figure is not None  # several selectors of the benchmark have ranks
        return Plotted(figure, {})

    def write(self, tables: Tables, plotted: Plotted, folder: Path) -> None:
        """Write the benchmark's tables, pictures and page."""
        write_page(tables["runs.csv"], self.benchmark, self.reference, folder)
