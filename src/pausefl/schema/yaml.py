"""Reading YAML files."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from pausefl.errors import ConfigError
from pausefl.files import check_readable


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # libyaml's is ten times as fast
    """The safe loader, but a mapping has no key twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        first: dict[str, yaml.Node] = {}
        for key, _ in node.value:
            if first.setdefault(key.value, key) is not key:
                lines = [one.start_mark.line + 1 for one in (first[key.value], key)]
                raise yaml.YAMLError(
                    f"key '{key.value}' is there twice: in line {lines[0]} and in line {lines[1]}"
                )
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


# YAML 1.1 takes 1e-5 for a text, because it has no point.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
)


def read_text(path: Path) -> str:
    """Text of a file; `ConfigError` if it cannot be read, or is no text."""
    check_readable(path, ConfigError)
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not a text in UTF-8 ({error.reason} at byte {error.start})") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from None


def read_yaml(path: Path) -> dict[str, Any]:
    """Content of a YAML file; `ConfigError` if there is no file, or something other than a mapping in it."""
    return parse(path, read_text(path))


def parse(path: Path, text: str) -> dict[str, Any]:
    """Content of a YAML mapping.

    Raises
    ------
    ConfigError
        If it is not valid YAML, no mapping, or has a key twice.
    """
    document = parse_value(text, str(path))
    if not isinstance(document, dict):
        raise ConfigError(f"{path}: expected a mapping of keys to values")
    return document


def typed(value: Any) -> Any:
    """A value of Snakemake's ``--config``, which has text for numbers in lists and mappings."""
    if isinstance(value, dict):
        return {key: typed(below) for key, below in value.items()}
    if isinstance(value, list):
        return [typed(below) for below in value]
    with suppress(ConfigError):
        found = parse_value(value, "") if isinstance(value, str) else value
        return found if found is None or isinstance(found, bool | int | float) else value
    return value


def parse_value(text: str, origin: str) -> Any:
    """A value of any kind; `ConfigError` names ``origin`` and what is wrong, as in `parse`."""
    try:
        return yaml.load(text, _Loader)
    # Values like the date 2024-99-99 raise errors of other kinds.
    except (yaml.YAMLError, ValueError, ArithmeticError, AttributeError, TypeError) as error:
        raise ConfigError(f"{origin}: not valid YAML: {error}") from None
