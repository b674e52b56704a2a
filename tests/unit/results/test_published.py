"""What is published: the same values in smaller files, and which studies there are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pausefl.results.published import publish, those_published
from pausefl.settings.studies import load_studies

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("n", [0, 1, 300])
def test_a_table_keeps_its_values_and_types(tmp_path: Path, n: int) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "round": np.arange(n),
            "selection": [rng.permutation(300)[:15] for _ in range(n)],
            "elapsed_s": rng.random(n).cumsum(),
            "accuracy": np.where(np.arange(n) % 5 == 0, rng.random(n), np.nan),
            "leakage_max": np.repeat(np.inf, n),
            "pseudo_regret": np.full(n, np.nan),
            "name": ["pause"] * n,
        }
    )
    table.to_parquet(tmp_path / "rounds.parquet", index=False)
    publish(tmp_path / "rounds.parquet", tmp_path / "published" / "rounds.parquet")
    ours, theirs = (pd.read_parquet(tmp_path / part / "rounds.parquet") for part in ("", "published"))
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


def test_other_files_are_copied(tmp_path: Path) -> None:
    (tmp_path / "summary.json").write_text('{"seed": 0}\n', "utf-8")
    publish(tmp_path / "summary.json", tmp_path / "deep" / "er" / "summary.json")
    assert (tmp_path / "deep" / "er" / "summary.json").read_text("utf-8") == '{"seed": 0}\n'


def test_a_study_that_was_not_published_is_none(tmp_path: Path) -> None:
    studies = load_studies(ROOT / "config/studies.yaml", ROOT / "config/scenarios")
    (tmp_path / "bsfl_fig4").mkdir()
    there = those_published(studies, tmp_path)
    assert set(there.names()) == {"bsfl_fig4", *studies.generalization}
    assert there.comparison == studies.comparison
