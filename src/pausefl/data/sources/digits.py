"""scikit-learn's 1,797 handwritten digits of 8 x 8 pixels."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pausefl.data.sources.common import FIXED, Examples, check_installed, split_off_test
from pausefl.settings import DataSettings


def read(settings: DataSettings, files: list[Path]) -> Examples:
    """Return the digits in a fixed random order, pixels scaled from 0 to 16 to 0 to 255."""
    with check_installed("scikit-learn"):
        from sklearn.datasets import load_digits
    x, y = load_digits(return_X_y=True)
    pixels = np.rint(x * 255 / 16).astype(np.uint8).reshape(-1, 1, 8, 8)
    order = FIXED.generator("source/test-split").permutation(len(x))
    return split_off_test(settings, pixels[order], y[order].astype(np.int64), n_classes=10)
