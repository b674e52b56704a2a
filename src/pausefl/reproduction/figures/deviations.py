"""Deviations from the papers that captions list: their words, and which scenarios they bear on."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pausefl.plugins import arguments
from pausefl.selectors import SELECTORS
from pausefl.settings import Scenario
from pausefl.training.models import MODELS


def iterates(selector: str) -> bool:
    """Whether a selector searches by iterations, as annealing does."""
    return "n_iterations" in arguments(SELECTORS[selector])


#: Words by id in the ledger.
DEVIATIONS = {
    "D1": "annealing accepts worse moves with probability exp((E(U) − E(V))/τ); the paper's sign is a"
    " misprint",
    "D2": "annealing keeps the best set seen, not the last one accepted",
    "D3": "every user's privacy reward starts at 1, as its definition says, not at 0",
    "D4": "the annealing temperature adds the small constant that the paper's formula omits",
    "D5": "only the order of growth can be compared with the theorem, whose constant differs between"
    " statement and proof",
    "D7": "that the graphs are connected is counted here, not taken from BSFL's proof",
    "D8": "budgets are per coordinate, not for the whole update as in the paper; d protected"
    " coordinates together have d times as much",
    "D9": "batch normalisation layers are shared without clamp or noise, outside the budget, so the whole"
    " update has no finite epsilon",
    "D10": "the two versions of the paper differ in the MNIST budget; both are scenarios",
    "D11": "the genie chooses on the selector's own history",
    "D25": "means and deviation of the latencies are those of the authors' code",
    "D30": "BSFL does not give its constants; PAUSE's are used",
    "D31": "while at least m users were never seen, annealers choose as the exact search does",
    "D35": "neighbours are sampled uniformly without being listed",
    "D36": "the exact search runs at every size, in large networks too",
    "D49": "only selections of m users have a regret",
    "D68": "the global model is not evaluated in every round",
    "D71": "the text does not give K, m and the β of the papers' figure; these are ours",
    "D77": "the annealer that draws a neighbour by its gain is that of the authors' logs, not the paper's",
    "D86": "worlds, times and deadlines are decisions of this project, made before any of these runs",
    "D87": "the sweep is a selector of this project; its lag was fixed on other seeds",
    "D88": "with over-selection a round ends when as many as were wanted have answered",
    "D89": "the temperature that is scaled by the spread of rewards is not the papers'",
}


def _anneals(scenario: Scenario) -> bool:
    return any(SELECTORS[name].anneals for name in scenario.selectors)


def _private(scenario: Scenario) -> bool:
    return scenario.privacy is not None


#: Scenarios to which a deviation applies; the others apply to all.
_APPLIES: dict[str, Callable[[Scenario], bool]] = {
    "D1": _anneals,
    "D2": _anneals,
    "D3": _private,
    "D4": _anneals,
    "D8": lambda one: _private(one) and one.protects == "coordinate",
    "D9": lambda one: _private(one) and one.model.norm in MODELS[one.model.name].unprotected_norms,
    "D10": lambda one: _private(one) and one.name in ("mnist_large_iid_r1", "mnist_large_iid_r1_v1"),
    "D30": lambda one: one.reward.name == "bsfl",
    "D68": lambda one: one.training.evaluate_every > 1,
    "D77": lambda one: any(iterates(name) and not SELECTORS[name].anneals for name in one.selectors),
    "D87": lambda one: "sweep" in one.selectors,
    "D88": lambda one: one.selection.over_selection is not None,
}


def applying(names: Iterable[str], scenario: Scenario | None) -> list[str]:
    """``D8: budgets and leakage …``: deviations that apply to a scenario; without one, all."""
    return [
        f"{name}: {DEVIATIONS[name]}"
        for name in names
        if scenario is None or name not in _APPLIES or _APPLIES[name](scenario)
    ]
