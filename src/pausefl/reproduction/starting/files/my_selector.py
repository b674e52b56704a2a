"""A selector of one's own: edit it, and `snakemake --cores 2` runs its jobs again."""

import numpy as np

import pausefl


class LeastUsed(pausefl.Selector):
    """The clients that took part least often, ties at random."""

    label = "Least often used"

    def __call__(self, history, rng):
        """Ids of the ``history.n_selected`` clients that train in this round."""
        clients = rng.permutation(history.candidates())
        order = np.argsort(history.participations[clients], kind="stable")
        return np.sort(clients[order[: history.n_selected]])
