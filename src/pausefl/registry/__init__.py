"""One record of each selector: what the rest of the package must know of it."""

from pausefl.registry.base import Record, Registry
from pausefl.registry.selectors import SELECTORS, SelectorRecord

__all__ = ["SELECTORS", "Record", "Registry", "SelectorRecord"]
