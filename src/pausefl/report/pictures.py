"""Pictures as parts of the page: sharp at any zoom, and small.

A figure is there twice: as compressed SVG, which ``page.js`` unpacks and shows, and as the PDF to download.
Letters are outlines in SVG, the same in most figures, so the page has each of them once.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from pausefl.errors import PauseflError

_LETTER = re.compile(r'<path id="([^"]+-[0-9a-f]+)"[^>]*/>')
_SIZE = re.compile(r'<svg ([^>]*)width="([0-9.]+)pt" height="([0-9.]+)pt" ')
_UNSEEN = re.compile(r"<\?xml.*?\?>|<!DOCTYPE[^>]*>|<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)
_LABEL = re.compile(r' id="[A-Za-z][A-Za-z0-9.]*_\d+"')
_EMPTY = re.compile(r"<defs>\s*</defs>")


@dataclass(frozen=True)
class Picture:
    """A picture of the page: SVG or pixels, with its size at 100 %."""

    width: int
    height: int
    #: Compressed and in Base64, without its letters.
    svg: str = ""
    #: URI of a picture of pixels.
    source: str = ""
    #: URI of the PDF of a figure.
    pdf: str = ""

    @property
    def broad(self) -> bool:
        """Whether it is much wider than it is high."""
        return self.width > 1.5 * self.height


class Figures:
    """The figures of one page, and the letters that they share."""

    def __init__(self) -> None:
        self._letters: dict[str, str] = {}

    def add(self, path: Path) -> Picture:
        """The figure of an SVG file that `pausefl.figures.style.save` wrote; the PDF is beside it."""
        text = _UNSEEN.sub("", path.read_text("utf-8"))
        size = _SIZE.search(text)
        if size is None:
            raise PauseflError(f"{path} is no figure of the workflow. Delete it and run the workflow again")
        # Without a size of its own it fills the window when it is opened alone.
        text = f"{text[: size.start()]}<svg {size[1]}{text[size.end() :]}"
        text = _EMPTY.sub("", _LETTER.sub(self._shared, _LABEL.sub("", text)))
        width, height = (round(float(points) * 96 / 72) for points in size.groups()[1:])
        pdf = f"data:application/pdf;base64,{_base64(path.with_suffix('.pdf').read_bytes())}"
        return Picture(width, height, svg=_packed(_on_one_line(text)), pdf=pdf)

    def _shared(self, letter: re.Match[str]) -> str:
        """Nothing in place of a letter that the page has; a letter of another font file stays."""
        outline = _on_one_line(letter[0])
        return "" if self._letters.setdefault(letter[1], outline) == outline else outline

    def letters(self) -> str:
        """The outline of every letter by its id: JSON, compressed and in Base64."""
        return _packed(json.dumps(self._letters, sort_keys=True))


def pixels(path: Path) -> Picture:
    """A PNG file, in at most 256 colours."""
    with Image.open(path) as image:
        few = image.convert("RGB").quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    file = io.BytesIO()
    few.save(file, "PNG", optimize=True)
    return Picture(*few.size, source=f"data:image/png;base64,{_base64(file.getvalue())}")


def _on_one_line(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r">\s+<", "><", text)).strip()


def _packed(text: str) -> str:
    return _base64(gzip.compress(text.encode(), 9, mtime=0))


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
