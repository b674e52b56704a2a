"""Number of values of a model, by kind."""

from __future__ import annotations

from pausefl.data.dataset import Dataset
from pausefl.streams import Streams
from pausefl.training.layout import Layout
from pausefl.training.settings import ModelSettings


def model_layout(settings: ModelSettings, dataset: Dataset) -> Layout:
    """Numbers of protected, trainable and all values of a model, without training it."""
    import torch

    from pausefl.training.engine import build_model
    from pausefl.training.flat import FlatModel

    return FlatModel(build_model(settings, dataset, Streams(0)), torch.device("cpu")).layout
