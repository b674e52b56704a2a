"""Sources: the data they make, and what they say when raw files are missing or wrong."""

from __future__ import annotations

import dataclasses
import functools
import gzip
import hashlib
import http.server
import shutil
import struct
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from pausefl.data.sources import (
    check_available,
    dataset_key,
    download,
    fetch,
    missing_files,
    official,
    prepare,
)
from pausefl.errors import ConfigError, DataError
from pausefl.registry import SOURCES
from pausefl.settings import DataSettings, RawData

MNIST = DataSettings("mnist", 0)
FASHION = DataSettings("fashion_mnist", 0)
CIFAR10 = DataSettings("cifar10", 0)
DIGITS = DataSettings("digits", 0, test_fraction=0.2)
REGRESSION = DataSettings(
    "synthetic_regression", 0, test_fraction=0.25, n_examples=400, n_features=5, noise_std=0.1
)
NAMES = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is downloaded to anywhere else."""
    monkeypatch.chdir(tmp_path)


def raw(root: Path, download: bool = False, **folders: str) -> RawData:
    return RawData(root, download, folders)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Every address is unreachable; the time limits that were asked for are returned."""
    limits: list[float] = []

    def unreachable(url: Any, *, timeout: float = -1.0, **_: Any) -> None:
        limits.append(timeout)
        raise urllib.error.URLError("Name or service not known")

    monkeypatch.setattr(urllib.request, "urlopen", unreachable)
    return limits


def message(action: Callable[..., object], *arguments: object) -> str:
    with pytest.raises(DataError) as caught:
        action(*arguments)
    return str(caught.value)


# --- sources without raw files ----------------------------------------------------------------------


def test_digits() -> None:
    data = prepare(DIGITS, raw(Path("nowhere")))
    assert data.train_x.shape == (1438, 1, 8, 8)
    assert data.test_x.shape == (359, 1, 8, 8)
    assert data.train_x.dtype == np.uint8
    assert data.train_y.dtype == np.int64
    assert (data.n_classes, data.train_x.max()) == (10, 255)
    assert set(np.unique(data.train_x)) <= {round(v * 255 / 16) for v in range(17)}
    assert set(data.test_y) == set(range(10))


def test_digits_are_all_there_and_always_split_the_same_way() -> None:
    from sklearn.datasets import load_digits

    data, again = (prepare(DIGITS, raw(Path("nowhere"))) for _ in range(2))
    np.testing.assert_array_equal(data.test_x, again.test_x)
    x, y = load_digits(return_X_y=True)
    ours = np.concatenate([data.train_x, data.test_x]).reshape(-1, 64)
    theirs = np.rint(x * 255 / 16)
    pairs = np.c_[ours, np.concatenate([data.train_y, data.test_y])]
    order, reference = np.lexsort(pairs.T), np.lexsort(np.c_[theirs, y].T)
    np.testing.assert_array_equal(pairs[order], np.c_[theirs, y][reference])


def test_synthetic_regression_is_a_linear_model() -> None:
    data = prepare(REGRESSION, raw(Path("nowhere")))
    assert data.train_x.shape == (300, 5)
    assert data.test_x.shape == (100, 5)
    assert data.train_x.dtype == data.train_y.dtype == np.float32
    assert data.n_classes == 0
    weights, residual, *_ = np.linalg.lstsq(data.train_x, data.train_y, rcond=None)
    assert np.sqrt(residual[0] / 295) == pytest.approx(0.1, rel=0.2)
    assert np.std(data.test_y - data.test_x @ weights) == pytest.approx(0.1, rel=0.3)


@pytest.mark.parametrize(("fraction", "text"), [(None, "needs data.test_fraction"), (1e-9, "leaves 0 for")])
def test_digits_need_a_usable_test_fraction(fraction: float | None, text: str) -> None:
    assert text in message(prepare, DataSettings("digits", 0, test_fraction=fraction), raw(Path("x")))


def test_unknown_source() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'mnist'"):
        prepare(DataSettings("mnits", 0), raw(Path("x")))


# --- official files ---------------------------------------------------------------------------------


