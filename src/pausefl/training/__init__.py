"""Local training of a round's users, and evaluation of the global model."""

from pausefl.training.engine import Trainer, choose_device, model_layout
from pausefl.training.methods import LocalUpdates

__all__ = ["LocalUpdates", "Trainer", "choose_device", "model_layout"]
