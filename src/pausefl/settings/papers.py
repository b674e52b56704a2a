"""The settings of the papers' scenarios as this project reads them, so that a change of a file is noticed.

``python -m pausefl.settings.reference --papers`` records ``config/scenarios``. Run it only when what we know
of the papers has changed: from then on, the values there count as the papers'.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from pausefl.errors import ConfigError
from pausefl.settings.changes import replaced
from pausefl.settings.scenario import Scenario

#: The record, beside this module.
FILE = "papers.json"


@cache
def recorded() -> dict[str, Any]:
    """Settings that results depend on, by scenario of scale ``paper``."""
    found: dict[str, Any] = json.loads(resources.files(__package__).joinpath(FILE).read_text("utf-8"))
    return found


def changes(scenario: Scenario, path: Path) -> dict[str, Any]:
    """The recorded value of each setting of a paper's scenario that is another now, by dotted key.

    Raises
    ------
    ConfigError
        If the papers have no scenario of that name.
    """
    if scenario.name not in recorded():
        raise ConfigError(
            f"{path}: scale = 'paper' is for the papers' scenarios, and '{scenario.name}' is none of them;"
            " leave scale out, and figures say that the settings are your own"
        )
    return replaced(recorded()[scenario.name], scenario.job_settings())


def record(scenarios: Iterable[Scenario]) -> str:
    """The text of the record of some scenarios, one a line; only those of scale ``paper`` count."""
    settings = {one.name: one.job_settings() for one in scenarios if one.scale == "paper"}
    lines = [f"{json.dumps(name)}: {json.dumps(values)}" for name, values in sorted(settings.items())]
    return "{\n" + ",\n".join(lines) + "\n}\n"
