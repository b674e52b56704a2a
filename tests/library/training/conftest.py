"""Precision of the tests of training."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture
def double_precision() -> Iterator[None]:
    """The same code in double precision, to tell an error from rounding, which Adam's first steps amplify."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)
