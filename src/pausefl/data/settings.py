"""The sections ``data`` and ``partition`` of a scenario, and where raw data are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import model_validator

from pausefl.data.sources import SOURCES
from pausefl.files import path_of
from pausefl.plugins import arguments, check_arguments, check_foreign, keys_of
from pausefl.schema.base import Settings
from pausefl.schema.types import Count, Natural, NonNegative, OneOf, Positive, Real, Several, Text, Whole


@dataclass(frozen=True)
class RawData:
    """Where raw data sets are, and what may be done when they are missing."""

    #: The keys ``data_root``, ``download`` and ``image_folders`` of the configuration.
    root: Path
    download: bool
    folders: dict[str, str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", path_of(self.root))


#: Keys that some laws need, and no others take.
_OF_PARTITIONS = {
    "labels": {
        "dominant": ["dominant_share"],
        "dominant_pools": ["dominant_share"],
        "dirichlet": ["label_concentration"],
    },
    "sizes": {
        "dirichlet": ["size_concentration"],
        "dirichlet_floored": ["size_concentration"],
        "listed": ["listed_sizes"],
    },
}


class DataSettings(Settings):
    """Which data set, and how much of it trains."""

    source: Annotated[str, OneOf(SOURCES)]
    """The data set. Official files may be replaced by `image_folders` of the configuration."""
    n_validation: Natural
    """Images held out of the training split for validation; 0 for none."""
    n_train: Count | None = None
    """Use only the first this many examples of the training split; null for all that validation leaves."""
    folder: Text | None = None
    """Folder under the data root with train/CLASS/ and test/CLASS/ images inside, or with CLASS/ alone and
    `test_fraction` given (`imagefolder`); or with LEAF's JSON files in train/ and test/ (`leaf`,
    `leaf_text`)."""
    file: Text | None = None
    """File under the data root, or an absolute path: `.csv`, `.npz` or `.parquet` (`table`). Each row is an
    example. Columns that no other key names are features, numbers that are taken as they are."""
    label_column: Text | None = None
    """Column of the labels, whole numbers or texts (`table`)."""
    user_column: Text | None = None
    """Column that says whose a row is, whole numbers or texts, for `partition.users: given` (`table`)."""
    image_size: Annotated[int, Whole(ge=1, le=4_096)] | None = None
    """Pixels a side to which images are resized; null keeps their size."""
    test_fraction: Annotated[float, Real(gt=0, lt=1)] | None = None
    """Share of the examples held out for testing. Needed where there is no official test split (`digits`,
    `synthetic_regression`, `table`, an `imagefolder` without test/)."""
    n_examples: Annotated[int, Whole(ge=1, le=100_000_000)] | None = None
    """Number of examples, training and test together (`synthetic_regression`)."""
    n_features: Annotated[int, Whole(ge=1, le=1_000_000)] | None = None
    """Number of features of an example (`synthetic_regression`)."""
    noise_std: NonNegative | None = None
    """Standard deviation of the noise on the target, in the target's unit (`synthetic_regression`)."""

    @model_validator(mode="after")
    def _fits_into_memory(self) -> Self:
        if (self.n_examples or 0) * (self.n_features or 0) > 10**9:
            raise ValueError("n_examples times n_features must be at most 1e9")
        return self

    @model_validator(mode="after")
    def _source_has_its_keys(self) -> Self:
        source = SOURCES[self.source]
        check_arguments(source, vars(self), f"source = '{self.source}'", "data")
        # An image folder in its place has a folder of its own, in image_folders of the configuration.
        more = arguments(source.in_folder).keys() - {"folder"} if source.in_folder else set()
        keys = keys_of(SOURCES, self.source) | {self.source: arguments(source).keys() | more}
        check_foreign(self, "data", {"source": keys})
        return self


class PartitionSettings(Settings):
    """How the training examples are shared among the users; each is used at most once."""

    users: Literal["drawn", "given"] = "drawn"
    """Whose an example is. `drawn`: by `labels` and `sizes`. `given`: the data source says it; `labels` and
    `sizes` play no part."""
    labels: Literal["iid", "stratified", "dominant", "dominant_pools", "dirichlet"]
    """`iid`: every user's examples are sampled from the whole training set. `stratified`: each class is
    spread evenly over the users, up to one example (BSFL, VI); needs sizes `equal`. `dominant`: each user has
    one dominant label (share: `dominant_share`), the others are equally frequent (PAUSE v2, V-A).
    `dominant_pools`: the same in whole numbers, as in the authors' logs: users in order of their index take
    int(`dominant_share` * size) examples of their label, then equally many of each other label; what a label
    lacks is lost, so that users may hold less than `sizes` says, but never with sizes `listed`. `dirichlet`:
    each class is shared among the users by proportions from a symmetric Dirichlet distribution with parameter
    `label_concentration`, drawn again until every user has `min_size` examples; needs sizes `by_labels`."""
    sizes: Literal["equal", "dirichlet", "equal_floored", "dirichlet_floored", "listed", "by_labels"]
    """Sizes of K users' data, of N examples. `equal`: the same number of examples for every user.
    `dirichlet`: shares sampled from a symmetric Dirichlet distribution with parameter `size_concentration`
    (PAUSE v2, V-A). `equal_floored`: N // K for every user. `dirichlet_floored`: from such shares, no less
    than N // 3K, then scaled so that the sum is N, and rounded down. `listed`: `listed_sizes`. With these
    three, some examples may be left to nobody (the authors' logs). `by_labels`: as labels `dirichlet` give
    them."""
    min_size: Natural
    """Fewest examples a user may have. Sizes `dirichlet` below are raised to it; otherwise they are an error,
    as is a user without data."""
    qualities: Literal["equal", "uniform"]
    """Quality q_k of each user's data in the reward `bsfl` (BSFL, eq. 4). `equal`: 1 for everyone.
    `uniform`: sampled from the uniform distribution on [0.2, 1]."""
    dominant_share: Annotated[float, Real(gt=0, le=1)] | None = None
    """Share of a user's examples that has its dominant label (labels `dominant` and `dominant_pools`); for
    `dominant` on average, and at least 1 / number of classes."""
    size_concentration: Positive | None = None
    """Parameter of the Dirichlet distribution (sizes `dirichlet` and `dirichlet_floored`); smaller is more
    unequal."""
    label_concentration: Positive | None = None
    """Parameter of the Dirichlet distribution of each class over the users (labels `dirichlet`); 0.5 and 0.1
    are usual, smaller is more unequal."""
    listed_sizes: Several[Count] | None = None
    """Number of examples of each user, in order of their index (sizes `listed`)."""

    @property
    def asked_share(self) -> float | None:
        """Share of its data that a user's dominant label is to have; None where labels have none."""
        dominant = self.users == "drawn" and self.labels in ("dominant", "dominant_pools")
        return self.dominant_share if dominant else None

    @model_validator(mode="after")
    def _choices_have_their_keys(self) -> Self:
        for what, of in _OF_PARTITIONS.items():
            for key in of.get(chosen := getattr(self, what), ()):
                if getattr(self, key) is None:
                    raise ValueError(f"{what} = '{chosen}' needs {key}")
        if (self.labels == "dirichlet") != (self.sizes == "by_labels"):
            raise ValueError("labels = 'dirichlet' and sizes = 'by_labels' need each other")
        if self.labels == "stratified" and self.sizes != "equal":
            raise ValueError("labels = 'stratified' needs sizes = 'equal'")
        check_foreign(self, "partition", _OF_PARTITIONS)
        return self
