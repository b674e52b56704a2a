"""Names in settings -> classes: those of the package, and MODULE:NAME of a user's own.

What others must know of a class, its *facts*, are its class attributes; the base class declares them, with
defaults. What it is made from are the arguments of its constructor, which are called as keys of settings are.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Generic, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel, TypeAdapter, ValidationError

from pausefl.errors import ConfigError, PauseflError, suggest

P = TypeVar("P")

#: ``MODULE:NAME``, in ASCII, since it is part of paths.
OWN = r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*"


class OwnPartError(ConfigError):
    """A part of a user's own cannot be used; ``why`` says it in words that follow its name."""

    def __init__(self, why: str, name: str = "") -> None:
        super().__init__(f"{name} {why}".lstrip())
        self.why = why


class Plugins(Mapping[str, type[P]], Generic[P]):
    """Classes by name, in the order of tables; ``MODULE:NAME`` is imported when it is first looked up.

    Parameters
    ----------
    what
        What they are, in messages: ``selector``.
    base
        Class that all are derived from.
    classes
        Those of the package.
    """

    def __init__(self, what: str, base: type[P], classes: Mapping[str, type[P]]) -> None:
        self.what, self.base = what, base
        self._classes = dict(classes)

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)

    def __getitem__(self, name: str) -> type[P]:
        if name not in self._classes:
            if not isinstance(name, str) or ":" not in name:
                raise KeyError(name)
            try:
                self._classes[name] = self._own(name)
            except OwnPartError as error:
                raise OwnPartError(error.why, f"{self.what} '{name}'") from None
        return self._classes[name]

    def __contains__(self, name: object) -> bool:
        try:
            self[name]  # type: ignore[index]
        except (KeyError, OwnPartError):
            return False
        return True

    def find(self, name: str) -> type[P]:
        """The class of a name; `ConfigError` suggests the nearest name if there is none."""
        try:
            return self[name]
        except KeyError:
            raise ConfigError(f"unknown {self.what} '{name}'. {suggest(name, self)}") from None

    def refusal(self, name: str) -> str:
        """What is wrong with a name that has no class, in words that follow the name."""
        try:
            self[name]
        except OwnPartError as error:
            return error.why
        except KeyError:
            pass
        return f"is not known. {suggest(name, self)}"

    def order(self, names: Iterable[str]) -> list[str]:
        """Some names in the order of all; `ConfigError` if one has no class."""
        known = {name: self.find(name) for name in names}
        return sorted(known, key=list(self).index)

    @contextmanager
    def including(self, classes: Mapping[str, type[P]]) -> Iterator[None]:
        """Have further classes inside the block; their names are new."""
        self._classes.update(classes)
        try:
            yield
        finally:
            for name in classes:
                del self._classes[name]

    def _own(self, place: str) -> type[P]:
        if same := next((other for other in self if other.casefold() == place.casefold()), None):
            raise OwnPartError(f"differs from '{same}' in case alone: rename one of them")
        part = imported(place, self.base)
        _check_facts(part, self.base)
        return part


def arguments(part: type) -> dict[str, bool]:
    """What a class is made from: names of its constructor's arguments, and whether each must be given."""
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    taken = inspect.signature(part).parameters.items()
    return {name: one.default is one.empty for name, one in taken if one.kind not in variadic}


def missing(part: type, values: Mapping[str, Any]) -> list[str]:
    """Arguments that a class must be given, and that are not among the values or None."""
    return [name for name, needed in arguments(part).items() if needed and values.get(name) is None]


def check_arguments(
    part: type, values: Mapping[str, Any], what: str, section: str, besides: Iterable[str] = ()
) -> None:
    """Raise `ValueError` unless a section of settings has all that a class, named ``what``, must be given.

    ``values`` are those of the section's keys, of which ``besides`` must be given, too.
    """
    lacking = [*missing(part, values), *(key for key in besides if values.get(key) is None)]
    if unknown := next((key for key in lacking if key not in values), None):
        raise ValueError(f"{what} {no_key(unknown, values, section)}")
    if lacking:
        raise ValueError(f"{what} needs {', '.join(f'{section}.{key}' for key in lacking)}")


