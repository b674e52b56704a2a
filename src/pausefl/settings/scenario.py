"""A scenario: one federated experiment of a paper, ``config/scenarios/NAME.yaml``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import model_validator

from pausefl.errors import ConfigError
from pausefl.registry import (
    FIGURES,
    MECHANISMS,
    MODELS,
    REWARDS,
    SAMPLERS,
    SCHEDULES,
    SELECTORS,
    SOURCES,
    Record,
)
from pausefl.settings.base import Settings
from pausefl.settings.types import (
    Count,
    Distinct,
    Name,
    Natural,
    NonNegative,
    OneOf,
    Positive,
    Real,
    Several,
    Text,
    Whole,
)

#: Scales of runs: the papers' settings, data that come with a library, a user's own.
SCALES = ("paper", "demo", "own")

#: Rounds that a job may have.
MOST_ROUNDS = 10**7

#: Keys of a scenario that only tables and figures read.
_PRESENTATION = ("title", "selectors", "figures", "scale", "changed")

#: Keys that only settings recorded by earlier versions have, each with the value for what is done now.
_GONE: dict[str, dict[str, Any]] = {
    "privacy": {"budgets": None},
    "selection": {
        "tier_weights": None,
        "tier_credits": None,
        "profiling_rounds": 1,
        "pacer_window": 20,
        "straggler_penalty": 2.0,
        "staleness_bonus": 0.1,
        "utility_clip": 0.95,
        "utility_cutoff": 0.95,
        "exploration_share": 0.9,
        "exploration_decay": 0.98,
        "exploration_least": 0.2,
    },
    "training": {
        "learning_rate_schedule": "constant",
        "learning_rate_period": None,
        "learning_rate_factor": None,
        "proximal": 0.0,
        "precision": "float32",
    },
}

Scale = Annotated[str, OneOf(SCALES)]
SelectorName = Annotated[str, OneOf(SELECTORS)]


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
    `test_fraction` given (`imagefolder`)."""
    image_size: Annotated[int, Whole(ge=1, le=4_096)] | None = None
    """Pixels a side to which images are resized; null keeps their size."""
    test_fraction: Annotated[float, Real(gt=0, lt=1)] | None = None
    """Share of the examples held out for testing. Needed where there is no official test split (`digits`,
    `synthetic_regression`, an `imagefolder` without test/)."""
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
        missing = [key for key in SOURCES[self.source].requires if getattr(self, key) is None]
        if missing:
            raise ValueError(f"source = '{self.source}' needs data.{', data.'.join(missing)}")
        return self


class PartitionSettings(Settings):
    """How the training examples are shared among the users; each is used at most once."""

    labels: Annotated[str, OneOf(("iid", "stratified", "dominant", "dominant_pools"))]
    """`iid`: every user's examples are sampled from the whole training set. `stratified`: every user has
    equally many examples of each class, up to one (BSFL, VI); needs sizes `equal`. `dominant`: each user has
    one dominant label (share: `dominant_share`), the others are equally frequent (PAUSE v2, V-A).
    `dominant_pools`: the same in whole numbers, as in the authors' logs: users in order of their index take
    int(`dominant_share` * size) examples of their label, then equally many of each other label; what a label
    lacks is lost, so that users may hold less than `sizes` says, but never with sizes `listed`."""
    sizes: Annotated[str, OneOf(("equal", "dirichlet", "equal_floored", "dirichlet_floored", "listed"))]
    """Sizes of K users' data, of N examples. `equal`: the same number of examples for every user.
    `dirichlet`: shares sampled from a symmetric Dirichlet distribution with parameter `size_concentration`
    (PAUSE v2, V-A). `equal_floored`: N // K for every user. `dirichlet_floored`: from such shares, no less
    than N // 3K, then scaled so that the sum is N, and rounded down. `listed`: `listed_sizes`. With the last
    three, some examples may be left to nobody (the authors' logs)."""
    min_size: Natural
    """Fewest examples a user may get. Sizes `dirichlet` below are raised to it; otherwise they are an error,
    as is a user without data."""
    qualities: Annotated[str, OneOf(("equal", "uniform"))]
    """Quality q_k of each user's data in the reward `bsfl` (BSFL, eq. 4). `equal`: 1 for everyone.
    `uniform`: sampled from the uniform distribution on [0.2, 1]."""
    dominant_share: Annotated[float, Real(gt=0, le=1)] | None = None
    """Share of a user's examples that has its dominant label (labels `dominant` and `dominant_pools`); for
    `dominant` on average, and at least 1 / number of classes."""
    size_concentration: Positive | None = None
    """Parameter of the Dirichlet distribution (sizes `dirichlet` and `dirichlet_floored`); smaller is more
    unequal."""
    listed_sizes: Several[Count] | None = None
    """Number of examples of each user, in order of their index (sizes `listed`)."""

    @model_validator(mode="after")
    def _choices_have_their_key(self) -> Self:
        if self.sizes in ("dirichlet", "dirichlet_floored") and self.size_concentration is None:
            raise ValueError(f"sizes = '{self.sizes}' needs size_concentration")
        if self.sizes == "listed" and self.listed_sizes is None:
            raise ValueError("sizes = 'listed' needs listed_sizes")
        if self.labels in ("dominant", "dominant_pools") and self.dominant_share is None:
            raise ValueError(f"labels = '{self.labels}' needs dominant_share")
        if self.labels == "stratified" and self.sizes != "equal":
            raise ValueError("labels = 'stratified' needs sizes = 'equal'")
        return self


