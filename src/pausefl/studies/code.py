"""Hash of the code behind a study."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pausefl.provenance import Code, code_hash, scenario_records
from pausefl.registry import MECHANISMS, SAMPLERS, SOURCES, STUDIES, Record
from pausefl.settings import Scenario


def study_code(kind: str, study: Any, selector: str = "") -> Code:
    """Hash of the code that the computed tables of a study depend on.

    Parameters
    ----------
    kind
        Kind of the study.
    study
        Its settings. What these name counts: selectors, reward and privacy of a scenario, mechanisms.
    selector
        The one selector that is computed, of a study that is computed run by run.
    """
    record = STUDIES.find(kind)
    used: list[Record] = [MECHANISMS.find(name) for name in getattr(study, "mechanisms", ())]
    if hasattr(study, "sampler"):
        used.append(SAMPLERS.find(study.sampler))
    scenario: Scenario | None = getattr(study, "scenario", None)
    if scenario is not None:
        selectors = {selector} if selector else set(scenario.selectors)
        used += scenario_records(scenario, sorted(selectors | record.besides))
        # The number of examples is the record's; nothing is read.
        used.append(replace(SOURCES.find(scenario.data.source), code="pausefl.data.sources:training_size"))
    return code_hash(record.code, records=used)
