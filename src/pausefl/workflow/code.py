"""Hashes of the code that rules depend on: an edit of that code, and of no other, reruns them."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pausefl
from pausefl.data.sources import find_record
from pausefl.project import Project
from pausefl.provenance import code_hash, job_code
from pausefl.registry import FIGURES, SELECTORS, TABLES
from pausefl.results.verified import current_codes
from pausefl.settings import Experiment
from pausefl.studies import kinds

#: What every figure is saved with.
_SAVE = ("pausefl.figures.style:save", "pausefl.figures.style:add_notes")

#: Names and lines of selectors, whatever their code.
_LOOKS = [replace(record, code="pausefl.registry.selectors:Look") for record in SELECTORS.values()]

#: What tables say of their runs, to people and to figures.
_NOTES = (
    "pausefl.registry.figures:protected",
    "pausefl.figures.notes:run_notes",
    "pausefl.figures.notes:scale_note",
    "pausefl.figures.notes:with_notes",
    "pausefl.registry.selectors:LABELS",
)


def reader(table: Project, dataset: str) -> str:
    """Hash of what reads a data set."""
    record = find_record(table.datasets[dataset], table.config.raw)
    return code_hash("pausefl.data.sources:prepare", records=[record])


def job(table: Project, experiment: Experiment) -> str:
    """Hash of a job, and of what takes over the training of another if it does not train."""
    one = table.job_scenarios[experiment.scenario]
    own = job_code(one, experiment.selector, in_folder=one.data.source in table.config.raw.folders)
    if table.trained_by(experiment) is None:
        return own
    return f"{own} {code_hash('pausefl.federated.earlier:take_over')}"


def jobs(table: Project, scenario: str) -> dict[str, list[str]]:
    """Hashes that count as today's of the jobs of a scenario, by selector."""
    return current_codes(table.scenarios[scenario], table.selectors(scenario), Path("results/published"))


def figures(kinds: Iterable[str]) -> str:
    """Hash of what plots some kinds of figures."""
    records = [*_LOOKS, *(FIGURES[kind] for kind in kinds)]
    code = code_hash("pausefl.figures.kinds:plot", *_SAVE, records=records)
    return f"{code} {_style_sheet()} {_archive()}"


def tables(kinds: Iterable[str]) -> str:
    """Hash of what tabulates the runs of a scenario, for people in some kinds of tables."""
    records = [TABLES[kind] for kind in kinds]
    modules = {record.code.partition(":")[0] for record in records}
    code = code_hash("pausefl.results.runs", "pausefl.results.tables", *modules, *_NOTES, records=_LOOKS)
    return f"{code} {_archive()}" if any("archive" in record.needs for record in records) else code


def study_plot(kind: str) -> str:
    """Hash of what plots a kind of study."""
    plot = kinds()[kind].place_of("plot")
    words = ("pausefl.figures.style:add_title", "pausefl.figures.notes:seed_notes")
    return f"{code_hash(plot, *words, *_SAVE, records=_LOOKS)} {_style_sheet()}"


def partition_plot() -> str:
    """Hash of what plots a partition."""
    code = code_hash("pausefl.figures.partition:plot_partition", "pausefl.figures.style:theme")
    return f"{code} {_style_sheet()}"


def study_verdict(kind: str) -> str:
    """Hash of what judges a kind of study."""
    return code_hash(kinds()[kind].place_of("verdict"))


def claims() -> str:
    """Hash of what judges the claims."""
    modules = ("load", "on_runs", "on_studies", "on_instances", "quantities", "records", "verdicts", "page")
    return f"{code_hash(*(f'pausefl.claims.{module}' for module in modules))} {_archive()}"


def overview() -> str:
    """Hash of what opens the report: picture and questions."""
    code = code_hash("pausefl.figures.overview", "pausefl.report.questions", *_SAVE, records=_LOOKS)
    return f"{code} {_style_sheet()} {_archive()}"


def script(path: str) -> str:
    """Hash of a script of the workflow with what all scripts share, without comments and docstrings."""
    tree = _Bare().visit(ast.parse(Path(path).read_text("utf-8")))
    text = ast.unparse(tree) + code_hash("pausefl.workflow.step")
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class _Bare(ast.NodeTransformer):
    """Takes docstrings out."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else node


def _archive() -> str:
    """Hash of the authors' archived numbers, which are no module."""
    return _of_files("results/authors_archive/*.csv")


def _style_sheet() -> str:
    """Hash of the look of all figures, which is no module."""
    return _of_files("figures/*.mplstyle")


def report_template() -> str:
    """Hash of the templates and texts of the report, which are no modules."""
    return _of_files("report/*.jinja", "report/page.*s", "report/*.md", "figures/words/*.jinja")


def _of_files(*patterns: str) -> str:
    """Hash of the contents of files of the package."""
    folder = Path(pausefl.__file__).parent
    files = sorted(file for pattern in patterns for file in folder.glob(pattern))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
