"""Any data set of torchvision for the classification of images, ``torchvision:CLASS``."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np

from pausefl.data.sources.base import Array, Examples, check_installed
from pausefl.data.sources.torchvision_download import Official
from pausefl.errors import DataError
from pausefl.plugins import OwnPartError


class TorchvisionSet(Official):
    """A data set with a training and a test split of images of one size, in a folder of its own.

    Its class must have an argument ``train``, or a ``split`` that may be ``"train"`` and ``"test"``.
    """

    origin = "torchvision's {dataset}"
    files = ("torchvision/{dataset}",)

    def fetch(self, folder: Path) -> None:
        """See `Official.fetch`."""
        (root,) = self.paths(folder)
        self._splits(root, download=True)

    def addresses(self) -> list[str]:
        """None: torchvision knows them, and checks the sums of what it gets, by http or https."""
        return []

    def read(self, files: list[Path]) -> Examples:
        """See `Source.read`; classes are numbered as torchvision does.

        `DataError` if files are missing or damaged, images differ in size, or labels are no classes.
        """
        (root,) = files
        try:
            train, test = (_arrays(split) for split in self._splits(root, download=False))
        except (OSError, EOFError, RuntimeError, TypeError, ValueError) as error:
            raise DataError(
                f"{root}: torchvision cannot read {self.dataset} from it as images with classes ({error})."
                " To download it anew, move the folder elsewhere"
            ) from None
        if train[0].shape[1:] != test[0].shape[1:]:
            raise DataError(f"torchvision's {self.dataset}: its splits have images of different sizes")
        return Examples(*train, *test, n_classes=1 + int(max(train[1].max(), test[1].max())))

    def _splits(self, root: Path, download: bool) -> list[Any]:
        """Training and test split."""
        official = self.official()
        name, train, test = _split_argument(official)
        with check_installed(f"that torchvision's {self.dataset} imports"):
            return [official(str(root), **{name: value}, download=download) for value in (train, test)]


def torchvision_source(dataset: str) -> type[TorchvisionSet]:
    """The source ``torchvision:CLASS``; `OwnPartError` if there is no such class, or it has no two splits."""
    source: type[TorchvisionSet] = type(
        dataset, (TorchvisionSet,), {"dataset": dataset, "__module__": __name__}
    )
    try:
        _split_argument(source.official())
    except AttributeError:
        raise OwnPartError("is not there: torchvision.datasets has no such class") from None
    return source


def _split_argument(official: Any) -> tuple[str, Any, Any]:
    """The argument that chooses a split, and its values for training and for testing."""
    taken = inspect.signature(official).parameters
    if "train" in taken:
        return "train", True, False
    if "split" in taken:
        return "split", "train", "test"
    raise OwnPartError("has no argument 'train' or 'split', so no training and test split")


def _arrays(split: Any) -> tuple[Array, Array]:
    """Images (N, channels, height, width) and classes (N,) of a split; `DataError` if sizes differ."""
    images, labels = zip(*(split[i] for i in range(len(split))), strict=True)
    pixels = [np.asarray(image, np.uint8) for image in images]
    if len({one.shape for one in pixels}) > 1:
        raise DataError(
            f"torchvision's {type(split).__name__}: its images have different sizes, such as"
            f" {pixels[0].shape[:2]}; write them to class folders for the source 'imagefolder'"
        )
    x = np.stack(pixels)
    x = x[:, None] if x.ndim == 3 else x.transpose(0, 3, 1, 2)
    return np.ascontiguousarray(x), np.array(labels, np.int64)
