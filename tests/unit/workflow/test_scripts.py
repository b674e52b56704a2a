"""The workflow's scripts."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pausefl.workflow import code

ROOT = Path(__file__).parents[3]
SCRIPTS = ROOT / "workflow/scripts"


@pytest.mark.parametrize(("error", "shown"), [("KeyboardInterrupt", False), ("ImportError", True)])
def test_a_script_that_is_stopped_while_it_starts_shows_no_traceback(error: str, shown: bool) -> None:
    code = f"import pausefl.workflow.step; raise {error}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert ("Traceback" in done.stderr) == shown


def test_every_script_first_imports_what_all_steps_do() -> None:
    for path in SCRIPTS.glob("*.py"):
        lines = [line for line in path.read_text("utf-8").splitlines() if line.startswith(("import", "from"))]
        assert lines[0].startswith("from pausefl.workflow.step import"), path


def test_every_rule_knows_what_its_script_does() -> None:
    """But for a download, whose rule is there while files are missing, and publishing, without output."""
    used = {
        script: re.findall(r"code\.script\(.*/(\w+)\.py\"\)\),\n\s*script:\s*$", before)
        for path in (ROOT / "workflow/rules").glob("*.smk")
        for before, script in re.findall(
            r"((?:.*\n){3}) *\"\.\./scripts/(\w+)\.py\"", path.read_text("utf-8")
        )
    }
    assert used.keys() == {path.stem for path in SCRIPTS.glob("*.py")}
    assert {script for script, known in used.items() if known != [script]} == {"download", "publish"}


def test_what_a_script_does_counts_and_not_its_words(tmp_path: Path) -> None:
    path = tmp_path / "report.py"
    shutil.copy(SCRIPTS / "report.py", path)
    before, text = code.script(str(path)), path.read_text("utf-8")
    path.write_text(f"# A comment.\n{text}".replace('"""', '"""Reworded. ', 1), "utf-8")
    assert code.script(str(path)) == before
    path.write_text(f"{text}\nprint()\n", "utf-8")
    assert code.script(str(path)) != before
