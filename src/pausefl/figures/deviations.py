"""Deviations from the papers that captions list: their words, and which scenarios they bear on."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pausefl.registry import MODELS, SELECTORS
from pausefl.registry.figures import protected
from pausefl.settings import Scenario


def iterates(selector: str) -> bool:
    """Whether a selector searches by iterations, as annealing does."""
    return "selection.n_iterations" in SELECTORS[selector].requires


def _any(scenario: Scenario) -> bool:
    return True


def _anneals(scenario: Scenario) -> bool:
    return any(SELECTORS[name].anneals for name in scenario.selectors)


def _by_gain(scenario: Scenario) -> bool:
    return any(iterates(name) and not SELECTORS[name].anneals for name in scenario.selectors)


def _private(scenario: Scenario) -> bool:
    return scenario.privacy is not None


def _per_coordinate(scenario: Scenario) -> bool:
    return _private(scenario) and protected(scenario) == "coordinate"


def _shares_statistics(scenario: Scenario) -> bool:
    return _private(scenario) and MODELS[scenario.model.name].shares_statistics(scenario.model.norm)


def _differing_budget(scenario: Scenario) -> bool:
    return _private(scenario) and scenario.name in ("mnist_large_iid_r1", "mnist_large_iid_r1_v1")


def _bsfl(scenario: Scenario) -> bool:
    return scenario.reward.name == "bsfl"


def _half_width(scenario: Scenario) -> bool:
    return scenario.training.precision != "float32"


def _seldom_evaluated(scenario: Scenario) -> bool:
    return scenario.training.evaluate_every > 1


#: By id in the ledger: the scenarios to which a deviation applies, and its words.
DEVIATIONS: dict[str, tuple[Callable[[Scenario], bool], str]] = {
    "D1": (
        _anneals,
        "annealing accepts worse moves with probability exp((E(U) − E(V))/τ); the paper's sign is a misprint",
    ),
    "D2": (_anneals, "annealing keeps the best set seen, not the last one accepted"),
    "D3": (_private, "every user's privacy reward starts at 1, as its definition says, not at 0"),
    "D4": (_anneals, "the annealing temperature adds the small constant that the paper's formula omits"),
    "D5": (
        _any,
        "only the order of growth can be compared with the theorem, whose constant differs between"
        " statement and proof",
    ),
    "D7": (_any, "that the graphs are connected is counted here, not taken from BSFL's proof"),
    "D8": (
        _per_coordinate,
        "budgets and leakage are per coordinate; d coordinates together have d times as much",
    ),
    "D9": (
        _shares_statistics,
        "batch normalisation layers are shared without clamp or noise, outside the budget",
    ),
    "D10": (
        _differing_budget,
        "the two versions of the paper differ in the MNIST budget; both are scenarios",
    ),
    "D11": (_any, "the genie chooses on the selector's own history"),
    "D25": (_any, "means and deviation of the latencies are those of the authors' code"),
    "D30": (_bsfl, "BSFL does not give its constants; PAUSE's are used"),
    "D31": (_any, "while at least m users were never seen, annealers choose as the exact search does"),
    "D35": (_any, "neighbours are sampled uniformly without being listed"),
    "D36": (_any, "the exact search runs at every size, in large networks too"),
    "D49": (_any, "only selections of m users have a regret"),
    "D67": (_half_width, "local training computes its products in bfloat16, half of float32's width"),
    "D68": (_seldom_evaluated, "the global model is not evaluated in every round"),
    "D71": (_any, "the text does not give K, m and the β of the papers' figure; these are ours"),
    "D77": (
        _by_gain,
        "the annealer that draws a neighbour by its gain is that of the authors' logs, not the paper's",
    ),
}


def applying(names: Iterable[str], scenario: Scenario | None) -> list[str]:
    """``D8: budgets and leakage …``: deviations that apply to a scenario; without one, all."""
    return [
        f"{name}: {words}"
        for name, (applies, words) in ((name, DEVIATIONS[name]) for name in names)
        if scenario is None or applies(scenario)
    ]
