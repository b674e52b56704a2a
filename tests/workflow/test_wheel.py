"""The wheel brings all that the library and the command need, wherever one works."""

import os
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


def test_the_command_and_the_library_work_from_any_folder(tmp_path: Path) -> None:
    """In an environment with the wheel, whose dependencies are those of the tests."""
    build = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "wheel", "--no-deps"]
    _said(tmp_path, *build, "--wheel-dir", ".", copy_source(tmp_path / "source"))
    [wheel] = tmp_path.glob("*.whl")
    python = make_environment(tmp_path / "env")
    done = pip(python, "--no-deps", "--ignore-installed", wheel)
    assert done.returncode == 0, done.stderr
    (elsewhere := tmp_path / "elsewhere").mkdir()

    def command(*arguments: str) -> str:
        return _said(elsewhere, python.with_name("pausefl"), *arguments)

    place = _said(elsewhere, python, "-c", "import pausefl; print(pausefl.__file__)")
    assert place.startswith(str(tmp_path / "env"))
    assert "mnist_large_iid_r1_as_run" in command("list")
    assert "all of them can run" in command("check", "--config", "config/demo.yaml")
    job = ("--scenario", "demo_small", "--selector", "pause", "--rounds", "3", "--no-train", "--out", "x")
    assert "rounds.parquet" in command("run", *job)
    assert (elsewhere / "x/rounds.parquet").is_file()
    names = _said(elsewhere, python, "-c", "import pausefl; print(*pausefl.scenario_names())")
    assert names.split() == sorted(path.stem for path in (ROOT / "config/scenarios").glob("*.yaml"))
