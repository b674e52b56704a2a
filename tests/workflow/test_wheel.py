"""The wheel brings all that the library and the command need, wherever one works."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from environments import make_environment, pip

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the programs of an environment with the wheel; its dependencies are those of the tests."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in ("src", "config"):
        shutil.copytree(ROOT / name, source / name, symlinks=True)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "wheel", "--no-deps"]
    _said(folder, *command, "--wheel-dir", ".", source)
    [wheel] = folder.glob("*.whl")
    python = make_environment(folder / "env")
    done = pip(python, "--no-deps", "--ignore-installed", wheel)
    assert done.returncode == 0, done.stderr
    return python.parent


def _said(folder: Path, *command: str | Path) -> str:
    """What a command prints in a folder that has nothing of the project."""
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_command_and_the_library_work_from_any_folder(installed: Path, tmp_path: Path) -> None:
    python = str(installed / "python")
    place = _said(tmp_path, python, "-c", "import pausefl; print(pausefl.__file__)")
    assert place.startswith(str(installed.parent))
    assert "mnist_large_iid_r1_as_run" in _said(tmp_path, installed / "pausefl", "list")
    assert "all of them can run" in _said(
        tmp_path, installed / "pausefl", "check", "--config", "config/demo.yaml"
    )
    job = ["run", "--scenario", "demo_small", "--selector", "pause", "--rounds", "3", "--no-train"]
    job += ["--out", "x"]
    assert "rounds.parquet" in _said(tmp_path, installed / "pausefl", *job)
    assert (tmp_path / "x/rounds.parquet").is_file()
    names = _said(tmp_path, installed / "python", "-c", "import pausefl; print(*pausefl.scenario_names())")
    assert names.split() == sorted(path.stem for path in (ROOT / "config/scenarios").glob("*.yaml"))
