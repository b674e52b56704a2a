"""Settings that a user changes by dotted key, and what one scenario has in place of another's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pausefl.errors import ConfigError
from pausefl.schema.base import shortened
from pausefl.schema.yaml import parse_value
from pausefl.settings.scenario import Scenario

#: Keys that say which scenario it is, and that the program writes.
_FIXED = ("name", "scale", "changed")


def with_changes(scenario: Scenario, texts: Iterable[str]) -> Scenario:
    """A scenario with some settings replaced, as ``pausefl run --set`` gives them.

    Parameters
    ----------
    scenario
        What is changed. If no value differs, it is what is returned; otherwise the scale is ``own``.
    texts
        Each a dotted key and a value in YAML, ``network.n_users=20``. All are applied before anything is
        checked, so their order does not matter.

    Raises
    ------
    ConfigError
        If a text is no such pair, or what `Scenario.read` finds wrong, naming the key and ``--set``.
    """
    values: dict[str, Any] = {}
    for text in texts:
        key, value = _pair(text)
        if key in values:
            raise ConfigError(f"--set: {key} is given twice")
        values[key] = value
    return with_values(scenario, values, "--set")


def with_values(scenario: Scenario, values: Mapping[str, Any], origin: str) -> Scenario:
    """A scenario with other values of some dotted keys; `with_changes` describes what it returns and raises.

    Messages name ``origin`` as the place of the values.
    """
    document = scenario.as_dict() | {"scale": "own", "changed": {}}
    for key, value in values.items():
        if key in _FIXED:
            raise ConfigError(
                f"{origin}: {key} cannot be changed; settings of a scenario are in config/README.md"
            )
        *sections, last = key.split(".")
        place = document
        for section in sections:
            if not isinstance(place.get(section), dict):  # left out, or no section, which the check reports
                place[section] = {}
            place = place[section]
        place[last] = value
    changed = Scenario.read(document, origin)
    old, new = scenario.job_settings(), changed.job_settings()
    if not (found := replaced(old, new)):
        return scenario
    earlier = {key: was for key, was in scenario.changed.items() if _plain(at(new, key)) != _plain(was)}
    back = scenario.changed.keys() - earlier.keys()
    found = {key: was for key, was in found.items() if key not in back} | earlier
    return changed.model_copy(update={"changed": found})


def at(settings: Mapping[str, Any], key: str) -> Any:
    """What nested settings have at a dotted key; None if they lack it."""
    found: Any = settings
    for part in key.split("."):
        found = (found or {}).get(part)
    return found


def replaced(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Values of ``old`` in place of which ``new`` has others, by dotted key.

    The scenario's own ``name`` does not count; those of its model, reward and so on do.
    """
    return {key: was for key, (was, _) in differing(old, new).items() if key != "name"}


def differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Both values of each dotted key in which nested settings differ; None where one lacks the key.

    A section that only one of them has is one key.
    """
    found: dict[str, tuple[Any, Any]] = {}
    for key in dict.fromkeys([*old, *new]):
        was, now = old.get(key), new.get(key)
        if isinstance(was, Mapping) and isinstance(now, Mapping):
            found |= {f"{key}.{name}": values for name, values in differing(was, now).items()}
        elif _plain(was) != _plain(now):
            found[key] = _plain(was), _plain(now)
    return found


def flattened(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Values of nested mappings by dotted key; tuples become lists, as in JSON."""
    leaves: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            leaves |= flattened(value, f"{prefix}{key}.")
        else:
            leaves[f"{prefix}{key}"] = _plain(value)
    return leaves


def _pair(text: str) -> tuple[str, Any]:
    """Key and value of a change."""
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise ConfigError(f"--set {shortened(text)} must be KEY=VALUE, for example network.n_users=20")
    return key, parse_value(value, f"--set {shortened(text)}")


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    return list(value) if isinstance(value, tuple) else value
