"""Every data source: official files, folders, this package, or fixed random numbers."""

from __future__ import annotations

from pausefl.data.sources.base import Source
from pausefl.data.sources.cifar10 import Cifar10
from pausefl.data.sources.digits import Digits
from pausefl.data.sources.folder import ImageFolder
from pausefl.data.sources.leaf import Leaf, LeafText
from pausefl.data.sources.mnist import FashionMnist, Mnist
from pausefl.data.sources.regression import SyntheticRegression
from pausefl.data.sources.shakespeare import Shakespeare
from pausefl.data.sources.table import Table
from pausefl.data.sources.torchvision_set import torchvision_source
from pausefl.plugins import Plugins

__all__ = ["SOURCES", "Source"]


class _Sources(Plugins[Source]):
    """Sources by name, of which ``torchvision:CLASS`` is a data set of torchvision."""

    def _own(self, place: str) -> type[Source]:
        module, _, name = place.partition(":")
        return torchvision_source(name) if module == "torchvision" else super()._own(place)

    def refusal(self, name: str) -> str:
        """What is wrong with a name that has no class, in words that follow the name."""
        others = " Image sets of torchvision are named like torchvision:SVHN." * (":" not in name)
        return super().refusal(name) + others


#: In the order of the documentation.
SOURCES = _Sources(
    "data source",
    Source,  # type: ignore[type-abstract]
    {
        "digits": Digits,
        "mnist": Mnist,
        "fashion_mnist": FashionMnist,
        "cifar10": Cifar10,
        "imagefolder": ImageFolder,
        "synthetic_regression": SyntheticRegression,
        "shakespeare": Shakespeare,
        "leaf": Leaf,
        "leaf_text": LeafText,
        "table": Table,
    },
)
