"""The workflow's scripts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

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
    rules = [path.read_text("utf-8") for path in (ROOT / "workflow/rules").glob("*.smk")]
    known = {name for text in rules for name in re.findall(r"code_of\(\s*\"(\w+)\"", text)}
    used = {name for text in rules for name in re.findall(r"\"\.\./scripts/(\w+)\.py\"", text)}
    assert used == {path.stem for path in SCRIPTS.glob("*.py")}
    assert used - known == {"download", "publish"}
