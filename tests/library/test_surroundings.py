"""What a command meets where it runs: another user, a notebook, a home folder, an output without Greek."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from scenarios import configuration, row

from pausefl import load_scenario, plot, read_run, run
from pausefl.data.raw_data import raw_files
from pausefl.reproduction.config import load_places
from pausefl.reproduction.targets.project import Project
from pausefl.runs.run import RUN_FILES
from pausefl.settings import DataSettings, RawData

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
COMPILED = [path for path in SOURCE.rglob("*.py") if "@njit(" in path.read_text("utf-8")]
#: Imports all that is compiled, compiles a function, and says where and how often it is kept.
COMPILE = f"""
import {", ".join(".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in COMPILED)}
import numpy, numba, pathlib
pausefl.selectors.ward_linkage.ward(1 - numpy.eye(3))
print(numba.config.CACHE_DIR, len([*pathlib.Path(numba.config.CACHE_DIR).rglob("ward_linkage.ward-*.nbi")]))
"""
COMMAND = "from pausefl.command import main; main()"


def python(code: str, *arguments: object, before: tuple[str, ...] = (), **variables: str) -> tuple[str, str]:
    """Output and errors of code in the root of the project, which sees these variables and no others."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)} | variables
    command = [*before, sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, encoding="latin-1")
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def check_compiles(before: tuple[str, ...] = (), **variables: str) -> None:
    """What is compiled is kept until the process ends, and one line says what to set."""
    said, error = python(COMPILE, before=before, TMPDIR="/tmp", **variables)
    folder, n_kept = said.split()
    assert n_kept == "1"
    assert not Path(folder).exists()
    (line,) = error.splitlines()
    assert "set NUMBA_CACHE_DIR" in line
    variables["NUMBA_CACHE_DIR"] = ""
    assert "sa_pause" in python(COMMAND, "list", before=before, TMPDIR="/tmp", **variables)[0]


def test_compiled_functions_need_no_folder_that_can_be_written_to(tmp_path: Path) -> None:
    assert len(COMPILED) > 6
    shutil.copytree(SOURCE, tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for path in COMPILED:  # not even root writes to a folder that is a file
        (tmp_path / "src" / path.relative_to(SOURCE)).with_name("__pycache__").touch()
    check_compiles(HOME="/dev/null", PYTHONPATH=str(tmp_path / "src"))


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="cannot become another user")
def test_a_user_without_home_runs_what_root_installed() -> None:
    another = ("setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups")
    if subprocess.run([*another, "test", "-r", SOURCE]).returncode:
        pytest.skip("other users cannot read this checkout: a folder above it, as /root, is closed to them")
    check_compiles(another, HOME="/")


def test_figures_that_are_written_need_no_backend(tmp_path: Path) -> None:
    published = ROOT / "results/published/bsfl_linear_iid"
    for backend in ("module://of_a_notebook", "of a later version"):
        python(COMMAND, "plot", published, "--out", tmp_path / "f.png", MPLBACKEND=backend)
        assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
        (tmp_path / "f.png").unlink()
        # seaborn asks for one when it is imported.
        python(
            "import pausefl.reproduction.targets.step, pausefl.analysis.figures.partition", MPLBACKEND=backend
        )


def test_an_output_that_lacks_letters_replaces_them(tmp_path: Path) -> None:
    job = ("run", "--scenario", "demo_small", "--selector", "random", "--rounds", 1, "--no-train")
    said, _ = python(COMMAND, *job, "--out", tmp_path / "run", PYTHONIOENCODING="latin-1")
    assert "largest budget spent (?)" in said


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    for folder in (home, elsewhere):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(elsewhere)
    run(load_scenario("demo_small"), "random", n_rounds=1, train=False).save("~/a")
    assert read_run("~/a").rounds.shape[0] == 1
    plot("~/a", out="~/b.csv")
    shutil.copy(ROOT / "config/scenarios/demo_small.yaml", home)
    assert load_scenario("~/demo_small.yaml").name == "demo_small"

    raw = RawData(Path("~/data"), False, {"mnist": "~/m"})
    mnist, pets = DataSettings(source="mnist", n_validation=0), {"source": "imagefolder", "n_validation": 0}
    assert raw_files(mnist, raw) == [home / "m"]
    assert raw_files(DataSettings(**pets, folder="~/pets"), raw) == [home / "pets"]
    assert raw_files(DataSettings(**pets, folder="pets"), raw) == [home / "data/pets"]

    document = configuration(row("demo_small", "pause"), scenarios="~", data_root="~/data")
    project = Project.load(document, ROOT)
    assert (project.config.raw.root, project.folders[0]) == (home / "data", home)
    (home / "config.yaml").write_text(yaml.safe_dump(document), "utf-8")
    assert load_places(home / "config.yaml", None, None, None)[1] == home

    job = ("run", "--scenario", "demo_small", "--selector", "random", "--rounds", 1, "--no-train")
    python(COMMAND, *job, "--out=~/c", HOME=str(home))
    python(COMMAND, "compare", "~/a", "~/c", "--out", "~/d.csv", HOME=str(home))
    assert {path.name for path in home.iterdir()} >= {"a", "b.csv", "c", "d.csv"}
    assert {path.name for path in (home / "c").iterdir()} == set(RUN_FILES)
    assert list(elsewhere.iterdir()) == []
