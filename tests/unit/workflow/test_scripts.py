"""The workflow's scripts."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pausefl.project import Project
from pausefl.settings import read_yaml
from pausefl.workflow import code

ROOT = Path(__file__).parents[3]
SCRIPTS = ROOT / "workflow/scripts"


@pytest.mark.parametrize(("error", "shown"), [("KeyboardInterrupt", False), ("ImportError", True)])
def test_a_script_that_is_stopped_while_it_starts_shows_no_traceback(error: str, shown: bool) -> None:
    code = f"import sys; sys.path.insert(0, {str(SCRIPTS)!r}); import common; raise {error}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert ("Traceback" in done.stderr) == shown


def test_every_script_imports_common_first() -> None:
    for path in SCRIPTS.glob("*.py"):
        lines = [line for line in path.read_text("utf-8").splitlines() if line.startswith(("import", "from"))]
        assert path.name == "common.py" or lines[0].startswith("from common import"), path


def test_every_rule_knows_what_its_script_does() -> None:
    """But for a download, whose rule is there while files are missing, and publishing, without output."""
    used = {
        script: re.findall(r"script=code\.script\(W, \"(\w+)\"\),\n\s*script:\s*$", before)
        for path in (ROOT / "workflow/rules").glob("*.smk")
        for before, script in re.findall(
            r"((?:.*\n){3}) *\"\.\./scripts/(\w+)\.py\"", path.read_text("utf-8")
        )
    }
    assert used.keys() == {path.stem for path in SCRIPTS.glob("*.py")} - {"common"}
    assert {script for script, known in used.items() if known != [script]} == {"download", "publish"}


@pytest.mark.parametrize("name", ["report", "common"])
def test_what_a_script_does_counts_and_not_its_words(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "workflow/scripts"
    shutil.copytree(SCRIPTS, folder)
    shutil.copytree(ROOT / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    table = Project.load(read_yaml(Path("config/demo.yaml")), Path())
    path = folder / f"{name}.py"
    before, text = code.script(table, "report"), path.read_text("utf-8")
    path.write_text(f"# A comment.\n{text}".replace('"""', '"""Reworded. ', 1), "utf-8")
    assert code.script(table, "report") == before
    path.write_text(f"{text}\nprint()\n", "utf-8")
    assert code.script(table, "report") != before
