"""Where data sets come from: official files, image folders, scikit-learn, or a fixed random draw.

A source turns raw files into a `Dataset` whose order and test split are fixed: they depend on the settings
alone, never on the seed of an experiment. What of it trains, and who holds it, is the business of
`pausefl.data.partition`. Every file is checked before it is used, and whatever is wrong with one becomes a
`DataError` that names it.
"""

from __future__ import annotations

import hashlib
import http.client
import importlib
import os
import re
import struct
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pausefl.data.dataset import Dataset
from pausefl.errors import ConfigError, DataError, suggest
from pausefl.settings import DataSettings, RawData
from pausefl.streams import Streams

#: Sizes of the official training splits.
TRAIN_SIZES = {"mnist": 60000, "fashion_mnist": 60000, "cifar10": 50000}

#: Number of scikit-learn's handwritten digits.
N_DIGITS = 1797

#: Seconds to wait for a download host before saying that it cannot be reached.
NETWORK_TIMEOUT = 10.0

_TITLES = {"mnist": "MNIST", "fashion_mnist": "Fashion-MNIST", "cifar10": "CIFAR-10"}
_TORCHVISION_CLASSES = {"mnist": "MNIST", "fashion_mnist": "FashionMNIST", "cifar10": "CIFAR10"}
#: Folders of the archives that torchvision fetches over http, or from a host that speaks nothing else.
_HTTPS_FOLDERS = {
    "mnist": ["https://ossci-datasets.s3.amazonaws.com/mnist/"],
    "fashion_mnist": ["https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/"],
}
_IMAGE_SIDE = {"mnist": 28, "fashion_mnist": 28, "cifar10": 32}

#: Images and labels of the training split, then of the test split.
_IDX_FILES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
_IDX_DIMS = ((60000, 28, 28), (60000,), (10000, 28, 28), (10000,))

_ORIGINS = {
    "digits": "handwritten digits of scikit-learn (UCI, 8 x 8 pixels)",
    "mnist": "MNIST, official files",
    "fashion_mnist": "Fashion-MNIST, IDX files (structure verified, checksums not)",
    "cifar10": "CIFAR-10, official files",
}

