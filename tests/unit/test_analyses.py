"""The scripts behind what pages say: their tables are on the page, and the JPEG folder is as it was."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image
from raw_data import raw, source, write_cifar10

from pausefl.data._torchvision import datasets
from pausefl.data.raw_data import prepare

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a script by name."""
    monkeypatch.syspath_prepend(ROOT / "analyses")
    return importlib.import_module


def test_tables_of_the_same_rounds_are_those_of_the_page(script: Any) -> None:
    page = (ROOT / "docs/authors.md").read_text("utf-8")
    assert all(table in page for table in script("same_rounds").tables())


def test_official_images_become_files_in_the_order_of_the_batches(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Standard tables of quality 75 (T.81, Annex K, halved), and colours at half resolution."""
    colours = np.random.default_rng(0).integers(40, 120, (6, 10, 3, 1, 1))
    pixels = (colours + np.arange(32) * 2 + np.arange(32)[:, None]).astype(np.uint8)
    labels = [list(range(10)), list(reversed(range(10))), *[list(range(10))] * 4]
    write_cifar10(tmp_path, pixels.reshape(6, 10, 3072), labels, monkeypatch)
    tool: ModuleType = script("official_as_jpeg")
    folder = tool.write(tmp_path)
    names = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*.jpg"))]
    assert (len(names), names[0]) == (60, "test/airplane/0000.jpg")
    with Image.open(folder / "train/cat/0001.jpg") as image:  # of the second batch, in falling order
        assert np.abs(np.asarray(image, int) - pixels[1][6].transpose(1, 2, 0)).mean() < 3
        assert image.quantization[0][:8] == [8, 6, 5, 8, 12, 20, 26, 31]
        assert [sampling[1:3] for sampling in image.layer] == [(2, 2), (1, 1), (1, 1)]
    assert len(prepare(source("cifar10"), raw(tmp_path, cifar10="cifar10")).train_y) == 50
    assert tool.published_digest(ROOT / "results/published") in (ROOT / "data/raw/README.md").read_text()


def test_official_checksums_are_listed_with_the_raw_data() -> None:
    page = (ROOT / "data/raw/README.md").read_text("utf-8")
    official = dict([*datasets.CIFAR10.train_list, *datasets.CIFAR10.test_list])
    official |= dict(datasets.MNIST.resources) | dict(datasets.FashionMNIST.resources)
    assert all(f"{name}` | `{md5}`" in page or f"{name} | `{md5}`" in page for name, md5 in official.items())
