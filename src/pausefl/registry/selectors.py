"""Every selector there is, one line each, and what the rest of the package must know of it.

Classes are named, not imported, so that reading a configuration loads no selector. `pausefl.provenance.code`
hashes the line of the selector that a job runs and not this module, so a new line reruns nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from pausefl.registry.base import Record, Registry


@dataclass(frozen=True)
class SelectorRecord(Record):
    """A selector's class and what the federated loop and the checks must know of it.

    Attributes
    ----------
    code
        Where the class is.
    takes_everyone
        Whether all available users take part in every round.
    private
        Whether updates are clamped and noised; without, nothing bounds the leakage.
    uniform_weights
        Whether a drawn user's update counts 1/m for each time it was drawn, as clustered sampling requires,
        and not by its share of the selected data.
    needs_updates
        Whether it looks at the users' updates, so that it cannot run without training.
    needs_annealing
        Whether it needs ``selection.n_iterations`` and ``selection.temperature_divisor``.
    needs_latency_max
        Whether it needs ``network.round_latency_max``.
    """

    takes_everyone: bool = False
    private: bool = True
    uniform_weights: bool = False
    needs_updates: bool = False
    needs_annealing: bool = False
    needs_latency_max: bool = False


#: In the order of tables and legends.
SELECTORS: Registry[SelectorRecord] = Registry(
    "selector",
    {
        "pause": SelectorRecord("pausefl.selectors.exact:Pause"),
        "pause_brute": SelectorRecord("pausefl.selectors.brute:BrutePause"),
        "sa_pause": SelectorRecord("pausefl.selectors.annealing:SaPause", needs_annealing=True),
        "sa_pause_v1": SelectorRecord("pausefl.selectors.annealing:SaPauseV1", needs_annealing=True),
        "sa_vanilla": SelectorRecord("pausefl.selectors.annealing:SaVanilla", needs_annealing=True),
        "bsfl": SelectorRecord("pausefl.selectors.exact:Bsfl"),
        "alsa": SelectorRecord("pausefl.selectors.annealing:Alsa", needs_annealing=True),
        "sa_bsfl": SelectorRecord("pausefl.selectors.annealing:SaBsfl", needs_annealing=True),
        "genie": SelectorRecord("pausefl.selectors.exact:Genie"),
        "random": SelectorRecord("pausefl.selectors.baselines:Random"),
        "random_by_size": SelectorRecord("pausefl.selectors.baselines:RandomBySize"),
        "fedavg": SelectorRecord("pausefl.selectors.baselines:Everyone", takes_everyone=True),
        "fedavg_no_privacy": SelectorRecord(
            "pausefl.selectors.baselines:Everyone", takes_everyone=True, private=False
        ),
        "fastest": SelectorRecord("pausefl.selectors.baselines:Fastest"),
        "clustered_size": SelectorRecord("pausefl.selectors.clustered:ClusteredBySize", uniform_weights=True),
        "clustered_similarity": SelectorRecord(
            "pausefl.selectors.clustered:ClusteredBySimilarity", uniform_weights=True, needs_updates=True
        ),
        "cs_ucb": SelectorRecord("pausefl.selectors.cs_ucb:CsUcb", needs_latency_max=True),
        "cs_ucb_q": SelectorRecord("pausefl.selectors.cs_ucb:CsUcbQ", needs_latency_max=True),
    },
)