class NetworkSettings(Settings):
    """Users and their latencies, in simulated seconds.

    The first half of the users is fast, the other slow. Means rise linearly inside each half; latencies are
    normal around them and floored (PAUSE v2, V-A).
    """

    n_users: Annotated[int, Whole(ge=1, le=1_000_000)]
    """Number of users, K in the papers."""
    n_selected: Count
    """Users selected in a round, m in the papers; at most `n_users`."""
    latency_floor: Positive
    """Least latency tau_min, in seconds; also where the means of the fast users start."""
    fast_latency_max: Positive
    """Mean latency of the slowest fast user, in seconds."""
    slow_latency_min: Positive
    """Where the mean latencies of the slow users start, in seconds."""
    slow_latency_max: Positive
    """Mean latency of the slowest user, in seconds."""
    latency_std: Positive
    """Standard deviation of a user's latency around its mean, in seconds."""
    round_latency_max: Positive | None = None
    """Longest a round may take, in seconds (BSFL's tau_max, eq. 2); null for no limit."""

    @model_validator(mode="after")
    def _as_many_users(self) -> Self:
        if self.n_selected > self.n_users:
            raise ValueError(f"n_selected = {self.n_selected} exceeds network.n_users = {self.n_users}")
        return self

    @model_validator(mode="after")
    def _rising_means(self) -> Self:
        means = (self.latency_floor, self.fast_latency_max, self.slow_latency_min, self.slow_latency_max)
        if list(means) != sorted(means):
            raise ValueError(
                f"latency_floor = {means[0]} and the means must satisfy latency_floor <= fast_latency_max"
                f" <= slow_latency_min <= slow_latency_max, got {means}"
            )
        return self


class RewardSettings(Settings):
    """Reward of a selection (PAUSE v2, eq. 9), without unit."""

    name: Annotated[str, OneOf(REWARDS)]
    """The reward."""
    alpha: NonNegative
    """Weight of the generalisation term (PAUSE v2, eq. 9)."""
    beta: Annotated[float, Real(ge=1)]
    """Exponent of the generalisation reward g_k (PAUSE v2, eq. 8, which has more than 1); larger is more
    tolerant."""
    gamma: NonNegative
    """Weight of the privacy term (PAUSE v2, eq. 9)."""
    n_clusters: Count | None = None
    """Number of clusters R the users are split into (`r2`); at most `network.n_users`."""
    clusters: Annotated[str, OneOf(("random", "index"))] = "random"
    """How users are split into clusters (`r2`). `random`: at random, fixed by the seed; sizes differ by at
    most one. `index`: a user's cluster is its index modulo `n_clusters`, as in the authors' logs."""
    overlap_penalty: NonNegative | None = None
    """Penalty rho on the generalisation term for each selected user beyond a cluster's first (`r2`)."""
    overlap_latency: NonNegative | None = None
    """Seconds delta_tau added to the round for each selected user beyond a cluster's first (`r2`)."""


