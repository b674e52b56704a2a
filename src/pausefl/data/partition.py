"""Partition of the training examples among the users.

The training split of a data set is split into a pool for training and a validation set. Every example of the
pool goes to exactly one user, or with the laws of the authors' logs to at most one. A partition depends on
the settings and the seed alone, so every selector meets the same users. Distributions of sizes and labels:
PAUSE (arXiv 2503.13173v2), section V-A, and the logs of its authors' repository.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pausefl.data.dataset import read_arrays, write_arrays
from pausefl.data.settings import DataSettings, PartitionSettings
from pausefl.errors import DataError
from pausefl.files import remedy
from pausefl.streams import Streams

IntArray = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_KIND = "pausefl partition 2"

#: Draws of labels by a Dirichlet distribution before giving up.
_MOST_DRAWS = 1000

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
    asked = partition_settings.asked_share
    if partition_settings.users == "given":
        users = _given_users(given, pool, n_users, data_settings.source)
    elif partition_settings.labels == "dirichlet":
        users = _dirichlet_users(labels, pool, n_users, partition_settings, streams)
    elif asked is not None:
        if partition_settings.labels == "dominant":
            users = _dominant_users(labels, pool, sizes, asked, streams)
        else:
            exact = partition_settings.sizes == "listed"
            users = _users_of_pools(labels, pool, sizes, asked, exact, streams)
    elif partition_settings.labels == "stratified":
        users = _stratified_users(labels, pool, sizes, streams)
    else:
        users = _iid_users(pool, sizes, streams)
    quality = _sample_qualities(partition_settings, n_users, streams)
    partition = Partition(tuple(np.sort(indices) for indices in users), quality, validation)
    _check_least(partition_settings, partition.sizes, streams.seed)
    if asked is not None:
        shares, n_classes = largest_shares(partition, labels), len(np.unique(labels[pool]))
        _warn_of_shortage(partition_settings, shares, n_classes, streams.seed)
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


def sample_sizes(settings: PartitionSettings, n_users: int, n_examples: int, streams: Streams) -> IntArray:
    """Sample how many examples each user is to get, in all at most ``n_examples``.

    Those ``by_labels`` and those of ``given`` users are not known without data; then there are none here.

    ``equal`` sizes differ by at most one; the users with one more are random. ``dirichlet`` sizes follow
    proportions from a symmetric Dirichlet distribution; sizes below ``min_size`` are raised to it, and all
    others scaled down in proportion. Both share out all examples. `PartitionSettings.sizes` describes the
    others.

    Returns
    -------
    ndarray
        int64, shape (K,), each at least max(``min_size``, 1).

    Raises
    ------
    DataError
        If there are too few examples, or some sizes are too small.
    """
    _check_enough(settings, n_users, n_examples)
    if settings.sizes == "by_labels" or settings.users == "given":
        return np.zeros(0, np.int64)
    rng = streams.generator("partition/sizes")
    if settings.sizes == "listed":
        sizes = _listed(settings, n_examples)
    elif settings.sizes in ("equal", "equal_floored"):
        sizes = np.full(n_users, n_examples // n_users, dtype=np.int64)
        if settings.sizes == "equal":
            sizes[rng.permutation(n_users)[: n_examples % n_users]] += 1
    else:
        if settings.size_concentration is None:
            raise DataError(f"partition.sizes '{settings.sizes}' needs partition.size_concentration")
        shares = rng.dirichlet(np.full(n_users, settings.size_concentration)) * n_examples
        if settings.sizes == "dirichlet":
            sizes = _largest_remainder(_raise_to_minimum(shares, settings.min_size), n_examples)
        else:
            raised = np.maximum(n_examples // (3 * n_users), shares.astype(np.int64))
            sizes = raised * n_examples // raised.sum()
    _check_least(settings, sizes, streams.seed)
    return sizes


def _listed(settings: PartitionSettings, n_examples: int) -> IntArray:
    """The listed sizes, unless there are too few examples."""
    if settings.listed_sizes is None:
        raise DataError("partition.sizes 'listed' needs partition.listed_sizes")
    sizes = np.array(settings.listed_sizes, dtype=np.int64)
    if sizes.sum() > n_examples:
        raise DataError(
            f"partition.listed_sizes are {sizes.sum()} examples in all, and there are only {n_examples} to"
            " train on (see data.n_train, data.n_validation)"
        )
    return sizes


def _check_enough(settings: PartitionSettings, n_users: int, n_examples: int) -> None:
    least = max(settings.min_size, 1)
    if n_examples < n_users * least:
        raise DataError(
            f"{n_examples} training examples cannot give {n_users} users at least {least} each: that takes"
            f" {n_users * least} (see partition.min_size, network.n_users, data.n_train, data.n_validation)"
        )


def _check_least(settings: PartitionSettings, sizes: IntArray, seed: int) -> None:
    """Raise `DataError` if users hold less than ``min_size``, or nothing."""
    least = max(settings.min_size, 1)
    if not (n_below := int(np.count_nonzero(sizes < least))):
        return
    what = "without data" if least == 1 else f"with fewer than partition.min_size = {least} examples"
    law, ways = f"partition.sizes '{settings.sizes}'", list[str]()
    if settings.sizes == "dirichlet" and settings.min_size == 0:
        ways.append("raise partition.min_size to 1 or more")
    if settings.sizes in ("dirichlet", "dirichlet_floored"):
        law += f" with partition.size_concentration = {settings.size_concentration:g}"
        ways.append("raise partition.size_concentration")
    if settings.labels == "dominant_pools":
        law += " and partition.labels 'dominant_pools'"
        ways.append("take partition.labels 'dominant', which loses nothing")
    ways.append("lower network.n_users")
    if settings.users == "given":
        law, ways = "partition.users 'given'", ["leave these users out of what the data source reads"]
    if least > 1:
        ways.insert(0, "lower partition.min_size")
    way_out = ", or ".join(ways)
    raise DataError(f"{law} leaves {n_below} of {len(sizes)} users {what} for seed {seed}; {way_out}")


def _given_users(given: npt.NDArray[Any] | None, pool: IntArray, n_users: int, source: str) -> list[IntArray]:
    """Indices of each user, in the order of what the source calls them."""
    if given is None:
        raise DataError(
            f"partition.users 'given' needs a data source that says whose an example is; '{source}' has no"
            " train_users (docs/extending.md)"
        )
    names, whose = np.unique(given[pool], return_inverse=True)
    if len(names) != n_users:
        raise DataError(
            f"network.n_users = {n_users}, but data source '{source}' gives the {len(pool)} training examples"
            f" to {len(names)} users: set network.n_users to {len(names)}"
        )
    return _deal(pool[np.argsort(whose, kind="stable")], np.bincount(whose))


def _dirichlet_users(
    labels: npt.NDArray[Any], pool: IntArray, n_users: int, settings: PartitionSettings, streams: Streams
) -> list[IntArray]:
    """Indices of each user; of each class, shares of a symmetric Dirichlet distribution (Hsu et al., 2019).

    `DataError` if some user has less than ``min_size`` examples in each of `_MOST_DRAWS` draws.
    """
    if settings.label_concentration is None:
        raise DataError("partition.labels 'dirichlet' needs partition.label_concentration")
    rng, least = streams.generator("partition/labels"), max(settings.min_size, 1)
    by_class = [rng.permutation(pool[labels[pool] == one]) for one in np.unique(labels[pool])]
    smallest = 0
    for _ in range(_MOST_DRAWS):
        shares = rng.dirichlet(np.full(n_users, settings.label_concentration), len(by_class))
        parts = [
            np.split(own, np.round(np.cumsum(share)[:-1] * len(own)).astype(np.int64))
            for own, share in zip(by_class, shares, strict=True)
        ]
        users = [np.concatenate(part) for part in zip(*parts, strict=True)]
        if (smallest := max(smallest, min(map(len, users)))) >= least:
            return users
    raise DataError(
        f"partition.labels 'dirichlet' with partition.label_concentration = {settings.label_concentration:g}"
        f" gives some of {n_users} users at most {smallest} of {len(pool)} examples in {_MOST_DRAWS} draws"
        f" for seed {streams.seed}, fewer than {least}: raise partition.label_concentration, or lower"
        f" {'partition.min_size or ' if least > 1 else ''}network.n_users"
    )


def _warn_of_shortage(settings: PartitionSettings, largest: Floats, n_classes: int, seed: int) -> None:
    """Warn if the most frequent label of a user has at most half of the share that is asked for."""
    asked, n_users = settings.dominant_share or 0.0, len(largest)
    if not (n_short := int(np.count_nonzero(largest <= asked / 2))):
        return
    enough = n_users / (n_classes * -(-n_users // n_classes))  # if everybody holds equally much
    if enough < asked and (settings.labels == "dominant" or n_users < n_classes):
        ways = f"lower it to {enough:.2g}"
    else:
        ways = "lower it, or take more equal partition.sizes"
    if n_users % n_classes:
        ways += f", or make network.n_users a multiple of {n_classes}"
    warnings.warn(
        f"partition.dominant_share = {asked:g} is more than there is for seed {seed}: labels run out, and"
        f" {n_short} of {n_users} users have at most half of it, the least {largest.min():.2g}; {ways}",
        stacklevel=3,
    )


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


def _raise_to_minimum(shares: Floats, least: int) -> Floats:
    """Raise shares below ``least`` and scale the others down in proportion, keeping the sum."""
    total = shares.sum()
    raised = np.zeros(len(shares), dtype=bool)
    scaled = shares
    # Scaling down can push further users below the minimum; each pass raises at least one more user.
    while np.any(below := ~raised & (scaled < least)):
        raised |= below
        free = shares[~raised].sum()
        factor = (total - least * raised.sum()) / free if free > 0 else 0.0
        scaled = np.where(raised, float(least), shares * factor)
    return scaled


def _largest_remainder(shares: Floats, total: int) -> IntArray:
    """Round shares to integers that sum to ``total``, each to one of its two neighbours."""
    sizes = np.floor(shares).astype(np.int64)
    order = np.argsort(sizes - shares, kind="stable")
    sizes[order[: total - int(sizes.sum())]] += 1
    return sizes


def _deal(indices: IntArray, sizes: IntArray) -> list[IntArray]:
    """Consecutive parts of the given sizes; what is left over is in none."""
    return np.split(indices, np.cumsum(sizes))[:-1]


def _iid_users(pool: IntArray, sizes: IntArray, streams: Streams) -> list[IntArray]:
    return _deal(streams.generator("partition/examples").permutation(pool), sizes)


def _stratified_users(
    labels: npt.NDArray[Any], pool: IntArray, sizes: IntArray, streams: Streams
) -> list[IntArray]:
    """Deal the examples class by class, one to each user in turn; needs sizes that differ by at most one."""
    rng = streams.generator("partition/labels")
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]  # whoever has one more is dealt to once more
    classes = rng.permutation(np.unique(labels[pool]))
    shuffled = streams.generator("partition/examples").permutation(pool)
    dealt = np.concatenate([shuffled[labels[shuffled] == label] for label in classes])
    turns = np.argsort(order)
    return [dealt[turn :: len(sizes)] for turn in turns]


def _reserved_share(share: float, n_classes: int) -> float:
    """Share r of its data to reserve for a user's dominant label, so that it has ``share`` of it in all.

    The rest is drawn from all classes, which are equally frequent: r + (1 - r) / n_classes = share.
    """
    if share * n_classes < 1:
        raise DataError(
            f"partition.dominant_share = {share:g} is less than 1/{n_classes}, the share of each of"
            f" {n_classes} classes without a dominant one; raise it to {1 / n_classes:.3g} or more"
        )
    return 1.0 if share == 1 else (share * n_classes - 1) / (n_classes - 1)


def _dominant_users(
    labels: npt.NDArray[Any], pool: IntArray, sizes: IntArray, share: float, streams: Streams
) -> list[IntArray]:
    """Give each user examples of its dominant label, then the rest from what is left of all labels.

    On average, ``share`` of a user's data has its dominant label.
    """
    n_users = len(sizes)
    rng = streams.generator("partition/labels")
    classes = rng.permutation(np.unique(labels[pool]))
    reserved = _reserved_share(share, len(classes))
    dominant = rng.permutation(classes[np.arange(n_users) % len(classes)])
    # A label may run out. The order is random because latencies depend on the user's index.
    turns = rng.permutation(n_users)

    rng = streams.generator("partition/examples")
    shuffled = rng.permutation(pool)
    stock = {label: shuffled[labels[shuffled] == label] for label in classes}
    own: list[IntArray] = [pool[:0]] * n_users
    for user in turns:
        label, wanted = dominant[user], round(reserved * int(sizes[user]))
        own[user], stock[label] = stock[label][:wanted], stock[label][wanted:]

    left = rng.permutation(np.concatenate(list(stock.values())))
    rest = _deal(left, sizes - np.array([len(indices) for indices in own]))
    return [np.concatenate(pair) for pair in zip(own, rest, strict=True)]


def _users_of_pools(
    labels: npt.NDArray[Any], pool: IntArray, sizes: IntArray, share: float, exact: bool, streams: Streams
) -> list[IntArray]:
    """Give each user examples of its dominant label, then equally many of each other label.

    Users are served in order of their index. What the stock of a dominant label lacks comes from the others,
    and what these lack, or rounding leaves, is lost: so the sizes in the authors' logs come about.

    Parameters
    ----------
    sizes
        (K,) how many examples each is to get.
    share
        Of the dominant label.
    exact
        Whether users get what is lost in the end, from what is left of all labels.
    """
    n_users = len(sizes)
    classes = np.unique(labels[pool])
    rng = streams.generator("partition/labels")
    dominant = rng.permutation(np.repeat(classes, -(-n_users // len(classes))))[:n_users]

    rng = streams.generator("partition/examples")
    shuffled = rng.permutation(pool)
    stock = {label: shuffled[labels[shuffled] == label] for label in classes}
    users = []
    for own, size in zip(dominant, sizes.tolist(), strict=True):
        wanted = int(size * share)
        each = (size - min(wanted, len(stock[own]))) // max(len(classes) - 1, 1)
        held = []
        for label in classes:
            n = wanted if label == own else each
            held.append(stock[label][:n])
            stock[label] = stock[label][n:]
        users.append(np.concatenate(held))
    if exact:
        left = rng.permutation(np.concatenate(list(stock.values())))
        rest = _deal(left, sizes - np.array([len(indices) for indices in users]))
        users = [np.concatenate(pair) for pair in zip(users, rest, strict=True)]
    return users


def _sample_qualities(settings: PartitionSettings, n_users: int, streams: Streams) -> Floats:
    if settings.qualities == "uniform":
        return streams.generator("quality").uniform(*QUALITY_RANGE, size=n_users)
    return np.ones(n_users)
