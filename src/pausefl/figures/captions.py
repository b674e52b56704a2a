"""Captions of figures, tables and partitions of scenarios, and of studies.

The words are in `pausefl.figures.words`, a file for each kind; this module has the values that they need.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from string import Formatter
from typing import Any

from pausefl.figures import papers, words
from pausefl.figures.deviations import applying, iterates
from pausefl.figures.notes import SHARED, scale_note
from pausefl.figures.words import Caption
from pausefl.registry import FIGURES, MECHANISMS, SAMPLERS, SCHEDULES, SELECTORS, STUDIES, TABLES
from pausefl.registry.figures import ARCHIVED, LOGGED, MOST_LINES, PARTITION, is_regression, protected
from pausefl.settings import PrivacySettings, Scenario

#: What of a scenario has a caption.
RECORDS = {**FIGURES, **TABLES, "partition": PARTITION}


def caption(kind: str, scenario: Scenario, seeds: Collection[int], origin: str) -> Caption:
    """Caption of a scenario's figure or table, or of its partition.

    Parameters
    ----------
    kind
        A name of `RECORDS`.
    scenario
        The scenario whose runs are shown.
    seeds
        The seed of each run.
    origin
        Where the data came from.
    """
    record = RECORDS[kind]
    return words.caption(
        f"{kind}.md.jinja",
        kind=kind,
        scale=scale_note(scenario, SHARED if record is PARTITION else None),
        regression=is_regression(scenario),
        a_line_each=scenario.network.n_users <= MOST_LINES,
        origin=origin,
        place=paper_figures(scenario, kind),
        deviations=scenario_deviations(kind, scenario),
        of_authors=record.of_authors,
        **_authors(kind, record.of_authors, scenario),
        **values_of(scenario, seeds),
    )


def values_of(scenario: Scenario, seeds: Collection[int]) -> dict[str, Any]:
    """What the shared words of a caption need to know of a scenario and the seed of each run.

    Returns
    -------
    dict
        ``scenario``; ``records`` of its selectors; ``seeds``, each once; ``all_seeds``, their number in
        words, up to which some selectors have fewer; ``protected``, what the ε are for; ``privacy``, or None;
        ``guarantees``, sentences on what a user may spend.
    """
    runs = Counter(seeds)
    number = "one seed" if len(runs) == 1 else f"{len(runs)} seeds"
    return {
        "scenario": scenario,
        "records": [SELECTORS[name] for name in scenario.selectors],
        "seeds": tuple(sorted(runs)),
        "all_seeds": f"up to {number}" if len(set(runs.values())) > 1 else number,
        "protected": protected(scenario),
        "privacy": scenario.privacy,
        "guarantees": _guarantees(scenario.privacy),
    }


def _guarantees(privacy: PrivacySettings | None) -> list[str]:
    if privacy is None:
        return []
    settings = {**vars(privacy), "n_budgets": len(privacy.budgets or ())}
    records = MECHANISMS[privacy.mechanism], SCHEDULES[privacy.schedule], SAMPLERS[privacy.sampler]
    return [record.caption.format(**settings) for record in records if record.caption]


def _authors(kind: str, column: str, scenario: Scenario) -> dict[str, Any]:
    """What there is of the authors' runs, for a figure that would show ``column`` of them."""
    from pausefl.results.archive import log_of, logged  # pandas, which a plan of jobs need not wait for

    log = None
    if scenario.name in LOGGED:
        shown = column and any(run[column].notna().any() for run in logged(scenario).values())
        log = {"seed": log_of(scenario.name)["seed"], "shown": shown}
    own = [name for name, shown in scenario.figures.items() if shown == kind and papers.place_of(name)]
    return {
        "archived": scenario.name in ARCHIVED,
        "log": log,
        "in_papers": own and scenario.scale in ("paper", "reduced"),
        "elsewhere": [papers.as_run(name) for name in own if papers.reading(name) == papers.AS_WRITTEN],
    }


def scenario_deviations(kind: str, scenario: Scenario) -> list[str]:
    """Deviations that bear on a scenario's figure or table: ``D8: budgets and leakage …``."""
    return applying(RECORDS[kind].deviations, scenario)


