"""The users of the authors' random selection on MNIST, made again, and what the page says of that log."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pausefl.reproduction.authors_archive import archived, read_off

ROOT = Path(__file__).parents[2]


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "benchmarks/investigations")
    return importlib.import_module("authors_draws")


def test_the_draws_have_the_times_and_participations_of_three_logs(draws: Any) -> None:
    users, seconds = draws.drawn(300)
    assert users[0].tolist() == [12, 15, 22, 52, 108, 136, 184, 188, 206, 208, 221, 230, 239, 248, 290]
    logs = {
        "v1": read_off("mnist_large_iid_r1_v1_as_run")["random"],
        "v2": read_off("mnist_large_iid_r1_as_run")["random"],
        "archived": archived("mnist_large_authors")["random"],
    }
    assert {name: len(log) for name, log in logs.items()} == {"v1": 62, "v2": 30, "archived": 300}
    for log in logs.values():
        assert np.abs(seconds[log["round"] - 1] - log["elapsed_s"]).max() <= 0.005 + 1e-9
    for t, largest in logs["v1"].set_index("round")["largest_participations"].dropna().items():
        counts = np.bincount(users[:t].ravel(), minlength=300)
        assert counts[users[t - 1]].max() == largest
    assert np.bincount(users.ravel()).max() == 25  # as in v1's log


def test_the_selector_takes_them_whatever_the_seed(draws: Any) -> None:
    users, _ = draws.drawn(300)
    select = draws.AuthorsRandom()
    for t in (1, 2, 300):
        assert select(SimpleNamespace(round=t), np.random.default_rng(t)).tolist() == users[t - 1].tolist()


def test_the_page_says_what_the_runs_have(draws: Any) -> None:
    assert draws.table() in (ROOT / "results/published/authors.md").read_text("utf-8")
    text = " ".join((ROOT / "docs/authors.md").read_text("utf-8").split())
    ours, more, log = draws.published(), draws.more_runs(), draws.logged("random")
    late = log.index[(log.index > 100) & (log.index <= 200)]
    assert len(late) == 9
    assert (ours["random"].loc[late].min(axis=1) > log[late]).all()
    behind = draws.gaps(ours["random"]).mean()
    lower = sorted(gap for gap in draws.gaps(more["random"]) if gap < 0)
    four = ours["random"].loc[147:150].mean()
    ours_there = f"{four.min():.1f} to {four.max():.1f}"
    said = [
        f"by {behind:.1f} points on average",
        f"two of ours lie lower than their log, by {-lower[0]:.1f} and {-lower[1]:.1f} points",
        f"The log has {log.loc[147:150].mean():.1f} %, and our published seeds have {ours_there} %",
    ]
    assert len(lower) == 2
    assert (draws.gaps(more["authors_draws"])[more["sa_pause_v1"].columns] > 0).all()
    assert [words for words in said if words not in text] == []