def write_idx(path: Path, dims: tuple[int, ...], value: int = 0) -> None:
    """An IDX file of one value; zeros take no space on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header = struct.pack(f">{1 + len(dims)}I", 0x800 + len(dims), *dims)
    with path.open("wb") as file:
        file.write(header)
        if value:
            file.write(bytes([value]) * int(np.prod(dims)))
        file.truncate(len(header) + int(np.prod(dims)))


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """Well-formed files of zeros, as MNIST and as Fashion-MNIST."""
    for title in ("MNIST", "FashionMNIST"):
        for name, dims in zip(NAMES, ((60000, 28, 28), (60000,), (10000, 28, 28), (10000,)), strict=True):
            write_idx(tmp_path / title / "raw" / f"{name}-ubyte", dims)
    return tmp_path


def test_mnist(data_root: Path) -> None:
    data = prepare(MNIST, raw(data_root))
    assert data.train_x.shape == (60000, 1, 28, 28)
    assert data.test_x.shape == (10000, 1, 28, 28)
    assert (data.origin, data.n_classes) == ("MNIST, official files", 10)
    from pausefl.data._torchvision import datasets

    for train, x, y in ((True, data.train_x, data.train_y), (False, data.test_x, data.test_y)):
        reference = datasets.MNIST(str(data_root), train=train)
        np.testing.assert_array_equal(x[:, 0], reference.data.numpy())
        np.testing.assert_array_equal(y, reference.targets.numpy())


def test_fashion_mnist(data_root: Path) -> None:
    data = prepare(FASHION, raw(data_root))
    assert data.train_x.shape == (60000, 1, 28, 28)
    assert data.test_y.shape == (10000,)
    assert list(np.bincount(data.train_y)) == [6000] * 10


def test_a_well_formed_copy_of_fashion_mnist_is_accepted(fake: Path) -> None:
    assert prepare(FASHION, raw(fake)).train_y.dtype == np.int64


def test_well_formed_files_that_are_not_the_official_ones_are_refused_as_mnist(fake: Path) -> None:
    text = message(prepare, MNIST, raw(fake))
    assert f"{fake}/MNIST/raw/train-images-idx3-ubyte: corrupt, or not the official file" in text
    assert "expected 6bbc9ace898e44ae57da46a324031adb" in text
    assert "delete it" in text


def test_one_changed_label_of_mnist_is_found(data_root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "MNIST" / "raw"
    folder.mkdir(parents=True)
    for path in (data_root / "MNIST" / "raw").glob("*-ubyte"):
        (folder / path.name).symlink_to(path)
    labels = folder / "t10k-labels-idx1-ubyte"
    content = bytearray(labels.read_bytes())
    content[5000] = (content[5000] + 1) % 10
    labels.unlink()
    labels.write_bytes(content)
    text = message(prepare, MNIST, raw(tmp_path))
    assert text.startswith(f"{labels}: corrupt")
    assert "expected 27ae3e4e09519cfbb04c329615203637" in text


@pytest.mark.parametrize(("settings", "title"), [(MNIST, "MNIST"), (FASHION, "FashionMNIST")])
def test_truncated(fake: Path, settings: DataSettings, title: str) -> None:
    path = fake / title / "raw" / "t10k-images-idx3-ubyte"
    with path.open("r+b") as file:
        file.truncate(1000)
    text = message(prepare, settings, raw(fake, download=True))
    assert text.startswith(f"{path}: truncated: 1000 bytes, expected 7840016")


def test_too_long(fake: Path) -> None:
    path = fake / "FashionMNIST" / "raw" / "train-labels-idx1-ubyte"
    with path.open("ab") as file:
        file.write(b"\0")
    assert f"{path}: too long: 60009 bytes, expected 60008" in message(prepare, FASHION, raw(fake))


def test_wrong_magic_number(fake: Path) -> None:
    path = fake / "FashionMNIST" / "raw" / "train-labels-idx1-ubyte"
    with path.open("r+b") as file:
        file.write(b"\x1f\x8b")
    assert f"{path}: not an IDX file" in message(prepare, FASHION, raw(fake))


def test_label_out_of_range(fake: Path) -> None:
    path = fake / "FashionMNIST" / "raw" / "train-labels-idx1-ubyte"
    with path.open("r+b") as file:
        file.seek(8 + 1234)
        file.write(b"\x0c")
    assert f"{path}: corrupt: label 12 at index 1234" in message(prepare, FASHION, raw(fake))


@pytest.mark.parametrize("settings", [MNIST, FASHION, CIFAR10])
@pytest.mark.parametrize("action", [prepare, check_available])
def test_missing_files_are_all_named(
    tmp_path: Path, settings: DataSettings, action: Callable[..., object]
) -> None:
    absent = missing_files(settings, raw(tmp_path))
    assert len(absent) == (7 if settings is CIFAR10 else 4)
    text = message(action, settings, raw(tmp_path))
    assert all(path.is_relative_to(tmp_path) and f"\n  {path}" in text for path in absent)
    for part in ("download: false", "set data_root", "internet", "copy them"):
        assert part in text


def test_only_what_is_missing_is_named(fake: Path) -> None:
    path = fake / "MNIST" / "raw" / "t10k-labels-idx1-ubyte"
    path.unlink()
    assert missing_files(MNIST, raw(fake)) == [path]
    assert "train-images" not in message(check_available, MNIST, raw(fake))


def test_missing_paths_are_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert missing_files(MNIST, raw(Path("data/raw")))[0].is_relative_to(tmp_path / "data" / "raw")


def test_nothing_is_missing_where_everything_is_there(fake: Path, no_network: list[float]) -> None:
    assert missing_files(MNIST, raw(fake, download=True)) == []
    check_available(MNIST, raw(fake, download=True))
    check_available(DIGITS, raw(fake))
    assert not no_network


@pytest.mark.parametrize("settings", [MNIST, FASHION, CIFAR10])
@pytest.mark.parametrize("action", [fetch, check_available])
def test_no_network(
    tmp_path: Path, no_network: list[float], settings: DataSettings, action: Callable[..., object]
) -> None:
    text = message(action, settings, raw(tmp_path, download=True))
    assert "cannot be opened (Name or service not known)" in text
    assert "internet" in text
    assert str(tmp_path) in text
    assert no_network
    assert max(no_network) <= 10


@pytest.fixture
def mirror(fake: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of archives, served as the only mirror of Fashion-MNIST."""
    from pausefl.data._torchvision import datasets

    folder = fake / "served"
    folder.mkdir()
    resources = []
    for name in NAMES:
        content = gzip.compress((fake / "FashionMNIST" / "raw" / f"{name}-ubyte").read_bytes(), 1)
        (folder / f"{name}-ubyte.gz").write_bytes(content)
        resources.append((f"{name}-ubyte.gz", hashlib.md5(content).hexdigest()))
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{server.server_port}/"
        record = dataclasses.replace(SOURCES["fashion_mnist"], mirror=here)
        monkeypatch.setitem(SOURCES._records, "fashion_mnist", record)
        monkeypatch.setattr(official, "SCHEME", "http://")
        monkeypatch.setattr(datasets.FashionMNIST, "resources", resources)
        yield folder
        server.shutdown()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Keep requests out of the tests' output."""


