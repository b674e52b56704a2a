"""No job's hash has moved since the published runs were verified: their code is frozen for a campaign.

``frozen.json`` has the hash of each job of the shipped scenarios. Where jobs are meant to compute otherwise,
write it anew: ``python tests/unit/provenance/test_frozen.py``.
"""

from __future__ import annotations

import json
from pathlib import Path

from pausefl.errors import ConfigError
from pausefl.federated.runnable import check_runnable
from pausefl.provenance import job_code
from pausefl.registry import SELECTORS
from pausefl.settings import load_scenario, scenario_names

SCENARIOS = Path(__file__).parents[3] / "config" / "scenarios"
FROZEN = Path(__file__).with_name("frozen.json")


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
    FROZEN.write_text(json.dumps(hashes(), indent=1, sort_keys=True) + "\n", "utf-8")