class PrivacySettings(Settings):
    """Bounded updates with Laplace noise, and the budget of each user; null for no privacy.

    With mechanism `coordinate` budgets hold per coordinate of the update (PAUSE v2, II-B and III-A), with
    `vector` for the update as a whole.
    """

    epsilon_total: Positive
    """Budget of a user over all its participations."""
    decay: Positive | None = None
    """Decay eta of the budget over a user's participations (schedule `geometric`); the i-th may spend
    epsilon_total (exp(eta) - 1) exp(-eta i)."""
    sensitivity: Positive | None = None
    """Sensitivity Delta of a coordinate (mechanism `coordinate`); updates are clamped to [-Delta/2, Delta/2]
    before noise of scale Delta/epsilon_i."""
    mechanism: Annotated[str, OneOf(MECHANISMS)] = "coordinate"
    """What the noise hides."""
    clip_norm: Positive | None = None
    """L1 norm C that updates are clipped to (mechanism `vector`); noise has scale 2 C/epsilon_i."""
    schedule: Annotated[str, OneOf(SCHEDULES)] = "geometric"
    """How the budget is spread. A user whose participations are used up takes no further part."""
    n_participations: Annotated[int, Whole(ge=1, le=1_000_000)] | None = None
    """Participations of a user (schedule `uniform`)."""
    sampler: Annotated[str, OneOf(SAMPLERS)] = "simulated"
    """Where the noise comes from."""
    loss_share: Annotated[float, Real(gt=0, lt=1)] | None = None
    """Share of each participation's budget that pays for the reported loss, of selectors that look at
    training losses; the rest pays for the update. Null: losses are reported without noise, outside the
    budget, and tables and figures say so."""
    loss_bound: Positive | None = None
    """Largest loss B that is reported (needs `loss_share`); losses are clamped to [0, B] before noise of
    scale B/(loss_share epsilon_i)."""

    @model_validator(mode="before")
    @classmethod
    def _finite_total(cls, values: Any) -> Any:
        total = values.get("epsilon_total") if isinstance(values, Mapping) else None
        if isinstance(total, float) and not math.isfinite(total):
            raise ValueError(
                f"epsilon_total = {total} must be a finite number; to have no privacy, write privacy: null"
            )
        return values

    @model_validator(mode="after")
    def _a_bound_for_paid_losses(self) -> Self:
        if (self.loss_share is None) != (self.loss_bound is None):
            given, missing = (
                ("loss_bound", "loss_share") if self.loss_share is None else ("loss_share", "loss_bound")
            )
            raise ValueError(
                f"{given} needs {missing}: a reported loss is paid for with both or with neither"
            )
        return self


class SelectionSettings(Settings):
    """Constants of the selectors."""

    exploitation: Positive
    """Factor zeta on the mean speed in the bandit index (PAUSE v2, V-D); 1 for the plain index."""
    n_iterations: Annotated[int, Whole(ge=1, le=10_000_000)] | None = None
    """Iterations J of simulated annealing in each round; needed by selectors that anneal."""
    temperature_divisor: Positive | None = None
    """Divisor kappa of the annealing temperature (PAUSE v2, V-D); needed by selectors that anneal."""
    first_rounds: Annotated[str, OneOf(("maximise", "uniform"))] = "maximise"
    """Which users searches that maximise the reward select, while `network.n_selected` or more were never
    seen. `maximise`: those of the largest reward (PAUSE v2, Algorithm 1). `uniform`: any, as in the authors'
    code."""
    size_ties: Annotated[str, OneOf(("random", "index"))] = "random"
    """Order of users of equal data size (`clustered_size`). `random`: another one in every round. `index`:
    the fastest first, as in the authors' code, so that a distribution holds users of similar latency."""
    n_tiers: Count | None = None
    """Number of tiers of similar latency (`tifl`); 5 in the paper. Each must have `network.n_selected`
    users."""
    deadline: Positive | None = None
    """Longest time that a selected user is expected to take, in seconds (`fedcs`)."""
    n_candidates: Count | None = None
    """Users drawn at random that the selection of a round is made from (`fedcs` and `power_of_choice`); at
    most `network.n_users`."""
    pacer_step: Positive | None = None
    """Latency in seconds that is not penalised at first, and by which the pacer raises it (`oort`)."""


