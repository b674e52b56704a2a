"""Parts that several readers share."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy.typing as npt

from pausefl.errors import DataError
from pausefl.files import check_readable
from pausefl.settings import DataSettings
from pausefl.streams import Streams

#: Random choices of a source are part of the source: one fixed seed, the same for every experiment.
FIXED = Streams(0)

Array = npt.NDArray[Any]

#: What to do about a damaged file.
OFFICIAL = "; replace it by the official file (where it is missing, a run with download: true gets it)"


class Examples(NamedTuple):
    """Result of a reader; shapes and types as in `pausefl.data.dataset.Dataset`."""

    train_x: Array
    train_y: Array
    test_x: Array
    test_y: Array
    n_classes: int


def test_size(settings: DataSettings, n_examples: int) -> int:
    """Return how many examples ``test_fraction`` puts into the test split."""
    return round(float(settings.test_fraction or 0) * n_examples)


def split_off_test(settings: DataSettings, x: Array, y: Array, n_classes: int) -> Examples:
    """Put the first ``test_fraction`` of the examples, which are in random order, into the test split."""
    check_test_size(settings, len(x))
    n_test = test_size(settings, len(x))
    return Examples(x[n_test:], y[n_test:], x[:n_test], y[:n_test], n_classes)


def check_test_size(settings: DataSettings, n_examples: int) -> None:
    """Raise `DataError` if ``test_fraction`` leaves nothing for testing or for training."""
    fraction = settings.test_fraction
    if fraction is None:
        raise DataError(f"data.source '{settings.source}' needs data.test_fraction, for example 0.2")
    if not 0 < fraction < 1:
        raise DataError(f"data.test_fraction = {fraction} must lie between 0 and 1")
    n_test = test_size(settings, n_examples)
    if not 0 < n_test < n_examples:
        raise DataError(
            f"data.test_fraction = {fraction} of {n_examples} examples leaves {n_test} for testing"
            f" and {n_examples - n_test} for training"
        )


def read_bytes(path: Path) -> bytes:
    """Read a file; a failure becomes a `DataError`."""
    check_readable(path, DataError)
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None


def check_md5(path: Path, expected: str) -> None:
    """Raise `DataError` if a file is not the official one."""
    found = hashlib.md5(read_bytes(path), usedforsecurity=False).hexdigest()
    if found != expected:
        raise DataError(
            f"{path}: corrupt, or not the official file: MD5 {found}, expected {expected}{OFFICIAL}"
        )


@contextmanager
def check_installed(package: str) -> Iterator[None]:
    """Raise `DataError` if an import in the block fails; a machine that only runs jobs may lack one."""
    try:
        yield
    except ImportError as error:
        raise DataError(
            f"preparing this data set needs the package {package} ({error}); install it, or prepare the data"
            " on another machine"
        ) from None
