"""Facts that the report's captions state about a scenario's figures and tables.

The captions (``workflow/report/*.rst``) are templates; a name that is missing in them renders blank
without an error, so every fact they may use is made here and has words even where there is nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from pausefl.errors import PauseflError, suggest
from pausefl.figures.notes import SHARED, scale_note
from pausefl.registry import FIGURES, SELECTORS, SOURCES, TABLES
from pausefl.settings import PrivacySettings, Scenario

#: What has a caption.
CAPTIONS = (*FIGURES, *TABLES, "partition")

#: Users of which each is drawn as a line; where there are more, quantiles are.
MOST_LINES = 40

_PAPERS = {"pause_v1": "PAUSE v1", "pause_v2": "PAUSE v2", "bsfl": "BSFL"}


def wholes(names: Iterable[str]) -> dict[str, list[str]]:
    """Figures of the papers that are drawn in parts, such as ``bsfl_fig5``, and the names of the parts.

    A part's name is that of the whole with a word more: ``bsfl_fig5_loss``, ``bsfl_fig5_regret``.
    """
    found: dict[str, list[str]] = {}
    for name in names:
        if part := re.fullmatch(r"(?P<whole>\w+?_fig\d+)_\w+", name):
            found.setdefault(part["whole"], []).append(name)
    return found


def is_regression(scenario: Scenario) -> bool:
    """Whether a scenario predicts numbers, so that its runs have a loss but no accuracy."""
    return SOURCES.find(scenario.data.source).regression


def _anneals(scenario: Scenario, kind: str) -> bool:
    return kind != "partition" and any(SELECTORS[name].anneals for name in scenario.selectors)


def protected(scenario: Scenario) -> str:
    """What the epsilons of a scenario's runs are for: ``coordinate``, or ``update`` as a whole."""
    return (
        "update" if scenario.privacy is not None and scenario.privacy.mechanism == "vector" else "coordinate"
    )


def _private(scenario: Scenario, kind: str) -> bool:
    return kind != "partition" and scenario.privacy is not None


def _per_coordinate(scenario: Scenario, kind: str) -> bool:
    return _private(scenario, kind) and protected(scenario) == "coordinate"


def _shares_norms(scenario: Scenario, kind: str) -> bool:
    # The fully connected and the linear model have no normalisation layers.
    convolutional = scenario.model.name.startswith("cnn")
    return _private(scenario, kind) and convolutional and scenario.model.norm == "batch"


def _half_precision(scenario: Scenario, kind: str) -> bool:
    return kind != "partition" and scenario.training.precision == "bfloat16"


def _evaluated_seldom(scenario: Scenario, kind: str) -> bool:
    return kind in {"accuracy_vs_time", "loss_vs_time", "summary"} and scenario.training.evaluate_every > 1


def _mnist_budget(scenario: Scenario, kind: str) -> bool:
    return _private(scenario, kind) and scenario.name in {"mnist_large_iid_r1", "mnist_large_iid_r1_v1"}


#: Deviations from the papers that bear on curves and tables: id, words, and when they apply.
_DEVIATIONS: tuple[tuple[str, str, Callable[[Scenario, str], bool]], ...] = (
    (
        "D1",
        "annealing accepts worse moves with probability exp((E(U) − E(V))/τ); the paper's sign is a misprint",
        _anneals,
    ),
    ("D2", "annealing keeps the best set seen, not the last one accepted", _anneals),
    ("D3", "every user's privacy reward starts at 1, as its definition says, not at 0", _private),
    ("D4", "the annealing temperature adds the small constant that the paper's formula omits", _anneals),
    (
        "D8",
        "budgets and leakage are per coordinate; d coordinates together have d times as much",
        _per_coordinate,
    ),
    ("D9", "batch normalisation layers are shared without clamp or noise, outside the budget", _shares_norms),
    ("D10", "the two versions of the paper differ in the MNIST budget; both are scenarios", _mnist_budget),
    ("D67", "local training computes its products in bfloat16, half of float32's width", _half_precision),
    ("D68", "the global model is not evaluated in every round", _evaluated_seldom),
)


