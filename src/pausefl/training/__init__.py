"""Local training of a round's users, and evaluation of the global model."""

from pausefl.training.backends.base import LocalUpdates
from pausefl.training.engine import Trainer, choose_device, model_layout

__all__ = ["LocalUpdates", "Trainer", "choose_device", "model_layout"]
