"""Environments for tests, with what the one that runs the tests lacks or has in another version."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from workspace import ROOT


def make_environment(folder: Path) -> Path:
    """Make an environment that finds the packages of this one behind its own; returns its Python.

    The project is among them only if it is not installed as editable.
    """
    venv.create(folder, symlinks=True)
    packages = Path(sysconfig.get_path("purelib"))
    own = folder / packages.relative_to(sys.prefix)
    (own / "packages_of_the_tests.pth").write_text(str(packages), "utf-8")
    return folder / "bin/python"


def copy_source(folder: Path) -> Path:
    """What the package is built from, in a folder of its own."""
    for name in ("src", "config", "docs", "profiles", "workflow"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    return folder


def pip(python: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run ``pip install`` for an environment, which needs no pip; it leaves packages of others alone."""
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--python", python]
    return subprocess.run([*command, "install", *arguments], capture_output=True, text=True)


def make_environment_with(folder: Path, *wanted: str, unpinned: str = "") -> Path:
    """Make an environment and install packages; returns its Python. Skips the test where no index is reached.

    Versions are those of ``constraints.txt``, but that of ``unpinned``.
    """
    python = make_environment(folder / "env")
    pins = (ROOT / "constraints.txt").read_text("utf-8")
    constraints = folder / "constraints.txt"
    constraints.write_text(re.sub(f"(?m)^{unpinned}==.*", "", pins) if unpinned else pins, "utf-8")
    done = pip(python, "--constraint", constraints, *wanted)
    if done.returncode != 0 and "after connection broken by" in done.stderr:
        pytest.skip(f"no package index can be reached for {', '.join(wanted)}")
    assert done.returncode == 0, done.stderr
    return python
