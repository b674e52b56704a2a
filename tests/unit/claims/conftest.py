"""A world to put runs into."""

from __future__ import annotations

from pathlib import Path

import pytest
from worlds import World

from pausefl.settings import Scenario


@pytest.fixture
def world(tmp_path: Path, demo: Scenario, made_up_runs: None) -> World:
    return World(tmp_path, demo)
