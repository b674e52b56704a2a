"""What jobs will cost: sums of what they do, and rates that fit what was measured."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from pausefl.settings import Config, RawData, Scenario, load_config, load_scenario, read_yaml
from pausefl.workflow.plan import estimate, network_key, shipped_rates, to_text

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "config" / "scenarios"
RAW = RawData(Path("data/raw"), False, {})

#: A second for each start, 10 ms a selection, 100 ms a participation, 1 s a mini-batch, 1 ms an example.
RATES: dict[str, Any] = {
    "machine": "a desk",
    "date": "2026-11-21",
    "start_s": 1.0,
    "selection_s": {"pause": 0.01},
    "noise_s_per_value": 0.001,
    "networks": {
        "fc on mnist": {"participation_s": 0.1, "batch_s": 1.0, "example_s": 0.001, "n_values": 100}
    },
}


def scenario(name: str = "mnist_large_iid_r1", **training: Any) -> Scenario:
    loaded = load_scenario(name, FOLDER)
    return loaded.replace(training=loaded.training.replace(**training))


@pytest.mark.parametrize(
    ("selector", "n_users", "noise_s"),
    [("pause", 15, 0.1), ("fedavg", 300, 0.1), ("fedavg_no_privacy", 300, 0)],
)
def test_a_job_is_the_sum_of_what_it_does(selector: str, n_users: int, noise_s: float) -> None:
    """50,000 images over 300 users are 9 mini-batches of 20 each; 10,000 images are evaluated."""
    round_s = n_users * (0.1 + 9 * 1.0 + noise_s) + 10_000 * 0.001 + 0.01
    found = estimate(scenario(n_rounds=7), selector, RAW, RATES)
    assert found.seconds == pytest.approx(1.0 + 7 * round_s)


def test_less_work_costs_less() -> None:
    found = estimate(scenario(n_rounds=7, max_batches=2, evaluate_every=5), "pause", RAW, RATES).seconds
    assert found == pytest.approx(1.0 + 7 * (15 * (0.1 + 2 * 1.0 + 0.1) + 2_000 * 0.001 + 0.01))


def test_what_is_not_known_is_not_counted_and_said() -> None:
    unknown = scenario("demo_small")
    assert math.isnan(estimate(unknown, "pause", RAW, RATES).seconds)
    config = load_config(read_yaml(ROOT / "config" / "demo.yaml") | {"scenarios": str(FOLDER)})
    assert "Not counted: 48 jobs" in to_text(config, RATES)


@pytest.mark.parametrize("name", ["config", "demo", "reduced", "published"])
def test_every_job_of_the_shipped_configurations_has_rates(name: str) -> None:
    config: Config = load_config(read_yaml(ROOT / "config" / f"{name}.yaml") | {"scenarios": str(FOLDER)})
    rates = shipped_rates()
    assert {network_key(one) for one in config.scenarios.values()} <= set(rates["networks"])
    text = to_text(config, rates)
    total = re.search(r"(\d+) jobs in \d+ scenarios: about ([\d.]+) core-hours", " ".join(text.split()))
    assert total is not None
    assert int(total[1]) == len(config.experiments)
    parts = [
        estimate(config.scenarios[e.scenario], e.selector, config.raw, rates) for e in config.experiments
    ]
    assert float(total[2]) == pytest.approx(sum(part.seconds for part in parts) / 3600, abs=0.05)
    assert "Not counted" not in text
