"""Records of everything that settings name: where its code is, and what others must know of it."""

from pausefl.registry.backends import BACKENDS, BackendRecord
from pausefl.registry.base import Record, Registry
from pausefl.registry.models import MODELS, ModelRecord
from pausefl.registry.privacy import (
    MECHANISMS,
    SAMPLERS,
    SCHEDULES,
    MechanismRecord,
    SamplerRecord,
    ScheduleRecord,
)
from pausefl.registry.rewards import REWARDS, RewardRecord
from pausefl.registry.selectors import SELECTORS, SelectorRecord
from pausefl.registry.sources import SOURCES, SourceRecord

__all__ = [
    "BACKENDS",
    "MECHANISMS",
    "MODELS",
    "REWARDS",
    "SAMPLERS",
    "SCHEDULES",
    "SELECTORS",
    "SOURCES",
    "BackendRecord",
    "MechanismRecord",
    "ModelRecord",
    "Record",
    "Registry",
    "RewardRecord",
    "SamplerRecord",
    "ScheduleRecord",
    "SelectorRecord",
    "SourceRecord",
]
