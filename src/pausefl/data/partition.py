"""Partition of the training examples among the users.

The training split of a data set is split into a pool for training and a validation set. Every example of the
pool goes to exactly one user, or with the laws of the authors' logs to at most one. A partition depends on
the settings and the seed alone, so every selector meets the same users. Distributions of sizes and labels:
PAUSE (arXiv 2503.13173v2), section V-A, and the logs of its authors' repository.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pausefl.data.dataset import read_arrays, write_arrays
from pausefl.data.partition_labels import drawn_users, given_users, warn_of_shortage
from pausefl.data.partition_sizes import check_least, sample_sizes
from pausefl.data.settings import DataSettings, PartitionSettings
from pausefl.errors import DataError
from pausefl.files import remedy
from pausefl.streams import Streams

IntArray = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_KIND = "pausefl partition 2"

#: Range of data qualities with ``partition.qualities: uniform``.
QUALITY_RANGE = (0.2, 1.0)


@dataclass(frozen=True, eq=False)
class Partition:
    """Assignment of training examples to users.

    Attributes
    ----------
    users
        For each of the K users the indices of its examples in the training split: int64, sorted, disjoint.
    quality
        Quality of each user's data, in (0, 1]: float64, shape (K,).
    validation
        Indices that no user holds: int64, sorted.
    """

    users: tuple[IntArray, ...]
    quality: Floats
    validation: IntArray

    @property
    def sizes(self) -> IntArray:
        """Number of examples of each user: int64, shape (K,)."""
        return np.array([len(indices) for indices in self.users], dtype=np.int64)

    def save(self, path: Path, name: str) -> None:
        """Write to ``path`` (npz), atomically, with its `partition_name`."""
        shares = {"sizes": self.sizes, "indices": np.concatenate(self.users), "quality": self.quality}
        write_arrays(path, _KIND, name=np.array(name), **shares, validation=self.validation)


def load_partition(path: Path, name: str) -> Partition:
    """Read the partition of this name that `Partition.save` wrote.

    Raises
    ------
    DataError
        If the file is missing, truncated, corrupt or of another kind, or holds another partition.
    """
    arrays = read_arrays(path, _KIND, ("name", "sizes", "indices", "quality", "validation"))
    if (found := str(arrays.pop("name"))) != name:
        raise DataError(f"{path}: is partition {found}, and {name} is needed{remedy(path)}")
    _check_arrays(path, **arrays)
    users = np.split(arrays["indices"], np.cumsum(arrays["sizes"])[:-1])
    return Partition(tuple(users), arrays["quality"], arrays["validation"])


def _check_arrays(path: Path, sizes: Any, indices: Any, quality: Any, validation: Any) -> None:
    """Raise `DataError` unless the arrays of a file share out examples, each at most once."""
    held = np.concatenate([indices.ravel(), validation.ravel()])
    problem = ""
    if any(array.ndim != 1 or array.dtype != np.int64 for array in (sizes, indices, validation)):
        problem = "sizes, indices and validation must be one-dimensional and int64"
    elif not len(sizes) or sizes.min() < 1 or sizes.sum() != len(indices):
        problem = f"the sizes of {len(sizes)} users do not share out {len(indices)} examples"
    elif held.min() < 0 or len(np.unique(held)) < len(held):
        problem = "an example is there twice, or has a negative index"
    elif (
        quality.shape != sizes.shape
        or quality.dtype != np.float64
        or not np.all((quality > 0) & (quality <= 1))
    ):
        problem = "a quality is missing, or not in (0, 1]"
    if problem:
        raise DataError(f"{path}: not a partition: {problem}")


def partition_key(data: DataSettings, settings: PartitionSettings, n_users: int) -> str:
    """File stem of a scenario's partitions among ``n_users``; scenarios with equal partitions share it.

    It ends in a hash of everything that determines a partition apart from the seed and the data set.
    """
    dirichlet = settings.sizes in ("dirichlet", "dirichlet_floored")
    dominant = settings.labels in ("dominant", "dominant_pools")
    determining: dict[str, Any] = {
        "labels": settings.labels,
        "sizes": settings.sizes,
        "min_size": settings.min_size,
        "qualities": settings.qualities,
        "size_concentration": float(settings.size_concentration or 0) if dirichlet else None,
        "dominant_share": float(settings.dominant_share or 0) if dominant else None,
        "n_users": n_users,
        "n_train": data.n_train,
        "n_validation": data.n_validation,
    }
    if settings.labels == "dirichlet":  # a key for all would rename every partition
        determining["label_concentration"] = float(settings.label_concentration or 0)
    if settings.users == "given":
        determining["users"] = "given"
    if settings.sizes == "listed":
        determining["listed_sizes"] = settings.listed_sizes
    digest = hashlib.sha256(json.dumps(determining, sort_keys=True).encode()).hexdigest()[:8]
    concentration = f"{settings.size_concentration:g}" if dirichlet else ""
    law = "given" if settings.users == "given" else f"{settings.labels}-{settings.sizes}{concentration}"
    return f"{law}-K{n_users}-{digest}"


def partition_name(dataset: str, key: str, seed: int) -> str:
    """A partition by the name of its data set, its `partition_key` and its seed: all that determines it."""
    return f"{dataset}/{key}/seed-{seed}"


def make_partition(
    labels: npt.NDArray[Any],
    data_settings: DataSettings,
    partition_settings: PartitionSettings,
    n_users: int,
    streams: Streams,
    given: npt.NDArray[Any] | None = None,
) -> Partition:
    """Sample the partition of a training split.

    Parameters
    ----------
    labels
        Labels of the training split in its fixed order, shape (N,).
    data_settings
        ``n_train``: use only the first examples of the split for training; ``n_validation``: size of the
        validation set.
    partition_settings
        Distributions of labels, sizes and qualities.
    n_users
        Number of users K.
    streams
        Random streams of the seed. Uses ``validation``, ``partition/sizes``, ``partition/labels``,
        ``partition/examples`` and ``quality``.
    given
        Whose each example is, shape (N,), for ``partition.users: given``; user k is the k-th in order.

    Raises
    ------
    DataError
        If the split is too small for the settings, users would hold too little, a dominant label is to be
        rarer than the others, or the source gives no users or another number of them.

    Warns
    -----
    UserWarning
        If labels run out, so that a user gets at most half of the share that its dominant label is to have.
    """
    pool, validation = _hold_out(len(labels), data_settings, streams)
    sizes = sample_sizes(partition_settings, n_users, len(pool), streams)
    if partition_settings.users == "given":
        users = given_users(given, pool, n_users, data_settings.source)
    else:
        users = drawn_users(labels, pool, sizes, partition_settings, n_users, streams)
    quality = _sample_qualities(partition_settings, n_users, streams)
    partition = Partition(tuple(np.sort(indices) for indices in users), quality, validation)
    check_least(partition_settings, partition.sizes, streams.seed)
    if partition_settings.asked_share is not None:
        shares, n_classes = largest_shares(partition, labels), len(np.unique(labels[pool]))
        warn_of_shortage(partition_settings, shares, n_classes, streams.seed)
    return partition


def check_partition(
    data: DataSettings, settings: PartitionSettings, n_users: int, n_examples: int, seeds: Iterable[int]
) -> None:
    """Raise the `DataError` that `make_partition` would raise for ``n_examples`` in the training split.

    Only what depends on their labels is not found.
    """
    _check_split(n_examples, data)
    n_pool = n_examples - data.n_validation if data.n_train is None else data.n_train
    for seed in seeds:
        sample_sizes(settings, n_users, n_pool, Streams(seed))


def largest_shares(partition: Partition, labels: npt.NDArray[np.int64]) -> Floats:
    """Share (K,) of each user's data that has its most frequent label; ``labels`` (N,) are of the split."""
    mix = label_mix(partition, labels, int(labels.max()) + 1)
    return np.asarray(mix.max(axis=1) / mix.sum(axis=1), np.float64)


