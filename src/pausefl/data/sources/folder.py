"""Folders of class folders of images: ``train/CLASS`` and ``test/CLASS``, or ``CLASS`` alone."""

from __future__ import annotations

import math
import mimetypes
import os
import re
import struct
import unicodedata
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from pausefl.data.sources.base import FIXED, Examples, Source, check_installed, split_off_test
from pausefl.errors import DataError, told_apart
from pausefl.files import check_readable

if TYPE_CHECKING:
    from PIL import Image


@dataclass(frozen=True)
class ImageFolder(Source):
    """Any folder of images, all of one size unless ``image_size`` resizes them (square, bilinear).

    Images are taken as a viewer shows them on white: turned as their EXIF data say, before sizes are
    compared, and with white behind what is transparent. One of several frames or pages, of more than 8 bits a
    channel, or in Lab colours is refused. Colour profiles are not applied.
    """

    origin = "image folder {folder}"
    about = "image folder `folder`"
    files = ("{folder}",)
    #: Pillow's mode that images are converted to: colour, or ``L`` for grey.
    mode: ClassVar[str] = "RGB"
    #: Pixels a side and number of classes that images must have; 0 for any.
    side: ClassVar[int] = 0
    n_classes: ClassVar[int] = 0

    folder: str
    image_size: int | None = None
    test_fraction: float | None = None

    def check(self, files: list[Path]) -> None:
        """Raise `DataError` if images are in other folders, or without ``test`` there is no test fraction."""
        (folder,) = files
        if not folder.is_dir():
            raise DataError(f"{folder}: not a folder")
        there = [name for name in ("train", "test") if (folder / name).is_dir()]
        if len(there) == 1:
            absent = {"train": "test", "test": "train"}[there[0]]
            raise DataError(
                f"{folder}: there is a folder '{there[0]}' but none called '{absent}'; {_where(folder)}"
            )
        for root in [folder / name for name in there] or [folder]:
            if not any(map(_holds_images, _class_folders(root).values())):
                raise DataError(f"{root}: no folder of images for each class in it; {_where(folder)}")
        if not there and self.test_fraction is None:
            above = f", or name {folder.parent}" if (folder.parent / "train").is_dir() else ""
            raise DataError(
                f"{folder}: no folders 'train' and 'test' in it, so a test split has to be made:"
                f" set data.test_fraction, e.g. 0.2{above}"
            )

    def read(self, files: list[Path]) -> Examples:
        """See `Source.read`."""
        self.check(files)
        (folder,) = files
        examples = self._split(folder) if (folder / "train").is_dir() else self._whole(folder)
        if self.n_classes and examples.n_classes != self.n_classes:
            raise DataError(f"{folder}: {examples.n_classes} class folders, expected {self.n_classes}")
        return examples

    def describe(self) -> str:
        """See `Source.describe`."""
        resized = f", resized to {self.image_size} x {self.image_size}" if self.image_size else ""
        return super().describe() + resized

    def _whole(self, folder: Path) -> Examples:
        """Images of ``folder/CLASS``, in a fixed random order, of which the first are for testing."""
        assert self.test_fraction is not None
        classes = _class_folders(folder)
        x, y = _read_images(folder, classes.values(), self.mode, self.image_size, self._shape())
        order = FIXED.generator("source/test-split").permutation(len(x))
        return split_off_test(self.test_fraction, x[order], y[order], len(classes))

    def _split(self, folder: Path) -> Examples:
        """Images of ``folder/train/CLASS`` and ``folder/test/CLASS``."""
        train, test = folder / "train", folder / "test"
        classes, others = _class_folders(train), _class_folders(test)
        _check_same_classes(folder, [*classes], [*others])
        train_x, train_y = _read_images(train, classes.values(), self.mode, self.image_size, self._shape())
        test_x, test_y = _read_images(test, others.values(), self.mode, self.image_size, train_x.shape[2:])
        # Files come class by class; in this fixed random order the first n of them are a fair sample.
        order = FIXED.generator("source/order").permutation(len(train_x))
        return Examples(train_x[order], train_y[order], test_x, test_y, len(classes))

    def _shape(self) -> tuple[int, ...] | None:
        """Height and width that images must have; None for those of the first."""
        return (self.side, self.side) if self.side and self.image_size is None else None


