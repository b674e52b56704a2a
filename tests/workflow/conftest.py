"""Fixtures of the workflow's tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from workspace import Checkout, make_checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A fresh checkout with the tiny configuration; nothing has run in it."""
    fresh = make_checkout(tmp_path)
    fresh.write_scenario()
    fresh.write_config()
    return fresh
