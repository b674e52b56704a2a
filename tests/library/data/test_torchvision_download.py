"""Official files: what is read from them, damaged and missing ones, and downloads."""

from __future__ import annotations

import functools
import gzip
import hashlib
import http.server
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from raw_data import IDX_FILES, raw, refusal, source, write_cifar10, write_idx

from pausefl.data.raw_data import check_available, download, fetch, missing_files, prepare, raw_files
from pausefl.data.sources import SOURCES, torchvision_download

MNIST, FASHION, CIFAR10 = source("mnist"), source("fashion_mnist"), source("cifar10")


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is downloaded to anywhere else."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """Well-formed files of zeros, as MNIST and as Fashion-MNIST."""
    for title in ("MNIST", "FashionMNIST"):
        for name, dims in IDX_FILES.items():
            write_idx(tmp_path / title / "raw" / name, dims)
    return tmp_path


# --- reading ----------------------------------------------------------------------------------------


def test_mnist(data_root: Path) -> None:
    from pausefl.data._torchvision import datasets

    data = prepare(MNIST, raw(data_root))
    assert data.n_classes == 10
    for train, x, y in ((True, data.train_x, data.train_y), (False, data.test_x, data.test_y)):
        reference = datasets.MNIST(str(data_root), train=train)
        np.testing.assert_array_equal(x[:, 0], reference.data.numpy())
        np.testing.assert_array_equal(y, reference.targets.numpy())


def test_cifar10_files_are_read_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files in CIFAR-10's format, with their own checksums."""
    pixels = np.random.default_rng(0).integers(0, 256, (6, 4, 3072)).astype(np.uint8)
    write_cifar10(tmp_path, pixels, [[i, 1, 2, 3] for i in range(6)], monkeypatch)
    data = prepare(CIFAR10, raw(tmp_path))
    np.testing.assert_array_equal(data.train_x, pixels[:5].reshape(20, 3, 32, 32))
    np.testing.assert_array_equal(data.test_x, pixels[5].reshape(4, 3, 32, 32))
    np.testing.assert_array_equal(data.train_y[::4], np.arange(5))


@pytest.mark.parametrize("name", ["{}-{}-ubyte.gz", "{}.{}-ubyte", "{}.{}-ubyte.gz"])
def test_files_under_the_names_of_archives_are_read(fake: Path, name: str) -> None:
    images = fake / "FashionMNIST/raw/train-images-idx3-ubyte"
    with images.open("r+b") as file:
        file.seek(16 + 28 * 28)
        file.write(b"\x07")
    for path in raw_files(FASHION, raw(fake)):
        content = path.read_bytes()
        path.unlink()
        stem, _, kind = path.name.removesuffix("-ubyte").rpartition("-")
        renamed = path.with_name(name.format(stem, kind))
        renamed.write_bytes(gzip.compress(content, 1) if renamed.suffix == ".gz" else content)
    assert missing_files(FASHION, raw(fake)) == []
    pixels = prepare(FASHION, raw(fake)).train_x
    assert (pixels[1, 0, 0, 0], pixels.sum()) == (7, 7)
    if renamed.suffix == ".gz":
        renamed.write_bytes(renamed.read_bytes()[:-9])
        assert f"{renamed}: cannot be read (" in refusal(prepare, FASHION, raw(fake))


# --- damaged files ----------------------------------------------------------------------------------


def test_well_formed_files_are_fashion_mnist_but_not_mnist(fake: Path) -> None:
    assert prepare(FASHION, raw(fake)).train_y.dtype == np.int64
    text = refusal(prepare, MNIST, raw(fake))
    assert f"{fake}/MNIST/raw/train-images-idx3-ubyte: corrupt, or not the official file" in text
    assert "expected 6bbc9ace898e44ae57da46a324031adb" in text


