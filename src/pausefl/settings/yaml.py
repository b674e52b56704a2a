"""Reading YAML files."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from pausefl.errors import ConfigError

#: Ten times as fast, where PyYAML was built with libyaml.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_text(path: Path) -> str:
    """Read a text file; `ConfigError` if there is none."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML mapping; `ConfigError` if there is no file, or something else in it."""
    return copy.deepcopy(parse(path, read_text(path)))


@cache
def parse(path: Path, text: str) -> dict[str, Any]:
    """Parse the text of a YAML mapping, once; do not change what is returned."""
    try:
        document = yaml.load(text, _LOADER)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not valid YAML: {error}") from None
    if not isinstance(document, dict):
        raise ConfigError(f"{path}: expected a mapping of keys to values")
    return document
