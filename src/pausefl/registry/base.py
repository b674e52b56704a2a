"""Registries: records by name, each with the place of its code and what others must know of it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pausefl.errors import ConfigError, suggest


@dataclass(frozen=True)
class Record:
    """Base of all records."""

    #: Where the class or function is, ``package.module:name``. Reading a registry imports none of them.
    code: str

    def load(self) -> Any:
        """Import and return the class or function."""
        module, _, name = self.code.partition(":")
        return getattr(importlib.import_module(module), name)


R = TypeVar("R", bound=Record)


class Registry(Mapping[str, R], Generic[R]):
    """Records by name, in the order of tables and legends; ``what`` they are, in messages: ``selector``."""

    def __init__(self, what: str, records: Mapping[str, R]) -> None:
        self.what = what
        self._records = dict(records)

    def __getitem__(self, name: str) -> R:
        return self._records[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    def find(self, name: str) -> R:
        """The record of a name; `ConfigError` suggests the nearest name if there is none."""
        if name not in self._records:
            raise ConfigError(f"unknown {self.what} '{name}'. {suggest(name, self._records)}")
        return self._records[name]


@contextmanager
def lent(registry: Registry[R], name: str, record: R) -> Iterator[None]:
    """Have a record in a registry inside the block; `ConfigError` if its name is registered."""
    if name in registry:
        raise ConfigError(f"'{name}' is the name of a registered {registry.what}; choose another")
    registry._records[name] = record
    try:
        yield
    finally:
        del registry._records[name]
