"""User selectors: which users take part in a round, given what was seen so far.

A selector is a pure function of the `History` and of its own random stream for the round. It keeps no state
of its own, so a run that is resumed selects what it would have selected. `SELECTORS` is the registry.
"""

from pausefl.selectors.registry import SELECTORS, Select, SelectorInfo

__all__ = ["SELECTORS", "Select", "SelectorInfo"]