def test_download(mirror: Path, tmp_path: Path) -> None:
    there = raw(tmp_path / "fresh", download=True)
    check_available(FASHION, there)
    fetch(FASHION, there)
    assert prepare(FASHION, there).train_x.shape == (60000, 1, 28, 28)
    assert missing_files(FASHION, there) == []


@pytest.mark.parametrize("source", ["mnist", "fashion_mnist", "cifar10"])
def test_every_address_is_of_https(source: str) -> None:
    assert all(url.startswith("https://") for url in official.addresses(source))


def test_http_is_refused(mirror: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(official, "SCHEME", "https://")
    text = message(download, "fashion_mnist", tmp_path / "fresh")
    assert "is not an https address" in text
    assert not (tmp_path / "fresh").exists()


def test_a_source_without_official_files_has_nothing_to_download(tmp_path: Path) -> None:
    assert "has no files to download" in official.find_problem("digits", tmp_path)


@pytest.mark.parametrize("root", ["..", "../elsewhere", "inside/../../elsewhere"])
def test_nothing_is_downloaded_outside_of_the_working_directory(
    tmp_path: Path, no_network: list[float], root: str
) -> None:
    for action in (fetch, check_available):
        text = message(action, MNIST, raw(Path(root), download=True))
        assert "outside of the working directory" in text
    assert not no_network


def test_a_link_in_the_working_directory_may_lead_elsewhere(
    mirror: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (tmp_path / "link").symlink_to(elsewhere)
    download("fashion_mnist", Path("link"))
    assert (elsewhere / "FashionMNIST").is_dir()


def test_a_download_with_another_checksum_is_refused(mirror: Path, tmp_path: Path) -> None:
    (mirror / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(b"something else"))
    text = message(download, "fashion_mnist", tmp_path / "fresh")
    assert "The download failed" in text
    assert "not found or corrupted" in text


def test_a_mirror_without_the_file(mirror: Path, tmp_path: Path) -> None:
    (mirror / "train-labels-idx1-ubyte.gz").unlink()
    text = message(check_available, FASHION, raw(tmp_path / "fresh", download=True))
    assert "train-labels-idx1-ubyte.gz cannot be opened (File not found)" in text


def test_a_download_that_fails_midway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: list[float]
) -> None:
    monkeypatch.setattr("pausefl.data.sources.find_problem", lambda source, root: "")
    text = message(download, "mnist", tmp_path)
    assert "Error downloading train-images-idx3-ubyte.gz" in text
    assert "copy them" in text


def test_a_root_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pausefl.data.sources.find_problem", lambda source, root: "")
    (tmp_path / "file").write_text("in the way")
    assert "The download failed" in message(download, "mnist", tmp_path / "file")


def test_a_corrupt_cifar10_file_is_named(tmp_path: Path) -> None:
    for path in missing_files(CIFAR10, raw(tmp_path)):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"not a batch")
    text = message(prepare, CIFAR10, raw(tmp_path))
    assert f"{tmp_path}/cifar-10-batches-py/data_batch_1: corrupt" in text
    assert "expected c99cafc152244af753f735de768cd75f" in text


