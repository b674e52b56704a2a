"""``pausefl init``: what it writes is checked and runs as it is, and it overwrites nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from pausefl.cli import app
from pausefl.errors import PauseflError
from pausefl.reproduction.starting import start_project


def test_the_project_is_complete_and_its_jobs_can_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = CliRunner().invoke(app, ["init", str(tmp_path / "a project")], catch_exceptions=False)
    assert done.exit_code == 0
    assert f"cd '{tmp_path}/a project' && snakemake --cores 2" in done.stdout
    monkeypatch.chdir(tmp_path / "a project")
    monkeypatch.syspath_prepend(Path.cwd())
    checked = CliRunner().invoke(app, ["check"], catch_exceptions=False).stdout
    assert "9 jobs in 1 scenario: all of them can run" in checked
    assert "my_selector:LeastUsed" in checked


def test_a_file_that_is_there_is_kept_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "my_selector.py").write_text("mine", "utf-8")
    with pytest.raises(PauseflError, match=r"my_selector\.py is there already"):
        start_project(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["my_selector.py"]
    (tmp_path / "my_selector.py").rename(tmp_path / "other.py")
    assert Path("Snakefile") in start_project(tmp_path)
    assert (tmp_path / "other.py").read_text("utf-8") == "mine"
