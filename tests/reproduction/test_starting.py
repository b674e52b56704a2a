"""``pausefl init``: what it writes is checked and runs as it is, and it overwrites nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from pausefl.cli import app
from pausefl.errors import ConfigError, PauseflError
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


def test_a_figure_that_its_runs_have_no_data_for_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(Path.cwd())
    scenario = Path("config/scenarios/mine.yaml")
    scenario.write_text(f"{scenario.read_text('utf-8')}  spent: leakage_vs_time\n", "utf-8")
    assert "is not drawn" not in CliRunner().invoke(app, ["check"], catch_exceptions=False).stdout
    scenario.write_text(f"{scenario.read_text('utf-8')}privacy: null\n", "utf-8")
    checked = CliRunner().invoke(app, ["check"], catch_exceptions=False).stdout
    assert "Figure 'spent' of scenario 'mine' is not drawn: the scenario has no budget" in checked
    assert "Figure 'mine_accuracy'" not in checked
    with pytest.raises(ConfigError, match=r"^Figure 'spent' of scenario 'mine' is not drawn"):
        CliRunner().invoke(app, ["plan", "spent"], catch_exceptions=False, standalone_mode=False)


def test_a_folder_of_scenarios_that_is_not_there_is_named_as_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    file = Path("config/config.yaml")
    file.write_text(file.read_text("utf-8").replace("config/scenarios", "nowhere"), "utf-8")
    with pytest.raises(ConfigError, match=r"^no scenarios in nowhere: expected files"):
        CliRunner().invoke(app, ["check"], catch_exceptions=False, standalone_mode=False)


def test_a_file_that_is_there_is_kept_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "my_selector.py").write_text("mine", "utf-8")
    with pytest.raises(PauseflError, match=r"my_selector\.py is there already"):
        start_project(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["my_selector.py"]
    (tmp_path / "my_selector.py").rename(tmp_path / "other.py")
    assert Path("Snakefile") in start_project(tmp_path)
    assert (tmp_path / "other.py").read_text("utf-8") == "mine"
