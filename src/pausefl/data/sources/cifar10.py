"""CIFAR-10: the official batches, which torchvision unpickles after their checksums were compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pausefl.data.sources.base import Examples, check_md5
from pausefl.data.sources.folder import ImageFolder
from pausefl.data.sources.torchvision_download import Official

_BATCHES = (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch", "batches.meta")


class Cifar10Folder(ImageFolder):
    """CIFAR-10 from images: colour, 32 x 32 pixels, 10 classes."""

    origin = "CIFAR-10 from image folder {folder} (re-encoded images, not the official bytes)"
    side, n_classes = 32, 10


class Cifar10(Official):
    """The official batches; each must have the official checksum."""

    origin = "CIFAR-10, official files"
    files = tuple(f"cifar-10-batches-py/{name}" for name in _BATCHES)
    dataset = "CIFAR10"
    n_train, n_test, n_balanced = 50_000, 10_000, 10
    image_shape = (3, 32, 32)
    in_folder = Cifar10Folder

    def read(self, files: list[Path]) -> Examples:
        """See `Source.read`."""
        official, root = self.official(), str(files[0].parents[1])
        checksums = dict([*official.train_list, *official.test_list])
        checksums[official.meta["filename"]] = official.meta["md5"]
        for path in files:
            check_md5(path, checksums[path.name])
        train, test = official(root, train=True), official(root, train=False)
        return Examples(
            np.ascontiguousarray(train.data.transpose(0, 3, 1, 2)),
            np.array(train.targets, dtype=np.int64),
            np.ascontiguousarray(test.data.transpose(0, 3, 1, 2)),
            np.array(test.targets, dtype=np.int64),
            n_classes=10,
        )
