"""What of the papers can run: a model that is not there yet is refused by name.

Apart from `pausefl.config`, so that reading a configuration loads no models.
"""

from __future__ import annotations

from collections.abc import Iterable

from pausefl.config import Config, Scenario, check_selectors
from pausefl.errors import ConfigError
from pausefl.models import MODELS


def unavailable(scenario: Scenario) -> list[str]:
    """List what of a scenario this version cannot run yet, one clause each; empty if it can run."""
    return [] if scenario.model.name in MODELS else [f"model '{scenario.model.name}'"]


def check_runnable(scenario: Scenario, selectors: Iterable[str]) -> None:
    """Raise `ConfigError` unless each selector applies to the scenario and everything it needs exists."""
    check_selectors(scenario, selectors)
    missing = unavailable(scenario)
    if missing:
        raise ConfigError(f"scenario '{scenario.name}' cannot run yet: {', '.join(missing)} not available")
    norms = MODELS[scenario.model.name].norms
    if scenario.model.norm not in norms:
        raise ConfigError(
            f"scenario '{scenario.name}': model.norm = '{scenario.model.norm}' does not apply to model"
            f" '{scenario.model.name}'. Allowed: {', '.join(norms)}."
        )


def check_table(config: Config) -> None:
    """Raise `ConfigError` unless every row of the experiment table can run."""
    for row in config.experiments:
        check_runnable(config.scenarios[row.scenario], [row.selector])
