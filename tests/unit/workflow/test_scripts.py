"""The workflow's scripts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[3] / "workflow/scripts"


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
