"""The section ``selection`` of a scenario."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pausefl.bandit.settings import NetworkSettings
from pausefl.plugins import missing, no_key
from pausefl.schema.base import Settings
from pausefl.schema.types import Count, Natural, NonNegative, Positive, Real, Whole

Share = Annotated[float, Real(ge=0, le=1)]
Percentile = Annotated[float, Real(gt=0, le=100)]


class SelectionSettings(Settings):
    """Constants of the selectors."""

    exploitation: Positive
    """Factor zeta on the mean speed in the bandit index (PAUSE v2, V-D); 1 for the plain index."""
    n_iterations: Annotated[int, Whole(ge=1, le=10_000_000)] | None = None
    """Iterations J of simulated annealing in each round; needed by selectors that anneal."""
    temperature_divisor: Positive | None = None
    """Divisor kappa of the annealing temperature (PAUSE v2, V-D); needed by selectors that anneal."""
    first_rounds: Literal["maximise", "uniform"] = "maximise"
    """Which users searches that maximise the reward select, while `network.n_selected` or more were never
    seen. `maximise`: those of the largest reward (PAUSE v2, Algorithm 1). `uniform`: any, as in the authors'
    code."""
    size_ties: Literal["random", "index"] = "random"
    """Order of users of equal data size (`clustered_size`). `random`: another one in every round. `index`:
    the fastest first, as in the authors' code, so that a distribution holds users of similar latency."""
    forgetting: Annotated[float, Real(ge=0, lt=1)] = 0.0
    """Least share that a new latency has in the running means of a user's speed and latency. 0 for plain
    means, as in the papers; with 0.25 a user's last ten or so participations count."""
    over_selection: Annotated[float, Real(ge=0, le=10)] | None = None
    """Share o of users asked beyond m = `network.n_selected` (Bonawitz et al., MLSys 2019): ceil((1 + o) m)
    are asked, and the round ends when m have answered, or at `network.round_latency_max`. Who answers later
    took part, but the update is dropped. 0.3 in FedScale. null as in the papers: m are asked, and all answers
    count, however late."""
    lag: Natural = 1
    """By how many participations a candidate may be ahead of who took part least (`sweep`); 0 lets everyone
    take part once before anyone does again, as many as there are rounds set no bound."""
    temperature_scale: Literal["spread"] | None = None
    """Scale C of the annealing temperature. null: the papers' bound on the difference of two rewards.
    `spread`: the range of the rewards of 100 selections drawn at random."""
    n_tiers: Count | None = None
    """Number of tiers of similar latency (`tifl`); 5 in the paper. Each must have as many users as are asked
    in a round."""
    deadline: Positive | None = None
    """Longest time that a selected user is expected to take, in seconds (`fedcs`)."""
    n_candidates: Count | None = None
    """Users drawn at random that the selection of a round is made from (`power_of_choice` and `pow_d`, and
    `fedcs` without `n_requested`); at most `network.n_users`."""
    n_requested: Count | None = None
    """Users asked for their resources in a round (`fedcs`); null for `n_candidates`, and without that for
    as many as are to be asked to train."""
    queue_weight: Share = 0.1
    """Weight b of a user's virtual queue against its speed (`cs_ucb_q`). Public implementations of the
    comparison with BSFL have 0.5, that of its first author, and 1e-1 to 1e-6."""
    utility_cutoff: Share = 0.7
    """Share of the cut-off score that a user needs to be drawn (`oort`). This and the other constants of
    `oort` are those of its authors' released code; FedScale has 0.05 here, the paper 0.95."""
    utility_clip: Share = 0.98
    """Quantile of the utilities that larger ones are clipped to (`oort`)."""
    straggler_penalty: NonNegative = 2.0
    """Exponent of the penalty on users slower than the pacer allows (`oort`)."""
    staleness_bonus: NonNegative = 0.1
    """Factor in the bonus of users who were not seen for long (`oort`)."""
    exploration_share: Share = 0.9
    """Share of the places for unexplored users, before its first decay (`oort`)."""
    exploration_decay: Share = 0.95
    """Factor on that share in each round (`oort`)."""
    exploration_least: Share = 0.2
    """Least value that this share falls to while somebody is unexplored (`oort`)."""
    exploration_window: Annotated[float, Real(ge=1)] = 5.0
    """Unexplored users of most data that places are drawn from, as a multiple of these places (`oort`)."""
    pacer_percentile: Percentile = 10.0
    """Percentile of the users' latencies that is not penalised at first (`oort`)."""
    pacer_step: Count = 20
    """Rounds of a window after which the pacer looks back (`oort`)."""
    pacer_delta: Percentile = 5.0
    """Percentage points by which the pacer raises or lowers its percentile (`oort`)."""


def asked_in_a_round(n_selected: int, over_selection: float | None) -> int:
    """Users asked so that ``n_selected`` answer soon: ceil((1 + o) m), but for rounding errors."""
    return math.ceil(round((1 + (over_selection or 0.0)) * n_selected, 9))


#: Constants of one selector, and what they were before they became keys, as runs recorded without them had.
CONSTANTS: dict[str, dict[str, float]] = {
    "cs_ucb_q": {"queue_weight": 0.5},
    "sweep": {"lag": 1},
    "oort": {
        "utility_cutoff": 0.95,
        "utility_clip": 0.95,
        "straggler_penalty": 2.0,
        "staleness_bonus": 0.1,
        "exploration_share": 0.9,
        "exploration_decay": 0.98,
        "exploration_least": 0.2,
        # The pacer was another one, and any unexplored user was as likely, so these are of no earlier run.
        "exploration_window": 1.0,
        "pacer_percentile": 100.0,
        "pacer_step": 1,
        "pacer_delta": 100.0,
    },
}

#: Dotted keys of these constants.
CONSTANT_KEYS = frozenset(f"selection.{key}" for of in CONSTANTS.values() for key in of)

#: What selectors may be made from besides keys of ``selection`` and ``network``.
BESIDES = ("reward", "speeds", "mean_latency")


def unknown_argument(selector: type) -> str:
    """What is wrong with what a selector must be given, in words that follow it; empty if nothing is."""
    known = [*SelectionSettings.model_fields, *NetworkSettings.model_fields, *BESIDES]
    unknown = next((key for key in missing(selector, {}) if key not in known), None)
    return no_key(unknown, known, "selection or network") if unknown else ""
