"""Which code the numbers of a study depend on."""

from __future__ import annotations

from typing import Any

from pausefl.provenance import code_hash, scenario_records
from pausefl.registry import MECHANISMS, SAMPLERS, STUDIES, Record


def study_code(kind: str, study: Any, selector: str = "") -> str:
    """Hash of the code that a study's numbers depend on.

    Parameters
    ----------
    kind
        A name of `pausefl.registry.STUDIES`.
    study
        The study.
    selector
        Of a study that is computed run by run, the selector of the run; all selectors by default.
    """
    record = STUDIES.find(kind)
    scenario = getattr(study, "scenario", None)
    used: list[Record] = [MECHANISMS.find(name) for name in getattr(study, "mechanisms", ())]
    if hasattr(study, "sampler"):
        used.append(SAMPLERS.find(study.sampler))
    if scenario is not None:
        selectors = {selector} if selector else {*scenario.selectors}
        used += scenario_records(scenario, sorted(selectors | record.besides))
    return code_hash(record.code, records=used)