def check_choices(settings: BaseModel, section: str, choices: Mapping[str, Plugins[Any]]) -> None:
    """Raise `ValueError` unless a section has the keys of the classes that it names, and of no others.

    ``choices`` are the classes by the key that names one.
    """
    values, keys = vars(settings), dict[str, Mapping[str, Iterable[str]]]()
    for what, classes in choices.items():
        chosen = values[what]
        check_arguments(classes[chosen], values, f"{what} = '{chosen}'", section)
        keys[what] = keys_of(classes, chosen)
    check_foreign(settings, section, keys)


def keys_of(
    classes: Plugins[P], chosen: str, taken: Callable[[type[P]], Iterable[str]] = arguments
) -> dict[str, Iterable[str]]:
    """What classes take, by name: those of the package, and the chosen one.

    Another one of a user's own, which this process happens to know, makes no key its own.
    """
    return {name: taken(classes[name]) for name in [*classes] if ":" not in name or name == chosen}


def check_foreign(settings: BaseModel, section: str, keys: Mapping[str, Mapping[str, Iterable[str]]]) -> None:
    """Raise `ValueError` if a section has keys of what it does not choose, other than their defaults.

    Keys that it must have are of everything.

    Parameters
    ----------
    settings
        The section.
    section
        Its name.
    keys
        By the key that chooses, and by what can be chosen there: its keys.
    """
    values = vars(settings)
    optional = {key: one.default for key, one in type(settings).model_fields.items() if not one.is_required()}
    taken = {key for what, of in keys.items() for key in of.get(values[what], ())}
    given = {key for key, default in optional.items() if values[key] != default} - taken
    for what, of in keys.items():
        for name, others in of.items():
            if left := sorted(given.intersection(others)):
                them, be = ("it", "is") if len(left) == 1 else ("them", "are")
                usual = {key: "null" if optional[key] is None else optional[key] for key in left}
                back = " ".join(f"--set {section}.{key}={value}" for key, value in usual.items())
                to = "null" if {*usual.values()} == {"null"} else "the default"
                raise ValueError(
                    f"{', '.join(left)} {be} for {what} '{name}', and {section}.{what} is '{values[what]}':"
                    f" leave {them} out, or set {them} to {to} ({back})"
                )


def no_key(argument: str, keys: Iterable[str], section: str) -> str:
    """What is wrong with a class that is made from what is no key of settings, in words that follow it."""
    near = suggest(argument, keys).partition("Allowed:")[0].rstrip()
    return f"is made from '{argument}', which is no key of {section}. {near or 'Give it a default.'}"


def build(part: type[P], values: Mapping[str, Any]) -> P:
    """An object of a class, made from those of the values that it takes and that are not None."""
    return part(**{name: values[name] for name in arguments(part) if values.get(name) is not None})


def as_folder(name: str) -> str:
    """A name as folders and files have it: no file system takes offence at ``my_module.LeastUsed``."""
    return name.replace(":", ".")


def from_folder(folder: str) -> str:
    """The name that `as_folder` was given; a name that has its colon stays."""
    if ":" in folder:
        return folder
    module, _, name = folder.rpartition(".")
    return f"{module}:{name}" if module else folder


def imported(place: str, base: type[P]) -> type[P]:
    """The class that ``MODULE:NAME`` names; the module may be in the working folder.

    `OwnPartError` if there is none, its module cannot be imported, or it is not derived from ``base``.
    """
    if not re.fullmatch(OWN, place):
        raise OwnPartError("is no MODULE:NAME, such as my_module:MyClass")
    where, _, name = place.partition(":")
    if where.partition(".")[0] == "pausefl":
        raise OwnPartError("is part of pausefl: use the name that it has there")
    part = vars(module := _module(where)).get(name)
    if part is None:
        own = [one for one, value in vars(module).items() if getattr(value, "__module__", "") == where]
        raise OwnPartError(f"is not there: {_file(module)} has no '{name}'. {suggest(name, own)}")
    public = base.__name__ in importlib.import_module("pausefl").__all__
    what = f"class derived from {'pausefl' if public else base.__module__}.{base.__name__}"
    if not (isinstance(part, type) and issubclass(part, base)) or part is base:
        raise OwnPartError(f"in {_file(module)} is no {what}")
    if lacking := sorted(getattr(part, "__abstractmethods__", ())):
        raise OwnPartError(f"in {_file(module)} lacks {', '.join(lacking)}, which a {what} must have")
    return part


