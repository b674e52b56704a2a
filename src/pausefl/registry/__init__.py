"""Records of everything that settings name: where its code is, and what others must know of it."""

from pausefl.registry.backends import BACKENDS
from pausefl.registry.base import Record, Registry
from pausefl.registry.figures import FIGURES, TABLES, kinds_of
from pausefl.registry.models import MODELS
from pausefl.registry.privacy import MECHANISMS, SAMPLERS, SCHEDULES
from pausefl.registry.rewards import REWARDS
from pausefl.registry.selectors import SELECTORS, SelectorRecord
from pausefl.registry.sources import SOURCES

__all__ = [
    "BACKENDS",
    "FIGURES",
    "MECHANISMS",
    "MODELS",
    "REWARDS",
    "SAMPLERS",
    "SCHEDULES",
    "SELECTORS",
    "SOURCES",
    "TABLES",
    "Record",
    "Registry",
    "SelectorRecord",
    "kinds_of",
]
