"""Base of all data sources, and what several of them share."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Formatter
from typing import Any, ClassVar, NamedTuple

import numpy.typing as npt

from pausefl.errors import DataError
from pausefl.files import check_readable, path_of
from pausefl.streams import Streams

#: Random choices of a source are part of the source: one fixed seed, the same for every experiment.
FIXED = Streams(0)

Array = npt.NDArray[Any]

#: What to do about a damaged file.
OFFICIAL = "; replace it by the official file (where it is missing, a run with download: true gets it)"


class Examples(NamedTuple):
    """What a source reads; shapes and types as in `pausefl.data.dataset.Dataset`.

    ``train_users`` are for ``partition.users: given``, ``n_symbols`` for token ids.
    """

    train_x: Array
    train_y: Array
    test_x: Array
    test_y: Array
    n_classes: int
    train_users: Array | None = None
    n_symbols: int = 0


class Source(ABC):
    """Where the examples of a data set come from.

    Its constructor takes keys of the section ``data`` of a scenario. In ``origin`` and ``files``, ``{key}``
    stands for the attribute of that name.
    """

    #: What the data are made from, for captions.
    origin: ClassVar[str]
    #: What it is, for the reference of settings, if not what ``origin`` says.
    about: ClassVar[str] = ""
    #: Raw files or folders, relative to the data root; none if the data come from code alone.
    files: ClassVar[tuple[str, ...]] = ()
    #: Examples of the official training and test split; 0 if there are none or they are not known.
    n_train: ClassVar[int] = 0
    n_test: ClassVar[int] = 0
    #: Classes of the official training split if it has equally many examples of each; else 0.
    n_balanced: ClassVar[int] = 0
    #: Shape of an image; empty if it is not known, or if there are none.
    image_shape: ClassVar[tuple[int, ...]] = ()
    #: Whether the examples are images.
    images: ClassVar[bool] = True
    #: Whether the examples are token ids, such as characters, which are symbols and no numbers.
    tokens: ClassVar[bool] = False
    #: How many symbols there are, each of which is a class; 0 if that is not known, or there are none.
    n_symbols: ClassVar[int] = 0
    #: Whether targets are numbers; there are no classes, and no accuracy.
    regression: ClassVar[bool] = False
    #: Class for a folder of images that may replace the files (``image_folders``); None if none may.
    in_folder: ClassVar[type[Source] | None] = None

    @abstractmethod
    def read(self, files: list[Path]) -> Examples:
        """The examples, in a fixed order with a fixed test split, from the raw files, which are there."""

    def check(self, files: list[Path]) -> None:  # noqa: B027 (most need not)
        """Raise `DataError` for what `read` would find, as far as it shows at once."""

    def training_size(self) -> int | None:
        """Number of training examples; None if it is not known before they are read."""
        return self.n_train or None

    def describe(self) -> str:
        """What exactly the data are made from, for captions."""
        return self._filled(self.origin)

    def paths(self, root: Path) -> list[Path]:
        """Absolute paths of the raw files or folders."""
        return [root.absolute() / path_of(self._filled(name)) for name in self.files]

    def _filled(self, text: str) -> str:
        keys = [key for _, key, _, _ in Formatter().parse(text) if key]
        return text.format(**{key: getattr(self, key) for key in keys})


def n_held_out(test_fraction: float, n_examples: int) -> int:
    """How many of some examples are for testing; `DataError` if none or all are."""
    n_test = round(test_fraction * n_examples)
    if not 0 < n_test < n_examples:
        raise DataError(
            f"data.test_fraction = {test_fraction} of {n_examples} examples leaves {n_test} for testing"
            f" and {n_examples - n_test} for training"
        )
    return n_test


def split_off_test(test_fraction: float, x: Array, y: Array, n_classes: int) -> Examples:
    """Put the first ``test_fraction`` of the examples, which are in random order, into the test split."""
    n_test = n_held_out(test_fraction, len(x))
    return Examples(x[n_test:], y[n_test:], x[:n_test], y[:n_test], n_classes)


def read_bytes(path: Path) -> bytes:
    """Read a file, and unpack it if its name ends in ``.gz``; a failure becomes a `DataError`."""
    check_readable(path, DataError)
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if path.suffix == ".gz" else content
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None


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
