"""Every selector, and what the rest of the package must know of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from pausefl.registry.base import Record, Registry


@dataclass(frozen=True)
class SelectorRecord(Record):
    """A selector's class and what the federated loop, checks and figures must know of it.

    Attributes
    ----------
    code
        Where the class is.
    requires
        Settings that must be given, as dotted keys.
    takes_everyone
        Whether all available users take part in every round.
    fixed_users
        Whether it selects the same users in every round, as long as they have budget.
    own_number
        Whether the number of users it selects is its own and not ``n_selected``.
    private
        Whether updates are clamped and noised; without, nothing bounds the leakage.
    uses_reward
        Whether the choice depends on the scenario's reward. Without, what was trained under one reward is not
        trained again under another.
    anneals
        Whether it searches by the papers' simulated annealing, in which all neighbours are equally likely.
    uniform_weights
        Whether a user's update counts 1/m for each time it was sampled, as clustered sampling requires, and
        not by its share of the selected data.
    needs_updates
        Whether it looks at the users' updates, so that it cannot run without training.
    needs_losses
        Whether it looks at the users' training losses, so that it cannot run without training.
    most_selections
        Most sets of ``n_selected`` users that it can enumerate; None for a selector that enumerates none.
    stated_cost
        The cost of a selection among K users that the papers state.
    """

    requires: tuple[str, ...] = ()
    takes_everyone: bool = False
    fixed_users: bool = False
    own_number: bool = False
    private: bool = True
    uses_reward: bool = False
    anneals: bool = False
    uniform_weights: bool = False
    needs_updates: bool = False
    needs_losses: bool = False
    most_selections: int | None = None
    stated_cost: str = field(default="", repr=False)


_ANNEALING = ("selection.n_iterations", "selection.temperature_divisor")


def _annealer(name: str, stated_cost: str = "") -> SelectorRecord:
    return SelectorRecord(
        f"pausefl.selectors.annealing:{name}",
        requires=_ANNEALING,
        uses_reward=True,
        anneals=True,
        stated_cost=stated_cost,
    )


#: Most selections that `pausefl.selectors.brute` enumerates.
MAX_SELECTIONS = 5_000_000

_LATENCY_MAX = ("network.round_latency_max",)
#: PAUSE v2, Proposition 1 and Table I, and v1: best, average and worst case.
_ANNEALING_COST = "O(K log K), O(K log K), O(K²)"

#: In the order of tables and legends.
SELECTORS: Registry[SelectorRecord] = Registry(
    "selector",
    {
        "pause": SelectorRecord("pausefl.selectors.exact:Pause", uses_reward=True, stated_cost="O(K log K)"),
        "pause_brute": SelectorRecord(
            "pausefl.selectors.brute:BrutePause",
            uses_reward=True,
            most_selections=MAX_SELECTIONS,
            stated_cost="O(e^K)",
        ),
        "sa_pause": _annealer("SaPause", _ANNEALING_COST),
        "sa_pause_v1": _annealer("SaPauseV1", _ANNEALING_COST),
        "sa_pause_best_gain": SelectorRecord(
            "pausefl.selectors.best_gain:SaPauseBestGain", requires=_ANNEALING, uses_reward=True
        ),
        "sa_vanilla": _annealer("SaVanilla", "O(K²)"),
        "bsfl": SelectorRecord("pausefl.selectors.exact:Bsfl", uses_reward=True),
        "alsa": _annealer("Alsa"),
        "sa_bsfl": _annealer("SaBsfl"),
        "genie": SelectorRecord("pausefl.selectors.exact:Genie", uses_reward=True),
        "random": SelectorRecord("pausefl.selectors.baselines:Random"),
        "random_by_size": SelectorRecord("pausefl.selectors.baselines:RandomBySize"),
        "fedavg": SelectorRecord("pausefl.selectors.baselines:Everyone", takes_everyone=True),
        "fedavg_no_privacy": SelectorRecord(
            "pausefl.selectors.baselines:Everyone", takes_everyone=True, private=False
        ),
        "fastest": SelectorRecord("pausefl.selectors.baselines:Fastest", fixed_users=True),
        "clustered_size": SelectorRecord("pausefl.selectors.clustered:ClusteredBySize", uniform_weights=True),
        "clustered_similarity": SelectorRecord(
            "pausefl.selectors.clustered:ClusteredBySimilarity", uniform_weights=True, needs_updates=True
        ),
        "cs_ucb": SelectorRecord("pausefl.selectors.cs_ucb:CsUcb", requires=_LATENCY_MAX),
        "cs_ucb_q": SelectorRecord("pausefl.selectors.cs_ucb:CsUcbQ", requires=_LATENCY_MAX),
        "tifl": SelectorRecord("pausefl.selectors.timed:Tifl", requires=("selection.n_tiers",)),
        "fedcs": SelectorRecord(
            "pausefl.selectors.timed:FedCs",
            requires=("selection.deadline", "selection.n_candidates"),
            own_number=True,
        ),
        "power_of_choice": SelectorRecord(
            "pausefl.selectors.losses:PowerOfChoice", requires=("selection.n_candidates",), needs_losses=True
        ),
        "oort": SelectorRecord(
            "pausefl.selectors.losses:Oort", requires=("selection.pacer_step",), needs_losses=True
        ),
    },
)
