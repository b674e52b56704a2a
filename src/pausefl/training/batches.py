"""The examples on which a user trains in a round, and their order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pausefl.training.settings import TrainingSettings


@dataclass(frozen=True)
class Participation:
    """Work of a user in a round.

    Attributes
    ----------
    user
        Its id.
    batches
        Positions in the training split of each mini-batch, in order.
    dropout_seed
        Seed of the dropout masks (deviation D66); None for a network without dropout.
    """

    user: int
    batches: list[NDArray[np.int64]]
    dropout_seed: int | None = None

    @property
    def n_visited(self) -> int:
        """Examples visited, in all mini-batches."""
        return sum(map(len, self.batches))


def plan_batches(
    n_examples: int, training: TrainingSettings, smallest: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Mini-batches of one participation: positions within the user's data.

    Each epoch visits the user's data in a new random order, in at most ``max_batches`` batches. The last one
    may be short; it is dropped if it is shorter than ``smallest`` and not the only one (batch normalisation
    cannot train on a single example). With ``short_batches: skip`` it is dropped unless it is the only one
    and has more than one example.

    Parameters
    ----------
    n_examples
        Size of the user's data, at least ``smallest``.
    training
        Batch size, number of epochs, the largest number of batches in one, and what becomes of a short one.
    smallest
        Smallest batch the model can train on.
    rng
        The stream of this user and round.
    """
    least, least_alone = smallest, 1
    if training.short_batches == "skip":
        least, least_alone = training.batch_size, min(training.batch_size, 2)
    batches: list[NDArray[np.int64]] = []
    for _ in range(training.n_epochs):
        order = rng.permutation(n_examples)
        starts = range(0, n_examples, training.batch_size)[: training.max_batches]
        batches += [
            order[start : start + training.batch_size]
            for start in starts
            if n_examples - start >= (least if start else least_alone)
        ]
    return batches
