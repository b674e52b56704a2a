"""Names of figures and studies to their places in the papers."""

from __future__ import annotations

from pathlib import Path

from pausefl.analysis.figures.kinds import figures_of
from pausefl.reproduction.figures.papers import (
    CONTENTS,
    SECTIONS,
    SHARED,
    Place,
    as_run,
    place_of,
    reading,
)
from pausefl.settings import load_scenario, scenario_names

SCENARIOS = Path(__file__).parents[3] / "config/scenarios"


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
        assert figures_of(run)[name].kind == figures_of(written)[f"{name}_as_written"].kind
        assert as_run(f"{name}_as_written") == name
    # These are all, apart from Fig. 6 with sizes that are drawn.
    others = {name for name in named if reading(name) and as_run(name) not in with_log}
    assert others == {"pause_v2_fig6_dirichlet", "pause_v2_fig7_dirichlet"}
