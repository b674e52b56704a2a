"""Parts of a user's own, outside the package: ``MODULE:NAME``, of the working folder or PYTHONPATH."""

from __future__ import annotations

import importlib
import os
import re
import sys
import traceback
from dataclasses import fields
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from pausefl.errors import ConfigError, suggest

if TYPE_CHECKING:
    from pausefl.registry.base import Record

R = TypeVar("R", bound="Record")

#: ``MODULE:NAME``, in ASCII, since it is part of paths.
OWN = r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*"


class OwnPartError(ConfigError):
    """A part of a user's own cannot be used; ``why`` says it in words that follow its name."""

    def __init__(self, why: str, name: str = "") -> None:
        super().__init__(f"{name} {why}".lstrip())
        self.why = why


def as_folder(name: str) -> str:
    """A name as folders and files have it: no file system takes offence at ``my_module.LeastUsed``."""
    return name.replace(":", ".")


def from_folder(folder: str) -> str:
    """The name that `as_folder` was given."""
    module, _, name = folder.rpartition(".")
    return f"{module}:{name}" if module else folder


def imported(place: str, kind: str = "") -> Any:
    """What ``MODULE:NAME`` names.

    Parameters
    ----------
    place
        Module and name. The module is looked for in the working folder first.
    kind
        Class that it must be derived from, ``package.module:name``; a function or a class without.

    Raises
    ------
    OwnPartError
        If there is no such module or name, the module cannot be imported, or it is something else.
    """
    if not re.fullmatch(OWN, place):
        raise OwnPartError("is no MODULE:NAME, such as my_module:MyClass")
    where, _, name = place.partition(":")
    if where.partition(".")[0] == "pausefl":
        raise OwnPartError("is part of pausefl: use the name that it is registered under")
    found = vars(module := _module(where)).get(name)
    if found is None:
        own = [one for one, value in vars(module).items() if getattr(value, "__module__", "") == where]
        raise OwnPartError(f"is not there: {_file(module)} has no '{name}'. {suggest(name, own)}")
    if not kind:
        if not callable(found):
            raise OwnPartError(f"is {found!r:.80}, no function or class")
        return found
    base = getattr(importlib.import_module(kind.partition(":")[0]), kind.partition(":")[2])
    public = hasattr(importlib.import_module("pausefl"), base.__name__)
    what = f"class derived from {'pausefl' if public else base.__module__}.{base.__name__}"
    if not (isinstance(found, type) and issubclass(found, base)) or found is base:
        raise OwnPartError(f"in {_file(module)} is no {what}")
    if lacking := sorted(getattr(found, "__abstractmethods__", ())):
        raise OwnPartError(f"in {_file(module)} lacks {', '.join(lacking)}, which a {what} must have")
    return found


def declared(record: type[R], part: Any, place: str, **otherwise: Any) -> R:
    """The record of a part: its attributes of the names of the record's fields, the rest by default.

    `OwnPartError` if one has a value that the field cannot have.
    """
    from pydantic import TypeAdapter, ValidationError

    names = [one.name for one in fields(record) if one.name not in ("code", "stated_cost")]
    values = otherwise | {name: getattr(part, name) for name in names if hasattr(part, name)}
    try:
        return TypeAdapter(record).validate_python({"code": _code(part, place), **values})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key, message = first["loc"][0], first["msg"].replace("Input should", "should", 1)
        raise OwnPartError(f"has {key} = {values.get(str(key))!r:.80}, which {message}") from None


def check_keys(requires: tuple[str, ...]) -> None:
    """Raise `OwnPartError` unless these are keys of a scenario."""
    # By name, as records have their code: settings are above this layer.
    scenario = importlib.import_module("pausefl.settings.scenario").Scenario
    known: dict[str, Any] = importlib.import_module("pausefl.settings.schema").described(scenario)
    for key in requires:
        section, _, name = key.partition(".")
        within = known["properties"].get(section, {}).get("properties", {})
        if name not in within:
            keys = [
                f"{one}.{each}"
                for one, of in known["properties"].items()
                for each in of.get("properties", ())
            ]
            near = suggest(key, keys).partition("Allowed:")[0]
            raise OwnPartError(f"requires '{key}', which is no key of a scenario. {near}".rstrip())


def _module(where: str) -> ModuleType:
    if (here := os.getcwd()) not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(where)
    except ModuleNotFoundError as error:
        if error.name and f"{where}.".startswith(f"{error.name}."):
            raise OwnPartError(
                f"cannot be imported: there is no module '{error.name}' in {here} or on PYTHONPATH"
            ) from None
        raise OwnPartError(_reason(error)) from None
    except Exception as error:  # whatever a user's code raises
        raise OwnPartError(_reason(error)) from None


def _reason(error: Exception) -> str:
    """Why a module cannot be imported, and where that is."""
    if isinstance(error, SyntaxError):
        return f"cannot be imported: {error.filename}, line {error.lineno}: {error.msg}"
    frames = [one for one in traceback.extract_tb(error.__traceback__) if not one.filename.startswith("<")]
    last = frames[-1]
    return f"cannot be imported: {last.filename}, line {last.lineno}: {type(error).__name__}: {error}"


def _file(module: ModuleType) -> str:
    return getattr(module, "__file__", None) or f"module '{module.__name__}'"


def _code(part: Any, place: str) -> str:
    """Where a part is defined: maybe elsewhere, if the module imports it."""
    where, name = getattr(part, "__module__", ""), getattr(part, "__qualname__", "")
    return f"{where}:{name}" if getattr(sys.modules.get(where), name or "-", None) is part else place


def words(name: str) -> str:
    """The name of a class in words: ``LeastUsed`` is ``Least used``, ``UCBBySize`` is ``UCB by size``."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[0-9]+", name)
    text = " ".join(part if part.isupper() and len(part) > 1 else part.lower() for part in parts)
    return text[:1].upper() + text[1:]
