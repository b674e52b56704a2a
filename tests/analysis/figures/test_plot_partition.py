"""The picture of a partition shows every user."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pausefl.analysis.figures.partition import plot_partition
from pausefl.data.partition import Partition


@pytest.mark.parametrize(("n_users", "n_classes"), [(1, 2), (12, 0), (61, 30), (500, 2)])
def test_the_figure_shows_every_user(tmp_path: Path, n_users: int, n_classes: int) -> None:
    labels = np.arange(3000) % max(n_classes, 1)
    users = tuple(np.array_split(np.arange(3000), n_users))
    partition = Partition(users, np.ones(n_users), np.arange(0))
    figure = plot_partition(partition, labels, n_classes, "a title, seed 1", 0.5)
    figure.savefig(tmp_path / "figure.svg")
    upper, lower = figure.axes[:2]
    assert upper.get_title(loc="left").strip() == "a title, seed 1"
    assert f"K = {n_users} users, 3,000 examples" in upper.texts[0].get_text()
    assert ("mean 50 % (asked: 50 %)" in upper.texts[0].get_text()) == (n_classes == 2)
    assert upper.get_xlim()[0] <= 0
    assert upper.get_xlim()[1] >= n_users
    assert "unused" not in upper.texts[0].get_text()
    assert lower.get_ylabel() == ("class" if n_classes else "quality of the data")
