"""Folders of class folders of images: ``train/CLASS`` and ``test/CLASS``, or ``CLASS`` alone."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pausefl.data.sources.common import FIXED, Examples, check_installed, split_off_test
from pausefl.errors import DataError
from pausefl.files import check_readable
from pausefl.settings import DataSettings

_SUFFIXES = {".jpg", ".jpeg", ".png", ".ppm", ".pgm", ".bmp", ".tif", ".tiff", ".webp"}


def read(settings: DataSettings, files: list[Path]) -> Examples:
    """Read any folder of colour images, all of one size unless ``image_size`` is set."""
    return _read_folder(settings, files, "RGB", None)


def read_mnist(settings: DataSettings, files: list[Path]) -> Examples:
    """Read MNIST or Fashion-MNIST from images: grey, 28 x 28 pixels, 10 classes."""
    examples = _read_folder(settings, files, "L", 28)
    _check_ten_classes(settings, files, examples)
    return examples


def read_cifar10(settings: DataSettings, files: list[Path]) -> Examples:
    """Read CIFAR-10 from images: colour, 32 x 32 pixels, 10 classes."""
    examples = _read_folder(settings, files, "RGB", 32)
    _check_ten_classes(settings, files, examples)
    return examples


def check_layout(settings: DataSettings, files: list[Path]) -> None:
    """Raise `DataError` if only one of ``train`` and ``test`` exists, or none and no test fraction is set."""
    (folder,) = files
    if not folder.is_dir():
        raise DataError(f"{folder}: not a folder")
    there = [name for name in ("train", "test") if (folder / name).is_dir()]
    if len(there) == 1:
        absent = {"train": "test", "test": "train"}[there[0]]
        raise DataError(f"{folder}: there is a folder '{there[0]}' but none called '{absent}'")
    if not there and settings.test_fraction is None:
        raise DataError(
            f"{folder}: no folders 'train' and 'test' in it, so a test split has to be made:"
            f" set data.test_fraction for source '{settings.source}', e.g. 0.2"
        )


def _check_ten_classes(settings: DataSettings, files: list[Path], examples: Examples) -> None:
    if examples.n_classes != 10:
        raise DataError(
            f"{files[0]}: {examples.n_classes} class folders, but {settings.source} has 10 classes"
        )


def _read_folder(settings: DataSettings, files: list[Path], mode: str, side: int | None) -> Examples:
    """Read a folder, its images converted to Pillow's mode ``"RGB"`` or ``"L"``.

    ``image_size`` resizes every image to that side (square, bilinear). Without it, every image must have the
    side ``side``, or, if that is None, the size of the first.
    """
    check_layout(settings, files)
    (folder,) = files
    resize = settings.image_size
    train, test = folder / "train", folder / "test"
    if not train.is_dir():
        classes = _class_names(folder)
        x, y = _read_images(folder, classes, mode, resize, _shape(resize, side))
        order = FIXED.generator("source/test-split").permutation(len(x))
        return split_off_test(settings, x[order], y[order], len(classes))
    classes = _class_names(train)
    _check_same_classes(folder, classes, _class_names(test))
    train_x, train_y = _read_images(train, classes, mode, resize, _shape(resize, side))
    test_x, test_y = _read_images(test, classes, mode, resize, train_x.shape[2:])
    # Files come class by class; in this fixed random order the first n of them are a fair sample.
    order = FIXED.generator("source/order").permutation(len(train_x))
    return Examples(train_x[order], train_y[order], test_x, test_y, len(classes))


def _shape(resize: int | None, side: int | None) -> tuple[int, ...] | None:
    return (side, side) if side is not None and resize is None else None


def _class_names(folder: Path) -> list[str]:
    """Return the names of the class folders; sorted, as numbers if all of them are."""
    names = [path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]
    if not names:
        raise DataError(f"{folder}: no class folders in it; expected one folder of images for each class")
    return sorted(names, key=int) if all(re.fullmatch("[0-9]+", name) for name in names) else sorted(names)


def _check_same_classes(folder: Path, train: list[str], test: list[str]) -> None:
    if train != test:
        differing = ", ".join(sorted(set(train) ^ set(test)))
        raise DataError(f"{folder}: 'train' and 'test' differ in their class folders: {differing}")


def _read_images(
    folder: Path, classes: list[str], mode: str, resize: int | None, shape: tuple[int, ...] | None
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Read ``folder/CLASS/*``, class by class, files sorted by name; return images and class numbers."""
    by_class = [_image_files(folder / name) for name in classes]
    files = [path for found in by_class for path in found]
    labels = np.repeat(np.arange(len(classes), dtype=np.int64), [len(found) for found in by_class])
    first = _read_image(files[0], mode, resize)
    expected = first.shape[1:] if shape is None else shape
    _check_memory(folder, (len(files), first.shape[0], *expected))
    images = np.empty((len(files), first.shape[0], *expected), dtype=np.uint8)
    for row, path in enumerate(files):
        image = _read_image(path, mode, resize)
        _check_size(path, image.shape[1:], expected, files[0] if shape is None else None)
        images[row] = image
    return images, labels


def _image_files(folder: Path) -> list[Path]:
    found = sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in _SUFFIXES and not path.name.startswith(".")
    )
    if not found:
        raise DataError(
            f"{folder}: no images in this class folder; known endings: {', '.join(sorted(_SUFFIXES))}"
        )
    _check_files(found)
    return found


def _check_files(paths: list[Path]) -> None:
    """Raise `DataError` if something with the name of an image is no file that can be read."""
    for path in paths:
        check_readable(path, DataError)


def _check_depth(path: Path, mode: str) -> None:
    """Raise `DataError` for an image of more than 8 bits a channel, which a conversion would saturate."""
    if mode in ("I", "F") or mode.startswith("I;"):
        raise DataError(f"{path}: more than 8 bits a channel (Pillow's mode '{mode}'); convert it to 8 bits")


def _check_memory(folder: Path, shape: tuple[int, ...]) -> None:
    """Raise `DataError` if images of this shape, all together, are larger than the machine's memory."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if math.prod(shape) > memory:
        raise DataError(
            f"{folder}: {shape[0]} images of {shape[3]} x {shape[2]} pixels take"
            f" {math.prod(shape) / 1e9:.0f} GB, more than the memory; set a smaller data.image_size"
        )


def _check_size(path: Path, found: tuple[int, ...], expected: tuple[int, ...], first: Path | None) -> None:
    if found != tuple(expected):
        like = f", the size of {first}" if first else ""
        raise DataError(
            f"{path}: {found[1]} x {found[0]} pixels, expected {expected[1]} x {expected[0]}{like};"
            " set data.image_size to resize all images"
        )


def _read_image(path: Path, mode: str, resize: int | None) -> npt.NDArray[np.uint8]:
    """Read one image as uint8, shape (channels, height, width)."""
    with check_installed("pillow"):
        from PIL import Image
    try:
        with Image.open(path) as opened:
            _check_depth(path, opened.mode)
            image = opened.convert(mode)
            if resize is not None:
                image = image.resize((resize, resize), Image.Resampling.BILINEAR)
            pixels = np.asarray(image, dtype=np.uint8)
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError) as error:
        raise DataError(f"{path}: broken image file ({error}); replace it") from None
    return pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
