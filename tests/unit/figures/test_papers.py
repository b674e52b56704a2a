"""Names of figures and studies to their places in the papers."""

from __future__ import annotations

from pathlib import Path

import pytest

from pausefl.figures.papers import (
    CONTENTS,
    SECTIONS,
    SHARED,
    Place,
    as_run,
    home_of,
    in_words,
    labels,
    of_scenario,
    place_of,
    reading,
)
from pausefl.settings import load_scenario, scenario_names

SCENARIOS = Path(__file__).parents[3] / "config/scenarios"


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("pause_v2_fig8", Place("pause_v2", "fig8")),
        ("pause_v1_fig8", Place("pause_v1", "fig8")),
        ("pause_v2_fig8_as_written", Place("pause_v2", "fig8")),
        ("pause_v2_fig6_dirichlet", Place("pause_v2", "fig6")),
        ("bsfl_fig6_loss", Place("bsfl", "fig6")),
        ("bsfl_fig7a", Place("bsfl", "fig7")),
        ("pause_v2_table1", Place("pause_v2", "table1")),
        ("pause_v2_theorem3_small", Place("pause_v2", "theorem3")),
        ("demo_small_accuracy", None),
        ("pause_v3_fig1", None),
    ],
)
def test_a_name_says_where_the_papers_have_it(name: str, place: Place | None) -> None:
    assert place_of(name) == place


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([], ""),
        (["fig1", "fig2", "fig3", "fig5", "fig7", "fig8"], "Figs. 1 to 3, 5, 7 and 8"),
        (["table1", "fig4", "theorem3"], "Fig. 4, Table I, Theorem 3"),
    ],
)
def test_several_parts_in_few_words(parts: list[str], words: str) -> None:
    assert labels(parts) == words


@pytest.mark.parametrize(
    ("scale", "names", "home"),
    [
        ("demo", ["demo_small_accuracy"], "demo"),
        ("paper", ["authors_mnist_small_accuracy"], "authors"),
        ("paper", ["pause_v2_fig8", "privacy_mnist_large_iid_r1_spending"], "beyond"),
        ("paper", ["bsfl_fig6_loss"], "beyond"),
        ("paper", ["group_cifar10_small_iid_r1_accuracy"], "beyond"),
        ("paper", ["beyond_mnist_large_iid_r2_accuracy"], "beyond"),
        ("paper", ["pets_accuracy"], "own"),
        ("paper", [], "own"),
    ],
)
def test_figures_of_no_paper_have_a_section(scale: str, names: list[str], home: str) -> None:
    assert home_of(scale, names) == home


def test_every_figure_of_the_papers_has_its_place_in_the_shipped_configuration() -> None:
    """All that is not plotted from runs, or shared, is a study."""
    named = {
        name for scenario in scenario_names(SCENARIOS) for name in load_scenario(scenario, SCENARIOS).figures
    }
    found = {place_of(name) for name in named}
    missing = {
        f"{paper}_{part}"
        for paper, parts in CONTENTS.items()
        for part in parts
        if Place(paper, part) not in found and (paper, part) not in SHARED
    }
    assert missing == {
        *("pause_v2_fig1", "pause_v2_table1", "pause_v2_theorem3"),
        *("bsfl_fig2", "bsfl_fig3", "bsfl_fig4"),
    }
    assert not {place.paper for place in found if place} - set(SECTIONS)


@pytest.mark.parametrize(
    ("name", "read", "words"),
    [
        ("pause_v2_fig8", "as run", "PAUSE v2, Fig. 8, as run"),
        ("pause_v2_fig8_as_written", "as written", "PAUSE v2, Fig. 8, as written"),
        ("pause_v2_fig6_dirichlet", "as run", "PAUSE v2, Fig. 6, as run"),
        ("bsfl_fig6_loss", "", "BSFL, Fig. 6"),
        ("demo_small_accuracy", "", ""),
    ],
)
def test_a_name_says_which_reading_it_is(name: str, read: str, words: str) -> None:
    assert (reading(name), in_words(name)) == (read, words)


def test_every_figure_with_a_log_has_both_readings() -> None:
    loaded = [load_scenario(name, SCENARIOS) for name in scenario_names(SCENARIOS)]
    named = [figure for scenario in loaded for figure in scenario.figures]
    assert len(named) == len(set(named))
    owner = {figure: scenario for scenario in loaded for figure in scenario.figures}
    with_log = [f"pause_v2_fig{n}" for n in range(2, 16)] + [f"pause_v1_fig{n}" for n in range(2, 10)]
    for name in with_log:
        run, written = owner[name], owner[f"{name}_as_written"]
        assert run.name.endswith("_as_run")
        assert "_as_run" not in written.name
        assert run.figures[name] == written.figures[f"{name}_as_written"]
        assert as_run(f"{name}_as_written") == name
    # These are all, apart from Fig. 6 with sizes that are drawn.
    others = {name for name in named if reading(name) and as_run(name) not in with_log}
    assert others == {"pause_v2_fig6_dirichlet", "pause_v2_fig7_dirichlet"}


def test_the_places_of_a_scenario() -> None:
    names = ["pause_v2_fig4", "pause_v2_fig2", "beyond_it", "bsfl_fig6_loss", "bsfl_fig6_accuracy"]
    assert of_scenario(names) == "PAUSE v2, Figs. 2 and 4; BSFL, Fig. 6"
    assert of_scenario(["group_it"]) == "–"
