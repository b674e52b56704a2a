"""The work by Flower: NumPy clients in its simulation engine, one at a time."""

from __future__ import annotations

import itertools
import logging
import sys
import time

import flwr
import numpy as np
import ray
import torch
from flwr.client import ClientApp, NumPyClient
from flwr.common import Context
from flwr.server import ServerApp, ServerAppComponents, ServerConfig
from flwr.server.strategy import FedAvg
from torch import nn
from torch.nn import functional
from work import BATCH, LEARNING_RATE, N_EXAMPLES, N_SELECTED, N_USERS, WIDTHS, data, one_core

N_WARM, N_ROUNDS = 2, 10

one_core()
logging.getLogger("flwr").setLevel(logging.ERROR)


def network() -> nn.Sequential:
    """The dense network."""
    layers: list[nn.Module] = []
    for n_in, n_out in itertools.pairwise(WIDTHS):
        layers += [nn.Linear(n_in, n_out), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def values(model: nn.Module) -> list[np.ndarray]:
    """Weights of a model."""
    return [value.numpy() for value in model.state_dict().values()]


class User(NumPyClient):
    """One user."""

    def __init__(self, user: int) -> None:
        torch.set_num_threads(1)
        rng = np.random.default_rng(user)
        self.x = torch.from_numpy(rng.standard_normal((N_EXAMPLES, WIDTHS[0]), np.float32))
        self.y = torch.from_numpy(rng.integers(0, WIDTHS[-1], N_EXAMPLES))

    def fit(self, parameters: list[np.ndarray], config: dict) -> tuple[list[np.ndarray], int, dict]:
        """Train."""
        model = network()
        names = model.state_dict().keys()
        model.load_state_dict({n: torch.from_numpy(p) for n, p in zip(names, parameters, strict=True)})
        optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
        order = torch.randperm(N_EXAMPLES)
        for first in range(0, N_EXAMPLES, BATCH):
            batch = order[first : first + BATCH]
            optimizer.zero_grad()
            functional.cross_entropy(model(self.x[batch]), self.y[batch]).backward()
            optimizer.step()
        return values(model), N_EXAMPLES, {}


class Clock(FedAvg):
    """Federated averaging that notes when each round ended."""

    ends: list[float] = []  # noqa: RUF012

    def aggregate_fit(self, *arguments: object, **keywords: object) -> object:
        """Average, and note the time."""
        result = super().aggregate_fit(*arguments, **keywords)
        Clock.ends.append(time.perf_counter())
        return result


def server(context: Context) -> ServerAppComponents:
    """Rounds without evaluation."""
    strategy = Clock(
        fraction_fit=N_SELECTED / N_USERS,
        fraction_evaluate=0.0,
        min_available_clients=N_USERS,
        initial_parameters=flwr.common.ndarrays_to_parameters(values(network())),
    )
    return ServerAppComponents(strategy=strategy, config=ServerConfig(num_rounds=N_WARM + N_ROUNDS + 1))


def client(context: Context) -> flwr.client.Client:
    """A user by the number of its node."""
    return User(int(context.node_config["partition-id"])).to_client()


data()  # the same memory as the other simulators hold
flwr.simulation.run_simulation(
    server_app=ServerApp(server_fn=server),
    client_app=ClientApp(client_fn=client),
    num_supernodes=N_USERS,
    backend_config={"init_args": {"num_cpus": 1}, "client_resources": {"num_cpus": 1, "num_gpus": 0.0}},
)
ends = np.array(Clock.ends)[N_WARM:]
sys.stdout.write(f"seconds_per_round {(ends[-1] - ends[0]) / (len(ends) - 1):.6f}\n")
ray.shutdown()