def caption_facts(scenario: Scenario, seeds: Iterable[int], origin: str, kind: str) -> dict[str, Any]:
    """Everything a caption says about one figure or table of one scenario.

    Parameters
    ----------
    scenario
        The scenario whose runs are shown.
    seeds
        Seeds of the runs.
    origin
        Where the data came from, as the runs recorded it.
    kind
        One of `CAPTIONS`.

    Returns
    -------
    dict
        ``title``, ``origin`` (safe in reStructuredText), ``scale`` (a sentence, empty at the papers' scale),
        ``seeds`` (sorted list), ``n_rounds``,
        ``n_users``, ``n_selected``, ``epsilon_total`` (None without privacy), ``privacy`` (sentences on
        budget, clipping and noise), ``leakage`` (what is added up), ``protected`` (as `protected`),
        ``signal`` (the largest that a coordinate can be), ``few_users`` (whether each is drawn),
        ``regression`` (whether there is a loss but no accuracy),
        ``paper_figures`` (such as "PAUSE v2, Fig. 8", or "none") and ``deviations`` (list of "D8: …").

    Raises
    ------
    PauseflError
        If the kind has no caption, there are no seeds or the origin is blank.
    """
    if kind not in CAPTIONS:
        raise PauseflError(f"no caption for '{kind}'. {suggest(kind, CAPTIONS)}")
    seeds = sorted(set(seeds))
    if not seeds:
        raise PauseflError(f"scenario '{scenario.name}': a caption needs at least one seed")
    if not origin.strip():
        raise PauseflError(f"scenario '{scenario.name}': the runs do not say where their data came from")
    privacy = scenario.privacy
    return {
        "title": _escape(scenario.title),
        "scale": _escape(scale_note(scenario, SHARED if kind == "partition" else None)),
        "seeds": seeds,
        "n_rounds": scenario.training.n_rounds,
        "n_users": scenario.network.n_users,
        "n_selected": scenario.network.n_selected,
        "epsilon_total": None if privacy is None else privacy.epsilon_total,
        "privacy": _privacy_words(privacy),
        "leakage": _LEAKAGE[protected(scenario)],
        "protected": protected(scenario),
        "signal": _SIGNAL[protected(scenario)],
        "few_users": scenario.network.n_users <= MOST_LINES,
        "regression": is_regression(scenario),
        "origin": _escape(origin),
        "paper_figures": paper_figures(scenario, kind),
        "deviations": [f"{name}: {words}" for name, words, applies in _DEVIATIONS if applies(scenario, kind)],
    }


#: What the leakage of a user is, by what is protected.
_LEAKAGE = {
    "coordinate": (
        "the sum of ε over that user's participations, **per coordinate** of the update. By basic"
        " composition a whole update of d coordinates leaks up to d times as much."
    ),
    "update": ("the sum of ε over that user's participations, for the update **as a whole**."),
}


#: The largest that a bounded coordinate can be, by what is protected.
_SIGNAL = {
    "coordinate": "half the clamp width",
    "update": "the norm that updates are clipped to, all of it on that coordinate,",
}


def _privacy_words(privacy: PrivacySettings | None) -> str:
    """Sentences on what a user may spend, and on what it buys; whole in every caption."""
    if privacy is None:
        return "None: updates are neither clamped nor noised."
    budget = f"Each user has a budget of ε = {privacy.epsilon_total}"
    words = (
        f"{budget} for its updates as a whole, which are clipped to L1 norm {privacy.clip_norm}."
        if privacy.mechanism == "vector"
        else f"{budget} per coordinate; sensitivity {privacy.sensitivity} per coordinate."
    )
    if privacy.schedule == "uniform":
        words += f" It is spread evenly over {privacy.n_participations} participations; there are no more."
    if privacy.schedule == "listed":
        words += (
            f" It is spread over {len(privacy.budgets or ())} participations as listed; there are no more."
        )
    if privacy.sampler == "secure":
        words += " Noise is drawn from the operating system's randomness, so no run can be repeated exactly."
    return words


def paper_figures(scenario: Scenario, kind: str) -> str:
    """The papers' figures that this kind of figure reproduces, or "none".

    ``scenario.figures`` maps such names as ``pause_v2_fig8`` or ``bsfl_fig7_loss`` to kinds; these become
    "PAUSE v2, Fig. 8" and "BSFL, Fig. 7", and ``reduced_bsfl_fig7_loss`` "BSFL, Fig. 7, reduced". Figures of
    the demonstrations reproduce none, nor do those for a privacy reviewer, ``privacy_…``, of what goes beyond
    the papers, ``beyond_…``, or of their settings with group normalisation, ``group_…``.
    """
    names = [_figure_name(key) for key, shown in scenario.figures.items() if shown == kind]
    return "; ".join(name for name in names if name) or "none"


def _figure_name(key: str) -> str:
    name = key.removeprefix("reduced_")
    reduced = ", reduced" if name != key else ""
    if name.startswith(("demo_", "privacy_", "beyond_")):
        return ""
    if name.startswith("authors_"):
        return "none, but the authors' released runs"
    if name.startswith("group_"):
        return f"none, but a setting of the papers with group normalisation{reduced}"
    match = re.fullmatch(r"(?P<paper>\w+?)_fig(?P<number>\d+[a-z]?)(_\w+)?", name)
    if match is None:
        return _escape(key.replace("_", " "))
    paper = _PAPERS.get(match["paper"], match["paper"].replace("_", " "))
    return f"{paper}, Fig. {match['number']}{reduced}"


def _escape(text: str) -> str:
    """Keep reStructuredText from reading markup into a title or an origin."""
    return re.sub(r"([\\*`|_])", r"\\\1", text)
