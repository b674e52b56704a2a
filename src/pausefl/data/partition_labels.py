"""Which examples each user gets: the laws of labels of `pausefl.data.settings.PartitionSettings`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from pausefl.data.settings import PartitionSettings
from pausefl.errors import DataError
from pausefl.streams import Streams

IntArray = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: Draws of labels by a Dirichlet distribution before giving up.
_MOST_DRAWS = 1000


def drawn_users(
    labels: npt.NDArray[Any],
    pool: IntArray,
    sizes: IntArray,
    settings: PartitionSettings,
    n_users: int,
    streams: Streams,
) -> list[IntArray]:
    """Indices of each user by the law of labels.

    Parameters
    ----------
    labels
        Of the training split, (N,).
    pool
        Indices of the examples to share out.
    sizes
        (K,) how many each is to get; of labels `dirichlet`, which decide them, none.
    settings, n_users, streams
        As for `pausefl.data.partition.make_partition`.
    """
    match settings.labels:
        case "dirichlet":
            return _dirichlet_users(labels, pool, n_users, settings, streams)
        case "dominant":
            return _dominant_users(labels, pool, sizes, settings.dominant_share or 0.0, streams)
        case "dominant_pools":
            exact = settings.sizes == "listed"
            return _users_of_pools(labels, pool, sizes, settings.dominant_share or 0.0, exact, streams)
        case "stratified":
            return _stratified_users(labels, pool, sizes, streams)
        case "iid":
            return _iid_users(pool, sizes, streams)


def given_users(given: npt.NDArray[Any] | None, pool: IntArray, n_users: int, source: str) -> list[IntArray]:
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


def _deal(indices: IntArray, sizes: IntArray) -> list[IntArray]:
    """Consecutive parts of the given sizes; what is left over is in none."""
    return np.split(indices, np.cumsum(sizes))[:-1]


def warn_of_shortage(settings: PartitionSettings, largest: Floats, n_classes: int, seed: int) -> None:
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
