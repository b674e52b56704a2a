"""The 1,797 handwritten digits of 8 x 8 pixels that are part of the package (``digits.md``)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pausefl.data.sources.base import FIXED, Examples, Source, n_held_out, split_off_test

_N_EXAMPLES = 1797


@dataclass(frozen=True)
class Digits(Source):
    """The digits in a fixed random order, pixels scaled from 0 to 16 to 0 to 255."""

    origin = "handwritten digits of scikit-learn (UCI, 8 x 8 pixels)"
    image_shape = (1, 8, 8)

    test_fraction: float

    def read(self, files: list[Path]) -> Examples:
        """See `Source.read`."""
        with np.load(Path(__file__).with_suffix(".npz")) as archive:
            x, y = archive["pixels"].astype(np.float64), archive["labels"].astype(np.int64)
        pixels = np.rint(x * 255 / 16).astype(np.uint8).reshape(-1, 1, 8, 8)
        order = FIXED.generator("source/test-split").permutation(_N_EXAMPLES)
        return split_off_test(self.test_fraction, pixels[order], y[order], n_classes=10)

    def training_size(self) -> int:
        """See `Source.training_size`."""
        return _N_EXAMPLES - n_held_out(self.test_fraction, _N_EXAMPLES)
