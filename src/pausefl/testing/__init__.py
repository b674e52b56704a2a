"""Tests of what every selector must do. Derive a class from `SelectorContract` (docs/extending.md)."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("pausefl.testing.contract")  # a failure shows the values

from pausefl.testing.contract import SelectorContract  # noqa: E402

__all__ = ["SelectorContract"]
