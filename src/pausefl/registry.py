"""Every selector there is, one line each, and what the rest of the package must know of it.

Classes are named, not imported, so that reading a configuration loads no selector. `pausefl.provenance`
hashes the line of the selector that a job runs and not this module, so a new line reruns nothing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SelectorInfo:
    """A selector's class and what the federated loop and the checks must know of it.

    Attributes
    ----------
    module, class_name
        Where the class is, below ``pausefl.selectors``.
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

    module: str
    class_name: str
    private: bool = True
    uniform_weights: bool = False
    needs_updates: bool = False
    needs_annealing: bool = False
    needs_latency_max: bool = False

    @property
    def full_module(self) -> str:
        """Dotted name of the module."""
        return f"pausefl.selectors.{self.module}"


#: In the order of tables and legends.
SELECTORS = {
    "pause": SelectorInfo("exact", "Pause"),
    "pause_brute": SelectorInfo("brute", "BrutePause"),
    "sa_pause": SelectorInfo("annealing", "SaPause", needs_annealing=True),
    "sa_pause_v1": SelectorInfo("annealing", "SaPauseV1", needs_annealing=True),
    "sa_vanilla": SelectorInfo("annealing", "SaVanilla", needs_annealing=True),
    "bsfl": SelectorInfo("exact", "Bsfl"),
    "alsa": SelectorInfo("annealing", "Alsa", needs_annealing=True),
    "sa_bsfl": SelectorInfo("annealing", "SaBsfl", needs_annealing=True),
    "genie": SelectorInfo("exact", "Genie"),
    "random": SelectorInfo("baselines", "Random"),
    "random_by_size": SelectorInfo("baselines", "RandomBySize"),
    "fedavg": SelectorInfo("baselines", "Everyone"),
    "fedavg_no_privacy": SelectorInfo("baselines", "Everyone", private=False),
    "fastest": SelectorInfo("baselines", "Fastest"),
    "clustered_size": SelectorInfo("clustered", "ClusteredBySize", uniform_weights=True),
    "clustered_similarity": SelectorInfo(
        "clustered", "ClusteredBySimilarity", uniform_weights=True, needs_updates=True
    ),
    "cs_ucb": SelectorInfo("cs_ucb", "CsUcb", needs_latency_max=True),
    "cs_ucb_q": SelectorInfo("cs_ucb", "CsUcbQ", needs_latency_max=True),
}
