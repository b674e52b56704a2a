"""The wheel brings all that the library and the command need, wherever one works."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from environments import copy_source, make_environment, pip

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


def _said(folder: Path, *command: str | Path) -> str:
    """What a command prints in a folder that has nothing of the project."""
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of an environment with the wheel, whose dependencies are those of the tests."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "wheel", "--no-deps"]
    _said(folder, *build, "--wheel-dir", ".", copy_source(folder / "source"))
    [wheel] = folder.glob("*.whl")
    made = make_environment(folder / "env")
    done = pip(made, "--no-deps", "--ignore-installed", wheel)
    assert done.returncode == 0, done.stderr
    return made


def test_the_command_and_the_library_work_from_any_folder(python: Path, tmp_path: Path) -> None:
    def command(*arguments: str) -> str:
        return _said(tmp_path, python.with_name("pausefl"), *arguments)

    place = _said(tmp_path, python, "-c", "import pausefl; print(pausefl.__file__)")
    assert Path(place).is_relative_to(python.parents[1])
    assert "mnist_large_iid_r1_as_run" in command("list")
    assert "all of them can run" in command("check", "--config", "config/demo.yaml")
    job = ("--scenario", "demo_small", "--selector", "pause", "--rounds", "3", "--no-train", "--out", "x")
    assert "rounds.parquet" in command("run", *job)
    assert (tmp_path / "x/rounds.parquet").is_file()
    names = _said(tmp_path, python, "-c", "import pausefl; print(*pausefl.scenario_names())")
    assert names.split() == sorted(path.stem for path in (ROOT / "config/scenarios").glob("*.yaml"))


def test_a_project_of_ones_own_begins_with_init_and_makes_figure_table_and_report(
    python: Path, tmp_path: Path
) -> None:
    written = _said(tmp_path, python.with_name("pausefl"), "init", "project").splitlines()
    project = tmp_path / "project"
    assert all((tmp_path / name).is_file() for name in written[: written.index("")])
    _said(project, python, "-m", "snakemake", "--cores", "2")
    for made in ("figures/mine_accuracy.pdf", "tables/mine/summary.md", "report/all.html"):
        assert (project / "results" / made).is_file()
    report = (project / "results/report/all.html").read_text("utf-8")
    assert "Test accuracy of my selector, PAUSE and random selection." in report
    assert "Least often used" in (project / "results/tables/mine/summary.md").read_text("utf-8")
    assert "Nothing to be done" in _said(project, python, "-m", "snakemake", "--cores", "2", "--dry-run")
    assert " passed" in _said(project, python, "-m", "pytest", "-p", "no:cacheprovider")
    edited = project / "my_selector.py"
    edited.write_text(edited.read_text("utf-8").replace("rng.permutation", "np.sort"), "utf-8")
    again = _said(project, python, "-m", "snakemake", "--cores", "2", "--dry-run", "--quiet", "reason")
    assert re.search("^job +3$", again, re.MULTILINE)  # those of the edited selector alone
