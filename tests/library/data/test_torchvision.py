"""Data sets of torchvision as sources, ``torchvision:CLASS``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from raw_data import raw, source

from pausefl.data._torchvision import datasets
from pausefl.data.raw_data import check_available, dataset_key, fetch, prepare, raw_files
from pausefl.data.sources import SOURCES
from pausefl.errors import ConfigError, DataError
from pausefl.settings import RawData


class Stored:
    """Splits of four and of two images, in a folder that a download fills."""

    def __init__(self, root: str, test: bool, download: bool) -> None:
        self.folder = Path(root)
        if download:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / "all").write_bytes(b"")
        if not (self.folder / "all").is_file():
            raise RuntimeError("Dataset not found or corrupted")
        self.first, self.n = (100, 2) if test else (0, 4)

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> tuple[Image.Image, int]:
        pixels = np.full((6, 5, 3), self.first + i, np.uint8)
        return Image.fromarray(pixels), i % 3


class ByTrain(Stored):
    def __init__(self, root: str, train: bool = True, download: bool = False) -> None:
        super().__init__(root, not train, download)


class BySplit(Stored):
    def __init__(self, root: str, split: str = "train", download: bool = False) -> None:
        super().__init__(root, {"train": False, "test": True}[split], download)


class Whole:
    def __init__(self, root: str, download: bool = False) -> None:
        pass


class Uneven(ByTrain):
    def __getitem__(self, i: int) -> tuple[Image.Image, int]:
        return Image.fromarray(np.zeros((6 + i, 5), np.uint8)), 0


@pytest.fixture(autouse=True)
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Classes beside torchvision's own; nothing is left of them."""
    monkeypatch.chdir(tmp_path)
    for cls in (ByTrain, BySplit, Whole, Uneven):
        monkeypatch.setattr(datasets, cls.__name__, cls, raising=False)
    yield
    for name in [one for one in SOURCES if ":" in one]:
        del SOURCES._classes[name]


@pytest.mark.parametrize("name", ["ByTrain", "BySplit"])
def test_both_splits_are_downloaded_and_read_in_order(name: str) -> None:
    settings, where = source(f"torchvision:{name}"), RawData(Path("data/raw"), True, {})
    assert raw_files(settings, where) == [Path.cwd() / "data/raw/torchvision" / name]
    with pytest.raises(DataError, match="Downloading is off"):
        check_available(settings, raw(Path("data/raw")))
    fetch(settings, where)
    data = prepare(settings, where)
    assert data.train_x.shape == (4, 3, 6, 5)
    assert data.test_x[:, 0, 0, 0].tolist() == [100, 101]
    assert (data.train_y.tolist(), data.test_y.tolist(), data.n_classes) == ([0, 1, 2, 0], [0, 1], 3)
    assert data.origin == f"torchvision's {name}"
    assert dataset_key(settings, where) == f"torchvision.{name}"


def test_what_cannot_be_read_is_refused() -> None:
    for name, message in (("Absent", "has no such class"), ("Whole", "no argument 'train' or")):
        with pytest.raises(ConfigError, match=message):
            SOURCES.find(f"torchvision:{name}")
    where = RawData(Path("data/raw"), True, {})
    uneven, lost = source("torchvision:Uneven"), source("torchvision:BySplit")
    fetch(uneven, where)
    with pytest.raises(DataError, match="its images have different sizes"):
        prepare(uneven, where)
    fetch(lost, where)
    (folder,) = raw_files(lost, where)
    (folder / "all").unlink()
    with pytest.raises(DataError, match=f"{folder}: torchvision cannot read BySplit .*not found"):
        prepare(lost, where)


def test_what_a_failed_download_left_is_not_recommended(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(self: object, root: str, split: str = "train", download: bool = False) -> None:
        Path(root).mkdir(parents=True, exist_ok=True)
        raise OSError("no network")

    monkeypatch.setattr(BySplit, "__init__", offline)
    Path("data/raw").mkdir(parents=True)
    with pytest.raises(DataError, match="no network") as error:
        fetch(source("torchvision:BySplit"), RawData(Path("data/raw"), True, {}))
    assert "They are below" not in str(error.value)