class ModelSettings(Settings):
    """The network that is trained."""

    name: Annotated[str, OneOf(MODELS)]
    """The network."""
    norm: Annotated[str, OneOf(sorted({norm for record in MODELS.values() for norm in record.norms}))]
    """Normalisation layers. `batch`: batch normalisation, averaged without clamp or noise as in the authors'
    code, so released outside the budget. `group`: group normalisation, protected like every other weight.
    `none`: no such layers."""


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
    short_batches: Annotated[str, OneOf(("keep", "skip"))] = "keep"
    """What becomes of an epoch's last mini-batch if it has fewer than `batch_size` examples. `keep`: it is
    trained on. `skip`: it is not, unless it is the only one, as in the authors' logs; every user then needs
    two examples."""
    learning_rate: Positive
    """Learning rate of `optimizer`, the same in every round."""
    optimizer_state: Annotated[str, OneOf(("persist", "reset"))]
    """What the optimizer remembers of a user: Adam's moments, or SGD's velocity. `persist`: kept from one
    participation to the next, as in the authors' code. `reset`: set to zero in every round."""
    optimizer: Annotated[str, OneOf(("adam", "sgd"))] = "adam"
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


class Scenario(Settings):
    """One federated experiment of a paper, apart from the selector and the seed."""

    name: Name
    """Name of the scenario and of its file."""
    title: Text
    """What a reader of a figure should know of the scenario, in one line."""
    data: DataSettings
    partition: PartitionSettings
    network: NetworkSettings
    reward: RewardSettings
    selection: SelectionSettings
    model: ModelSettings
    training: TrainingSettings
    selectors: Distinct[SelectorName]
    """Selectors that tables and figures compare, unless the experiment table says otherwise. Any other
    selector may be asked for, too."""
    figures: dict[Name, Annotated[str, OneOf(FIGURES)]]
    """Figures that are targets of their own, name to kind; names are unique over all scenarios. The other
    kinds are made too, but `spending_vs_rounds` and `selections` only if they are named."""
    privacy: PrivacySettings | None = None
    scale: Scale = "own"
    """`paper`: the papers' settings; figures state where the file has others by now. `demo`: data that
    come with a library. `own`: any other settings. Results of different scales are never put together."""
    changed: dict[str, Any] = {}
    """Written by the program at scales `own` and `paper`: what the base, or the paper, has in place of each
    key that differs."""

    @model_validator(mode="after")
    def _chosen_have_their_keys(self) -> Self:
        """The reward and the listed selectors have the keys that their records require."""
        chosen = [(f"reward.name = '{self.reward.name}'", REWARDS[self.reward.name].requires)]
        chosen += [(f"selector '{name}'", SELECTORS[name].requires) for name in self.selectors]
        for what, keys in chosen:
            if missing := self.missing(keys):
                raise ValueError(f"{what} needs {', '.join(missing)}")
        return self

    @model_validator(mode="after")
    def _privacy_has_the_keys_of_its_choices(self) -> Self:
        """The keys of the mechanism and of the schedule, and of no other mechanism or schedule."""
        if self.privacy is None:
            return self
        for part, registry in (("mechanism", MECHANISMS), ("schedule", SCHEDULES)):
            chosen = getattr(self.privacy, part)
            needed = registry[chosen].requires
            if missing := self.missing(needed):
                raise ValueError(f"privacy.{part} = '{chosen}' needs {', '.join(missing)}")
            for name, record in registry.items():
                for key in set(record.requires) - set(needed) - set(self.missing(record.requires)):
                    raise ValueError(f"{key} is for {part} '{name}', and privacy.{part} is '{chosen}'")
        return self

    @model_validator(mode="after")
    def _gamma_weighs_something(self) -> Self:
        name, gamma = self.reward.name, self.reward.gamma
        if gamma != 0 and not REWARDS[name].has_privacy_term:
            raise ValueError(f"reward.gamma = {gamma} must be 0: reward '{name}' has no privacy term")
        return self

    @model_validator(mode="after")
    def _clusters_of_users(self) -> Self:
        n_clusters, n_users = self.reward.n_clusters, self.network.n_users
        if n_clusters is not None and n_clusters > n_users:
            raise ValueError(f"reward.n_clusters = {n_clusters} must lie in 1 .. network.n_users = {n_users}")
        return self

    @model_validator(mode="after")
    def _enough_users_to_select_from(self) -> Self:
        """``n_selected`` in each tier and among the candidates."""
        network, n_tiers, n_candidates = self.network, self.selection.n_tiers, self.selection.n_candidates
        if n_tiers is not None and network.n_users // n_tiers < network.n_selected:
            raise ValueError(
                f"selection.n_tiers = {n_tiers} makes tiers of {network.n_users // n_tiers} users, fewer than"
                f" network.n_selected = {network.n_selected}: at most"
                f" {network.n_users // network.n_selected} tiers are possible"
            )
        if n_candidates is not None and not network.n_selected <= n_candidates <= network.n_users:
            raise ValueError(
                f"selection.n_candidates = {n_candidates} must lie in {network.n_selected} .."
                f" {network.n_users}, from network.n_selected to network.n_users"
            )
        return self

    @model_validator(mode="after")
    def _data_can_be_shared(self) -> Self:
        data, partition, n_users = self.data, self.partition, self.network.n_users
        if partition.labels != "iid" and SOURCES[data.source].regression:
            raise ValueError(f"partition.labels '{partition.labels}' needs classes; '{data.source}' has none")
        listed = partition.listed_sizes or ()
        if partition.sizes == "listed" and len(listed) != n_users:
            raise ValueError(
                f"partition.listed_sizes has {len(listed)} values, and network.n_users is {n_users}"
            )
        least = max(partition.min_size, 1)
        if data.n_train is not None and data.n_train < n_users * least:
            raise ValueError(
                f"data.n_train = {data.n_train} examples cannot give {n_users} users at least {least} each"
                " (partition.min_size)"
            )
        return self

    @property
    def edited(self) -> bool:
        """Whether it is the papers' with other settings than theirs: no claim is judged on it."""
        return self.scale == "paper" and bool(self.changed)

    def records(self, selectors: Sequence[str]) -> list[Record]:
        """Records of some selectors, and of the reward, the model and the privacy that they run with."""
        records: list[Record] = [SELECTORS.find(name) for name in selectors]
        private = any(SELECTORS.find(name).private for name in selectors)
        records += [REWARDS.find(self.reward.name), MODELS.find(self.model.name)]
        if self.privacy is not None and private:
            records += [
                MECHANISMS.find(self.privacy.mechanism),
                SCHEDULES.find(self.privacy.schedule),
                SAMPLERS.find(self.privacy.sampler),
            ]
        return records

    def missing(self, keys: Iterable[str]) -> list[str]:
        """Which of some dotted keys the scenario leaves out."""
        split = {key: key.split(".") for key in keys}
        return [
            key for key, (section, name) in split.items() if getattr(getattr(self, section), name) is None
        ]

    def as_dict(self) -> dict[str, Any]:
        """Plain nested dictionaries and lists, the form of the YAML file; without `changed` if nothing is."""
        plain = {**self.model_dump(), "selectors": list(self.selectors)}
        return plain if self.changed else {key: value for key, value in plain.items() if key != "changed"}

    def job_settings(self) -> dict[str, Any]:
        """What the result of a job depends on: all but what tables and figures say of it."""
        return {key: value for key, value in self.as_dict().items() if key not in _PRESENTATION}


def scenario_of_job(settings: Mapping[str, Any]) -> Scenario:
    """The scenario that `Scenario.job_settings` are of, with anything for what tables and figures say of it.

    Raises
    ------
    ConfigError
        If a scenario cannot have such settings.
    """
    presentation = {"title": "-", "selectors": ["random"], "figures": {}}
    sections = {name: _without_gone(name, values) for name, values in settings.items()}
    return Scenario.read({**sections, **presentation}, "settings")


def _without_gone(section: str, values: Any) -> Any:
    """A section of recorded settings without the keys that are gone."""
    gone = _GONE.get(section, {})
    if not isinstance(values, Mapping):
        return values
    return {key: value for key, value in values.items() if key not in gone or gone[key] != value}


def as_of_today(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of an earlier job as `Scenario.job_settings` has them now.

    New keys have their defaults; keys that are gone are left out where they asked for what is done now.

    Settings that a scenario can no longer have are returned as they are.
    """
    try:
        return scenario_of_job(settings).job_settings()
    except ConfigError:
        return dict(settings)
