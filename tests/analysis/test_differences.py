"""Two tables are the same, or the first difference is named."""

from __future__ import annotations

import pandas as pd
import pytest

from pausefl.analysis.differences import difference

ROUNDS = pd.DataFrame(
    {
        "round": [1, 2, 3],
        "selection": [[1, 2], [0], [2, 3]],
        "accuracy": [0.5, float("nan"), 0.7],
        "reward": [1.0, float("nan"), 3.0],
    }
)


@pytest.mark.parametrize(("column", "value"), [("selection", [0, 1]), ("reward", 1.0 + 2**-52), ("round", 9)])
def test_one_bit_is_a_difference(column: str, value: object) -> None:
    other = ROUNDS.copy()
    other.at[0, column] = value
    problem = f"column {column} differs in round {other['round'][0]}"
    assert difference(other, ROUNDS) == problem


def test_a_bit_may_be_rounding() -> None:
    other = ROUNDS.copy()
    other.at[0, "reward"] = 1.0 + 2**-52
    assert difference(other, ROUNDS, 1e-15) == ""
    other.at[2, "reward"] = 3.1
    assert difference(other, ROUNDS, 1e-15) == "column reward differs in round 3"
