"""Types of values in settings: strict, so that no text passes for a number and no number for a choice."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypeVar, cast

from pydantic import (
    AfterValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, core_schema

from pausefl.errors import suggest
from pausefl.plugins import Plugins

#: The largest whole number that counts something, and the least and largest size of any other number but 0:
#: beyond them time and memory do not suffice, or products overflow.
_MOST, _REALS = 10**9, (1e-12, 1e12)


class Whole:
    """Annotation of an integer within bounds: ``ge``, ``le``; without ``le``, at most 10^9.

    It may be written with a point: ``12.0``.
    """

    def __init__(self, **bounds: int) -> None:
        self.bounds = bounds

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = core_schema.int_schema(strict=True, **self.bounds)  # type: ignore[arg-type]
        return core_schema.no_info_before_validator_function(self._integer, schema)

    def _integer(self, value: Any) -> Any:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and value > self.bounds.get("le", _MOST):
            raise ValueError(f"must be at most {self.bounds.get('le', _MOST)}")
        return value


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
        least, most = _REALS
        if value != 0 and not least <= abs(value) <= most:
            raise ValueError(f"must be between {least:g} and {most:g}{' in size, or 0' if value < 0 else ''}")
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
    """Annotation of a text that is one of some names, for example those of `Plugins`."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = names

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, core_schema.str_schema(strict=True))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        # Users' own parts, MODULE:NAME, are known once they were used, and are no part of a reference.
        shipped = [name for name in self.names if ":" not in name]
        plain: dict[str, Any] = {"type": "string", "enum": shipped}
        if isinstance(self.names, Mapping):
            meanings = [self.names[name] for name in shipped]
            about = [one if isinstance(one, str) else _about(one) for one in meanings]
            plain |= {"enumDescriptions": about} if any(about) else {}
        return plain

    def _check(self, value: str) -> str:
        if value not in self.names:
            raise ValueError(f"{_refusal(value, self.names)}")
        return value


def _about(one: object) -> str:
    """What a name stands for, for the reference of settings."""
    return next(filter(None, (getattr(one, key, "") for key in ("about", "origin", "label"))), "")


def _refusal(value: str, names: Iterable[str]) -> str:
    """What is wrong with a value that is none of some names, in words that follow it."""
    return names.refusal(value) if isinstance(names, Plugins) else f"is not known. {suggest(value, names)}"


def _named(value: str) -> str:
    if not re.fullmatch(_NAME, value):
        raise ValueError("must be of lower-case letters, digits and underscores, a letter first")
    return value


_NAME = r"[a-z][a-z0-9_]*"

Flag = Annotated[bool, Strict()]
Natural = Annotated[int, Whole(ge=0)]
Count = Annotated[int, Whole(ge=1)]
#: Seeds are 64-bit integers in tables.
Seed = Annotated[int, Whole(ge=0, le=2**63 - 1)]
NonNegative = Annotated[float, Real(ge=0)]
Positive = Annotated[float, Real(gt=0)]
Text = Annotated[str, Strict(), Field(min_length=1)]
#: A file or a folder, where ``~`` is a home folder.
Place = Annotated[str, Strict(), Field(min_length=1), AfterValidator(os.path.expanduser)]
#: A name of a file, a folder or a target.
Name = Annotated[
    str, Strict(), AfterValidator(_named), WithJsonSchema({"type": "string", "pattern": f"^{_NAME}$"})
]

T = TypeVar("T")
Several = Annotated[tuple[T, ...], Items(distinct=False)]
Distinct = Annotated[tuple[T, ...], Items()]
