"""Settings of data sources, and made-up raw files."""

from __future__ import annotations

import hashlib
import pickle
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from pausefl.data.raw_data import raw_files
from pausefl.errors import DataError
from pausefl.settings import DataSettings, RawData

IDX_FILES = {
    "train-images-idx3-ubyte": (60000, 28, 28),
    "train-labels-idx1-ubyte": (60000,),
    "t10k-images-idx3-ubyte": (10000, 28, 28),
    "t10k-labels-idx1-ubyte": (10000,),
}


def source(name: str, **keys: Any) -> DataSettings:
    return DataSettings(**({"source": name, "n_validation": 0} | keys))


def raw(root: Path, download: bool = False, **folders: str) -> RawData:
    return RawData(root=root, download=download, folders=folders)


def refusal(action: Callable[..., object], *arguments: object) -> str:
    """The message of the `DataError` that an action raises."""
    with pytest.raises(DataError) as caught:
        action(*arguments)
    return str(caught.value)


def write_idx(path: Path, dims: tuple[int, ...]) -> None:
    """An IDX file of zeros, which take no space on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header = struct.pack(f">{1 + len(dims)}I", 0x800 + len(dims), *dims)
    with path.open("wb") as file:
        file.write(header)
        file.truncate(len(header) + int(np.prod(dims)))


def write_cifar10(
    root: Path, pixels: np.ndarray, labels: Sequence[Sequence[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six small batches in CIFAR-10's format, with checksums of their own; images are (6, n, 3072)."""
    from pausefl.data._torchvision import datasets

    checksums = {}
    for i, path in enumerate(raw_files(source("cifar10"), raw(root))):
        batch = {"data": pixels[i], "labels": list(labels[i])} if i < 6 else {"label_names": list("abc")}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(batch))
        checksums[path.name] = hashlib.md5(path.read_bytes()).hexdigest()
    *train, test, meta = checksums.items()
    monkeypatch.setattr(datasets.CIFAR10, "train_list", [list(pair) for pair in train])
    monkeypatch.setattr(datasets.CIFAR10, "test_list", [list(test)])
    meta_list = {"filename": meta[0], "key": "label_names", "md5": meta[1]}
    monkeypatch.setattr(datasets.CIFAR10, "meta", meta_list)


def write_images(
    folder: Path, n: int, size: tuple[int, int] = (12, 10), shade: int = 0, suffix: str = "png"
) -> None:
    """``n`` images of (width, height); the shade of the i-th is ``shade`` + i."""
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(n):
        Image.new("RGB", size, (shade + i,) * 3).save(folder / f"{i:03}.{suffix}")
