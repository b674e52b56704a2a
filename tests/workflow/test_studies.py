"""Studies of selection alone and audits, run in a small configuration: no data set is there to read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from workspace import TINY_STUDIES, Checkout, make_checkout

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout in which all tiny studies ran."""
    checkout = make_checkout(tmp_path_factory.mktemp("studies"))
    checkout.write_scenario()
    checkout.write_config(studies="config/studies.yaml")
    write(checkout, TINY_STUDIES)
    checkout.snakemake("--cores", "2", "studies")
    return checkout


def write(checkout: Checkout, studies: dict[str, Any]) -> None:
    (checkout.root / "config/studies.yaml").write_text(yaml.safe_dump(studies), "utf-8")


@pytest.mark.parametrize("name", [name for kind in TINY_STUDIES.values() for name in kind])
def test_a_study_ends_in_figures_and_tables_and_needs_no_data(finished: Checkout, name: str) -> None:
    folder = finished.root / "results/studies" / name
    for extension in ("png", "pdf", "json"):
        assert (folder / f"{name}.{extension}").stat().st_size > 0
    assert list(folder.glob("*.csv"))
    assert finished.planned(name) == {}
    assert not (finished.root / "data").exists() or not list((finished.root / "data").rglob("*.npz"))


def test_regret_of_the_exact_search_is_the_smaller(finished: Checkout) -> None:
    growth = pd.read_csv(finished.root / "results/studies/tiny_regret/growth.csv")
    regret = growth[growth.seed == "mean"].set_index("selector").regret
    assert 0 < regret["pause"] < regret["random"]


def test_the_exact_search_has_no_gap(finished: Checkout) -> None:
    runs = pd.read_csv(finished.root / "results/studies/tiny_gap/gap.csv")
    assert runs[runs.selector == "pause"].gap.abs().max() < 1e-9
    assert runs[runs.selector == "sa_pause"].gap.max() > 0.01


def test_a_title_is_plotted_anew_and_nothing_is_simulated_again(finished: Checkout) -> None:
    write(finished, TINY_STUDIES)
    finished.edit("config/studies.yaml", "title: Tiny regret", "title: Other title")
    assert finished.planned("tiny_regret") == {"plot_regret": 1}
    finished.edit("config/studies.yaml", "title: Other title", "title: Tiny regret")


def test_more_seeds_simulate_the_new_ones_alone(finished: Checkout) -> None:
    study = TINY_STUDIES["regret"]["tiny_regret"] | {"seeds": [0, 1, 2]}
    write(finished, TINY_STUDIES | {"regret": {"tiny_regret": study}})
    assert finished.planned("tiny_regret") == {"compute_regret": 2, "plot_regret": 1}
    write(finished, TINY_STUDIES)


def test_a_selector_that_is_edited_is_simulated_again_and_no_other(finished: Checkout) -> None:
    path = "src/pausefl/selectors/baselines.py"
    finished.edit(path, "np.sort(rng.choice(history.candidates()", "np.sort(rng.choice(+history.candidates()")
    assert finished.planned("tiny_regret") == {"compute_regret": 2, "plot_regret": 1}
    finished.edit(path, "np.sort(rng.choice(+history.candidates()", "np.sort(rng.choice(history.candidates()")


def test_a_mistake_in_the_studies_is_a_message(finished: Checkout, tmp_path: Path) -> None:
    wrong = TINY_STUDIES["comparison"]["tiny_race"] | {"selectors": ["alsa", "pause"]}
    write(finished, TINY_STUDIES | {"comparison": {"tiny_race": wrong}})
    output = finished.snakemake("--cores", "1", "-n", "studies", ok=False)
    assert "'pause' does not anneal" in output
    assert "tiny_race" in output
    assert "Traceback" not in output
    write(finished, TINY_STUDIES)


def test_an_audit_of_noise_that_is_too_small_fails_and_names_the_claims(finished: Checkout) -> None:
    verdict = finished.root / "results/studies/tiny_audit/verdict.txt"
    assert verdict.read_text("utf-8") == "None of 20 claims is refuted.\n"
    path = "src/pausefl/privacy/mechanisms.py"
    finished.edit(path, "return self.sensitivity / epsilon", "return 0.2 * self.sensitivity / epsilon")
    assert finished.planned("tiny_audit") == {"compute_audit": 1, "plot_audit": 1, "study_verdict": 1}
    output = finished.snakemake("--cores", "1", "tiny_audit", ok=False)
    assert "vector (simulated), epsilon 1, one coordinate: " in output
    assert not verdict.exists()
    assert "**VIOLATED: " in (verdict.parent / "summary.md").read_text("utf-8")
    finished.edit(path, "return 0.2 * self.sensitivity / epsilon", "return self.sensitivity / epsilon")
