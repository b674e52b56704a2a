"""Published results are computed again; what is found equal counts as made by today's code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.errors import PauseflError
from pausefl.federated.job import Job
from pausefl.federated.run import run_job
from pausefl.provenance import job_code
from pausefl.results.differences import difference
from pausefl.results.publishing import publish_runs
from pausefl.results.verified import FILE, current_codes
from pausefl.settings import Experiment, RawData, Scenario
from pausefl.tools.recompute import LONGEST_S, prefixes, recompute

#: Hash of the code that made the published runs.
OTHER = "0" * 16
ROOT = Path(__file__).parents[3]
CONFIG_FILES = (ROOT / "config" / "scenarios", ROOT / "config" / "studies.yaml")
ROUNDS = pd.DataFrame(
    {
        "round": [1, 2, 3],
        "selection": [[1, 2], [0], [2, 3]],
        "accuracy": [0.5, float("nan"), 0.7],
        "reward": [1.0, float("nan"), 3.0],
    }
)


def test_all_published_results_that_were_compared_are_equal() -> None:
    """As ``docs/artifact.md`` says."""
    compared = json.loads((ROOT / "results" / "published" / FILE).read_text("utf-8"))
    assert all(one["digest"] for part in compared.values() for one in part.values())
    differ = [name for part in compared.values() for name, one in part.items() if one["equal"] is False]
    assert compared["runs"]
    assert compared["studies"]
    assert not differ


def test_a_prefix_may_be_evaluated_once_more() -> None:
    other = ROUNDS.copy()
    other.loc[1, "accuracy"] = 0.6
    assert difference(*prefixes(other.iloc[:2], ROUNDS)) == ""
    assert difference(*prefixes(other, ROUNDS)) == "column accuracy differs in round 2"
    other.loc[0, "accuracy"] = 0.6
    assert difference(*prefixes(other.iloc[:2], ROUNDS)) == "column accuracy differs in round 1"


@pytest.fixture
def published(demo: Scenario, digits: Dataset, share_out: Callable[..., Partition], tmp_path: Path) -> Path:
    """A published run of other code, of which only a prefix is computed again, and one that is quick."""
    for selector, seconds in (("random", 2 * LONGEST_S), ("pause", 1.0)):
        folder = tmp_path / selector
        run_job(Job(demo, selector, 3, 4, device="cpu"), digits, share_out(demo, 3), folder)
        change(folder, 3, code_hash=OTHER, code={"one": "1"}, timings_s={"total": seconds})
        publish_runs({Experiment(demo.name, selector, 3): folder}, tmp_path / "published")
    return tmp_path / "published"


def change(folder: Path, seed: int, **changes: object) -> dict[Experiment, Path]:
    """A finished run with another summary."""
    path = folder / "summary.json"
    summary = json.loads(path.read_text()) | changes
    path.write_text(json.dumps(summary))
    return {Experiment(summary["scenario"]["name"], summary["selector"], seed): folder}


def with_other_losses(folder: Path, t: int) -> None:
    """Publish a run whose loss in a round is another."""
    path = folder / "rounds.parquet"
    rounds = pd.read_parquet(path)
    rounds.loc[t, "train_loss"] += 1e-7
    rounds.to_parquet(path, index=False)
    publish_runs(change(folder, 3, digests={}), folder.parent / "published", replace=True)


def verified(published: Path) -> list[str]:
    said: list[str] = []
    raw = RawData(root=Path("nowhere"), download=False, folders={})
    recompute(published, *CONFIG_FILES, raw, n_processes=1, tell=said.append)
    return said


def test_equal_runs_count_as_todays(
    published: Path, demo: Scenario, digits: Dataset, share_out: Callable[..., Partition]
) -> None:
    today = {selector: job_code(demo, selector) for selector in ("pause", "random")}
    assert OTHER not in current_codes(demo, today, published)["pause"]
    assert verified(published) == [
        "2 comparisons, 0 made already under this code",
        f"runs/demo_small/pause/{OTHER}: equal, 4 of 4 rounds",
        f"runs/demo_small/random/{OTHER}: equal, 2 of 4 rounds",
    ]
    found = current_codes(demo, today, published)
    assert all(OTHER in codes and today[selector] in codes for selector, codes in found.items())
    entry = json.loads((published / FILE).read_text())["runs"][f"demo_small/pause/{OTHER}"]
    assert (entry["made_with"], entry["code"], entry["seed"]) == (OTHER, today["pause"], 3)
    assert verified(published) == ["2 comparisons, 2 made already under this code"]
    again = published.parent / "again"
    run_job(Job(demo, "pause", 4, 4, device="cpu"), digits, share_out(demo, 4), again)
    publish_runs(change(again, 4, code_hash="2" * 16, code={"one": "2"}), published)
    assert "2" * 16 not in current_codes(demo, today, published)["pause"]
    assert verified(published)[:2] == [
        "3 comparisons, 2 made already under this code",
        f"runs/demo_small/pause/{'2' * 16}: equal, 4 of 4 rounds",
    ]
    assert current_codes(demo, today, published)["pause"][-2:] == [OTHER, "2" * 16]
    stale = json.loads((published / FILE).read_text())
    stale["runs"][f"demo_small/pause/{OTHER}"]["code"] = "1" * 16
    (published / FILE).write_text(json.dumps(stale))
    assert OTHER not in current_codes(demo, today, published)["pause"]


def test_a_run_that_is_not_the_same_is_recorded_as_such(published: Path, demo: Scenario) -> None:
    with_other_losses(published.parent / "pause", 2)
    name, problem = f"runs/demo_small/pause/{OTHER}", "4 of 4 rounds column train_loss differs in round 3"
    assert f"{name}: DIFFERENT, {problem}" in verified(published)
    assert OTHER not in current_codes(demo, ["pause"], published)["pause"]


def test_a_run_of_a_gpu_is_compared_where_there_is_one(
    published: Path, demo: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    publish_runs(change(published.parent / "pause", 3, device="cuda"), published, replace=True)
    name = f"demo_small/pause/{OTHER}"
    for n_made in (0, 1):
        count, *lines = verified(published)
        assert count == f"2 comparisons, {n_made} made already under this code"
        assert f"runs/{name}: not compared, nothing: it was trained on a GPU, and here is none" in lines
    assert name not in json.loads((published / FILE).read_text())["runs"]
    assert OTHER not in current_codes(demo, ["pause"], published)["pause"]


def test_what_was_found_equal_counts_for_that_content(published: Path, demo: Scenario) -> None:
    """Also where whoever edits it makes all digests anew; and nothing counts without a digest."""
    verified(published)
    recorded = (published / FILE).read_text()
    with_other_losses(published.parent / "pause", 2)
    assert OTHER not in current_codes(demo, ["pause"], published)["pause"]
    assert verified(published)[:2] == [
        "2 comparisons, 1 made already under this code",
        f"runs/demo_small/pause/{OTHER}: DIFFERENT, 4 of 4 rounds column train_loss differs in round 3",
    ]
    entries = json.loads(recorded)
    del entries["runs"][f"demo_small/random/{OTHER}"]["digest"]
    (published / FILE).write_text(json.dumps(entries))
    assert verified(published)[0] == "2 comparisons, 0 made already under this code"


def test_edits_without_digests_are_refused_whether_compared_before_or_not(published: Path) -> None:
    verified(published)
    path = published / "demo_small" / "rounds.parquet"
    rounds = pd.read_parquet(path)
    rounds.assign(accuracy=rounds["accuracy"] + 0.1).to_parquet(path, index=False)
    with pytest.raises(PauseflError, match="the rows of pause, seed 3 are not those that were published"):
        verified(published)


def test_how_many_rounds_of_a_long_run_is_drawn(
    demo: Scenario, digits: Dataset, share_out: Callable[..., Partition], tmp_path: Path
) -> None:
    run_job(Job(demo, "random", 3, 8, device="cpu"), digits, share_out(demo, 3), tmp_path / "random")
    publish_runs(
        change(tmp_path / "random", 3, timings_s={"total": LONGEST_S * 8 / 7}), tmp_path / "published"
    )
    raw, said = RawData(root=Path("nowhere"), download=False, folders={}), set[str]()
    for _ in range(12):
        recompute(tmp_path / "published", *CONFIG_FILES, raw, "", 1, 1, said.add)
    counts = {int(line.split("equal, ")[1].split()[0]) for line in said if "equal, " in line}
    assert len(counts) > 2
    assert counts <= set(range(2, 8))


@pytest.mark.parametrize("column", ["epsilon_update", "values_unprotected"])
def test_another_ledger_is_a_difference(published: Path, column: str) -> None:
    """In what the rounds do not tell."""
    path = published.parent / "pause" / "ledger.parquet"
    ledger = pd.read_parquet(path)
    ledger.loc[5, column] += 1
    ledger.to_parquet(path, index=False)
    publish_runs(change(path.parent, 3, digests={}), published, replace=True)
    expected = f"runs/demo_small/pause/{OTHER}: DIFFERENT, 4 of 4 rounds column {column} differs"
    assert any(line.startswith(expected) for line in verified(published))


def test_runs_drawn_at_random_are_compared_and_not_recorded(published: Path, demo: Scenario) -> None:
    verified(published)
    recorded = (published / FILE).read_bytes()
    raw = RawData(root=Path("nowhere"), download=False, folders={})

    def drawn(n_runs: int, only: str = "") -> tuple[bool, list[str]]:
        said: list[str] = []
        equal = recompute(published, *CONFIG_FILES, raw, only, n_runs, 1, said.append)
        return equal, said

    assert drawn(1, "pause") == (True, ["1 of 1 runs", "runs/demo_small/pause/seed-3: equal, 4 of 4 rounds"])
    with_other_losses(published.parent / "random", 1)
    equal, (count, *lines) = drawn(9)
    assert (equal, count) == (False, "2 of 2 runs")
    assert sorted(lines) == [
        "runs/demo_small/pause/seed-3: equal, 4 of 4 rounds",
        "runs/demo_small/random/seed-3: DIFFERENT, 2 of 4 rounds column train_loss differs in round 2",
    ]
    assert (published / FILE).read_bytes() == recorded
    with pytest.raises(PauseflError, match="nothing that was published has 'fedavg' in its name"):
        drawn(1, "fedavg")
    with pytest.raises(PauseflError, match="nothing that was published has 'fedavg' in its name"):
        recompute(published, *CONFIG_FILES, raw, "fedavg")
