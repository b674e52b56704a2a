"""Whether a model fits the scenario that names it.

Apart from `pausefl.settings.scenario`, so that reading a configuration loads no models.
"""

from __future__ import annotations

from collections.abc import Iterable

from pausefl.errors import ConfigError
from pausefl.registry import SOURCES
from pausefl.settings import Config, Scenario, check_selectors
from pausefl.training.models import MODELS


def check_runnable(scenario: Scenario, selectors: Iterable[str]) -> None:
    """Raise `ConfigError` unless each selector applies to the scenario, and the model to its data."""
    check_selectors(scenario, selectors)
    model, source = scenario.model, scenario.data.source
    info = MODELS[model.name]
    if model.norm not in info.norms:
        raise ConfigError(
            f"scenario '{scenario.name}': model.norm = '{model.norm}' does not apply to model"
            f" '{model.name}'. Allowed: {', '.join(info.norms)}."
        )
    if info.images and not SOURCES.find(source).images:
        raise ConfigError(
            f"scenario '{scenario.name}': model '{model.name}' needs images, which data.source"
            f" '{source}' does not have"
        )


def check_table(config: Config) -> None:
    """Raise `ConfigError` unless every row of the experiment table can run."""
    for row in config.experiments:
        check_runnable(config.scenarios[row.scenario], [row.selector])
