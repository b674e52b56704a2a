"""Clients of frameworks that say how many examples they have only when they answer."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

import numpy as np

from pausefl.picker.picker import Picker


def join_new(picker: Picker, ids: Iterable[Hashable]) -> list[Hashable]:
    """Have those join that a picker does not know; returns them.

    They count as having the mean number of examples of those that told theirs, until `learn_sizes`.
    """
    new = [one for one in ids if one not in picker.index]
    picker.join(dict.fromkeys(new, _mean_size(picker)))
    picker.size_guessed.update(new)
    return new


def learn_sizes(picker: Picker, sizes: Mapping[Hashable, int]) -> None:
    """Take over numbers of examples that clients told, and their mean for those that have not yet."""
    picker.resize(sizes)
    picker.size_guessed.difference_update(sizes)
    picker.resize(dict.fromkeys(picker.size_guessed, _mean_size(picker)))


def _mean_size(picker: Picker) -> int:
    sizes = zip(picker.ids, picker.history.data_size.tolist(), strict=True)
    known = [size for one, size in sizes if one not in picker.size_guessed]
    return round(np.mean(known)) if known else 1
