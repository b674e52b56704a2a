"""What the rules of studies are given, by the record of their kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pausefl.settings.studies import one_run, settings_of
from pausefl.studies.code import current_study_codes
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


def versions(table: Experiments, study: str) -> dict[str, list[str]]:
    """Hashes that count as those of today's code that computes a study, by selector if it is run by run."""
    kind, settings = table.studies.kind(study), table.studies.study(study)
    return current_study_codes(study, kind, settings, Path("results/published"))
