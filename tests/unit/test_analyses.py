"""The scripts behind what pages say: their tables are on the page, and the JPEG folder is as it was."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a script by name."""
    monkeypatch.syspath_prepend(ROOT / "analyses")
    return importlib.import_module


def test_tables_of_the_same_rounds_are_those_of_the_page(script: Any) -> None:
    page = (ROOT / "docs/authors.md").read_text("utf-8")
    assert all(table in page for table in script("same_rounds").tables())


@pytest.mark.slow
def test_the_table_of_noise_is_that_of_its_page(
    script: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = ("small_iid_r1", "small_noniid_r1", "large_noniid_r1", "small_authors")
    monkeypatch.setattr("sys.argv", ["aggregate_noise.py", "--groups", *(f"cifar10_{one}" for one in kinds)])
    script("aggregate_noise").main()
    assert capsys.readouterr().out.strip() in (ROOT / "docs/findings.md").read_text("utf-8")
