"""What all settings have in common: strict values, and mistakes phrased for the user."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Self, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError, core_schema

from pausefl.errors import ConfigError, suggest


class Settings(BaseModel):
    """Base of all settings: frozen, no unknown keys. A docstring below an attribute describes its key."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

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
    def read(cls, values: Mapping[str, Any], origin: str, context: Mapping[str, Any] | None = None) -> Self:
        """Check plain values and build the settings.

        Parameters
        ----------
        values
            Values by key, as read from a file.
        origin
            Where they come from, for messages.
        context
            What validators may look at besides.

        Raises
        ------
        ConfigError
            For the first mistake, naming key and value, what is allowed and the nearest name.
        """
        try:
            return cls.model_validate(values, context=context)
        except ValidationError as error:
            raise ConfigError(f"{origin}: {_first_mistake(cls, error)}") from None

    def replace(self, **changes: Any) -> Self:
        """Return a checked copy with some keys replaced."""
        given = {key: getattr(self, key) for key in self.model_fields_set}
        return self.read({**given, **changes}, type(self).__name__)


class Whole:
    """Annotation of an integer within bounds: ``ge``, ``le``. It may be written with a point: ``12.0``."""

    def __init__(self, **bounds: int) -> None:
        self.bounds = bounds

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = core_schema.int_schema(strict=True, **self.bounds)  # type: ignore[arg-type]
        return core_schema.no_info_before_validator_function(self._integer, schema)

    @staticmethod
    def _integer(value: Any) -> Any:
        return int(value) if isinstance(value, float) and value.is_integer() else value


class Real:
    """Annotation of a finite number within bounds: ``gt``, ``ge``, ``lt``, ``le``.

    It stays as it is written: an integer remains one in files and labels.
    """

    def __init__(self, **bounds: float) -> None:
        self.bounds = bounds

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = core_schema.float_schema(strict=True, allow_inf_nan=False, **self.bounds)  # type: ignore[arg-type]
        return core_schema.no_info_wrap_validator_function(self._checked, schema)

    @staticmethod
    def _checked(value: Any, check: Callable[[Any], Any]) -> Any:
        check(value)
        return value


