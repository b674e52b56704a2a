"""Data sources: records, the data of those without raw files, and names of data sets."""

from __future__ import annotations

import hashlib
import zlib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from raw_data import raw, refusal, source

from pausefl.data import sources
from pausefl.data.raw_data import (
    check_available,
    dataset_key,
    make_source,
    prepare,
    training_size,
)
from pausefl.settings import DataSettings, RawData

NOWHERE = raw(Path("nowhere"))
DIGITS = source("digits", test_fraction=0.2)
REGRESSION = source("synthetic_regression", test_fraction=0.25, n_examples=400, n_features=5, noise_std=0.1)


def all_digits() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The digits in the order of the file that is shipped, which is that of scikit-learn's."""
    with np.load(Path(sources.__file__).with_name("digits.npz")) as archive:
        return archive["pixels"].astype(np.float64), archive["labels"].astype(np.int64)


def test_the_digits_that_are_shipped_are_those_of_scikit_learn() -> None:
    """Digests of the arrays of `sklearn.datasets.load_digits`."""
    digests = [hashlib.sha256(array.tobytes()).hexdigest()[:16] for array in all_digits()]
    assert digests == ["20def7f70a702f0a", "a3c91c262eddcf7b"]


def test_the_test_split_of_the_digits_is_drawn_and_not_the_end_of_the_file() -> None:
    """Writers come one after another in the file: its last fifth is harder than the rest."""
    x, y = all_digits()
    pixels, n_test = np.rint(x * 255 / 16).astype(np.uint8).reshape(-1, 1, 8, 8), 359
    key = np.random.SeedSequence(0, spawn_key=(zlib.crc32(b"source/test-split"), 0, 0))
    order = np.random.Generator(np.random.Philox(key)).permutation(1797)
    data = prepare(DIGITS, NOWHERE)
    np.testing.assert_array_equal(data.test_x, pixels[order[:n_test]])
    np.testing.assert_array_equal(data.test_y, y[order[:n_test]])
    np.testing.assert_array_equal(data.train_x, pixels[order[n_test:]])
    np.testing.assert_array_equal(data.train_y, y[order[n_test:]])
    for part in (slice(n_test), slice(-n_test, None)):
        assert np.bincount(data.test_y).tolist() != np.bincount(y[part]).tolist()


def test_synthetic_regression_is_a_linear_model() -> None:
    data = prepare(REGRESSION, NOWHERE)
    assert data.train_x.shape == (300, 5)
    assert data.test_x.shape == (100, 5)
    assert data.train_x.dtype == data.train_y.dtype == np.float32
    assert data.n_classes == 0
    weights, residual, *_ = np.linalg.lstsq(data.train_x, data.train_y, rcond=None)
    assert np.sqrt(residual[0] / 295) == pytest.approx(0.1, rel=0.2)
    assert np.std(data.test_y - data.test_x @ weights) == pytest.approx(0.1, rel=0.3)


def test_a_test_split_without_examples_is_refused() -> None:
    tiny = source("digits", test_fraction=1e-9)
    for action in (prepare, check_available, training_size):
        assert "leaves 0 for testing and 1797 for training" in refusal(action, tiny, NOWHERE)


@pytest.mark.parametrize(
    ("settings", "where", "key", "origin", "size"),
    [
        (source("mnist", n_train=2000, n_validation=9), NOWHERE, "mnist", "MNIST, official files", 60_000),
        (DIGITS, NOWHERE, "digits-test0.2", "handwritten digits of scikit-learn (UCI, 8 x 8 pixels)", 1438),
        (
            source("cifar10", image_size=8),
            raw(Path("x"), cifar10="jpeg/cifar10"),
            "cifar10-from-jpeg-cifar10-size8-14a7f810",
            "CIFAR-10 from image folder jpeg/cifar10 (re-encoded images, not the official bytes),"
            " resized to 8 x 8",
            None,
        ),
    ],
)
def test_key_origin_and_size(
    settings: DataSettings, where: RawData, key: str, origin: str, size: int | None
) -> None:
    assert dataset_key(settings, where) == key
    assert make_source(settings, where).describe() == origin
    assert training_size(settings, where) == size


def test_keys_tell_data_apart_and_are_file_names() -> None:
    variants = [
        source("imagefolder", folder="pets"),
        source("imagefolder", folder="pets", image_size=8),
        source("imagefolder", folder="pets", test_fraction=0.2),
        source("imagefolder", folder="pets/"),
        source("imagefolder", folder="../pets"),
    ]
    keys = [dataset_key(settings, NOWHERE) for settings in variants]
    assert len(set(keys)) == len(keys)
    assert not any("/" in key for key in keys)