def test_cifar10_files_are_read_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files in CIFAR-10's format, with their own checksums."""
    import pickle

    from pausefl.data._torchvision import datasets

    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (6, 4, 3072)).astype(np.uint8)
    checksums = {}
    for i, name in enumerate([*(f"data_batch_{i}" for i in range(1, 6)), "test_batch", "batches.meta"]):
        batch: dict[str, Any] = {"label_names": list("abc")}
        if i < 6:
            batch = {"data": pixels[i], "labels": [i, 1, 2, 3]}
        content = pickle.dumps(batch)
        (folder / name).write_bytes(content)
        checksums[name] = hashlib.md5(content).hexdigest()
    names = list(checksums)
    monkeypatch.setattr(datasets.CIFAR10, "train_list", [[n, checksums[n]] for n in names[:5]])
    monkeypatch.setattr(datasets.CIFAR10, "test_list", [["test_batch", checksums["test_batch"]]])
    meta = {"filename": "batches.meta", "key": "label_names", "md5": checksums["batches.meta"]}
    monkeypatch.setattr(datasets.CIFAR10, "meta", meta)
    data = prepare(CIFAR10, raw(tmp_path))
    np.testing.assert_array_equal(data.train_x, pixels[:5].reshape(20, 3, 32, 32))
    np.testing.assert_array_equal(data.test_x, pixels[5].reshape(4, 3, 32, 32))
    np.testing.assert_array_equal(data.train_y[::4], np.arange(5))


