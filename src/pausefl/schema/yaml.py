"""Reading YAML files."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from pausefl.errors import ConfigError
from pausefl.files import check_readable

#: Digits that YAML 1.1 takes for a text, since 8 and 9 are none of an octal number.
_NO_OCTAL = r"[-+]?0[0-9]*[89][0-9]*"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # libyaml's is ten times as fast
    """The safe loader, but a mapping has no key twice, and no number is read as a person would not.

    In YAML 1.1, 020 is 16, 1:30 is 90 and 1_0 is 10.
    """

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

    def construct_number(self, node: yaml.ScalarNode) -> int | float:
        """A number, unless YAML 1.1 reads another one than a person does."""
        whole = node.tag.endswith(":int")
        if whole and re.fullmatch(_NO_OCTAL, node.value):
            raise _AmbiguousError(node, f"the text '{node.value}'", str(int(node.value)))
        value: int | float = self.construct_yaml_int(node) if whole else self.construct_yaml_float(node)
        digits = node.value.replace("_", "").lstrip("-+")
        sign = "-" if node.value.startswith("-") else ""
        if ":" in digits:
            raise _AmbiguousError(node, value, "")
        if whole and re.fullmatch("0[0-9]+", digits):
            raise _AmbiguousError(node, value, f"{sign}{int(digits)}")
        if "_" in node.value and not re.fullmatch(r"[-+]?[0-9]{1,3}(_[0-9]{3})+(\.[0-9]*)?", node.value):
            raise _AmbiguousError(node, value, "")
        return value


class _AmbiguousError(ConfigError):
    """A number that YAML 1.1 and a person read differently."""

    def __init__(self, node: yaml.ScalarNode, value: float | str, meant: str) -> None:
        known = meant and (meant == str(value) or isinstance(value, str))
        instead = meant if known else f"{meant}, or {value}" if meant else f"{value}"
        super().__init__(
            f"line {node.start_mark.line + 1}: {node.value} would be {value} in YAML 1.1: write {instead}, or"
            " put it into quotes if it is a text"
        )


for _kind in ("int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _Loader.construct_number)

# YAML 1.1 takes 1e-5 for a text, because it has no point, and -.5, because it has a sign.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?([0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+|\.[0-9]+([eE][-+]?[0-9]+)?)$"),
    list("-+.0123456789"),
)
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(f"{_NO_OCTAL}$"), list("-+0"))
# No setting is a date: 2024-01-01 is a text.
_Loader.yaml_implicit_resolvers = {
    first: [one for one in found if one[0] != "tag:yaml.org,2002:timestamp"]
    for first, found in _Loader.yaml_implicit_resolvers.items()
}


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
        If it is not valid YAML, no mapping, has a key twice, or a number that YAML 1.1 and a person read
        differently.
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
    except _AmbiguousError as error:
        raise ConfigError(f"{origin}: {error}") from None
    # Values like the date 2024-99-99 raise errors of other kinds.
    except (yaml.YAMLError, ValueError, ArithmeticError, AttributeError, TypeError) as error:
        raise ConfigError(f"{origin}: not valid YAML: {error}") from None
