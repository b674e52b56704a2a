"""Settings in all combinations: the jobs, the effects of levels, and what is refused."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pausefl.errors import ConfigError
from pausefl.reproduction.studies import load_studies
from pausefl.reproduction.studies.factorial import MEASURES, Factorial

ROOT = Path(__file__).parents[3]
SEEDS = (0, 1, 2, 3)
GAMMA = {"title": "γ", "base": "5", "levels": {"0": {"reward.gamma": 0}, "5": {}}}
SEARCH = {"title": "Search", "base": "exact", "levels": {"exact": {}, "SA": {"selector": "sa_pause"}}}


def study(tmp_path: Path, **factors: Any) -> Factorial:
    path = tmp_path / "studies.yaml"
    settings = {
        "title": "t",
        "scenario": "demo_small",
        "selectors": ["pause", "sa_pause"],
        "seeds": list(SEEDS),
        "factors": factors,
    }
    path.write_text(repr({"factorial": {"one": settings}}), encoding="utf-8")
    found = load_studies(path, ROOT / "config/scenarios")["one"]
    assert isinstance(found, Factorial)
    return found


def made_up(effect: float) -> pd.DataFrame:
    """Rows in which γ = 0 multiplies the mean round by e^effect, and SA doubles it, with noise by seed."""
    rng, rows = np.random.default_rng(0), []
    noise = dict(zip(SEEDS, rng.normal(0, 0.1, len(SEEDS)), strict=True))
    for gamma, search, seed in product(("0", "5"), ("exact", "SA"), SEEDS):
        value = math.exp((gamma == "0") * (effect + noise[seed])) * (2 if search == "SA" else 1)
        row = {"gamma": float(gamma), "search": search, "seed": seed}
        rows.append(row | dict.fromkeys(MEASURES, 3.0) | {"mean_round_s": value})
    return pd.DataFrame(rows)


def test_all_combinations_have_jobs_of_their_own(tmp_path: Path) -> None:
    found = study(tmp_path, gamma=GAMMA, search=SEARCH)
    jobs = {(scenario.name, scenario.reward.gamma): keys for scenario, keys in found.runs}
    assert jobs == {
        ("demo_small_gamma_0_search_exact", 0.0): [("pause", seed) for seed in SEEDS],
        ("demo_small_gamma_0_search_sa", 0.0): [("sa_pause", seed) for seed in SEEDS],
        ("demo_small_gamma_5_search_exact", 5.0): [("pause", seed) for seed in SEEDS],
        ("demo_small_gamma_5_search_sa", 5.0): [("sa_pause", seed) for seed in SEEDS],
    }


def test_an_effect_is_the_mean_gap_over_the_other_factors_paired_by_seed(tmp_path: Path) -> None:
    found, runs = study(tmp_path, gamma=GAMMA, search=SEARCH), made_up(0.3)
    effects = found.effects(runs).set_index(["factor", "level", "measure"])
    one = effects.loc["gamma", "0", "mean_round_s"]
    by_seed = np.log(
        runs[(runs["gamma"] == 0) & (runs["search"] == "exact")].set_index("seed")["mean_round_s"]
    )
    half = stats.t.ppf(0.975, 3) * by_seed.std(ddof=1) / 2
    ends = [by_seed.mean(), by_seed.mean() - half, by_seed.mean() + half]
    assert list(one[["gap", "low", "high"]]) == pytest.approx(np.exp(ends))
    assert one["p"] == pytest.approx(stats.ttest_1samp(by_seed, 0).pvalue)
    assert effects.loc["search", "SA", "mean_round_s"]["gap"] == pytest.approx(2.0)
    assert (effects["base"] == ["5"] * len(MEASURES) + ["exact"] * len(MEASURES)).all()


def test_levels_that_were_read_as_numbers_are_found_again_and_are_in_the_figure(tmp_path: Path) -> None:
    found, runs = study(tmp_path, gamma=GAMMA, search=SEARCH), made_up(0.3)
    plotted = found.plot({"runs.csv": runs})
    assert {*plotted.tables} == {"cells.csv", "effects.csv"}
    panel = plotted.figure.axes[list(MEASURES).index("mean_round_s")]
    assert [text.get_text() for text in panel.get_xticklabels()] == ["0", "5"]
    drawn = {
        tuple(np.round(np.asarray(line.get_ydata(), float), 6))
        for line in panel.lines
        if len(line.get_ydata()) == 2
    }
    means = runs.groupby(["search", "gamma"])["mean_round_s"].mean()
    assert {tuple(np.round(means.loc[search].to_numpy(), 6)) for search in ("exact", "SA")} <= drawn


def test_bold_is_what_holds_after_the_correction(tmp_path: Path) -> None:
    found = study(tmp_path, gamma=GAMMA, search=SEARCH)
    row = next(line for line in found.to_markdown(made_up(3.0)).splitlines() if line.startswith("| γ"))
    assert "**" in row
    assert row.count("**") == 2  # of the mean round alone
    row = next(line for line in found.to_markdown(made_up(0.01)).splitlines() if line.startswith("| γ"))
    assert "**" not in row


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (GAMMA | {"base": "7"}, "'7' is not among levels: 0, 5"),
        (GAMMA | {"levels": {"5": {}}}, "at least two are needed"),
        (GAMMA | {"levels": {"0": {"reward.gama": 0}, "5": {}}}, "reward.gama"),
        (GAMMA | {"levels": {"0": {"selector": "random"}, "5": {}}}, "'random' must be among selectors"),
        (GAMMA | {"levels": {"5": {}, "5.": {"reward.gamma": 0}}}, "differ in signs alone"),
    ],
)
def test_factors_that_make_no_study_are_refused(tmp_path: Path, factor: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        study(tmp_path, gamma=factor)