def _class_folders(folder: Path) -> dict[str, Path]:
    """The class folders by name; sorted, as numbers if all of them are.

    Names are in Unicode's form NFC: what looks alike is one name, however a system wrote it.
    """
    folders = dict[str, Path]()
    for path in folder.iterdir():
        if not path.is_dir() or _is_systems(path.name):
            continue
        if (name := unicodedata.normalize("NFC", path.name)) in folders:
            raise DataError(
                f"{folder}: the folders {folders[name].name!a} and {path.name!a} have the same name, written"
                " in two ways: make them one"
            )
        folders[name] = path
    by_number = all(re.fullmatch("[0-9]+", name) for name in folders)
    return dict(sorted(folders.items(), key=lambda one: (int(one[0]) if by_number else 0, one[0])))


def _check_same_classes(folder: Path, train: list[str], test: list[str]) -> None:
    if train != test:
        differing = ", ".join(told_apart(sorted(set(train) ^ set(test))))
        raise DataError(f"{folder}: 'train' and 'test' differ in their class folders: {differing}")


def _read_images(
    folder: Path, classes: Iterable[Path], mode: str, resize: int | None, shape: tuple[int, ...] | None
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Read ``folder/CLASS/*``, class by class, files sorted by name; return images and class numbers."""
    by_class = [_image_files(path) for path in classes]
    files = [path for found in by_class for path in found]
    labels = np.repeat(np.arange(len(by_class), dtype=np.int64), [len(found) for found in by_class])
    first = _read_image(files[0], mode, resize)
    expected = first.shape[1:] if shape is None else shape
    _check_memory(folder, (len(files), first.shape[0], *expected))
    images = np.empty((len(files), first.shape[0], *expected), dtype=np.uint8)
    for row, path in enumerate(files):
        image = _read_image(path, mode, resize)
        _check_size(path, image.shape[1:], expected, files[0] if shape is None else None)
        images[row] = image
    return images, labels


@cache
def _endings() -> frozenset[str]:
    """How the names of images end that Pillow reads."""
    with check_installed("pillow"):
        from PIL import Image
    return frozenset(end for end, kind in Image.registered_extensions().items() if kind in Image.OPEN)


#: Names of files and folders that systems and programs make beside a user's, in small letters.
_SYSTEMS = re.compile(
    r"\..*|~\$.*|__macosx|network trash folder|temporary items|icon\r"  # hidden ones; macOS
    r"|\$recycle\.bin|recycler|recycled|system volume information|thumbs\.db|desktop\.ini"  # Windows
    r"|found\.\d{3}|msdownld\.tmp|\$winreagent|_vti_cnf|_vti_pvt"
    r"|@eadir|@tmp|#recycle|#snapshot|@sharebin|@recycle|@recently-snapshot|@__thumb|~snapshot"  # NAS
    r"|tmp\.drivedownload|tmp\.driveupload|cvs|node_modules|venv|lost\+found|__pycache__",
    re.DOTALL,
)


def _is_systems(name: str) -> bool:
    """Whether a file or folder is a system's or a program's (docs/extending.md says which)."""
    return bool(_SYSTEMS.fullmatch(name.casefold()))


def _is_image(name: str) -> bool:
    return os.path.splitext(name)[1].lower() in _endings() and not _is_systems(name)


def _holds_images(folder: Path) -> bool:
    with os.scandir(folder) as entries:
        return any(_is_image(one.name) for one in entries)


def _where(folder: Path) -> str:
    """Which folders below one hold images, and what to name or do instead, for the end of a message."""
    holding = []
    for path, below, files in os.walk(folder):
        below[:] = sorted(name for name in below if not _is_systems(name))
        holding += [Path(path).relative_to(folder)] * any(map(_is_image, files))
    if not holding:
        return "there are no images below it"
    listed = ", ".join(map(str, holding[:4])) + ", …" * (len(holding) > 4)
    splits = sorted({one.parent for one in holding})
    names, above = [one.name for one in splits], {one.parent for one in splits}
    inside = folder / above.pop()
    if Path() in holding:
        advice = ": make a folder of them for each class, or name the folder above"
    elif len({one.name for one in holding}) == 1:
        advice = f": move what is in each '{holding[0].name}' to the folder above"
    elif len(splits) == 1:
        advice = f": name {folder / splits[0]} and set data.test_fraction, e.g. 0.2"
    elif above:  # several
        advice = "; expected are train/CLASS and test/CLASS"
    elif {"train", "test"} <= {*names}:
        advice = f": name {inside}"
    else:
        advice = f": call two of the folders {', '.join(names)} 'train' and 'test'"
        advice += f" and name {inside}" if inside != folder else ""
    return f"there are images in {listed}{advice}"


def _image_files(folder: Path) -> list[Path]:
    """Images of a class, sorted; `DataError` if there are none, or some that Pillow does not read."""
    there = (path for path in folder.iterdir() if not _is_systems(path.name))
    files = sorted(there, key=lambda path: (unicodedata.normalize("NFC", path.name), path.name))
    others = [path for path in files if not _is_image(path.name)]
    kinds = [(path.suffix, mimetypes.guess_type(path.name)[0] or "") for path in others]
    if left := Counter(ending for ending, kind in kinds if kind.startswith("image/")):
        counts = ", ".join(f"{n} {ending}" for ending, n in sorted(left.items()))
        raise DataError(f"{folder}: images that Pillow does not read: {counts}; convert or remove them")
    if not (found := [path for path in files if _is_image(path.name)]):
        raise DataError(f"{folder}: no images in this class folder; {_where(folder)}")
    _check_files(found)
    return found


def _check_files(paths: list[Path]) -> None:
    """Raise `DataError` if something with the name of an image is no file that can be read."""
    for path in paths:
        check_readable(path, DataError)


def _check_kind(path: Path, image: Image.Image) -> None:
    """Raise `DataError` for an image that is not one image of 8 bits a channel in known colours."""
    mode, frames = image.mode, getattr(image, "n_frames", 1)
    stored = [str(args[0] if isinstance(args, tuple) else args) for *_, args in getattr(image, "tile", ())]
    deep = mode in ("I", "F") or mode.startswith("I;") or any(re.search(";(16|32)", one) for one in stored)
    for codec, *_, args in getattr(image, "tile", ()):  # formats of which Pillow drops bits itself
        deep |= codec == "SGI16" or (codec.startswith("ppm") and args[1] > 255)
    if deep:
        raise DataError(f"{path}: more than 8 bits a channel (Pillow's mode '{mode}'); convert it to 8 bits")
    if mode == "LAB":
        raise DataError(f"{path}: is in Lab colours, which cannot be converted here; convert it to RGB")
    if frames > 1 and image.format != "MPO":  # a camera's second picture is a smaller one of the same
        raise DataError(f"{path}: has {frames} frames or pages; keep one of them")


def _as_seen(image: Image.Image) -> Image.Image:
    """An image as a viewer shows it on white: turned as its EXIF data say, and nothing transparent."""
    from PIL import Image, ImageOps

    with suppress(KeyError, SyntaxError, TypeError, struct.error):  # of EXIF data that no viewer can read
        image = ImageOps.exif_transpose(image)
    if not image.has_transparency_data:
        return image
    image = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)


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
            _check_kind(path, opened)
            image = _as_seen(opened).convert(mode)
            if resize is not None:
                image = image.resize((resize, resize), Image.Resampling.BILINEAR)
            pixels = np.asarray(image, dtype=np.uint8)
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError) as error:
        raise DataError(f"{path}: broken image file ({error}); replace it") from None
    return pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
