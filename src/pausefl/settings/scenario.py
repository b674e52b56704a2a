"""A scenario: one federated experiment of a paper, ``config/scenarios/NAME.yaml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import model_validator

from pausefl.bandit.latency import LATENCIES
from pausefl.bandit.presence import AVAILABILITIES, FAILURES
from pausefl.bandit.rewards import REWARDS
from pausefl.bandit.settings import NetworkSettings, RewardSettings
from pausefl.data.settings import DataSettings, PartitionSettings
from pausefl.data.sources import SOURCES
from pausefl.errors import ConfigError
from pausefl.plugins import arguments
from pausefl.privacy.accountants import ACCOUNTANTS
from pausefl.privacy.mechanisms import MECHANISMS
from pausefl.privacy.samplers import SAMPLERS
from pausefl.privacy.schedule import SCHEDULES
from pausefl.privacy.settings import PrivacySettings
from pausefl.schema.base import Settings
from pausefl.schema.types import Distinct, Name, OneOf, Text
from pausefl.selectors import SELECTORS, Selector
from pausefl.selectors.making import lacking, make_selector
from pausefl.selectors.settings import CONSTANTS, SelectionSettings, asked_in_a_round
from pausefl.training.models import MODELS
from pausefl.training.settings import ModelSettings, TrainingSettings

#: Scales of runs: the papers' settings, data that come with a library, a user's own.
SCALES = ("paper", "demo", "own")

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
    figures: dict[Name, Any]
    """Figures that are targets of their own: names, which are unique over all scenarios, and the kind of
    each, or a mapping with its kind and its axes. The other kinds are made too, but `spending_vs_rounds` and
    `selections` only if they are named."""
    privacy: PrivacySettings | None = None
    scale: Scale = "own"
    """`paper`: the papers' settings, only of scenarios that come with the workflow. `demo`: data that come
    with a library. `own`: any other settings. Results of different scales are never put together."""
    changed: dict[str, Any] = {}
    """Written by the program at scale `own`: what the base has in place of each key that differs."""

    @model_validator(mode="after")
    def _selectors_have_their_keys(self) -> Self:
        for name in self.selectors:
            if keys := self.lacking(name):
                raise ValueError(f"selector '{name}' needs {', '.join(keys)}")
        return self

    @model_validator(mode="after")
    def _clusters_of_users(self) -> Self:
        n_clusters, n_users = self.reward.n_clusters, self.network.n_users
        if n_clusters is not None and n_clusters > n_users:
            raise ValueError(f"reward.n_clusters = {n_clusters} must lie in 1 .. network.n_users = {n_users}")
        return self

    @model_validator(mode="after")
    def _enough_users_to_select_from(self) -> Self:
        """As many as are asked in each tier and among the candidates."""
        n_users, n_tiers, n_candidates = (
            self.network.n_users,
            self.selection.n_tiers,
            self.selection.n_candidates,
        )
        asked = f"network.n_selected = {self.network.n_selected}"
        if self.selection.over_selection:
            over = f"selection.over_selection = {self.selection.over_selection:g}"
            asked = f"the {self.n_asked} users whom {over} asks"
            if self.n_asked > n_users:
                raise ValueError(
                    f"{over} asks {self.n_asked} users in a round, more than the {n_users} there are"
                )
        if n_tiers is not None and n_users // n_tiers < self.n_asked:
            raise ValueError(
                f"selection.n_tiers = {n_tiers} makes tiers of {n_users // n_tiers} users, fewer than"
                f" {asked}: at most {n_users // self.n_asked} tiers are possible"
            )
        if n_candidates is not None and not self.n_asked <= n_candidates <= n_users:
            raise ValueError(
                f"selection.n_candidates = {n_candidates} must lie in {self.n_asked} .. {n_users}, from"
                f" {asked} to network.n_users"
            )
        return self

    @model_validator(mode="after")
    def _data_can_be_shared(self) -> Self:
        data, partition, n_users = self.data, self.partition, self.network.n_users
        drawn = partition.users == "drawn"
        if drawn and partition.labels != "iid" and SOURCES[data.source].regression:
            raise ValueError(f"partition.labels '{partition.labels}' needs classes; '{data.source}' has none")
        listed = partition.listed_sizes or ()
        if drawn and partition.sizes == "listed" and len(listed) != n_users:
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
    def n_asked(self) -> int:
        """Users asked in a round: `network.n_selected`, and more with `selection.over_selection`."""
        return asked_in_a_round(self.network.n_selected, self.selection.over_selection)

    @property
    def protects(self) -> str:
        """What the epsilons of its runs are for: ``coordinate``, or ``update`` as a whole."""
        return "coordinate" if self.privacy is None else MECHANISMS[self.privacy.mechanism].protects

    @property
    def is_regression(self) -> bool:
        """Whether it predicts numbers, so that its runs have a loss but no accuracy."""
        return SOURCES[self.data.source].regression

    def make_selector(self, name: str) -> Selector:
        """A selector for it."""
        return make_selector(name, self.selection, self.network, self.reward)

    def lacking(self, selector: str) -> list[str]:
        """Dotted keys that a selector needs and that it leaves out."""
        return lacking(selector, self.selection, self.network)

    def loss_share(self, selector: str) -> float:
        """Share s of each budget that pays for the loss that users report; 0 where none is accounted for."""
        released = SELECTORS.find(selector).releases_losses()
        return 0.0 if self.privacy is None else self.privacy.share_for_losses(released)

    def losses_reported(self, selector: str) -> str | None:
        """``accounted`` or ``unaccounted``; None if there is no budget, or if no loss is reported."""
        if self.privacy is None or not SELECTORS.find(selector).releases_losses():
            return None
        return "accounted" if self.loss_share(selector) else "unaccounted"

    def parts(self, selectors: Sequence[str]) -> list[type]:
        """Classes of some selectors, and of the reward, the model and the privacy that they run with."""
        chosen: list[type[Selector]] = [SELECTORS.find(name) for name in selectors]
        network = self.network
        parts: list[type] = [*chosen, REWARDS.find(self.reward.name), MODELS.find(self.model.name)]
        parts += [
            LATENCIES[network.latency],
            AVAILABILITIES[network.availability],
            FAILURES[network.failures],
        ]
        if self.privacy is not None and any(one.private for one in chosen):
            parts += [
                MECHANISMS[self.privacy.mechanism],
                SCHEDULES[self.privacy.schedule],
                SAMPLERS[self.privacy.sampler],
                ACCOUNTANTS[self.privacy.accountant],
            ]
        return parts

    def as_dict(self) -> dict[str, Any]:
        """Plain nested dictionaries and lists, the form of the YAML file, without keys that are null.

        `changed` is there only if something is.
        """
        plain = {**self.model_dump(exclude_none=True), "selectors": list(self.selectors)}
        return plain if self.changed else {key: value for key, value in plain.items() if key != "changed"}

    def job_settings(self, selector: str | None = None) -> dict[str, Any]:
        """What the result of a job depends on: all but what tables and figures say of it.

        Of a selector, without the constants of others (`pausefl.selectors.settings.CONSTANTS`).
        """
        settings = {key: value for key, value in self.as_dict().items() if key not in _PRESENTATION}
        foreign, chosen = _constants_of_others(selector), settings["selection"].items()
        return {**settings, "selection": {key: value for key, value in chosen if key not in foreign}}


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


def scenario_of_run(summary: Mapping[str, Any]) -> Scenario:
    """The scenario of a run, by its summary; raises as `scenario_of_job`.

    A constant that was no key when the run was made has the value that it had; those of other selectors,
    which say nothing of the run, have their defaults.
    """
    selector, settings = summary["selector"], dict(summary["scenario"])
    if isinstance(recorded := settings.get("selection"), Mapping):
        foreign = _constants_of_others(selector)
        own = {key: value for key, value in recorded.items() if key not in foreign}
        settings["selection"] = {**CONSTANTS.get(selector, {}), **own}
    return scenario_of_job(settings)


def as_of_today(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a run, by its summary, as `Scenario.job_settings` has them now of its selector.

    New keys have their defaults; keys that are gone are left out where they asked for what is done now.
    Settings that a scenario can no longer have are returned as they are.
    """
    try:
        return scenario_of_run(summary).job_settings(summary["selector"])
    except ConfigError:
        return dict(summary["scenario"])


def _constants_of_others(selector: str | None) -> frozenset[str]:
    """Constants that a selector is not made from; none if it is unknown."""
    if selector is None or selector not in SELECTORS:
        return frozenset()
    constants = frozenset(key for of in CONSTANTS.values() for key in of)
    return constants - arguments(SELECTORS[selector]).keys()