# --- missing files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [MNIST, FASHION, CIFAR10], ids=["mnist", "fashion_mnist", "cifar10"])
@pytest.mark.parametrize("action", [prepare, check_available])
def test_missing_files_are_all_named(settings: Any, action: Callable[..., object]) -> None:
    """As absolute paths, whatever the data root."""
    where = raw(Path("data/raw"))
    absent = missing_files(settings, where)
    assert absent == raw_files(settings, where)
    assert len(absent) == (7 if settings is CIFAR10 else 4)
    text = refusal(action, settings, where)
    assert all(path.is_relative_to(Path.cwd() / "data" / "raw") and f"\n  {path}" in text for path in absent)
    assert all(part in text for part in ("download: false", "data_root", "internet"))


# --- downloads --------------------------------------------------------------------------------------


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Keep requests out of the tests' output."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and the address at which its files are served."""
    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def mirror(fake: Path, served: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of archives, served as the only mirror of Fashion-MNIST; http is allowed."""
    from pausefl.data._torchvision import datasets

    resources = []
    for name in IDX_FILES:
        content = gzip.compress((fake / "FashionMNIST" / "raw" / name).read_bytes(), 1)
        (served[0] / f"{name}.gz").write_bytes(content)
        resources.append((f"{name}.gz", hashlib.md5(content).hexdigest()))
    monkeypatch.setattr(SOURCES["fashion_mnist"], "mirror", served[1])
    monkeypatch.setattr(datasets.FashionMNIST, "resources", resources)
    monkeypatch.setattr(torchvision_download, "SCHEME", "http://")
    return served[0]


def test_files_that_are_missing_are_downloaded(mirror: Path, tmp_path: Path) -> None:
    there = raw(tmp_path / "fresh", download=True)
    check_available(FASHION, there)
    fetch(FASHION, there)
    assert missing_files(FASHION, there) == []
    assert prepare(FASHION, there).train_x.shape == (60000, 1, 28, 28)


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist", "cifar10"])
def test_every_address_is_of_https(name: str) -> None:
    assert all(url.startswith("https://") for url in SOURCES[name]().addresses())


def test_nothing_is_downloaded_outside_of_the_working_directory_or_without_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits: list[float] = []

    def unreachable(url: Any, *, timeout: float = -1.0, **_: Any) -> None:
        limits.append(timeout)
        raise urllib.error.URLError("Name or service not known")

    monkeypatch.setattr(urllib.request, "urlopen", unreachable)
    for action in (fetch, check_available):
        for root in ("..", "inside/../../elsewhere"):
            text = refusal(action, MNIST, raw(Path(root), download=True))
            assert "outside of the working directory" in text
    assert limits == []
    for action in (fetch, check_available):
        text = refusal(action, MNIST, raw(Path("data"), download=True))
        assert "cannot be opened (Name or service not known)" in text
        assert all(f"\n  {path}" in text for path in raw_files(MNIST, raw(Path("data"))))
    assert max(limits) <= 10


def test_an_archive_with_another_checksum_is_refused(mirror: Path, tmp_path: Path) -> None:
    (mirror / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(b"something else"))
    text = refusal(download, "fashion_mnist", tmp_path / "fresh")
    assert "The download failed" in text
    assert "not found or corrupted" in text


def test_a_download_that_fails_midway(mirror: Path, tmp_path: Path) -> None:
    archive = mirror / "t10k-images-idx3-ubyte.gz"
    archive.rename(mirror / "away")
    text = refusal(download, "fashion_mnist", tmp_path / "fresh")
    assert "Error downloading t10k-images-idx3-ubyte.gz" in text
    assert f"\n  {tmp_path}/fresh/FashionMNIST/raw/t10k-images-idx3-ubyte" in text
    (mirror / "away").rename(archive)
    download("fashion_mnist", tmp_path / "fresh")
    assert not missing_files(FASHION, raw(tmp_path / "fresh"))
    assert [path.name for path in (tmp_path / "fresh").iterdir()] == ["FashionMNIST"]


def test_http_is_refused(mirror: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(torchvision_download, "SCHEME", "https://")
    assert "is not an https address" in refusal(download, "fashion_mnist", tmp_path / "fresh")
    assert not (tmp_path / "fresh").exists()
