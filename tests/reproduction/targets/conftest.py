"""The experiment tables of shipped configurations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pausefl.reproduction.targets.project import Project
from pausefl.settings import read_yaml

ROOT = Path(__file__).parents[3]


@pytest.fixture
def load() -> Callable[..., Project]:
    """Load a configuration of the repository by name, with some keys replaced."""

    def table(name: str = "config", **changes: Any) -> Project:
        return Project.load(read_yaml(ROOT / f"config/{name}.yaml") | changes, ROOT)

    return table
