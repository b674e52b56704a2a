"""Scenario files, and variants of a scenario on the file of another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pausefl.errors import ConfigError, suggest
from pausefl.settings.scenario import Scenario
from pausefl.settings.yaml import parse, read_text


def scenario_names(folder: Path) -> list[str]:
    """Names of all scenario files in a folder, sorted."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def scenario_from_dict(document: Mapping[str, Any], origin: str = "scenario") -> Scenario:
    """Check a scenario document and build it.

    Raises
    ------
    ConfigError
        If a key is unknown, missing, of the wrong type or out of range, or contradicts another.
    """
    return Scenario.read(document, origin)


def load_scenario(name: str, folder: Path) -> Scenario:
    """Load the scenario ``folder/NAME.yaml``; `ConfigError` names the nearest one if there is none."""
    path = folder / f"{name}.yaml"
    if not path.is_file():
        known = scenario_names(folder)
        if not known:
            raise ConfigError(f"no scenarios in {folder}: expected files NAME.yaml there")
        raise ConfigError(f"unknown scenario '{name}'. {suggest(name, known)}")
    text = read_text(path)
    document = parse(path, text)
    based = "base" in document and document["base"] in scenario_names(folder)
    return _loaded(path, text, read_text(folder / f"{document['base']}.yaml") if based else "")


@cache
def _loaded(path: Path, text: str, base_text: str) -> Scenario:
    """Build a scenario from the texts of its file and of its base, once for each."""
    scenario = Scenario.read(_on_base(parse(path, text), path, base_text), str(path))
    if scenario.name != path.stem:
        raise ConfigError(f"{path}: name = '{scenario.name}' must equal the file's name, '{path.stem}'")
    return scenario


#: Keys that a scenario does not take from its base.
_OWN = ("name", "title", "figures")


def _on_base(document: Mapping[str, Any], path: Path, base_text: str) -> Mapping[str, Any]:
    """A scenario document laid over its base, the scenario of the same folder that its key ``base`` names."""
    if "base" not in document:
        return document
    base = document["base"]
    if not base_text:
        raise ConfigError(
            f"{path}: base = {base!r} is not known. {suggest(str(base), scenario_names(path.parent))}"
        )
    whole = parse(path.with_name(f"{base}.yaml"), base_text)
    if "base" in whole:
        raise ConfigError(f"{path}: base = '{base}' has a base itself; name a scenario without one")
    below = _loaded(path.with_name(f"{base}.yaml"), base_text, "")  # its mistakes are said of its own file
    inherited = {key: value for key, value in whole.items() if key not in _OWN}
    merged = _merged(inherited, {key: value for key, value in document.items() if key != "base"})
    if document.get("scale") == "reduced":
        settings = {key: value for key, value in below.job_settings().items() if key not in _OWN}
        merged["reduced"] = dict(_replaced(settings, document))
    return merged


def _replaced(
    below: Mapping[str, Any], above: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    """Values of ``below`` that those of ``above`` replace, by dotted key."""
    for key, old in below.items():
        value = above.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            yield from _replaced(old, value, f"{prefix}{key}.")
        elif value is not None and old != value:
            yield f"{prefix}{key}", old


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Two mappings in one: mappings in both are merged key by key, any other value is that of ``above``."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            merged[key] = _merged(old, value)
        else:
            merged[key] = value
    return merged
