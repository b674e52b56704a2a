"""Privacy-aware bandit user selection for federated learning, reproduced from raw data to figures.

The names in ``__all__`` are the library's interface (docs/use.md). They are imported when they are first
used, so that ``import pausefl`` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pausefl.errors import to_install

if TYPE_CHECKING:
    from pausefl.analysis.figures.any_runs import plot
    from pausefl.analysis.paired import paired
    from pausefl.bandit.history import Feedback, History
    from pausefl.bandit.rewards import Reward
    from pausefl.data.sources.base import Source
    from pausefl.errors import PauseflError
    from pausefl.library import (
        Run,
        change,
        collect,
        load_scenario,
        read_run,
        run,
        scenario_names,
    )
    from pausefl.picker import Picker
    from pausefl.privacy.schedule import ConstantSchedule, GeometricSchedule, Schedule, UniformSchedule
    from pausefl.selectors import selector_names
    from pausefl.selectors.base import Selector
    from pausefl.settings.scenario import Scenario
    from pausefl.training.models import Model

__version__ = "0.2.0"

__all__ = [
    "ConstantSchedule",
    "Feedback",
    "GeometricSchedule",
    "History",
    "Model",
    "PauseflError",
    "Picker",
    "Reward",
    "Run",
    "Scenario",
    "Schedule",
    "Selector",
    "Source",
    "UniformSchedule",
    "change",
    "collect",
    "load_scenario",
    "paired",
    "plot",
    "read_run",
    "run",
    "scenario_names",
    "selector_names",
]

#: Where the names are that are not of `pausefl.library`.
_ELSEWHERE = {
    "ConstantSchedule": "privacy.schedule",
    "Feedback": "bandit.history",
    "GeometricSchedule": "privacy.schedule",
    "History": "bandit.history",
    "Model": "training.models",
    "PauseflError": "errors",
    "Picker": "picker",
    "Reward": "bandit.rewards",
    "Scenario": "settings.scenario",
    "Schedule": "privacy.schedule",
    "Selector": "selectors.base",
    "Source": "data.sources.base",
    "UniformSchedule": "privacy.schedule",
    "plot": "analysis.figures.any_runs",
    "paired": "analysis.paired",
    "selector_names": "selectors",
}


def __getattr__(name: str) -> Any:
    """Import a name of ``__all__``."""
    if name not in __all__:
        raise AttributeError(f"module 'pausefl' has no attribute '{name}'")
    try:
        module = importlib.import_module(f"pausefl.{_ELSEWHERE.get(name, 'library')}")
    except ModuleNotFoundError as error:
        extra = "workflow" if name == "plot" else "training"
        raise ImportError(to_install(f"pausefl.{name}", error, extra)) from None
    return getattr(module, name)


def __dir__() -> list[str]:
    """The interface, for completion in a notebook."""
    return sorted([*globals(), *__all__])