def label_mix(partition: Partition, labels: npt.NDArray[np.int64], n_classes: int) -> IntArray:
    """Count the examples of each class that each user holds.

    Parameters
    ----------
    partition
        Of K users.
    labels
        Classes of the training split: int64, shape (N,).
    n_classes
        Number of classes.

    Returns
    -------
    ndarray
        int64, shape (K, n_classes).
    """
    return np.stack([np.bincount(labels[indices], minlength=n_classes) for indices in partition.users])


def _hold_out(n: int, settings: DataSettings, streams: Streams) -> tuple[IntArray, IntArray]:
    """Return training pool and validation set; with ``n_train``, validation starts after the pool."""
    _check_split(n, settings)
    indices = np.arange(n, dtype=np.int64)
    n_train, n_validation = settings.n_train, settings.n_validation
    candidates = indices if n_train is None else indices[n_train:]
    shuffled = streams.generator("validation").permutation(candidates)
    validation = np.sort(shuffled[:n_validation])
    pool = np.sort(shuffled[n_validation:]) if n_train is None else indices[:n_train]
    return pool, validation


def _check_split(n: int, settings: DataSettings) -> None:
    """Raise `DataError` if a training split of ``n`` examples is too small for pool and validation."""
    n_train, n_validation = settings.n_train or 0, settings.n_validation
    split = f"the training split of '{settings.source}' has only"
    if n_train > n:
        raise DataError(f"data.n_train = {n_train}, but {split} {n} examples")
    if n_validation > n - n_train:
        beyond = f" beyond the first data.n_train = {n_train}" if n_train else ""
        raise DataError(f"data.n_validation = {n_validation}, but {split} {n - n_train} examples{beyond}")


def _sample_qualities(settings: PartitionSettings, n_users: int, streams: Streams) -> Floats:
    if settings.qualities == "uniform":
        return streams.generator("quality").uniform(*QUALITY_RANGE, size=n_users)
    return np.ones(n_users)
