"""Synthetic linear regression."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pausefl.data.sources.common import FIXED, Examples, split_off_test
from pausefl.settings import DataSettings


def read(settings: DataSettings, files: list[Path]) -> Examples:
    """Sample a linear model y = <x, w> + noise_std * z with x, w and z standard normal."""
    n, p, noise_std = settings.n_examples, settings.n_features, settings.noise_std
    assert n is not None
    assert p is not None
    assert noise_std is not None
    weights = FIXED.generator("source/weights").standard_normal(p)
    x = FIXED.generator("source/features").standard_normal((n, p))
    y = x @ weights + noise_std * FIXED.generator("source/noise").standard_normal(n)
    return split_off_test(settings, x.astype(np.float32), y.astype(np.float32), n_classes=0)
