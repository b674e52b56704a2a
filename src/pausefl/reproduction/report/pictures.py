"""Pictures as parts of the page: AVIF, a third of the bytes of a PNG of 256 colours."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from pausefl.errors import PauseflError

#: Size on the page, relative to print, and pixels of a picture for one of the page: sharp at a zoom of 200 %.
ZOOM, SHARPNESS = 1.25, 2

#: More threads might write other bytes.
_AVIF = {"quality": 30, "subsampling": "4:4:4", "speed": 8, "max_threads": 1}


@dataclass(frozen=True)
class Picture:
    """A picture of the page, with its size at 100 %."""

    width: int
    height: int
    #: URI of the picture.
    source: str
    #: Address of the PDF, from a page in ``results/report``.
    pdf: str

    @property
    def broad(self) -> bool:
        """Whether it is much wider than it is high."""
        return self.width > 1.5 * self.height


def figure(path: Path) -> Picture:
    """A PNG file that `pausefl.analysis.figures.style.save` wrote, smaller, and the address of its PDF."""
    try:
        with Image.open(path) as image:
            width, height = (
                round(ZOOM * 96 * n / dots) for n, dots in zip(image.size, image.info["dpi"], strict=True)
            )
            size = SHARPNESS * width, SHARPNESS * height
            small = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    except (OSError, KeyError):
        raise PauseflError(
            f"{path} is no figure of the workflow. Delete it and run the workflow again"
        ) from None
    file = io.BytesIO()
    small.save(file, "AVIF", **_AVIF)
    source = f"data:image/avif;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"
    return Picture(width, height, source, f"../figures/{path.stem}.pdf")
