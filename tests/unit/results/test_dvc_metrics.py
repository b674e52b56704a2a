"""The files that DVC compares between revisions."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd

from pausefl.results.dvc_metrics import write


def rounds(n_rounds: int, **columns: list[float]) -> pd.DataFrame:
    """Rounds of ``pause``, one seed for each value of ``accuracy`` and ``loss``; all rounds are alike."""
    runs = [
        pd.DataFrame(
            {
                "scenario": "tiny",
                "selector": "pause",
                "seed": seed,
                "round": range(1, n_rounds + 1),
                "accuracy": accuracy,
                "loss": loss,
            }
        )
        for seed, (accuracy, loss) in enumerate(zip(columns["accuracy"], columns["loss"], strict=True))
    ]
    return pd.concat(runs)


def row(**means: float) -> dict[str, float]:
    """A line of a summary."""
    names = ("final_accuracy", "final_loss", "seconds_to_target", "leakage_max")
    return {f"{name}_mean": means.get(name, math.nan) for name in names}


def test_what_was_there_of_other_scenarios_is_removed(tmp_path: Path) -> None:
    table, metrics, plots = tmp_path / "tables/tiny", tmp_path / "metrics", tmp_path / "plots"
    table.mkdir(parents=True)
    pd.DataFrame([{"selector": "pause", **row(final_accuracy=0.5)}]).to_csv(table / "summary.csv")
    claims = tmp_path / "claims/paper/claims.json"
    claims.parent.mkdir(parents=True)
    claims.write_text(json.dumps({"claims": [{"finding": "mixed"}]}), "utf-8")
    old = [metrics / "old/pause.json", metrics / "tiny/random.json", plots / "old.csv"]
    for path in old:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}", "utf-8")
    write({table: rounds(3, accuracy=[0.5], loss=[1.0])}, [claims], metrics, plots)
    found = {str(p.relative_to(tmp_path)) for folder in (metrics, plots) for p in folder.rglob("*.*")}
    assert found == {"metrics/tiny/pause.json", "metrics/claims/paper.json", "plots/tiny.csv"}
    assert json.loads((metrics / "tiny/pause.json").read_text("utf-8")) == {"final_accuracy": 0.5}