@contextmanager
def naming(part: type, name: str, when: str) -> Iterator[None]:
    """Have an error of a user's own part say which one it is, when it was, and the user's line.

    What pausefl says itself, and errors of its own parts, stay as they are.
    """
    try:
        yield
    except Exception as error:  # whatever a user's code raises
        if isinstance(error, (PauseflError, MemoryError)) or part.__module__.startswith("pausefl."):
            raise
        folder = Path(getattr(sys.modules.get(part.__module__), "__file__", None) or __file__).parent
        frames = traceback.extract_tb(error.__traceback__)
        theirs = [i for i, frame in enumerate(frames) if Path(frame.filename).parent == folder]
        why = f"failed {when}: {type(error).__name__}: {error}"
        if theirs:
            line, trace = frames[theirs[-1]], "".join(traceback.format_list(frames[theirs[0] :]))
            place = f"{Path(line.filename).name}, line {line.lineno}"
            why = f"failed {when}: {place}: {type(error).__name__}: {error}\n{trace}".rstrip()
        raise OwnPartError(why, name) from None


def words(name: str) -> str:
    """The name of a class in words: ``LeastUsed`` is ``Least used``, ``UCBBySize`` is ``UCB by size``."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[0-9]+", name)
    text = " ".join(part if part.isupper() and len(part) > 1 else part.lower() for part in parts)
    return text[:1].upper() + text[1:]


def _check_facts(part: type, base: type) -> None:
    """Raise `OwnPartError` if a class declares a fact with a value that it cannot have."""
    for name, hint in get_type_hints(base, include_extras=True).items():
        if get_origin(hint) is ClassVar:
            if not hasattr(part, name):
                raise OwnPartError(f"lacks the attribute {name}")
            try:
                TypeAdapter(get_args(hint)[0]).validate_python(value := getattr(part, name))
            except ValidationError as error:
                message = error.errors(include_url=False)[0]["msg"].replace("Input should", "should", 1)
                raise OwnPartError(f"has {name} = {value!r:.80}, which {message}") from None


def _module(where: str) -> ModuleType:
    """The module of a name, which the working folder may have; what is installed is found before it.

    So a file ``torch.py`` there is in nobody's way. It is no own part: `OwnPartError` says so.
    """
    here = os.getcwd()
    _check_name(where.partition(".")[0], here)
    if here not in sys.path:
        sys.path.append(here)
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


def _check_name(top: str, here: str) -> None:
    """Raise `OwnPartError` if a module of the working folder has the name of one that is elsewhere, too."""
    elsewhere = [one for one in sys.path if os.path.abspath(one) != here]
    own, other = PathFinder.find_spec(top, [here]), PathFinder.find_spec(top, elsewhere)
    places = {os.path.realpath(one.origin) for one in (own, other) if one is not None and one.origin}
    if len(places) == 2 and own is not None and other is not None:
        raise OwnPartError(
            f"has the name of another module: {own.origin} would hide {other.origin}; rename yours"
        )


def _reason(error: Exception) -> str:
    """Why a module cannot be imported, and where that is."""
    if isinstance(error, SyntaxError):
        return f"cannot be imported: {error.filename}, line {error.lineno}: {error.msg}"
    frames = [one for one in traceback.extract_tb(error.__traceback__) if not one.filename.startswith("<")]
    last = frames[-1]
    return f"cannot be imported: {last.filename}, line {last.lineno}: {type(error).__name__}: {error}"


def _file(module: ModuleType) -> str:
    return getattr(module, "__file__", None) or f"module '{module.__name__}'"
