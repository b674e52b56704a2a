"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

# One thread for each process of the tests, as for each job. PyTorch reads this when it is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def data_root() -> Path:
    """Folder of the raw data sets; tests that need one are skipped where there is none."""
    root = os.environ.get("PAUSEFL_DATA_ROOT")
    if not root:
        pytest.skip("set PAUSEFL_DATA_ROOT to a folder with MNIST/raw and FashionMNIST/raw")
    return Path(root)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A checkout in which the tiny workflow ran to its end on this machine; not to be changed."""
    from workspace import make_finished, shared

    return shared(tmp_path_factory, "finished", make_finished)
