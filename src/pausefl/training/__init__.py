"""Local training of a round's users, and evaluation of the global model."""

from pausefl.training.engine import LocalUpdates, Trainer, choose_device, model_layout

__all__ = ["LocalUpdates", "Trainer", "choose_device", "model_layout"]
