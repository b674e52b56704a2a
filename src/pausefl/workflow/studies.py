"""What the rules of studies are given, by the record of their kind."""

from __future__ import annotations

from typing import Any

from pausefl.settings.studies import one_run, settings_of
from pausefl.workflow import code
from pausefl.workflow.experiments import Experiments


def of_kind(table: Experiments, kind: str) -> list[str]:
    """Studies of a kind."""
    return [name for name in table.studies.names() if table.studies.kind(name) == kind]


def judged(table: Experiments) -> list[str]:
    """Studies that end in a verdict."""
    return [name for name in table.studies.names() if table.studies.record(name).verdict]


def settings(table: Experiments, study: str, selector: str = "", seed: int | str = "") -> dict[str, Any]:
    """What the numbers of a study, or of one of its runs, depend on besides code."""
    whole = table.studies.study(study)
    return settings_of(one_run(whole, selector, int(seed)) if selector else whole)


def versions(table: Experiments, study: str) -> dict[str, Any]:
    """Hash of the code that computes a study; by selector if every run is a job of its own."""
    if not table.studies.record(study).by_run:
        return {"code_hash": code.study(table, study)}
    selectors = table.studies.study(study).scenario.selectors
    return {"code_hashes": {name: code.study(table, study, name) for name in selectors}}
