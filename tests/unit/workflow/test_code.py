"""What is no module, and yet changes what rules make."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import pausefl
from pausefl.workflow import code


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of those files of the package that are no modules, to edit."""
    there = Path(pausefl.__file__).parent
    for path in [*there.glob("results/authors_archive/*.csv"), *there.glob("figures/*.mplstyle")]:
        (copy := tmp_path / path.relative_to(there)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    monkeypatch.setattr(pausefl, "__file__", str(tmp_path / "__init__.py"))
    return tmp_path


def tables() -> tuple[str, str]:
    return code.tables(["summary", "authors"]), code.tables(["summary", "privacy"])


def figures() -> list[str]:
    figures = code.figures(["accuracy_vs_time"]), code.overview()
    return [*figures, code.study_plot("regret"), code.partition_plot()]


def test_an_archived_number_changes_the_figures_and_the_table_that_show_it(package: Path) -> None:
    before = figures(), tables()
    path = package / "results" / "authors_archive" / "leakage.csv"
    path.write_text(path.read_text("utf-8").replace("49.3", "49.4"), "utf-8")
    changed, (authors, privacy) = figures(), tables()
    assert [one != other for one, other in zip(changed, before[0], strict=True)] == [True, True, False, False]
    assert authors != before[1][0]
    assert privacy == before[1][1]


def test_the_style_sheet_changes_all_figures_and_no_table(package: Path) -> None:
    before = figures(), tables()
    path = package / "figures" / "pausefl.mplstyle"
    path.write_text(path.read_text("utf-8") + "axes.grid: False\n", "utf-8")
    assert not set(figures()) & set(before[0])
    assert tables() == before[1]
