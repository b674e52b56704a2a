"""How many examples each user gets: the laws of sizes of `pausefl.data.settings.PartitionSettings`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pausefl.data.settings import PartitionSettings
from pausefl.errors import DataError
from pausefl.streams import Streams

IntArray = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


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
    check_least(settings, sizes, streams.seed)
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


def check_least(settings: PartitionSettings, sizes: IntArray, seed: int) -> None:
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
