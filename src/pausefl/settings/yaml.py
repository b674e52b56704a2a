"""Reading YAML files."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from pausefl.errors import ConfigError
from pausefl.files import check_readable

#: Ten times as fast, where PyYAML was built with libyaml.
_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: Limits of a document: bytes, levels, and values where each alias counts as all that it stands for.
_MOST_BYTES, _MOST_LEVELS, _MOST_VALUES = 10_000_000, 50, 200_000


def read_text(path: Path) -> str:
    """Read a text file; `ConfigError` if it cannot be read, or is no text."""
    check_readable(path, ConfigError)
    if path.stat().st_size > _MOST_BYTES:
        raise ConfigError(f"{path}: larger than {_MOST_BYTES // 10**6} MB, so it is no file of settings")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not a text in UTF-8 ({error.reason} at byte {error.start})") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from None


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML mapping; `ConfigError` if there is no file, or something else in it."""
    return copy.deepcopy(parse(path, read_text(path)))


@cache
def parse(path: Path, text: str) -> dict[str, Any]:
    """Parse the text of a YAML mapping, once; do not change what is returned.

    Raises
    ------
    ConfigError
        If it is not valid YAML, no mapping, has a key twice, or is nested too deeply or too large.
    """
    document = parse_value(text, str(path))
    if not isinstance(document, dict):
        raise ConfigError(f"{path}: expected a mapping of keys to values")
    return document


def parse_value(text: str, origin: str) -> Any:
    """Parse a value of any kind; `ConfigError` names ``origin`` and what is wrong, as in `parse`."""
    try:
        return _load(text)
    # Values like the date 2024-99-99 raise errors of other kinds.
    except (yaml.YAMLError, ValueError, ArithmeticError, AttributeError, TypeError) as error:
        raise ConfigError(f"{origin}: not valid YAML: {error}") from None


def _load(text: str) -> Any:
    """Parse a document that is not too deep, not too large, and has no key twice."""
    _check_depth(text)
    loader = _LOADER(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _measure(node, {})
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _check_depth(text: str) -> None:
    """Raise `yaml.YAMLError` beyond `_MOST_LEVELS`, before a parser that calls itself meets the text."""
    level = 0
    for event in yaml.parse(text, _LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            level += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            level -= 1
        if level > _MOST_LEVELS:
            raise yaml.YAMLError(f"nested more than {_MOST_LEVELS} levels deep\n{event.start_mark}")


def _measure(node: yaml.Node, known: dict[int, tuple[int, int] | None]) -> tuple[int, int]:
    """Number of values and of levels of a node, each alias counted as what it stands for.

    Parameters
    ----------
    node
        Any node of a document.
    known
        Results by the identity of a node; None while it is measured.

    Raises
    ------
    yaml.YAMLError
        If the node contains itself, is nested too deeply or too large, or a mapping has a key twice.
    """
    if not isinstance(node, yaml.CollectionNode):
        return 1, 0
    if id(node) not in known:
        known[id(node)] = None
        if isinstance(node, yaml.MappingNode):
            _check_keys(node)
            parts = [_measure(part, known) for pair in node.value for part in pair]
        else:
            parts = [_measure(part, known) for part in node.value]
        known[id(node)] = 1 + sum(n for n, _ in parts), 1 + max((levels for _, levels in parts), default=0)
    found = known[id(node)]
    if found is None:
        raise yaml.YAMLError(f"an alias stands for what contains it\n{node.start_mark}")
    if found[0] > _MOST_VALUES or found[1] > _MOST_LEVELS:
        raise yaml.YAMLError(
            f"more than {_MOST_VALUES} values or {_MOST_LEVELS} levels, with what aliases stand for\n"
            f"{node.start_mark}"
        )
    return found


def _check_keys(node: yaml.MappingNode) -> None:
    first: dict[tuple[str, str], yaml.Node] = {}
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        before = first.setdefault((key.tag, key.value), key)
        if before is not key:
            raise yaml.YAMLError(
                f"key '{key.value}' is there twice: in line {before.start_mark.line + 1} and in line"
                f" {key.start_mark.line + 1}"
            )
