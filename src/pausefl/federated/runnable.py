"""Whether a selector can run in a scenario, and a model on its data; found out before anything runs."""

from __future__ import annotations

import math
from collections.abc import Iterable

from pausefl.data.sources import SOURCES
from pausefl.errors import ConfigError
from pausefl.selectors import SELECTORS
from pausefl.settings import Scenario
from pausefl.settings.dotted_keys import differing
from pausefl.training.models import MODELS
from pausefl.training.settings import misfit

#: What decides nothing in the training of a selector that does not look at the reward: the reward, how it is
#: searched, and when a run ends.
NOT_TRAINED = (
    *("name", "reward", "training.time_horizon_s"),
    *("selection.exploitation", "selection.first_rounds"),
    *("selection.n_iterations", "selection.temperature_divisor", "selection.temperature_scale"),
)


def check_runnable(scenario: Scenario, selectors: Iterable[str]) -> None:
    """Raise `ConfigError` unless each selector can run in the scenario, and the model on its data.

    Any selector may be asked for; the scenario's own ``selectors`` are a default.
    """
    _check_model(scenario)
    for selector in selectors:
        _check_selector(scenario, selector)


def can_reuse_training(scenario: Scenario, other: Scenario) -> bool:
    """Whether jobs of a scenario, of selectors that do not look at the reward, train as those of another do.

    They do if the two differ in `NOT_TRAINED` alone, and the other's runs have all their rounds: its horizon
    comes no earlier, and its rounds last no longer, since overlaps cost no time there and its reward is none
    of a user's own.
    """
    apart = differing(scenario.job_settings(), other.job_settings())
    within = other.training.horizon == math.inf or (
        scenario.training.horizon <= other.training.horizon
        and not other.reward.overlap_latency
        and ":" not in other.reward.name
    )
    return within and not any(not_within(key, NOT_TRAINED) for key in apart)


def not_within(key: str, sections: Iterable[str]) -> bool:
    """Whether a dotted key is none of some keys, and in none of them."""
    return not any(key == one or key.startswith(f"{one}.") for one in sections)


def _check_model(scenario: Scenario) -> None:
    model, source = scenario.model, scenario.data.source
    facts = MODELS.find(model.name)
    if model.norm not in facts.norms:
        raise ConfigError(
            f"scenario '{scenario.name}': model.norm = '{model.norm}' does not apply to model"
            f" '{model.name}'. Allowed: {', '.join(facts.norms)}."
        )
    if problem := misfit(model.name, SOURCES.find(source).tokens):
        raise ConfigError(f"scenario '{scenario.name}': {problem} (data.source '{source}')")
    if facts.smallest_image is not None and not SOURCES.find(source).images:
        raise ConfigError(
            f"scenario '{scenario.name}': model '{model.name}' needs images, which data.source"
            f" '{source}' does not have"
        )


def _check_selector(scenario: Scenario, selector: str) -> None:
    facts = SELECTORS.find(selector)
    if missing := scenario.lacking(selector):
        raise ConfigError(f"scenario '{scenario.name}': selector '{selector}' needs {' and '.join(missing)}")
    if scenario.privacy is not None and facts.private and facts.asks_losses:
        raise ConfigError(
            f"scenario '{scenario.name}': selector '{selector}' asks users for losses that no budget pays"
            " for; it runs without privacy (privacy: null)"
        )
    n_users, n_selected = scenario.network.n_users, scenario.n_asked
    logarithm = math.lgamma(n_users + 1) - math.lgamma(n_selected + 1) - math.lgamma(n_users - n_selected + 1)
    if facts.most_selections is not None and logarithm > math.log(facts.most_selections) + 1e-9:
        raise ConfigError(
            f"scenario '{scenario.name}': selector '{selector}' would enumerate more than"
            f" {facts.most_selections:.0e} selections of {n_selected} out of {n_users} users"
        )
