"""Synthetic linear regression."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pausefl.data.sources.base import FIXED, Examples, Source, n_held_out, split_off_test


@dataclass(frozen=True)
class SyntheticRegression(Source):
    """A linear model y = <x, w> + noise_std * z with x, w and z standard normal."""

    origin = "synthetic linear regression, {n_examples} examples, {n_features} features, noise {noise_std:g}"
    about = "synthetic linear regression, `n_examples` examples, `n_features` features, noise `noise_std`"
    images = False
    regression = True

    n_examples: int
    n_features: int
    noise_std: float
    test_fraction: float

    def read(self, files: list[Path]) -> Examples:
        """See `Source.read`."""
        n, p = self.n_examples, self.n_features
        weights = FIXED.generator("source/weights").standard_normal(p)
        x = FIXED.generator("source/features").standard_normal((n, p))
        y = x @ weights + self.noise_std * FIXED.generator("source/noise").standard_normal(n)
        return split_off_test(self.test_fraction, x.astype(np.float32), y.astype(np.float32), n_classes=0)

    def training_size(self) -> int:
        """See `Source.training_size`."""
        return self.n_examples - n_held_out(self.test_fraction, self.n_examples)
