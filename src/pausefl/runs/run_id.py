"""What names a run, finished or not."""

from __future__ import annotations

from typing import NamedTuple


class RunId(NamedTuple):
    """Scenario, selector and seed: a job of the table of experiments, and the run that it leaves."""

    scenario: str
    selector: str
    seed: int
