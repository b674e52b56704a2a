"""Pictures of the page: within it as AVIF, a third of the bytes of a PNG, or files beside it."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from pausefl.errors import PauseflError

#: Size on the page, relative to print, and pixels of a picture for one of the page: sharp at a zoom of 200 %.
ZOOM, SHARPNESS = 1.25, 2

#: The folder of the page, from which it names its files.
PAGES = "results/report"

#: More threads might write other bytes.
_AVIF = {"quality": 30, "subsampling": "4:4:4", "speed": 8, "max_threads": 1}


@dataclass(frozen=True)
class Picture:
    """A picture of the page, with its size at 100 %."""

    width: int
    height: int
    #: Address of the picture, or the picture itself.
    source: str
    #: Address of its PDF, or of the picture where it has none; empty if there is no file beside the page.
    file: str = ""


def within(path: Path) -> Picture:
    """A PNG file that `pausefl.analysis.figures.style.save` wrote as a part of the page."""
    with _opened(path) as (image, width, height):
        size = SHARPNESS * width, SHARPNESS * height
        small = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    file = io.BytesIO()
    small.save(file, "AVIF", **_AVIF)
    source = f"data:image/avif;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"
    return Picture(width, height, source)


def beside(path: Path) -> Picture:
    """A PNG file of the workflow that the page shows from where it is; of it only the size is read."""
    with _opened(path) as (_, width, height):
        source = Path(os.path.relpath(path, PAGES))
    pdf = source.with_suffix(".pdf") if path.with_suffix(".pdf").exists() else source
    return Picture(width, height, source.as_posix(), pdf.as_posix())


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Image.Image, int, int]]:
    """A picture, and its width and height on the page; its pixels are read when they are used."""
    try:
        with Image.open(path) as image:
            across, down = (
                round(ZOOM * 96 * n / dots) for n, dots in zip(image.size, image.info["dpi"], strict=True)
            )
            yield image, across, down
    except (OSError, KeyError):
        raise PauseflError(
            f"{path} is no figure of the workflow. Delete it and run the workflow again"
        ) from None
