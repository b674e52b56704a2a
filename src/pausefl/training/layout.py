"""Layout of the values of a model in a flat vector."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """Layout of the values of a model in a flat vector: protected | unprotected | buffers.

    Attributes
    ----------
    n_protected
        Trainable values outside batch normalisation, which come first; they are clamped and noised.
    n_trainable
        All trainable values, the weights and biases of batch normalisation included.
    n_values
        Trainable values and running statistics.
    """

    n_protected: int
    n_trainable: int
    n_values: int
