"""Values kept between processes follow the code, and may be lost, damaged or impossible to write."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pausefl.provenance import definitions, kept
from pausefl.provenance.kept import kept as keep


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of one module."""
    (tmp_path / "module.py").write_text("x = 1\n", encoding="utf-8")
    monkeypatch.setattr(definitions, "_ROOT", tmp_path)
    yield tmp_path
    kept._folder.cache_clear()


def _files(root: Path) -> list[Path]:
    return sorted(root.glob("__pycache__/kept-*/*"))


def test_a_value_is_computed_once(root: Path) -> None:
    assert keep("key", lambda: [1, 2]) == [1, 2]
    assert keep("key", lambda: pytest.fail("computed again")) == [1, 2]
    assert keep("another key", lambda: 3) == 3


def test_other_code_has_values_of_its_own_and_removes_the_old(root: Path) -> None:
    keep("key", lambda: 1)
    (old,) = _files(root)
    (root / "module.py").write_text("x = 2\n", encoding="utf-8")
    kept._folder.cache_clear()
    assert keep("key", lambda: 2) == 2
    (new,) = _files(root)
    assert new.parent != old.parent


def test_a_damaged_value_is_computed_again(root: Path) -> None:
    keep("key", lambda: "value")
    (path,) = _files(root)
    path.write_text('"va', encoding="utf-8")
    assert keep("key", lambda: "value") == "value"
    assert path.read_text("utf-8") == '"value"'


def test_without_a_folder_to_write_to_values_are_computed(root: Path) -> None:
    (root / "__pycache__").write_text("a file where the folder would be", encoding="utf-8")
    assert keep("key", lambda: 1) == 1
    assert keep("key", lambda: 2) == 2
