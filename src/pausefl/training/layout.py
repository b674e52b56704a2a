"""How many values a model has, of which kind."""

from __future__ import annotations

from dataclasses import dataclass

from pausefl.data.dataset import Dataset
from pausefl.settings import ModelSettings
from pausefl.streams import Streams


@dataclass(frozen=True)
class Layout:
    """How the values of a model are laid out in a flat vector: protected | unprotected | buffers.

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


def model_layout(settings: ModelSettings, dataset: Dataset) -> Layout:
    """Numbers of protected, trainable and all values of a model, without training it."""
    import torch

    from pausefl.training.engine import build_model
    from pausefl.training.flat import FlatModel

    return FlatModel(build_model(settings, dataset, Streams(0)), torch.device("cpu")).layout
