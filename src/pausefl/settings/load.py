"""Scenario files, and variants of a scenario on the file of another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pausefl.errors import ConfigError, suggest
from pausefl.settings import papers
from pausefl.settings.changes import replaced
from pausefl.settings.scenario import Scenario
from pausefl.settings.yaml import parse, read_text

#: Folder of the workflow's scenarios, from the root of the repository.
SHIPPED = Path("config/scenarios")


def scenario_names(*folders: Path) -> list[str]:
    """Names of all scenario files in some folders, sorted."""
    return sorted({path.stem for folder in folders for path in folder.glob("*.yaml")})


def scenario_from_dict(document: Mapping[str, Any], origin: str = "scenario") -> Scenario:
    """Check a scenario document and build it.

    Raises
    ------
    ConfigError
        If a key is unknown, missing, of the wrong type or out of range, or contradicts another.
    """
    return Scenario.read(document, origin)


def load_scenario(name: str, *folders: Path) -> Scenario:
    """Load the scenario ``NAME.yaml`` of the first folder that has it.

    Parameters
    ----------
    name
        Name of the scenario.
    folders
        Where to look for it, and for its base: the user's folder, then that of the workflow (`SHIPPED`).

    Raises
    ------
    ConfigError
        If there is none, naming the nearest one, or if anything in it is wrong.
    """
    path, scenario = read_scenario(name, *folders)
    if scenario.scale != "paper":
        return scenario
    changed = papers.changes(scenario, path)
    return scenario.replace(changed=changed) if changed else scenario


def read_scenario(name: str, *folders: Path) -> tuple[Path, Scenario]:
    """The file that `load_scenario` finds, and the scenario in it, whether or not it is the papers'."""
    path = scenario_file(name, *folders)
    if path is None:
        check_folder(folders[0])
        raise ConfigError(f"unknown scenario '{name}'. {suggest(name, scenario_names(*folders))}")
    text = read_text(path)
    document = parse(path, text)
    base = document.get("base")
    base_path = scenario_file(base, *folders) if isinstance(base, str) else None
    if "base" in document and base_path is None:
        known = scenario_names(*folders)
        raise ConfigError(f"{path}: base = {base!r} is not known. {suggest(str(base), known)}")
    base_text = read_text(base_path) if base_path is not None else ""
    return path, _loaded(path, text, base_path, base_text)


def check_folder(folder: Path) -> None:
    """Raise `ConfigError` unless there are scenarios in a folder."""
    if not scenario_names(folder):
        raise ConfigError(f"no scenarios in {folder}: expected files NAME.yaml there")


def scenario_file(name: str, *folders: Path) -> Path | None:
    """The file of a scenario in the first folder that has one."""
    if not re.fullmatch(r"\w{1,200}", name):  # no path, and no longer than file systems allow
        return None
    paths = (folder / f"{name}.yaml" for folder in folders)
    return next((path for path in paths if path.is_file()), None)


@cache
def _loaded(path: Path, text: str, base_path: Path | None, base_text: str) -> Scenario:
    """Build a scenario from the texts of its file and of its base, once for each."""
    document, base = parse(path, text), None
    if base_path is not None:
        if "base" in parse(base_path, base_text):
            raise ConfigError(f"{path}: base = '{base_path.stem}' has a base itself; name one without a base")
        base = _loaded(base_path, base_text, None, "")  # its mistakes are said of its own file
        inherited = {key: value for key, value in parse(base_path, base_text).items() if key not in _OWN}
        document = _merged(inherited, {key: value for key, value in document.items() if key != "base"})
    scale = document.get("scale")
    if base is None or scale not in (None, "own", "reduced"):
        return _checked(document, path)
    scenario = _checked({key: value for key, value in document.items() if key != "scale"}, path)
    differing = "reduced" if scale == "reduced" else "changed"
    found = replaced(base.job_settings(), scenario.job_settings())
    return _checked({**document, differing: found}, path)


def _checked(document: Mapping[str, Any], path: Path) -> Scenario:
    """A scenario whose name is that of its file."""
    scenario = Scenario.read(document, str(path))
    if scenario.name != path.stem:
        raise ConfigError(f"{path}: name = '{scenario.name}' must equal the file's name, '{path.stem}'")
    return scenario


#: Keys that a scenario does not take from its base.
_OWN = ("name", "title", "figures", "scale")


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