#: Fashion-MNIST has no such list: copies in another order are in circulation, and as good.
_MNIST_MD5 = (
    "6bbc9ace898e44ae57da46a324031adb",
    "a25bea736e30d166cdddb491f175f624",
    "2646ac647ad5339dbf082846283269ea",
    "27ae3e4e09519cfbb04c329615203637",
)
_CIFAR10_FILES = (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch", "batches.meta")
_IMAGE_SUFFIXES = {".jpg", ".jpeg", ".png", ".ppm", ".pgm", ".bmp", ".tif", ".tiff", ".webp"}

#: The random choices of a source are part of the source: one fixed seed, the same for every experiment.
_FIXED = Streams(0)

_Array = npt.NDArray[Any]


def prepare(settings: DataSettings, raw: RawData) -> Dataset:
    """Make the data set that a scenario asks for, downloading it if that is allowed and needed.

    Parameters
    ----------
    settings
        Which source; ``n_train`` and ``n_validation`` play no part here.
    raw
        Where raw files are, and whether missing ones may be downloaded there.

    Raises
    ------
    DataError
        If raw data are missing, truncated, corrupt or contradict the settings.
    ConfigError
        If the source is unknown.
    """
    return _source(settings)(settings, raw)


def describe_origin(settings: DataSettings, raw: RawData) -> str:
    """What exactly a data set is made from, in words for a caption."""
    source = settings.source
    if source in raw.folders:
        folder = raw.folders[source]
        return f"{_TITLES[source]} from image folder {folder} (re-encoded images, not the official bytes)"
    if source == "imagefolder":
        resized = f", resized to {settings.image_size} x {settings.image_size}" if settings.image_size else ""
        return f"image folder {settings.folder}{resized}"
    if source == "synthetic_regression":
        size = f"{settings.n_examples} examples, {settings.n_features} features"
        return f"synthetic linear regression, {size}, noise {settings.noise_std:g}"
    return _ORIGINS[source]


def training_size(settings: DataSettings, raw: RawData) -> int | None:
    """Size of the training split where it is known without reading any file."""
    n_examples = {"digits": N_DIGITS, "synthetic_regression": settings.n_examples}.get(settings.source)
    if n_examples is not None:
        return n_examples - _test_size(settings, n_examples)
    return None if settings.source in raw.folders else TRAIN_SIZES.get(settings.source)


def missing_files(settings: DataSettings, raw: RawData) -> list[Path]:
    """Raw files that the source needs and that are not there, as absolute paths; empty if none is missing."""
    folder = _image_folder(settings, raw)
    if folder is not None:
        return [] if folder.is_dir() else [folder]
    return [path for path in _official_files(settings.source, raw) if not path.is_file()]


def check_available(settings: DataSettings, raw: RawData) -> None:
    """Say before any job starts that the data set cannot be made, as far as that shows without reading it.

    Raises
    ------
    DataError
        If files are missing and may not or cannot be downloaded, or settings that the source needs are.
    ConfigError
        If the source is unknown.
    """
    _source(settings)
    if settings.source in ("digits", "synthetic_regression"):
        _test_fraction(settings)
    missing = missing_files(settings, raw)
    folder = _image_folder(settings, raw)
    if folder is not None:
        if missing:
            raise DataError(_missing_message(settings, raw, missing, ""))
        _class_folder_layout(folder, settings)
    elif missing and not raw.download:
        raise DataError(_missing_message(settings, raw, missing, "Downloading is off (download: false)."))
    elif missing and not _is_below(raw.root, Path.cwd()):
        problem = (
            f"Nothing is downloaded to {raw.root}: it is outside of the working directory. Make data/raw"
            " a link to a folder elsewhere if you want downloads there."
        )
        raise DataError(_missing_message(settings, raw, missing, problem))
    elif missing:
        problem = _unreachable(settings.source)
        if problem:
            raise DataError(_missing_message(settings, raw, missing, f"Downloading them failed: {problem}."))


def dataset_key(settings: DataSettings, raw: RawData) -> str:
    """Name the file stem of a prepared data set: readable, and distinct for whatever yields distinct data.

    The contents of raw files and ``raw.root`` are not part of it.
    """
    folder = raw.folders.get(settings.source) if settings.source in TRAIN_SIZES else settings.folder
    if settings.source == "digits":
        return f"digits-test{_test_fraction(settings)}"
    if settings.source == "synthetic_regression":
        return (
            f"synthetic_regression-n{settings.n_examples}-p{settings.n_features}"
            f"-noise{float(settings.noise_std or 0)}-test{_test_fraction(settings)}"
        )
    if folder is None:
        return settings.source
    parts = [settings.source, "from", _slug(folder)]
    if settings.image_size is not None:
        parts.append(f"size{settings.image_size}")
    if settings.test_fraction is not None:
        parts.append(f"test{float(settings.test_fraction)}")
    # Different folders can have the same slug.
    return "-".join([*parts, hashlib.sha256(folder.encode()).hexdigest()[:8]])


def _source(settings: DataSettings) -> Callable[[DataSettings, RawData], Dataset]:
    if settings.source not in SOURCES:
        raise ConfigError(
            f"data.source = '{settings.source}' is not known. {suggest(settings.source, SOURCES)}"
        )
    return SOURCES[settings.source]


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")[-40:].strip("-") or "folder"


# --- official files -------------------------------------------------------------------------------


def _official_files(source: str, raw: RawData) -> list[Path]:
    """All raw files of an official data set, as torchvision lays them out; none for other sources."""
    root = raw.root.absolute()
    if source == "cifar10":
        return [root / "cifar-10-batches-py" / name for name in _CIFAR10_FILES]
    if source in ("mnist", "fashion_mnist"):
        return [root / _TORCHVISION_CLASSES[source] / "raw" / name for name in _IDX_FILES]
    return []


def _is_below(path: Path, folder: Path) -> bool:
    """Whether a path is in a folder, by name: a link that somebody put there counts as being there."""
    return Path(os.path.abspath(path)).is_relative_to(os.path.abspath(folder))


def _missing_message(settings: DataSettings, raw: RawData, missing: Iterable[Path], problem: str) -> str:
    """Say what is missing, where, and how to get it."""
    source, root = settings.source, raw.root.absolute()
    listing = "".join(f"\n  {path}" for path in missing)
    lines = [f"data set '{source}' needs what is not there:{listing}", problem]
    if source in raw.folders:
        lines.append(f"Correct image_folders.{source}, a path below data_root = {root} or an absolute one.")
    elif source == "imagefolder":
        lines.append(
            f"Correct the scenario's data.folder, a path below data_root = {root} or an absolute one."
        )
    else:
        lines.append(
            "Either set data_root to the folder that holds these files, or run with download: true on a"
            f" machine with internet access, or fetch them on such a machine and copy them to {root}."
        )
    return "\n".join(line for line in lines if line)


def _official(source: str) -> Any:
    """Torchvision's class of an official data set, fetching over https only."""
    name = _TORCHVISION_CLASSES[source]
    official = getattr(_torchvision_datasets(), name)
    # The class's name is that of its folder.
    return (
        type(name, (official,), {"mirrors": _HTTPS_FOLDERS[source]}) if source in _HTTPS_FOLDERS else official
    )


def _mirrors(source: str) -> list[str]:
    """Addresses of one file of an official data set, one at each host."""
    official = _official(source)
    if source == "cifar10":
        return [official.url]
    return [mirror + official.resources[1][0] for mirror in official.mirrors]


def _unreachable(source: str) -> str:
    """Why no host of the data set can be reached; empty if one can."""
    problems = []
    for url in _mirrors(source):
        try:
            with urllib.request.urlopen(url, timeout=NETWORK_TIMEOUT):
                return ""
        except (OSError, http.client.HTTPException) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            problems.append(f"{url} cannot be opened ({reason})")
    return ", ".join(problems)


def _fetch(settings: DataSettings, raw: RawData) -> None:
    """Download an official data set unless it is there; torchvision verifies the archives' checksums."""
    if not missing_files(settings, raw):
        return
    check_available(settings, raw)
    official = _official(settings.source)
    problem = "The download is incomplete."
    try:
        official(str(raw.root), download=True)
    except (OSError, EOFError, RuntimeError, http.client.HTTPException) as error:
        problem = f"Downloading them failed: {error}."
    missing = missing_files(settings, raw)
    if missing:
        raise DataError(_missing_message(settings, raw, missing, problem))


def _mnist(settings: DataSettings, raw: RawData) -> Dataset:
    """MNIST and Fashion-MNIST: four IDX files."""
    source = settings.source
    if source in raw.folders:
        return _official_from_folder(settings, raw)
    _fetch(settings, raw)
    files = _official_files(source, raw)
    arrays = [_read_idx(path, dims) for path, dims in zip(files, _IDX_DIMS, strict=True)]
    if source == "mnist":
        for path, expected in zip(files, _MNIST_MD5, strict=True):
            _check_md5(path, expected)
    train_x, train_y, test_x, test_y = arrays
    return Dataset(
        name=source,
        train_x=train_x[:, None],
        train_y=train_y.astype(np.int64),
        test_x=test_x[:, None],
        test_y=test_y.astype(np.int64),
        n_classes=10,
        origin=describe_origin(settings, raw),
    )


def _read_idx(path: Path, dims: tuple[int, ...]) -> npt.NDArray[np.uint8]:
    """Read one IDX file of unsigned bytes whose dimensions are known; labels must be digits."""
    content = _read_bytes(path)
    header = struct.pack(f">{1 + len(dims)}I", 0x0800 + len(dims), *dims)
    expected = len(header) + int(np.prod(dims))
    if len(content) != expected:
        kind = "truncated" if len(content) < expected else "too long"
        raise DataError(
            f"{path}: {kind}: {len(content)} bytes, expected {expected}; delete it and get it anew"
        )
    if content[: len(header)] != header:
        raise DataError(
            f"{path}: not an IDX file of unsigned bytes with dimensions {dims}; delete it and get it anew"
        )
    values = np.frombuffer(content, np.uint8, offset=len(header)).reshape(dims)
    if len(dims) == 1 and values.max() > 9:
        where = int(np.argmax(values > 9))
        raise DataError(
            f"{path}: corrupt: label {values[where]} at index {where}, allowed are 0 to 9;"
            " delete it and get it anew"
        )
    return values


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None


def _check_md5(path: Path, expected: str) -> None:
    found = hashlib.md5(_read_bytes(path), usedforsecurity=False).hexdigest()
    if found != expected:
        raise DataError(
            f"{path}: corrupt, or not the official file: MD5 {found}, expected {expected};"
            " delete it and get it anew"
        )


def _cifar10(settings: DataSettings, raw: RawData) -> Dataset:
    if settings.source in raw.folders:
        return _official_from_folder(settings, raw)
    _fetch(settings, raw)
    official = _torchvision_datasets().CIFAR10
    checksums = dict([*official.train_list, *official.test_list])
    checksums[official.meta["filename"]] = official.meta["md5"]
    for path in _official_files("cifar10", raw):
        _check_md5(path, checksums[path.name])
    train, test = official(str(raw.root), train=True), official(str(raw.root), train=False)
    return Dataset(
        name="cifar10",
        train_x=np.ascontiguousarray(train.data.transpose(0, 3, 1, 2)),
        train_y=np.array(train.targets, dtype=np.int64),
        test_x=np.ascontiguousarray(test.data.transpose(0, 3, 1, 2)),
        test_y=np.array(test.targets, dtype=np.int64),
        n_classes=10,
        origin=describe_origin(settings, raw),
    )


# --- image folders --------------------------------------------------------------------------------


def _image_folder(settings: DataSettings, raw: RawData) -> Path | None:
    """Find the folder that images are read from; None for a source that needs none."""
    folder = settings.folder if settings.source == "imagefolder" else None
    if settings.source in TRAIN_SIZES:
        folder = raw.folders.get(settings.source)
    return None if folder is None else raw.root.absolute() / folder


def _class_folder_layout(folder: Path, settings: DataSettings) -> tuple[Path, Path | None]:
    """Folders of the training and the test images; no test folder if a fraction is to be split off.

    A folder of ``train/CLASS`` and ``test/CLASS`` has its own test split; of ``CLASS`` alone it has none.
    """
    train, test = folder / "train", folder / "test"
    if train.is_dir() and test.is_dir():
        return train, test
    if train.is_dir() or test.is_dir():
        there, absent = ("train", "test") if train.is_dir() else ("test", "train")
        raise DataError(f"{folder}: there is a folder '{there}' but none called '{absent}'")
    if settings.test_fraction is None:
        raise DataError(
            f"{folder}: no folders 'train' and 'test' in it, so that a test split has to be drawn:"
            f" set data.test_fraction for source '{settings.source}', e.g. 0.2"
        )
    _test_fraction(settings)
    return folder, None


def _imagefolder(settings: DataSettings, raw: RawData) -> Dataset:
    if settings.folder is None:
        raise DataError("data.source 'imagefolder' needs data.folder")
    return _from_folder(settings, raw, "RGB", settings.image_size, None)


def _official_from_folder(settings: DataSettings, raw: RawData) -> Dataset:
    """One of the official data sets, read from a folder of its images instead of its official files."""
    source = settings.source
    side = _IMAGE_SIDE[source]
    mode = "RGB" if source == "cifar10" else "L"
    dataset = _from_folder(settings, raw, mode, settings.image_size, None if settings.image_size else side)
    if dataset.n_classes != 10:
        raise DataError(
            f"{_image_folder(settings, raw)}: {dataset.n_classes} class folders, but {source} has 10 classes"
        )
    return dataset


def _from_folder(
    settings: DataSettings, raw: RawData, mode: str, resize: int | None, side: int | None
) -> Dataset:
    """Read a folder of class folders, its images converted to Pillow's mode ``"RGB"`` or ``"L"``.

    Every image is resized to the side ``resize`` (square, bilinear) if that is given. Otherwise it must
    have the side ``side`` if that is given, or else the size of the first.
    """
    missing = missing_files(settings, raw)
    folder = _image_folder(settings, raw)
    if missing or folder is None:
        raise DataError(_missing_message(settings, raw, missing, ""))
    train, test = _class_folder_layout(folder, settings)
    classes = _class_names(train)
    shape = None if side is None else (side, side)
    train_x, train_y = _read_images(train, classes, mode, resize, shape)
    if test is None:
        order = _FIXED.generator("source/test-split").permutation(len(train_x))
        return _split(settings, raw, train_x[order], train_y[order], len(classes))
    if _class_names(test) != classes:
        differing = sorted(set(classes) ^ set(_class_names(test)))
        raise DataError(f"{folder}: 'train' and 'test' differ in their class folders: {', '.join(differing)}")
    test_x, test_y = _read_images(test, classes, mode, resize, train_x.shape[2:])
    # Files come class by class; in this fixed random order the first n of them are a fair sample.
    order = _FIXED.generator("source/order").permutation(len(train_x))
    origin = describe_origin(settings, raw)
    return Dataset(settings.source, train_x[order], train_y[order], test_x, test_y, len(classes), origin)


def _class_names(folder: Path) -> list[str]:
    """Names of the class folders; sorted, as numbers if all of them are."""
    names = [path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]
    if not names:
        raise DataError(f"{folder}: no class folders in it; expected one folder of images for each class")
    return sorted(names, key=int) if all(re.fullmatch("[0-9]+", name) for name in names) else sorted(names)


def _read_images(
    folder: Path, classes: list[str], mode: str, resize: int | None, shape: tuple[int, ...] | None
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Images and class numbers of ``folder/CLASS/*``, class by class, files sorted by name."""
    files: list[Path] = []
    labels: list[int] = []
    for label, name in enumerate(classes):
        found = sorted(
            path
            for path in (folder / name).iterdir()
            if path.suffix.lower() in _IMAGE_SUFFIXES and not path.name.startswith(".")
        )
        if not found:
            raise DataError(
                f"{folder / name}: no images in this class folder; known endings:"
                f" {', '.join(sorted(_IMAGE_SUFFIXES))}"
            )
        files += found
        labels += [label] * len(found)
    first = _read_image(files[0], mode, resize)
    expected = first.shape[1:] if shape is None else shape
    images = np.empty((len(files), first.shape[0], *expected), dtype=np.uint8)
    for row, path in enumerate(files):
        image = _read_image(path, mode, resize)
        if image.shape[1:] != expected:
            raise DataError(
                _size_message(path, image.shape[1:], expected, files[0] if shape is None else None)
            )
        images[row] = image
    return images, np.array(labels, dtype=np.int64)


def _size_message(path: Path, found: tuple[int, ...], expected: tuple[int, ...], first: Path | None) -> str:
    like = f", the size of {first}" if first else ""
    return (
        f"{path}: {found[1]} x {found[0]} pixels, expected {expected[1]} x {expected[0]}{like};"
        " set data.image_size to resize all images"
    )


def _read_image(path: Path, mode: str, resize: int | None) -> npt.NDArray[np.uint8]:
    """One image as uint8, shape (channels, height, width)."""
    image_module = _require("PIL.Image", "pillow")
    try:
        with image_module.open(path) as opened:
            image = opened.convert(mode)
            if resize is not None:
                image = image.resize((resize, resize), image_module.Resampling.BILINEAR)
            pixels = np.asarray(image, dtype=np.uint8)
    except (OSError, SyntaxError, ValueError, EOFError, image_module.DecompressionBombError) as error:
        raise DataError(f"{path}: broken image file ({error}); replace or delete it") from None
    return pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)


# --- sources without raw files --------------------------------------------------------------------


def _digits(settings: DataSettings, raw: RawData) -> Dataset:
    """scikit-learn's 1,797 handwritten digits, 8 x 8 pixels."""
    x, y = _require("sklearn.datasets", "scikit-learn").load_digits(return_X_y=True)
    pixels = np.rint(x * 255 / 16).astype(np.uint8).reshape(-1, 1, 8, 8)
    order = _FIXED.generator("source/test-split").permutation(len(x))
    return _split(settings, raw, pixels[order], y[order].astype(np.int64), 10)


def _synthetic_regression(settings: DataSettings, raw: RawData) -> Dataset:
    """Linear model y = <x, w> + noise_std * z with x, w and z standard normal."""
    n, p, noise_std = settings.n_examples, settings.n_features, settings.noise_std
    if n is None or p is None or noise_std is None:
        raise DataError("data.source 'synthetic_regression' needs n_examples, n_features and noise_std")
    weights = _FIXED.generator("source/weights").standard_normal(p)
    x = _FIXED.generator("source/features").standard_normal((n, p))
    y = x @ weights + noise_std * _FIXED.generator("source/noise").standard_normal(n)
    return _split(settings, raw, x.astype(np.float32), y.astype(np.float32), 0)


# --- shared ---------------------------------------------------------------------------------------


def _test_fraction(settings: DataSettings) -> float:
    fraction = settings.test_fraction
    if fraction is None:
        raise DataError(f"data.source '{settings.source}' needs data.test_fraction, e.g. 0.2")
    if not 0 < fraction < 1:
        raise DataError(f"data.test_fraction = {fraction} must lie between 0 and 1")
    return float(fraction)


def _test_size(settings: DataSettings, n_examples: int) -> int:
    """How many examples ``test_fraction`` puts into the test split."""
    n_test = round(_test_fraction(settings) * n_examples)
    if not 0 < n_test < n_examples:
        raise DataError(
            f"data.test_fraction = {settings.test_fraction} of {n_examples} examples leaves {n_test} for the"
            f" test and {n_examples - n_test} for training"
        )
    return n_test


def _split(settings: DataSettings, raw: RawData, x: _Array, y: _Array, n_classes: int) -> Dataset:
    """Put the first ``test_fraction`` of examples in random order into the test split."""
    n_test = _test_size(settings, len(x))
    origin = describe_origin(settings, raw)
    return Dataset(settings.source, x[n_test:], y[n_test:], x[:n_test], y[:n_test], n_classes, origin)


def _torchvision_datasets() -> Any:
    return _require("pausefl.data._torchvision", "torchvision").datasets


def _require(module: str, package: str) -> Any:
    """Import what only the preparation of data needs; a machine that only runs jobs may lack it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise DataError(
            f"preparing this data set needs the package {package} ({error}); install it, or prepare the data"
            " on another machine"
        ) from None


#: Every source by name. Each entry makes a data set from the settings and the raw data.
SOURCES: dict[str, Callable[[DataSettings, RawData], Dataset]] = {
    "digits": _digits,
    "mnist": _mnist,
    "fashion_mnist": _mnist,
    "cifar10": _cifar10,
    "imagefolder": _imagefolder,
    "synthetic_regression": _synthetic_regression,
}
