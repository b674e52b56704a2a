"""What all settings have in common: they are checked, and mistakes are phrased for the user."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, ValidationError, model_validator
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError

from pausefl.errors import ConfigError, suggest
from pausefl.schema.json_schema import described, inside

#: Characters of a value that a message shows.
_LONGEST = 80

#: Keys by other words for them.
_CALLED = {"budget": "epsilon_total", "epsilon": "epsilon_total", "users": "n_users", "rounds": "n_rounds"}


class Settings(BaseModel):
    """Base of all settings: frozen, no unknown keys. A docstring below an attribute describes its key."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, values: Any) -> Any:
        """Report an unknown key before all else: a misspelt key is missing under its right name, too."""
        for key in values if isinstance(values, Mapping) else ():
            if key not in cls.model_fields:
                hint = suggest(str(key), cls.model_fields)
                raise PydanticCustomError("unknown_key", "{hint}", {"key": key, "hint": hint})
        return values

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Describe keys by their docstrings, which are too slow to read in every process."""
        schema = handler(core)
        properties = handler.resolve_ref_schema(schema)["properties"]
        for key, text in docstrings(cls).items():
            properties[key].setdefault("description", text)
        return schema

    @classmethod
    def read(cls, values: Mapping[str, Any], origin: str, context: Mapping[str, Any] | None = None) -> Self:
        """Settings from plain values by key; ``context`` is what validators may look at besides.

        Raises
        ------
        ConfigError
            For the first mistake, naming ``origin``, key and value, what is allowed and the nearest name.
        """
        try:
            return cls.model_validate(values, context=context)
        except ValidationError as error:
            raise ConfigError(f"{origin}: {_first_mistake(cls, error)}") from None

    def replace(self, **changes: Any) -> Self:
        """A checked copy with some keys replaced."""
        given = {key: getattr(self, key) for key in self.model_fields_set}
        return self.read({**given, **changes}, type(self).__name__)


@cache
def docstrings(model: type[BaseModel]) -> dict[str, str]:
    """Docstrings below the attributes of a model and its bases, by attribute."""
    found = {}
    for base in reversed(model.__mro__):
        if issubclass(base, Settings):
            (statement,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
            assert isinstance(statement, ast.ClassDef)
            for node, after in itertools.pairwise(statement.body):
                match node, after:
                    case ast.AnnAssign(ast.Name(key)), ast.Expr(ast.Constant(str(text))):
                        found[key] = inspect.cleandoc(text)
    return found


def _first_mistake(model: type[BaseModel], error: ValidationError) -> str:
    """One line a user can act on; unknown keys come first."""
    mistakes = error.errors(include_url=False)
    return _phrase(model, min(mistakes, key=lambda mistake: mistake["type"] != "unknown_key"))


def _phrase(model: type[BaseModel], mistake: ErrorDetails) -> str:
    """Phrase a mistake: key, value, what is allowed, and what the key means."""
    kind, value = mistake["type"], mistake["input"]
    path = [str(part) for part in mistake["loc"] if part != "[key]"]
    dotted = ".".join(path)
    if kind == "unknown_key":
        context = mistake["ctx"]
        hint, key = context["hint"], str(context["key"])
        if meant := _meant(described(model), path, key):
            hint = f"Did you mean '{meant}'? {hint[hint.index('Allowed:') :]}"
        return f"unknown key '{'.'.join([*path, key])}'. {hint}"
    if kind == "missing":
        return f"missing key '{dotted}'{_meaning(model, path)}"
    if kind == "value_error":
        message = str(mistake["ctx"]["error"])
        if isinstance(value, Mapping):  # a check of a section names its keys itself
            return f"{dotted}.{message}" if dotted else message
        return f"{dotted} = {shortened(value)} {message}"
    if kind in ("model_type", "dict_type"):
        dotted = dotted or "document"
        return f"{dotted} = {shortened(value)} must be a mapping of keys to values{_meaning(model, path)}"
    message = re.sub(r"^\w+ should", "must", mistake["msg"]).removesuffix(", not 0")
    message = message.replace(" after validation", "").replace("tuple", "list")
    if kind in ("list_type", "tuple_type"):
        message = f"must be a list, as [{shortened(value)}]"
    return f"{dotted} = {shortened(value)} {message}{_meaning(model, path)}"


def _meant(schema: Mapping[str, Any], path: Iterable[str], key: str) -> str:
    """The only key of a name, or of what users call it, wherever it is; empty if none or several are."""
    called = _CALLED.get(key, key)
    names = [name for name in _keys(schema) if name.rpartition(".")[2] == called]
    section = "".join(f"{part}." for part in path)
    return names[0].removeprefix(section) if len(names) == 1 else ""


def _keys(schema: Mapping[str, Any], section: str = "") -> Iterator[str]:
    """Yield each dotted key."""
    for key, below in schema.get("properties", {}).items():
        yield f"{section}{key}"
        yield from _keys(below, f"{section}{key}.")


def shortened(value: object) -> str:
    """A value for a message; a long one is cut."""
    try:
        text = repr(value)
    except ValueError:  # of an integer with thousands of digits
        return "a number of thousands of digits"
    except RecursionError:
        return f"a {type(value).__name__} of thousands of levels"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _meaning(model: type[BaseModel], path: Iterable[str]) -> str:
    """What the key at a path means, in brackets."""
    schema = described(model)
    for part in path:
        schema = schema.get("properties", {}).get(part) or inside(schema) or {}
    meaning = re.split(r"\.\s+(?=[A-Z`])", schema.get("description", ""))[0].rstrip(".")
    return f" ({meaning})" if meaning else ""