def paper_figures(scenario: Scenario, kind: str) -> str:
    """The papers' figures that this kind of figure reproduces, or "none".

    ``scenario.figures`` maps such names as ``pause_v2_fig8`` or ``bsfl_fig7_loss`` to kinds; these become
    "PAUSE v2, Fig. 8, as run" and "BSFL, Fig. 7", and ``reduced_bsfl_fig7_loss`` "BSFL, Fig. 7, reduced".
    Figures of the demonstrations and of users' own scenarios reproduce none, nor do those for a privacy
    reviewer, ``privacy_…``, of what goes beyond the papers, ``beyond_…``, or of their settings with group
    normalisation, ``group_…``.
    """
    places = [] if scenario.scale == "own" else _places(scenario.figures, kind)
    return "; ".join(places) or "none"


def _places(figures: Mapping[str, str], kind: str) -> list[str]:
    names = [papers.in_words(name) for name, shown in figures.items() if shown == kind]
    return [name for name in names if name]


def study_caption(kind: str, study: Any, figures: Mapping[str, str]) -> Caption:
    """Caption of a study's figure and table.

    Parameters
    ----------
    kind
        A name of `pausefl.registry.STUDIES`.
    study
        The study.
    figures
        Figures of the study's scenario, if any, as its file has them: names and kinds.
    """
    record = STUDIES.find(kind)
    filled = study_values(study)
    runs = values_of(study.scenario, study.seeds) if hasattr(study, "seeds") else {"seeds": ()}
    return words.caption(
        "study.md.jinja",
        caption=_fill(record.caption, **filled),
        setting=_fill(record.setting, **filled),
        shown=_fill(record.shown, **filled),
        reading=_fill(record.reading, **filled),
        place=study_place(kind, figures),
        deviations=study_deviations(kind, study),
        **runs,
    )


def study_place(kind: str, figures: Mapping[str, str]) -> str:
    """Where the papers have what a study shows, in words; ``figures`` as for `study_caption`."""
    record = STUDIES.find(kind)
    places = [place for one in record.repeats for place in _places(figures, one)]
    return "; ".join(dict.fromkeys(places)) or record.place


def study_deviations(kind: str, study: Any) -> list[str]:
    """Deviations that bear on a study."""
    return applying(STUDIES.find(kind).deviations, getattr(study, "scenario", None))


def study_values(study: Any) -> dict[str, Any]:
    """What stands in captions of studies for names in braces.

    Returns
    -------
    dict
        `study`; if it has a scenario, `annealing`, a sentence on the annealers, if there are any; if it
        has seeds, `lines`, `simulated`, what was simulated, `fit_start`, the first round that laws of
        growth are fitted to, and `other_index`, a warning.
    """
    found: dict[str, Any] = {"study": study}
    scenario = getattr(study, "scenario", None)
    if scenario is None:
        return found
    search = scenario.selection
    found["annealing"] = (
        f"Annealers run {search.n_iterations} iterations a round, with temperatures divided by"
        f" κ = {search.temperature_divisor:g}."
        if any(map(iterates, scenario.selectors))
        else ""
    )
    if not hasattr(study, "seeds"):
        return found
    runs = values_of(scenario, study.seeds)
    others = words.render("_everyone.md.jinja", **runs)
    everyone = f" {others}" if others else ""
    reward, index = scenario.reward, search.exploitation
    left = ", the weight of the budget that is left" if scenario.privacy is not None and reward.gamma else ""
    found["lines"] = words.render(
        "{% from '_sentences.md.jinja' import lines with context %}{{ lines() }}", **runs
    )
    found["simulated"] = (
        f"{scenario.network.n_users} users, {scenario.network.n_selected} selected in each of"
        f" {study.n_rounds} rounds{everyone}; nothing is trained. Scenario `{scenario.name}`,"
        f" reward `{reward.name}` with α = {reward.alpha}, β = {reward.beta}, γ = {reward.gamma}{left}. The"
        f" bandit index multiplies the mean speed by ζ = {index}."
    )
    found["fit_start"] = study.n_rounds // 100
    found["other_index"] = (
        " With ζ ≠ 1 the index estimates another objective than the genie's, so regret can grow linearly"
        " however much is known."
        if index != 1
        else ""
    )
    return found


class _Words(Formatter):
    """Fills in tuples as lists in words, and shares as per cent with format ``%``."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, tuple):
            return ", ".join(self.format_field(one, format_spec) for one in value)
        return f"{100 * value:g}" if format_spec == "%" else str(format(value, format_spec))


def _fill(text: str, **found: Any) -> str:
    return _Words().vformat(text, (), found).strip().replace("``", "`")
