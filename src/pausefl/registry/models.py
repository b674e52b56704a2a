"""Every network that can be trained, and what the rest of the package must know of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pausefl.registry.base import Record, Registry


@dataclass(frozen=True)
class ModelRecord(Record):
    """A network: a function of input shape, number of outputs and normalisation that makes the module."""

    #: ``dense``: the function returns a `pausefl.training.models.Mlp`, which compiled kernels train.
    #: ``convolutional``: any other network; a GPU pays.
    family: Literal["dense", "convolutional"] = "convolutional"
    #: Values of ``model.norm`` that apply.
    norms: tuple[str, ...] = ("none",)
    #: Fewest pixels a side, for a network that needs images; None for one that takes examples of any shape.
    smallest_image: int | None = None
    #: Values of ``model.norm`` whose layers keep batch statistics, which leave a user without noise (D9).
    unprotected_norms: tuple[str, ...] = ("batch",)
    #: What it is, for the reference of settings.
    about: str = field(default="", repr=False)

    @property
    def needs_images(self) -> bool:
        """Whether it needs images."""
        return self.smallest_image is not None

    def shares_statistics(self, norm: str) -> bool:
        """Whether some of its values leave a user without noise, with the normalisation ``norm``."""
        return norm in self.unprotected_norms


#: In the order of the reference of settings.
MODELS: Registry[ModelRecord] = Registry(
    "model",
    {
        "fc": ModelRecord(
            "pausefl.training.models:fc",
            family="dense",
            about="fully connected with hidden layers of 32 and 16 (MNIST)",
        ),
        "cnn3": ModelRecord(
            "pausefl.training.models:cnn3",
            family="convolutional",
            norms=("batch", "group"),
            smallest_image=22,
            about="three convolutional blocks and fully connected layers (CIFAR-10)",
        ),
        "cnn5": ModelRecord(
            "pausefl.training.models:cnn5",
            family="convolutional",
            norms=("batch", "group"),
            smallest_image=32,
            about="five convolutions and fully connected layers with dropout (CIFAR-10)",
        ),
        "cnn5_as_run": ModelRecord(
            "pausefl.training.models:cnn5_as_run",
            family="convolutional",
            norms=("batch", "group"),
            smallest_image=32,
            about="`cnn5` with normalisation in place of dropout, as in the authors' log (CIFAR-10)",
        ),
        "cnn_bsfl": ModelRecord(
            "pausefl.training.models:cnn_bsfl",
            family="convolutional",
            smallest_image=10,
            about="two convolutional blocks, dropout and two dense layers (BSFL)",
        ),
        "linear": ModelRecord("pausefl.training.models:linear", family="dense", about="linear regression"),
    },
    own=ModelRecord,
)
