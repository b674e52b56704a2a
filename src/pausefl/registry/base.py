"""Registries: records by name, each with the place of its code and what others must know of it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

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


class Registry(dict[str, R]):
    """Records by name, in the order of tables and legends; ``what`` they are, in messages: ``selector``."""

    def __init__(self, what: str, records: Mapping[str, R]) -> None:
        super().__init__(records)
        self.what = what

    def find(self, name: str) -> R:
        """The record of a name; `ConfigError` suggests the nearest name if there is none."""
        if name not in self:
            raise ConfigError(f"unknown {self.what} '{name}'. {suggest(name, self)}")
        return self[name]
