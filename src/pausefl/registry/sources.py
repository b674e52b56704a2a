"""Every data source, one record each: what it reads, and what the rest of the package must know of it.

Readers are named, not imported, so that reading a configuration loads none of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from pausefl.registry.base import Record, Registry
from pausefl.registry.own import check_keys, declared


@dataclass(frozen=True)
class SourceRecord(Record):
    """A data source: its raw files, its reader and its data.

    The reader is a function of the data settings and the list of raw files that returns
    `pausefl.data.sources.common.Examples`. In ``files`` and ``origin``, ``{key}`` stands for the value of the
    setting ``data.key``. Fields that bear on no number are not part of ``repr``.
    """

    #: What the data are made from, for captions.
    origin: str = field(repr=False)
    #: Raw files or folders, relative to the data root; none if the data come from code alone.
    files: tuple[str, ...] = ()
    #: Where a function of the same arguments is that raises early what the reader would raise.
    check: str = field(default="", repr=False)
    #: Keys of the data settings without which there are no data, and others that these depend on.
    requires: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    #: Examples of the official training and test split; 0 if there are none or they are not known.
    n_train: int = 0
    n_test: int = 0
    #: Classes of the official training split if it has equally many examples of each; else 0.
    n_balanced: int = 0
    #: Examples where the test split is made here; 0 if not known, or if it is the setting ``n_examples``.
    n_examples: int = 0
    #: Shape of an image; empty if it is not known, or if there are none.
    image_shape: tuple[int, ...] = field(default=(), repr=False)
    #: Whether the examples are images.
    images: bool = True
    #: Whether targets are numbers; there are no classes, and no accuracy.
    regression: bool = False
    #: Bytes of a prepared example, for the plan; 0 if it varies, or if all take hardly any space.
    #: Class of ``torchvision.datasets`` that downloads the files; empty if they cannot be downloaded.
    torchvision: str = field(default="", repr=False)
    #: Folder on the web with the archives, in place of the class's own list, which has http addresses.
    mirror: str = field(default="", repr=False)
    #: Record of a folder of images that may replace the files (``image_folders``); None if none may.
    in_folder: SourceRecord | None = None

    @classmethod
    def of(cls, place: str, part: Any, others: Mapping[str, Self]) -> Self:
        """Record of a user's own reader; without ``origin``, captions name it."""
        made = declared(cls, part, place, origin=place)
        check_keys(tuple(f"data.{key}" for key in (*made.requires, *made.optional)))
        return made

    @property
    def about(self) -> str:
        """What it is, for the reference of settings."""
        return re.sub(r"\{(\w+)[^}]*\}", r"`\1`", self.origin)


def _image_folder(reader: str, origin: str) -> SourceRecord:
    return SourceRecord(
        f"pausefl.data.sources.folder:{reader}",
        origin,
        files=("{folder}",),
        check="pausefl.data.sources.folder:check_layout",
        requires=("folder",),
        optional=("image_size", "test_fraction"),
    )


def _replacement(reader: str, title: str) -> SourceRecord:
    origin = f"{title} from image folder {{folder}} (re-encoded images, not the official bytes)"
    return _image_folder(reader, origin)


def _idx_files(folder: str) -> tuple[str, ...]:
    names = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")
    return tuple(f"{folder}/raw/{name}-ubyte" for name in names)


#: In the order of the documentation.
SOURCES: Registry[SourceRecord] = Registry(
    "data source",
    {
        "digits": SourceRecord(
            "pausefl.data.sources.digits:read",
            "handwritten digits of scikit-learn (UCI, 8 x 8 pixels)",
            requires=("test_fraction",),
            n_examples=1797,
            image_shape=(1, 8, 8),
        ),
        "mnist": SourceRecord(
            "pausefl.data.sources.idx:read_mnist",
            "MNIST, official files",
            files=_idx_files("MNIST"),
            n_train=60_000,
            n_test=10_000,
            image_shape=(1, 28, 28),
            torchvision="MNIST",
            mirror="https://ossci-datasets.s3.amazonaws.com/mnist/",
            in_folder=_replacement("read_mnist", "MNIST"),
        ),
        "fashion_mnist": SourceRecord(
            "pausefl.data.sources.idx:read_fashion_mnist",
            "Fashion-MNIST, IDX files (structure verified, checksums not)",
            files=_idx_files("FashionMNIST"),
            n_train=60_000,
            n_test=10_000,
            n_balanced=10,
            image_shape=(1, 28, 28),
            torchvision="FashionMNIST",
            mirror="https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
            in_folder=_replacement("read_mnist", "Fashion-MNIST"),
        ),
        "cifar10": SourceRecord(
            "pausefl.data.sources.cifar10:read",
            "CIFAR-10, official files",
            files=tuple(
                f"cifar-10-batches-py/{name}"
                for name in (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch", "batches.meta")
            ),
            n_train=50_000,
            n_test=10_000,
            n_balanced=10,
            image_shape=(3, 32, 32),
            torchvision="CIFAR10",
            in_folder=_replacement("read_cifar10", "CIFAR-10"),
        ),
        "imagefolder": _image_folder("read", "image folder {folder}"),
        "synthetic_regression": SourceRecord(
            "pausefl.data.sources.regression:read",
            "synthetic linear regression, {n_examples} examples, {n_features} features, noise {noise_std:g}",
            requires=("n_examples", "n_features", "noise_std", "test_fraction"),
            images=False,
            regression=True,
        ),
    },
    own=SourceRecord,
)
