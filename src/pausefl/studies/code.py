"""Hashes of the code behind studies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from pausefl.provenance import Code, code_hash, scenario_records
from pausefl.registry import MECHANISMS, SAMPLERS, SOURCES, STUDIES, Record
from pausefl.results.verified import still_verified
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


def current_study_codes(name: str, kind: str, study: Any, published: Path) -> dict[str, list[str]]:
    """Hashes of code whose tables of a study count as computed by today's code.

    By selector where each run is a job of its own, else under "". An empty text is among them where what
    computed the published study is not recorded, and the study was found equal under today's code.
    """
    known = still_verified(published)["studies"]
    found = {}
    for selector in study.scenario.selectors if STUDIES.find(kind).by_run else ("",):
        code = str(study_code(kind, study, selector))
        entry = known.get("/".join(filter(None, (name, selector))), {})
        equal = entry.get("made_with", [""]) if entry.get("equal") and entry["code"] == code else []
        found[selector] = list(dict.fromkeys([code, *equal]))
    return found
