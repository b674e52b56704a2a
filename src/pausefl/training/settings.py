"""The sections ``model`` and ``training`` of a scenario."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import model_validator

from pausefl.errors import ConfigError, suggest
from pausefl.plugins import OwnPartError, naming
from pausefl.schema.base import Settings
from pausefl.schema.types import Count, OneOf, Positive, Real, Whole
from pausefl.training.models import MODELS

if TYPE_CHECKING:
    from torch import nn

#: Rounds that a job may have.
MOST_ROUNDS = 10**7

_DEVICES = ("auto", "cpu", "cuda")


def check_device(name: str) -> None:
    """Raise `ConfigError` for a device that no machine has, also where nothing is trained."""
    if name not in _DEVICES:
        raise ConfigError(f"unknown device '{name}'. {suggest(str(name), _DEVICES)}")


class ModelSettings(Settings):
    """The network that is trained."""

    name: Annotated[str, OneOf(MODELS)]
    """The network."""
    norm: Literal["batch", "group", "none"]
    """Normalisation layers. `batch`: batch normalisation, averaged without clamp or noise as in the authors'
    code, so released outside the budget. `group`: group normalisation, protected like every other weight.
    `none`: no such layers."""

    def build(self, input_shape: tuple[int, ...], n_outputs: int) -> nn.Module:
        """The network for examples of a shape; `ConfigError` if it cannot take them.

        One of a user's own is tried on two examples of zeros. ``input_shape`` is
        `pausefl.data.dataset.Dataset.input_shape`.
        """
        model = MODELS.find(self.name)
        if problem := misfit(self.name, len(input_shape) == 2):
            raise ConfigError(problem)
        smallest = model.smallest_image
        if smallest is not None and (len(input_shape) != 3 or min(input_shape[1:]) < smallest):
            raise ConfigError(
                f"model {self.name} needs images of at least {smallest} x {smallest} pixels, got"
                f" {input_shape[1:]}"
            )
        with naming(model, f"model '{self.name}'", "when it was built and tried"):
            module = model.build(input_shape, n_outputs, self.norm)
            if ":" in self.name:
                _try(module, input_shape, n_outputs, f"model '{self.name}'")
        return module


def misfit(model: str, tokens: bool) -> str:
    """Why a model cannot take examples that are, or are not, token ids; empty if it can."""
    if MODELS.find(model).tokens == tokens:
        return ""
    if not tokens:
        return f"model '{model}' needs token ids, which the data set does not have"
    fitting = [name for name, one in MODELS.items() if one.tokens]
    return (
        f"model '{model}' takes numbers, and the data set has token ids: choose a model with an embedding"
        f" ({', '.join(fitting)}; one of your own says tokens = True)"
    )


def _try(module: nn.Module, input_shape: tuple[int, ...], n_outputs: int, name: str) -> None:
    """Raise `OwnPartError` unless a network has so many outputs for each of two examples."""
    import torch  # settings are read where it is not installed

    with torch.no_grad():
        tokens = len(input_shape) == 2
        zeros = torch.zeros(2, input_shape[0], dtype=torch.int64) if tokens else torch.zeros(2, *input_shape)
        out = copy.deepcopy(module).eval()(zeros)
    if (found := tuple(getattr(out, "shape", ()))) != (2, n_outputs):
        raise OwnPartError(f"returned outputs of shape {found} for two examples, not (2, {n_outputs})", name)


class TrainingSettings(Settings):
    """Rounds, and what a selected user does in one of them."""

    n_rounds: Annotated[int, Whole(ge=1, le=MOST_ROUNDS)]
    """Federated rounds; the most of them if there is a `time_horizon_s`."""
    n_epochs: Annotated[int, Whole(ge=1, le=100_000)]
    """Passes over a user's own data in a round."""
    batch_size: Annotated[int, Whole(ge=1, le=1_000_000)]
    """Examples in a mini-batch."""
    max_batches: Annotated[int, Whole(ge=1, le=1_000_000)]
    """Most mini-batches of an epoch; what is left over is skipped in that round."""
    short_batches: Literal["keep", "skip"] = "keep"
    """What becomes of an epoch's last mini-batch if it has fewer than `batch_size` examples. `keep`: it is
    trained on. `skip`: it is not, unless it is the only one, as in the authors' logs; every user then needs
    two examples."""
    learning_rate: Positive
    """Learning rate of `optimizer`, the same in every round."""
    optimizer_state: Literal["persist", "reset"]
    """What the optimizer remembers of a user: Adam's moments, or SGD's velocity. `persist`: kept from one
    participation to the next, as in the authors' code. `reset`: set to zero in every round."""
    optimizer: Literal["adam", "sgd"] = "adam"
    """`adam`: Adam, as in the authors' code. `sgd`: stochastic gradient descent, with `momentum`."""
    momentum: Annotated[float, Real(ge=0, lt=1)] = 0.0
    """Share of the velocity that is left at the next step, as in `torch.optim.SGD` (optimizer `sgd`); 0 for
    no momentum."""
    evaluate_every: Count = 1
    """Rounds from one evaluation of the global model to the next; the first and the last round are always
    evaluated. Between two evaluations curves are straight lines."""
    evaluate_all_until: Count = 1
    """Every round up to this one is evaluated, whatever `evaluate_every` says."""
    time_horizon_s: Positive | None = None
    """Simulated seconds after which a run ends: its last round is the first to end at that time or later.
    Null for `n_rounds` rounds, however long they last."""

    @model_validator(mode="after")
    def _momentum_of_sgd(self) -> Self:
        if self.momentum and self.optimizer != "sgd":
            raise ValueError(f"momentum = {self.momentum} is for optimizer 'sgd', not '{self.optimizer}'")
        return self

    @property
    def horizon(self) -> float:
        """`time_horizon_s`, infinite where it is null."""
        return math.inf if self.time_horizon_s is None else self.time_horizon_s
