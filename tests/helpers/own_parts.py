"""Parts of a user's own modules, which registries remember, forgotten after a test."""

from __future__ import annotations

from pausefl.bandit.latency import LATENCIES
from pausefl.bandit.presence import AVAILABILITIES, FAILURES
from pausefl.bandit.rewards import REWARDS
from pausefl.data.sources import SOURCES
from pausefl.privacy.mechanisms import MECHANISMS
from pausefl.privacy.samplers import SAMPLERS
from pausefl.privacy.schedule import SCHEDULES
from pausefl.selectors import SELECTORS
from pausefl.training.models import MODELS

REGISTRIES = (
    SELECTORS, REWARDS, MODELS, SOURCES, SCHEDULES, MECHANISMS, SAMPLERS, LATENCIES, AVAILABILITIES, FAILURES
)  # fmt: skip


def forget() -> None:
    """Remove what was registered as ``module:Class``."""
    for registry in REGISTRIES:
        for name in [one for one in registry if ":" in one]:
            del registry._classes[name]
