"""Output folders are checked before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from pausefl.errors import PauseflError
from pausefl.files import check_writable


def test_a_folder_that_is_not_there_is_made_and_left_empty(tmp_path: Path) -> None:
    for _ in range(2):
        check_writable(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []


@pytest.mark.parametrize("name", ["file", "file/out"])
def test_a_folder_that_cannot_be_made_is_named_with_the_reason(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("taken")
    with pytest.raises(PauseflError, match=rf"cannot write to output folder {tmp_path / name}: \w+"):
        check_writable(tmp_path / name)
    assert (tmp_path / "file").read_text() == "taken"


def test_a_name_that_tables_could_not_be_read_from_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PauseflError, match=r"out\\udcff': its name must be UTF-8"):
        check_writable(tmp_path / "out\udcff")
    assert list(tmp_path.iterdir()) == []
