"""CIFAR-10: the official batches, which torchvision unpickles after their checksums were compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pausefl.data.sources.common import Examples, check_installed, check_md5
from pausefl.settings import DataSettings


def read(settings: DataSettings, files: list[Path]) -> Examples:
    """Read the official batches; each must have the official checksum."""
    with check_installed("torchvision"):
        from pausefl.data._torchvision import datasets
    official, root = datasets.CIFAR10, str(files[0].parents[1])
    _check_official(official, files)
    train, test = official(root, train=True), official(root, train=False)
    return Examples(
        np.ascontiguousarray(train.data.transpose(0, 3, 1, 2)),
        np.array(train.targets, dtype=np.int64),
        np.ascontiguousarray(test.data.transpose(0, 3, 1, 2)),
        np.array(test.targets, dtype=np.int64),
        n_classes=10,
    )


def _check_official(official: Any, files: list[Path]) -> None:
    checksums = dict([*official.train_list, *official.test_list])
    checksums[official.meta["filename"]] = official.meta["md5"]
    for path in files:
        check_md5(path, checksums[path.name])
