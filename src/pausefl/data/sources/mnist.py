"""MNIST and Fashion-MNIST: images and labels of the training split, then of the test split, as IDX files."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pausefl.data.sources.base import OFFICIAL, Examples, check_md5, read_bytes
from pausefl.data.sources.folder import ImageFolder
from pausefl.data.sources.torchvision_download import Official
from pausefl.errors import DataError

_DIMS = ((60000, 28, 28), (60000,), (10000, 28, 28), (10000,))

#: Fashion-MNIST has no such list: copies in another order are in circulation, and as good.
_MNIST_MD5 = (
    "6bbc9ace898e44ae57da46a324031adb",
    "a25bea736e30d166cdddb491f175f624",
    "2646ac647ad5339dbf082846283269ea",
    "27ae3e4e09519cfbb04c329615203637",
)
#: Training images of each digit; Fashion-MNIST has 6,000 of each class.
_MNIST_LABELS = (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949)


def _files(folder: str) -> tuple[str, ...]:
    names = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")
    return tuple(f"{folder}/raw/{name}-ubyte" for name in names)


class MnistFolder(ImageFolder):
    """MNIST from images: grey, 28 x 28 pixels, 10 classes."""

    origin = "MNIST from image folder {folder} (re-encoded images, not the official bytes)"
    mode, side, n_classes = "L", 28, 10


class FashionMnistFolder(MnistFolder):
    """Fashion-MNIST from images."""

    origin = "Fashion-MNIST from image folder {folder} (re-encoded images, not the official bytes)"


class Mnist(Official):
    """MNIST; each file must have the official checksum."""

    origin = "MNIST, official files"
    files = _files("MNIST")
    dataset = "MNIST"
    mirror = "https://ossci-datasets.s3.amazonaws.com/mnist/"
    n_train, n_test = 60_000, 10_000
    image_shape = (1, 28, 28)
    in_folder = MnistFolder

    def paths(self, root: Path) -> list[Path]:
        """See `Source.paths`; files may be packed, and have a dot in their names, as other archives do."""
        return [next(filter(Path.exists, _names(path)), path) for path in super().paths(root)]

    def read(self, files: list[Path]) -> Examples:
        """See `Source.read`."""
        arrays = [_read_idx(path, dims) for path, dims in zip(files, _DIMS, strict=True)]
        train_x, train_y, test_x, test_y = arrays
        self.check_official(files, train_y)
        return Examples(
            train_x[:, None],
            train_y.astype(np.int64),
            test_x[:, None],
            test_y.astype(np.int64),
            n_classes=10,
        )

    def check_official(self, files: list[Path], train_y: npt.NDArray[np.uint8]) -> None:
        """Raise `DataError` unless each file has the official checksum."""
        for path, expected in zip(files, _MNIST_MD5, strict=True):
            check_md5(path, expected)


class FashionMnist(Mnist):
    """Fashion-MNIST: files of MNIST's dimensions that are not MNIST's."""

    origin = "Fashion-MNIST, IDX files (structure verified, checksums not)"
    files = _files("FashionMNIST")
    dataset = "FashionMNIST"
    mirror = "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/"
    n_balanced = 10
    in_folder = FashionMnistFolder

    def check_official(self, files: list[Path], train_y: npt.NDArray[np.uint8]) -> None:
        """Raise `DataError` if a file is one of MNIST, or has as many of each label."""
        for path, mnist in zip(files, _MNIST_MD5, strict=True):
            if hashlib.md5(read_bytes(path), usedforsecurity=False).hexdigest() == mnist:
                raise DataError(f"{path}: this is a file of MNIST, not of Fashion-MNIST{OFFICIAL}")
        if tuple(np.bincount(train_y, minlength=10)) == _MNIST_LABELS:
            raise DataError(f"{files[1]}: these are MNIST's labels, not Fashion-MNIST's{OFFICIAL}")


def _names(path: Path) -> list[Path]:
    """A file by all the names that it may have."""
    dotted = path.with_name(path.name.replace("-idx", ".idx"))
    return [one.with_name(one.name + packed) for packed in ("", ".gz") for one in (path, dotted)]


def _read_idx(path: Path, dims: tuple[int, ...]) -> npt.NDArray[np.uint8]:
    content = read_bytes(path)
    _check_structure(path, content, dims)
    values = np.frombuffer(content, np.uint8, offset=4 + 4 * len(dims)).reshape(dims)
    _check_labels(path, values)
    return values


def _check_structure(path: Path, content: bytes, dims: tuple[int, ...]) -> None:
    """Raise `DataError` if a file has another length or header than unsigned bytes of these dimensions."""
    header = struct.pack(f">{1 + len(dims)}I", 0x0800 + len(dims), *dims)
    expected = len(header) + int(np.prod(dims))
    if len(content) != expected:
        kind = "truncated" if len(content) < expected else "too long"
        raise DataError(f"{path}: {kind}: {len(content)} bytes, expected {expected}{OFFICIAL}")
    if not content.startswith(header):
        raise DataError(f"{path}: not an IDX file of unsigned bytes with dimensions {dims}{OFFICIAL}")


def _check_labels(path: Path, values: npt.NDArray[np.uint8]) -> None:
    """Raise `DataError` if labels are not 0 to 9."""
    if values.ndim == 1 and values.max() > 9:
        where = int(np.argmax(values > 9))
        raise DataError(
            f"{path}: corrupt: label {values[where]} at index {where}, allowed are 0 to 9{OFFICIAL}"
        )
