"""No job's or study's hash has moved since the published ones were verified: their code is frozen.

``frozen.json`` has the hash of each job of the shipped scenarios, ``frozen_studies.json`` that of each study.
Where they are meant to compute otherwise: ``python tests/unit/provenance/test_frozen.py`` writes them anew.
"""

from __future__ import annotations

import json
from pathlib import Path

from pausefl.errors import ConfigError
from pausefl.federated.runnable import check_runnable
from pausefl.provenance import job_code
from pausefl.registry import SELECTORS
from pausefl.settings import load_scenario, scenario_names
from pausefl.studies import load_studies

SCENARIOS = Path(__file__).parents[3] / "config" / "scenarios"
STUDIES_FILE = SCENARIOS.with_name("studies.yaml")
FROZEN, FROZEN_STUDIES = (Path(__file__).with_name(name) for name in ("frozen.json", "frozen_studies.json"))


def hashes() -> dict[str, dict[str, str]]:
    """Hash of each job, by scenario and selector: of every selector that can run there."""
    found: dict[str, dict[str, str]] = {}
    for name in scenario_names(SCENARIOS):
        scenario = load_scenario(name, SCENARIOS)
        for selector in SELECTORS:
            try:
                check_runnable(scenario, [selector])
            except ConfigError:
                continue
            found.setdefault(name, {})[selector] = str(
                job_code(scenario, selector, genie=selector == "pause")
            )
    return found


def study_hashes() -> dict[str, dict[str, str]]:
    """Hash of each shipped study, by selector where it is computed run by run, else under "".

    Those that collect runs train nothing themselves: their runs are frozen.
    """
    studies = load_studies(STUDIES_FILE, SCENARIOS)
    return {
        name: {selector: str(code) for selector, code in study.codes().items()}
        for name, study in studies.items()
        if not study.trained
    }


def test_no_study_s_hash_has_moved() -> None:
    assert study_hashes() == json.loads(FROZEN_STUDIES.read_text("utf-8"))


def test_no_job_s_hash_has_moved() -> None:
    frozen, today = json.loads(FROZEN.read_text("utf-8")), hashes()
    moved = [
        f"{scenario} {selector}"
        for scenario, selectors in frozen.items()
        for selector, code in selectors.items()
        if today.get(scenario, {}).get(selector) != code
    ]
    assert moved == []


if __name__ == "__main__":
    for path, found in ((FROZEN, hashes()), (FROZEN_STUDIES, study_hashes())):
        path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", "utf-8")
