"""How many values a model has, of which kind. PyTorch is loaded only to count those of an unknown model."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from importlib.metadata import version

from pausefl.data.dataset import Dataset
from pausefl.provenance.kept import kept
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

    def count() -> tuple[int, ...]:
        import torch

        from pausefl.training.engine import build_model
        from pausefl.training.flat import FlatModel

        return astuple(FlatModel(build_model(settings, dataset, Streams(0)), torch.device("cpu")).layout)

    shape, n_classes = dataset.train_x.shape[1:], dataset.n_classes
    return Layout(*kept(f"layout {settings} {shape} {n_classes} {version('torch')}", count))
