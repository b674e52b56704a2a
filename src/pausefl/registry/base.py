"""Registries: records by name, each with the place of its code and what others must know of it."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from pausefl.errors import ConfigError, suggest
from pausefl.registry.own import OwnPartError, declared, imported


@dataclass(frozen=True)
class Record:
    """Base of all records."""

    #: Where the class or function is, ``package.module:name``. Reading a registry imports none of them.
    code: str

    def load(self) -> Any:
        """Import and return the class or function."""
        module, _, name = self.code.partition(":")
        return getattr(importlib.import_module(module), name)

    @classmethod
    def of(cls, place: str, part: Any, others: Mapping[str, Self]) -> Self:
        """Record of a part of a user's own, from what it declares; ``others`` are in the registry.

        `pausefl.registry.own.OwnPartError` if it declares something that cannot be.
        """
        return declared(cls, part, place)


R = TypeVar("R", bound=Record)


class Registry(dict[str, R]):
    """Records by name, in the order of tables and legends; ``what`` they are, in messages: ``selector``.

    With the class of its records, ``own``, a name may also be ``MODULE:NAME``, a part of the user's own
    (derived from the class ``kind``, if given). It is imported, and entered, when it is first looked for.
    """

    def __init__(
        self, what: str, records: Mapping[str, R], own: type[R] | None = None, kind: str = ""
    ) -> None:
        super().__init__(records)
        self.what = what
        self._own, self._kind = own, kind

    def __missing__(self, name: str) -> R:
        if self._own is None or not isinstance(name, str) or ":" not in name:
            raise KeyError(name)
        try:
            if same := next((other for other in self if other.casefold() == name.casefold()), None):
                raise OwnPartError(f"differs from '{same}' in case alone: rename one of them")
            self[name] = self._own.of(name, imported(name, self._kind), self)
        except OwnPartError as error:
            raise OwnPartError(error.why, f"{self.what} '{name}'") from None
        return self[name]

    def __contains__(self, name: object) -> bool:
        try:
            self[name]  # type: ignore[index]
        except (KeyError, OwnPartError):
            return False
        return True

    def find(self, name: str) -> R:
        """The record of a name; `ConfigError` suggests the nearest name if there is none."""
        try:
            return self[name]
        except KeyError:
            raise ConfigError(f"unknown {self.what} '{name}'. {suggest(name, self)}") from None

    def refusal(self, name: str) -> str:
        """What is wrong with a name that is not in it, in words that follow the name."""
        try:
            self[name]
        except OwnPartError as error:
            return error.why
        except KeyError:
            pass
        return f"is not known. {suggest(name, self)}"

    def order(self, names: Iterable[str]) -> list[str]:
        """Some names in the order of the registry; `ConfigError` if it does not have one."""
        records = {name: self.find(name) for name in names}
        return sorted(records, key=list(self).index)
