"""The work by pfl: federated averaging on its simulated backend."""

from __future__ import annotations

import itertools
import sys
import time

import numpy as np
import torch
from pfl.aggregate.simulate import SimulatedBackend
from pfl.algorithm.base import NNAlgorithmParams
from pfl.algorithm.federated_averaging import FederatedAveraging
from pfl.callback.base import TrainingProcessCallback
from pfl.data.dataset import Dataset
from pfl.data.federated_dataset import FederatedDataset
from pfl.data.sampling import get_user_sampler
from pfl.hyperparam import NNEvalHyperParams, NNTrainHyperParams
from pfl.metrics import Metrics, Weighted
from pfl.model.pytorch import PyTorchModel
from torch import nn
from torch.nn import functional
from work import BATCH, LEARNING_RATE, N_SELECTED, N_USERS, WIDTHS, data, one_core

N_WARM, N_ROUNDS, N_SPELLS = 3, 20, 3

one_core()
torch.set_num_threads(1)
features, labels = data()


class Network(nn.Sequential):
    """The dense network with the loss that pfl asks a model for."""

    def __init__(self) -> None:
        layers: list[nn.Module] = []
        for n_in, n_out in itertools.pairwise(WIDTHS):
            layers += [nn.Linear(n_in, n_out), nn.ReLU()]
        super().__init__(*layers[:-1])

    def loss(self, x: torch.Tensor, y: torch.Tensor, eval: bool = False) -> torch.Tensor:
        """Cross-entropy."""
        return functional.cross_entropy(self(torch.as_tensor(x)), torch.as_tensor(y))

    def metrics(self, x: torch.Tensor, y: torch.Tensor) -> dict[str, Weighted]:
        """Nothing."""
        return {}


class Clock(TrainingProcessCallback):
    """When each round ended."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def after_central_iteration(self, *arguments: object, **keywords: object) -> tuple[bool, Metrics]:
        """Note the time."""
        self.ends.append(time.perf_counter())
        return False, Metrics()


def user_dataset(user: int) -> Dataset:
    """Data of a user."""
    return Dataset(raw_data=(torch.from_numpy(features[user]), torch.from_numpy(labels[user])))


users = FederatedDataset(user_dataset, get_user_sampler("random", list(range(N_USERS))))
network = Network()
model = PyTorchModel(
    network,
    local_optimizer_create=torch.optim.Adam,
    central_optimizer=torch.optim.SGD(network.parameters(), lr=1.0),
)
clock = Clock()
FederatedAveraging().run(
    algorithm_params=NNAlgorithmParams(
        central_num_iterations=N_WARM + N_ROUNDS * N_SPELLS + 1,
        evaluation_frequency=10**9,
        train_cohort_size=N_SELECTED,
        val_cohort_size=0,
    ),
    backend=SimulatedBackend(training_data=users, val_data=users),
    model=model,
    model_train_params=NNTrainHyperParams(
        local_batch_size=BATCH, local_num_epochs=1, local_learning_rate=LEARNING_RATE
    ),
    model_eval_params=NNEvalHyperParams(local_batch_size=BATCH),
    callbacks=[clock],
)
ends = np.array(clock.ends)[N_WARM:]
spells = (ends[N_ROUNDS::N_ROUNDS] - ends[:-N_ROUNDS:N_ROUNDS]) / N_ROUNDS
sys.stdout.write(f"seconds_per_round {spells.min():.6f}\n")
