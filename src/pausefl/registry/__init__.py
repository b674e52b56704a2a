"""One record of each selector: what the rest of the package must know of it."""

from pausefl.registry.base import Record, Registry
from pausefl.registry.selectors import SELECTORS, SelectorRecord
from pausefl.registry.sources import SOURCES, SourceRecord

__all__ = ["SELECTORS", "SOURCES", "Record", "Registry", "SelectorRecord", "SourceRecord"]
