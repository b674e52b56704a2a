"""The networks that can be trained. PyTorch is imported when one is built: settings look at facts alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal

from pausefl.plugins import Plugins

if TYPE_CHECKING:
    from torch import nn


class Model(ABC):
    """A network, for examples of some shape."""

    #: ``dense``: `build` returns a `pausefl.training.networks.Mlp`, which compiled kernels train.
    #: ``convolutional``: any other network; a GPU pays.
    family: ClassVar[Literal["dense", "convolutional"]] = "convolutional"
    #: Values of ``model.norm`` that apply.
    norms: ClassVar[tuple[str, ...]] = ("none",)
    #: Whether it takes token ids, and nothing else: it begins with an embedding.
    tokens: ClassVar[bool] = False
    #: Fewest pixels a side, for a network that needs images; None for one that takes examples of any shape.
    smallest_image: ClassVar[int | None] = None
    #: Values of ``model.norm`` whose layers keep batch statistics, which leave a user without noise (D9).
    unprotected_norms: ClassVar[tuple[str, ...]] = ("batch",)
    #: What it is, for the reference of settings.
    about: ClassVar[str] = ""

    @staticmethod
    @abstractmethod
    def build(input_shape: tuple[int, ...], n_outputs: int, norm: str) -> nn.Module:
        """The network for examples of a shape, with PyTorch's initial weights.

        The shape of token ids is (length, symbols); the network gets int64 of shape (batch, length).
        ``n_outputs`` is the number of classes, or 1 for regression; ``norm`` is one of `norms`.
        """


class Fc(Model):
    """`pausefl.training.networks.fc`."""

    family = "dense"
    about = "fully connected with hidden layers of 32 and 16 (MNIST)"

    @staticmethod
    def build(input_shape: tuple[int, ...], n_outputs: int, norm: str) -> nn.Module:
        """See `Model.build`."""
        from pausefl.training.networks import fc

        return fc(input_shape, n_outputs)


class Cnn3(Model):
    """`pausefl.training.networks.cnn3`."""

    norms = ("batch", "group")
    smallest_image = 22
    about = "three convolutional blocks and fully connected layers (CIFAR-10)"

    @staticmethod
    def build(input_shape: tuple[int, ...], n_outputs: int, norm: str) -> nn.Module:
        """See `Model.build`."""
        from pausefl.training.networks import cnn3

        return cnn3(input_shape, n_outputs, norm)


class Cnn5(Model):
    """`pausefl.training.networks.cnn5`."""

    norms = ("batch", "group")
    smallest_image = 32
    about = "five convolutions and fully connected layers with dropout (CIFAR-10)"

    @staticmethod
    def build(input_shape: tuple[int, ...], n_outputs: int, norm: str) -> nn.Module:
        """See `Model.build`."""
        from pausefl.training.networks import cnn5

        return cnn5(input_shape, n_outputs, norm)


class Cnn5AsRun(Cnn5):
    """`pausefl.training.networks.cnn5_as_run`."""

    about = "`cnn5` with normalisation in place of dropout, as in the authors' log (CIFAR-10)"

    @staticmethod
    def build(input_shape: tuple[int, ...], n_outputs: int, norm: str) -> nn.Module:
        """See `Model.build`."""
        from pausefl.training.networks import cnn5_as_run

        return cnn5_as_run(input_shape, n_outputs, norm)


class CnnBsfl(Model):
    """`pausefl.training.networks.cnn_bsfl`."""

    smallest_image = 10
    about = "two convolutional blocks, dropout and two dense layers (BSFL)"

    @staticmethod
    def build(input_shape: tuple[int, ...], n_outputs: int, norm: str) -> nn.Module:
        """See `Model.build`."""
        from pausefl.training.networks import cnn_bsfl

        return cnn_bsfl(input_shape, n_outputs)


class Linear(Model):
    """`pausefl.training.networks.linear`."""

    family = "dense"
    about = "linear regression"

    @staticmethod
    def build(input_shape: tuple[int, ...], n_outputs: int, norm: str) -> nn.Module:
        """See `Model.build`."""
        from pausefl.training.networks import linear

        return linear(input_shape, n_outputs)


class TokenMlp(Model):
    """`pausefl.training.networks.token_mlp`."""

    tokens = True
    about = "an embedding and two dense layers on token ids, such as the next character of a text"

    @staticmethod
    def build(input_shape: tuple[int, ...], n_outputs: int, norm: str) -> nn.Module:
        """See `Model.build`."""
        from pausefl.training.networks import token_mlp

        return token_mlp(input_shape, n_outputs)


class TokenLstm(Model):
    """`pausefl.training.networks.token_lstm`."""

    tokens = True
    about = "an embedding and two LSTMs on token ids (LEAF's model of Shakespeare); on the CPU alone"

    @staticmethod
    def build(input_shape: tuple[int, ...], n_outputs: int, norm: str) -> nn.Module:
        """See `Model.build`."""
        from pausefl.training.networks import token_lstm

        return token_lstm(input_shape, n_outputs)


class TokenLstmSmall(Model):
    """`pausefl.training.networks.token_lstm_small`."""

    tokens = True
    about = "an embedding and one LSTM of 128 on token ids; on the CPU alone"

    @staticmethod
    def build(input_shape: tuple[int, ...], n_outputs: int, norm: str) -> nn.Module:
        """See `Model.build`."""
        from pausefl.training.networks import token_lstm_small

        return token_lstm_small(input_shape, n_outputs)


#: In the order of the reference of settings.
MODELS = Plugins(
    "model",
    Model,  # type: ignore[type-abstract]
    {
        "fc": Fc,
        "cnn3": Cnn3,
        "cnn5": Cnn5,
        "cnn5_as_run": Cnn5AsRun,
        "cnn_bsfl": CnnBsfl,
        "linear": Linear,
        "token_mlp": TokenMlp,
        "token_lstm": TokenLstm,
        "token_lstm_small": TokenLstmSmall,
    },
)
