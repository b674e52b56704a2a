"""What is refused of a YAML file before any setting is looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from pausefl.errors import ConfigError
from pausefl.settings import read_yaml


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", "key 'a' is there twice: in line 1 and in line 3"),
        ("a:\n  - b: 1\n    b: 2\n", "key 'b' is there twice"),
        ("a: " + "9" * 5000, "not valid YAML"),
    ],
)
def test_what_no_file_of_settings_has(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        read_yaml(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert words in str(refused.value)


def test_merged_keys_may_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\nc: [*a, *a]\n", encoding="utf-8")
    a = {"x": 1, "y": 2}
    assert read_yaml(path) == {"a": a, "b": {"x": 3, "y": 2}, "c": [a, a]}
