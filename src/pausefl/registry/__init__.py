"""Records of everything that settings name: where its code is, and what others must know of it."""

from pausefl.registry.backends import BACKENDS, BackendRecord
from pausefl.registry.base import Record, Registry
from pausefl.registry.figures import FIGURES, TABLES, FigureRecord, kinds_of, tables_of
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
from pausefl.registry.studies import STUDIES, StudyRecord

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
    "STUDIES",
    "TABLES",
    "BackendRecord",
    "FigureRecord",
    "MechanismRecord",
    "ModelRecord",
    "Record",
    "Registry",
    "RewardRecord",
    "SamplerRecord",
    "ScheduleRecord",
    "SelectorRecord",
    "SourceRecord",
    "StudyRecord",
    "kinds_of",
    "tables_of",
]