class Items:
    """Annotation of a tuple of some length, by default of distinct values."""

    def __init__(self, at_least: int = 1, at_most: int | None = None, distinct: bool = True) -> None:
        self.at_least, self.at_most, self.distinct = at_least, at_most, distinct

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema: dict[str, Any] = {**handler(source), "min_length": self.at_least}
        if self.at_most is not None:
            schema["max_length"] = self.at_most
        return core_schema.no_info_after_validator_function(self._check, cast(CoreSchema, schema))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "uniqueItems": self.distinct}

    def _check(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        if self.distinct and (twice := [value for value in values if values.count(value) > 1]):
            raise ValueError(f"has {twice[0]!r} twice")
        return values


class OneOf:
    """Annotation of a text that is one of some names, for example those of a registry."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = names

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, core_schema.str_schema(strict=True))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        plain: dict[str, Any] = {"type": "string", "enum": list(self.names)}
        if isinstance(self.names, Mapping):
            records = self.names.values()
            about = [getattr(record, "about", "") or getattr(record, "label", "") for record in records]
            plain |= {"enumDescriptions": about} if any(about) else {}
        return plain

    def _check(self, value: str) -> str:
        if value not in self.names:
            raise ValueError(f"is not known. {suggest(value, self.names)}")
        return value


def _named(value: str) -> str:
    if not re.fullmatch(_NAME, value):
        raise ValueError("must be of lower-case letters, digits and underscores, a letter first")
    return value


_NAME = r"[a-z][a-z0-9_]*"

Flag = Annotated[bool, Strict()]
Natural = Annotated[int, Whole(ge=0)]
Count = Annotated[int, Whole(ge=1)]
NonNegative = Annotated[float, Real(ge=0)]
Positive = Annotated[float, Real(gt=0)]
Text = Annotated[str, Strict(), Field(min_length=1)]
#: A name of a file, a folder or a target.
Name = Annotated[
    str, Strict(), AfterValidator(_named), WithJsonSchema({"type": "string", "pattern": f"^{_NAME}$"})
]

T = TypeVar("T")
Several = Annotated[tuple[T, ...], Items(distinct=False)]
Distinct = Annotated[tuple[T, ...], Items()]


def _first_mistake(model: type[BaseModel], error: ValidationError) -> str:
    """One line a user can act on; unknown keys come first."""
    mistakes = error.errors(include_url=False)
    return _phrase(model, min(mistakes, key=lambda mistake: mistake["type"] != "unknown_key"))


def _phrase(model: type[BaseModel], mistake: ErrorDetails) -> str:
    """Phrase a mistake: key, value, what is allowed, and what the key means."""
    kind, value = mistake["type"], mistake["input"]
    path = [str(part) for part in mistake["loc"] if part != "[key]"]
    where = ".".join(path)
    if kind == "unknown_key":
        context = mistake["ctx"]
        return f"unknown key '{'.'.join([*path, str(context['key'])])}'. {context['hint']}"
    if kind == "missing":
        return f"missing key '{where}'{_meaning(model, path)}"
    if kind == "value_error":
        message = str(mistake["ctx"]["error"])
        if isinstance(value, Mapping):  # a check of a section names its keys itself
            return f"{where}.{message}" if where else message
        return f"{where} = {value!r} {message}"
    if kind in ("model_type", "dict_type"):
        return f"{where or 'document'} = {value!r} must be a mapping of keys to values{_meaning(model, path)}"
    message = re.sub(r"^\w+ should", "must", mistake["msg"]).removesuffix(", not 0")
    message = message.replace(" after validation", "").replace("tuple", "list")
    if kind in ("int_type", "float_type") and isinstance(value, str):
        message += _as_number(value)
    return f"{where} = {value!r} {message}{_meaning(model, path)}"


def _as_number(text: str) -> str:
    """How to write a number that YAML reads as text, as it does ``1e-3``."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return ""
    return f"; YAML reads it as text, write {number:f}" if number.is_finite() else ""


def _meaning(model: type[BaseModel], path: Iterable[str]) -> str:
    """What the key at a path means, in brackets."""
    schema = described(model)
    for part in path:
        schema = schema.get("properties", {}).get(part) or inside(schema) or {}
    meaning = schema.get("description", "").partition(". ")[0].rstrip(".")
    return f" ({meaning})" if meaning else ""


def inside(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Schema of what is in a list or in a mapping of free names; None for anything else."""
    if "items" in schema:
        items: dict[str, Any] = schema["items"]
        return items
    for named in (*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")):
        if isinstance(named, dict):
            return named
    return None


def described(model: type[BaseModel], null: bool = False) -> dict[str, Any]:
    """JSON schema of a model without references; whether a value may be null is left out unless wanted."""
    schema = model.model_json_schema()
    plain: dict[str, Any] = _inlined(schema, schema.get("$defs", {}), null)
    return plain


def _inlined(schema: Any, definitions: Mapping[str, Any], null: bool) -> Any:
    if isinstance(schema, list):
        return [_inlined(part, definitions, null) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "anyOf" in schema and not null:
        schema = {**schema["anyOf"][0], **{key: part for key, part in schema.items() if key != "anyOf"}}
    if "$ref" in schema:
        definition = definitions[schema["$ref"].rpartition("/")[2]]
        schema = {**definition, **{key: part for key, part in schema.items() if key != "$ref"}}
    plain = {key: _inlined(part, definitions, null) for key, part in schema.items() if key != "$defs"}
    if isinstance(plain.get("title"), str):
        del plain["title"]
    if isinstance(text := plain.get("description"), str):
        plain["description"] = " ".join(text.split())
    return plain
