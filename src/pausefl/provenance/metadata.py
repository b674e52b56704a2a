"""Metadata of runs and figures, as their JSON files have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def flattened(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Values of nested mappings by dotted key; tuples become lists, as in JSON."""
    leaves: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            leaves |= flattened(value, f"{prefix}{key}.")
        else:
            leaves[f"{prefix}{key}"] = list(value) if isinstance(value, tuple) else value
    return leaves
