"""The 1,797 handwritten digits of 8 x 8 pixels that are part of the package (``digits.md``)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pausefl.data.sources.common import FIXED, Examples, split_off_test
from pausefl.settings import DataSettings


def read(settings: DataSettings, files: list[Path]) -> Examples:
    """Return the digits in a fixed random order, pixels scaled from 0 to 16 to 0 to 255."""
    with np.load(Path(__file__).with_suffix(".npz")) as archive:
        x, y = archive["pixels"].astype(np.float64), archive["labels"].astype(np.int64)
    pixels = np.rint(x * 255 / 16).astype(np.uint8).reshape(-1, 1, 8, 8)
    order = FIXED.generator("source/test-split").permutation(len(x))
    return split_off_test(settings, pixels[order], y[order], n_classes=10)
