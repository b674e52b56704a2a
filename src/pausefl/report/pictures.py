"""Pictures as parts of the page: PNG of few colours, and the PDF of a figure to download."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from pausefl.errors import PauseflError


@dataclass(frozen=True)
class Picture:
    """A picture of the page, with its size at 100 %."""

    width: int
    height: int
    #: URI of the PNG.
    source: str
    #: URI of the PDF.
    pdf: str

    @property
    def broad(self) -> bool:
        """Whether it is much wider than it is high."""
        return self.width > 1.5 * self.height


def figure(path: Path) -> Picture:
    """A PNG file that `pausefl.figures.style.save` wrote, in at most 256 colours, and its PDF."""
    try:
        with Image.open(path) as image:
            width, height = (
                round(96 * n / dots) for n, dots in zip(image.size, image.info["dpi"], strict=True)
            )
            few = image.convert("RGB").quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    except (OSError, KeyError):
        raise PauseflError(
            f"{path} is no figure of the workflow. Delete it and run the workflow again"
        ) from None
    file = io.BytesIO()
    few.save(file, "PNG")
    pdf = path.with_suffix(".pdf").read_bytes()
    return Picture(width, height, _uri("image/png", file.getvalue()), _uri("application/pdf", pdf))


def _uri(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