def test_naming_missing_files_needs_no_torch() -> None:
    code = (
        "import sys; from pathlib import Path;"
        "from pausefl.settings import DataSettings, RawData; from pausefl.data.sources import missing_files;"
        "missing_files(DataSettings('mnist', 0), RawData(Path('x'), False, {}));"
        "sys.exit(bool({'torch', 'torchvision', 'PIL', 'sklearn'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    text = message(prepare, DIGITS, raw(Path("x")))
    assert "needs the package scikit-learn" in text
    assert "another machine" in text


# --- image folders ----------------------------------------------------------------------------------


def fill(folder: Path, n: int, size: tuple[int, int] = (12, 10), shade: int = 0, mode: str = "RGB") -> None:
    """``n`` images of (width, height); the shade of the i-th is ``shade`` + i."""
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(n):
        color: Any = (shade + i,) * 3 if mode == "RGB" else shade + i
        Image.new(mode, size, color).save(folder / f"{i:03}.png")


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    for split, n in (("train", 6), ("test", 2)):
        fill(tmp_path / "pets" / split / "cat", n, shade=10)
        fill(tmp_path / "pets" / split / "dog", n, shade=100)
    (tmp_path / "pets" / "train" / "cat" / "notes.txt").write_text("no image")
    (tmp_path / "pets" / "train" / ".cache").mkdir()
    return tmp_path


PETS = DataSettings("imagefolder", 0, folder="pets")


def test_image_folder(pets: Path) -> None:
    data = prepare(PETS, raw(pets))
    assert data.train_x.shape == (12, 3, 10, 12)
    assert data.test_x.shape == (4, 3, 10, 12)
    assert data.train_x.dtype == np.uint8
    assert data.n_classes == 2
    shade = data.train_x[:, 0, 0, 0]
    np.testing.assert_array_equal(data.train_y, shade >= 100)
    assert sorted(shade) == [*range(10, 16), *range(100, 106)]
    assert data.origin == "image folder pets"


def test_training_images_of_a_folder_are_not_in_class_order(pets: Path) -> None:
    labels = prepare(PETS, raw(pets)).train_y
    assert np.count_nonzero(np.diff(labels)) > 1
    np.testing.assert_array_equal(labels, prepare(PETS, raw(pets)).train_y)


def test_image_folder_resized(pets: Path) -> None:
    fill(pets / "pets" / "train" / "cat", 1, size=(40, 20), shade=10)
    data = prepare(DataSettings("imagefolder", 0, folder="pets", image_size=8), raw(pets))
    assert data.train_x.shape == (12, 3, 8, 8)
    assert data.origin == "image folder pets, resized to 8 x 8"


def test_plain_class_folders_are_split(pets: Path) -> None:
    plain = DataSettings("imagefolder", 0, folder=str(pets / "pets" / "train"), test_fraction=0.25)
    data = prepare(plain, raw(Path("elsewhere")))
    assert data.train_x.shape[0] == 9
    assert data.test_x.shape[0] == 3
    shades = np.concatenate([data.train_x, data.test_x])[:, 0, 0, 0]
    assert sorted(shades) == [*range(10, 16), *range(100, 106)]


@pytest.mark.parametrize("action", [prepare, check_available])
def test_plain_class_folders_need_a_test_fraction(pets: Path, action: Callable[..., object]) -> None:
    text = message(action, DataSettings("imagefolder", 0, folder="pets/train"), raw(pets))
    assert text.startswith(f"{pets}/pets/train: ")
    assert "set data.test_fraction" in text


@pytest.mark.parametrize("action", [prepare, check_available])
def test_missing_image_folder(tmp_path: Path, action: Callable[..., object]) -> None:
    text = message(action, PETS, raw(tmp_path, download=True))
    assert f"\n  {tmp_path}/pets" in text
    assert "data.folder" in text
    assert missing_files(PETS, raw(tmp_path)) == [tmp_path / "pets"]


def test_an_image_of_another_size_is_named(pets: Path) -> None:
    odd = pets / "pets" / "train" / "dog" / "003.png"
    Image.new("RGB", (13, 10)).save(odd)
    text = message(prepare, PETS, raw(pets))
    assert text.startswith(f"{odd}: 13 x 10 pixels, expected 12 x 10")
    assert "cat/000.png" in text
    assert "data.image_size" in text


def test_a_test_image_of_another_size_is_named(pets: Path) -> None:
    odd = pets / "pets" / "test" / "dog" / "001.png"
    Image.new("RGB", (12, 11)).save(odd)
    assert f"{odd}: 12 x 11 pixels, expected 12 x 10" in message(prepare, PETS, raw(pets))


@pytest.mark.parametrize("content", ["empty", "text", "truncated"])
def test_a_broken_image_is_named(pets: Path, content: str) -> None:
    broken = pets / "pets" / "test" / "cat" / "000.png"
    whole = broken.read_bytes()
    broken.write_bytes({"empty": b"", "text": b"hello", "truncated": whole[: len(whole) // 2]}[content])
    assert message(prepare, PETS, raw(pets)).startswith(f"{broken}: broken image file")


def test_an_empty_class_folder_is_named(pets: Path) -> None:
    for split in ("train", "test"):
        (pets / "pets" / split / "eel").mkdir()
    assert message(prepare, PETS, raw(pets)).startswith(f"{pets}/pets/train/eel: no images")


def test_a_folder_without_classes(tmp_path: Path) -> None:
    (tmp_path / "pets").mkdir()
    settings = DataSettings("imagefolder", 0, folder="pets", test_fraction=0.2)
    assert f"{tmp_path}/pets: no class folders" in message(prepare, settings, raw(tmp_path))


def test_train_without_test_and_differing_classes(pets: Path) -> None:
    fill(pets / "pets" / "test" / "eel", 1)
    assert "differ in their class folders: eel" in message(prepare, PETS, raw(pets))
    shutil.rmtree(pets / "pets" / "test")
    assert "none called 'test'" in message(prepare, PETS, raw(pets))


def test_mnist_from_an_image_folder(tmp_path: Path) -> None:
    for split in ("train", "test"):
        for label in range(10):
            fill(tmp_path / "jpeg" / "m" / split / str(label), 2, size=(28, 28), shade=20 * label)
    data = prepare(MNIST, raw(tmp_path, mnist="jpeg/m"))
    assert data.train_x.shape == (20, 1, 28, 28)
    np.testing.assert_array_equal(data.train_x[:, 0, 0, 0] // 20, data.train_y)
    assert data.origin == "MNIST from image folder jpeg/m (re-encoded images, not the official bytes)"
    assert missing_files(MNIST, raw(tmp_path, mnist="jpeg/m")) == []
    assert "expected 32 x 32" in message(prepare, CIFAR10, raw(tmp_path, cifar10="jpeg/m"))
    shutil.rmtree(tmp_path / "jpeg" / "m" / "train" / "9")
    shutil.rmtree(tmp_path / "jpeg" / "m" / "test" / "9")
    assert "9 class folders, but mnist has 10" in message(prepare, MNIST, raw(tmp_path, mnist="jpeg/m"))


def test_numbered_classes_are_sorted_as_numbers(tmp_path: Path) -> None:
    for label in (1, 2, 10):
        fill(tmp_path / "n" / str(label), 4, shade=label)
    settings = DataSettings("imagefolder", 0, folder="n", test_fraction=0.2)
    data = prepare(settings, raw(tmp_path))
    first = data.train_x[:, 0, 0, 0]
    assert set(data.train_y[first >= 10]) == {2}


def test_a_folder_in_place_of_official_files_that_is_not_there(tmp_path: Path) -> None:
    text = message(check_available, CIFAR10, raw(tmp_path, cifar10="jpeg"))
    assert f"\n  {tmp_path}/jpeg" in text
    assert "image_folders.cifar10" in text


# --- keys -------------------------------------------------------------------------------------------


def test_dataset_keys() -> None:
    here = raw(Path("x"), cifar10="cifar10-jpeg/cifar10")
    assert dataset_key(MNIST, here) == "mnist"
    assert dataset_key(DIGITS, here) == "digits-test0.2"
    assert dataset_key(REGRESSION, here) == "synthetic_regression-n400-p5-noise0.1-test0.25"
    assert dataset_key(CIFAR10, here).startswith("cifar10-from-cifar10-jpeg-cifar10-")
    assert dataset_key(CIFAR10, raw(Path("x"))) == "cifar10"


def test_dataset_keys_tell_data_apart_and_nothing_else() -> None:
    here = raw(Path("x"))
    variants = [
        PETS,
        DataSettings("imagefolder", 0, folder="pets", image_size=8),
        DataSettings("imagefolder", 0, folder="pets", test_fraction=0.2),
        DataSettings("imagefolder", 0, folder="pets/"),
        DataSettings("imagefolder", 0, folder="../pets"),
    ]
    keys = [dataset_key(settings, here) for settings in variants]
    assert len(set(keys)) == len(keys)
    assert not any("/" in key for key in keys)
    assert dataset_key(DataSettings("mnist", 100, 2000), here) == dataset_key(MNIST, here)
