"""What earlier versions wrote is read, and public names keep their signatures.

``earlier/`` has a run and the state of a `pausefl.Picker` of each of two versions, named after their
commits. The state of a picker comes with the clients that the same version selected next.
"""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pausefl

EARLIER = Path(__file__).with_name("earlier")
SIGNATURES = EARLIER / "signatures.txt"


@pytest.mark.parametrize(
    ("commit", "scenario", "selector", "n_rounds", "end"),
    [
        ("7bc9a24b", "mnist_large_iid_r1", "pause", 25, (14.672347, 3.023237, 0.4441)),
        ("a82c6762", "demo_small", "bsfl", 30, (16.218137, 12.092947, 0.562674)),
    ],
)
def test_a_run_of_an_earlier_version_is_read(
    commit: str, scenario: str, selector: str, n_rounds: int, end: tuple[float, ...]
) -> None:
    run = pausefl.read_run(EARLIER / f"run_{commit}")
    assert (run.scenario, run.selector, run.seed, len(run.rounds)) == (scenario, selector, 1, n_rounds)
    last = run.rounds.iloc[-1][["elapsed_s", "leakage_max", "accuracy"]]
    assert last.tolist() == pytest.approx(end, abs=1e-6)
    assert run.ledger["participations"].sum() == run.rounds["selection"].map(len).sum()
    rows = pausefl.collect(run)
    assert rows["seed"].unique() == [1]


@pytest.mark.parametrize(
    ("commit", "selector", "options"), [("80d18c90", "pause", {}), ("a82c6762", "tifl", {"n_tiers": 2})]
)
def test_a_picker_goes_on_from_the_state_of_an_earlier_version(
    commit: str, selector: str, options: dict[str, Any]
) -> None:
    saved = json.loads((EARLIER / f"picker_{commit}.json").read_text("utf-8"))
    clients = {f"c{i}": 20 + i for i in range(8)}
    schedule = pausefl.GeometricSchedule(epsilon_total=10.0, decay=0.5)
    picker = pausefl.Picker(selector, clients, 3, 0.05, 2.0, schedule=schedule, seed=3, **options)
    picker.restore(_value(saved["state"]))
    for asked in saved["next"]:
        assert picker.select(clients) == asked
        picker.observe(dict.fromkeys(asked, 0.2))


def test_public_signatures_are_those_of_the_snapshot() -> None:
    """If they are to change, CHANGELOG.md says so; this file, run as a script, writes them anew."""
    assert _signatures().splitlines() == SIGNATURES.read_text("utf-8").splitlines()


def _value(saved: Any) -> Any:
    """A value of a state from JSON."""
    if not isinstance(saved, dict):
        return saved
    if "array" in saved:
        return np.array(saved["array"], saved["dtype"])
    if "list" in saved:
        return [_value(one) for one in saved["list"]]
    return {_value(key): _value(value) for key, value in saved["dict"]}


def _signatures() -> str:
    """A line for each public name of the library, and each public method of its classes."""
    lines = []
    for name in sorted(pausefl.__all__):
        public = getattr(pausefl, name)
        if not inspect.isclass(public):
            lines.append(f"{name}{inspect.signature(public)}")
            continue
        lines.append(f"class {name}({', '.join(base.__name__ for base in public.__bases__)})")
        for member, value in sorted(vars(public).items()):
            if member.startswith("_") and member not in ("__init__", "__call__"):
                continue
            if inspect.isfunction(value := inspect.unwrap(getattr(value, "__func__", value))):
                lines.append(f"    {member}{inspect.signature(value)}")
            else:
                lines.append(f"    {member}")
    return re.sub(r" at 0x\w+", "", "\n".join(lines)) + "\n"


if __name__ == "__main__":
    SIGNATURES.write_text(_signatures(), "utf-8")
