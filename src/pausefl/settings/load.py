"""Scenario files, and variants of a scenario on the file of another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pausefl.errors import ConfigError, suggest
from pausefl.schema.yaml import parse, read_text
from pausefl.settings.dotted_keys import replaced
from pausefl.settings.scenario import Scenario

#: Folder of the project's own scenarios, below `home` or below the root of a workflow.
SHIPPED = Path("config/scenarios")

#: Keys that a scenario does not take from its base.
_OWN = ("name", "title", "figures", "scale")

_parse = cache(parse)


def scenario_names(*folders: Path) -> list[str]:
    """Names of all scenario files in some folders, sorted."""
    found = (path for folder in folders for path in folder.glob("*.yaml") if not path.name.startswith("."))
    return sorted({path.stem for path in found})


def scenario_file(name: str, *folders: Path) -> Path | None:
    """The file of a scenario in the first folder that has one."""
    if not re.fullmatch(r"\w{1,200}", name):  # no path, and no longer than file systems allow
        return None
    paths = (folder / f"{name}.yaml" for folder in folders)
    return next((path for path in paths if path.is_file()), None)


def home() -> Path:
    """Folder whose ``config`` comes with pausefl: the package, or the checkout of it that one works in."""
    package = Path(__file__).parents[1]
    return Path() if Path("config").resolve() == (package / "config").resolve() else package


def check_folder(folder: Path) -> None:
    """Raise `ConfigError` unless there are scenarios in a folder."""
    if not scenario_names(folder):
        raise ConfigError(f"no scenarios in {folder}: expected files NAME.yaml there")


def load_scenario(name: str, *folders: Path) -> Scenario:
    """The scenario ``NAME.yaml`` of the first folder that has it: the user's, then the workflow's own.

    Its base is looked for in the same folders.

    Raises
    ------
    ConfigError
        If there is none, naming the nearest one, or if anything in it is wrong.
    """
    path = scenario_file(name, *folders)
    if path is None:
        check_folder(folders[0])
        if name in (known := scenario_names(*folders)):
            raise ConfigError(f"'{name}.yaml': a scenario needs a name of letters, digits and underscores")
        raise ConfigError(f"unknown scenario '{name}'. {suggest(name, known)}")
    files = [(path, read_text(path))]
    if "base" in (document := _parse(*files[0])):
        base, known = document["base"], scenario_names(*folders)
        if (below := scenario_file(str(base), *folders)) is None:
            raise ConfigError(f"{path}: base = {base!r} is not known. {suggest(str(base), known)}")
        files.append((below, read_text(below)))
    return _checked(*files)


@cache
def _checked(file: tuple[Path, str], base_file: tuple[Path, str] | None = None) -> Scenario:
    """A scenario from its file and that of its base, each a path and a text; checked once."""
    path, document = file[0], _parse(*file)
    scale = document.get("scale", "own")
    if base_file is not None:
        below = _parse(*base_file)
        if "base" in below:
            name = base_file[0].stem
            raise ConfigError(f"{path}: base = '{name}' has a base itself; name one without a base")
        base = _checked(base_file)  # its mistakes are said of its own file
        inherited = {key: value for key, value in below.items() if key not in _OWN}
        left = ("base", "scale") if scale == "own" else ("base",)
        document = _merged(inherited, {key: value for key, value in document.items() if key not in left})
    scenario = Scenario.read(document, str(path))
    if scenario.name != path.stem:
        raise ConfigError(f"{path}: name = '{scenario.name}' must equal the file's name, '{path.stem}'")
    if base_file is None or scale != "own":
        return scenario
    return scenario.model_copy(update={"changed": replaced(base.job_settings(), scenario.job_settings())})


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Two mappings in one: mappings in both are merged key by key, any other value is that of ``above``."""
    found = {**below, **above}
    for key in below.keys() & above.keys():
        if isinstance(below[key], Mapping) and isinstance(above[key], Mapping):
            found[key] = _merged(below[key], above[key])
    return found
