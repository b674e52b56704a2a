"""Data sets that torchvision downloads: over https only, and only below the working directory."""

from __future__ import annotations

import http.client
import inspect
import os
import shutil
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from pausefl.data.sources.base import Array, Examples, Source, check_installed
from pausefl.errors import DataError
from pausefl.plugins import OwnPartError

#: Seconds to wait for a host before it counts as unreachable.
NETWORK_TIMEOUT = 10.0

#: What addresses must start with.
SCHEME = "https://"


class Official(Source):
    """A data set of torchvision for the classification of images, with a training and a test split.

    Its images must be of one size, and the class must have an argument ``train``, or a ``split`` that may
    be ``"train"`` and ``"test"``.
    """

    origin = "torchvision's {dataset}"
    files: ClassVar[tuple[str, ...]] = ("torchvision/{dataset}",)
    #: Name of its class in ``torchvision.datasets``.
    dataset: ClassVar[str]
    #: Folder on the web with the archives, in place of the class's own list, which has http addresses.
    mirror: ClassVar[str] = ""

    def describe(self) -> str:
        """See `Source.describe`."""
        return self.origin.format(dataset=self.dataset)

    def paths(self, root: Path) -> list[Path]:
        """See `Source.paths`."""
        return [root.absolute() / name.format(dataset=self.dataset) for name in self.files]

    def read(self, files: list[Path]) -> Examples:
        """See `Source.read`; classes are numbered as torchvision does."""
        train, test = (_arrays(split) for split in _splits(self.official(), files[0], download=False))
        if train[0].shape[1:] != test[0].shape[1:]:
            raise DataError(f"torchvision's {self.dataset}: its splits have images of different sizes")
        return Examples(*train, *test, n_classes=1 + int(max(train[1].max(), test[1].max())))

    def download(self, root: Path) -> str:
        """Download the files to ``root``; why it failed, or an empty text.

        They are unpacked in a folder beside, since a file that is there counts as whole.
        """
        staged = root / f".download-{self.dataset}"
        try:
            self.fetch(staged)
            for path in [path for path in staged.rglob("*") if path.is_file()]:
                target = root / path.relative_to(staged)
                target.parent.mkdir(parents=True, exist_ok=True)
                os.replace(path, target)
            shutil.rmtree(staged)
        except (OSError, EOFError, RuntimeError, http.client.HTTPException) as error:
            return f"The download failed: {error}."
        return ""

    def fetch(self, folder: Path) -> None:
        """Have torchvision download and unpack all files, as `files` names them, and verify checksums."""
        (root,) = self.paths(folder)
        _splits(self.official(), root, download=True)

    def find_problem(self, root: Path) -> str:
        """Why a download to ``root`` must fail; an empty text if nothing shows before it starts."""
        if not _is_below(root, Path.cwd()):
            return (
                f"Nothing is downloaded to {root}: it is outside of the working directory. Make data/raw"
                " a link to a folder elsewhere if you want downloads there."
            )
        problems = []
        for url in self.addresses():
            if not url.startswith(SCHEME):
                return f"Nothing is downloaded from {url}: it is not an https address."
            try:
                with urllib.request.urlopen(url, timeout=NETWORK_TIMEOUT):
                    return ""
            except (OSError, http.client.HTTPException) as error:
                reason = error.reason if isinstance(error, urllib.error.URLError) else error
                problems.append(f"{url} cannot be opened ({reason})")
        return f"The download failed: {', '.join(problems)}." if problems else ""

    def addresses(self) -> list[str]:
        """Addresses of one file of the data set, one at each host; none if the class does not list them."""
        official = self.official()
        if hasattr(official, "mirrors"):
            return [mirror + official.resources[1][0] for mirror in official.mirrors]
        return [official.url] if isinstance(getattr(official, "url", None), str) else []

    @classmethod
    def official(cls) -> Any:
        """Torchvision's class; the mirror replaces its own."""
        with check_installed("torchvision"):
            from pausefl.data._torchvision import datasets
        official = getattr(datasets, cls.dataset)
        # The class's name is that of its folder.
        return type(cls.dataset, (official,), {"mirrors": [cls.mirror]}) if cls.mirror else official


def torchvision_source(dataset: str) -> type[Official]:
    """The source ``torchvision:CLASS``; `OwnPartError` if there is no such class, or it has no two splits."""
    source: type[Official] = type(dataset, (Official,), {"dataset": dataset, "__module__": __name__})
    try:
        _split_argument(source.official())
    except AttributeError:
        raise OwnPartError("is not there: torchvision.datasets has no such class") from None
    return source


def _splits(official: Any, root: Path, download: bool) -> list[Any]:
    """Training and test split of a class of torchvision."""
    name, train, test = _split_argument(official)
    return [official(str(root), **{name: value}, download=download) for value in (train, test)]


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


def _is_below(path: Path, folder: Path) -> bool:
    """Whether a path is in a folder, by name: a link that somebody put there counts as being there."""
    return Path(os.path.abspath(path)).is_relative_to(os.path.abspath(folder))
