"""The work as a plain PyTorch loop: a copy of the model and an Adam for each user."""

from __future__ import annotations

import copy
import itertools

import torch
from torch import nn
from torch.nn import functional
from work import BATCH, LEARNING_RATE, N_EXAMPLES, WIDTHS, cohort, data, one_core, report

one_core()
torch.set_num_threads(1)
x, y = (torch.from_numpy(array) for array in data())
layers: list[nn.Module] = []
for n_in, n_out in itertools.pairwise(WIDTHS):
    layers += [nn.Linear(n_in, n_out), nn.ReLU()]
model = nn.Sequential(*layers[:-1])


def a_round(t: int) -> None:
    """Train and average."""
    total = {name: torch.zeros_like(value) for name, value in model.state_dict().items()}
    users = cohort(t)
    for user in users:
        local = copy.deepcopy(model)
        optimizer = torch.optim.Adam(local.parameters(), lr=LEARNING_RATE)
        order = torch.randperm(N_EXAMPLES)
        for first in range(0, N_EXAMPLES, BATCH):
            batch = order[first : first + BATCH]
            optimizer.zero_grad()
            functional.cross_entropy(local(x[user, batch]), y[user, batch]).backward()
            optimizer.step()
        for name, value in local.state_dict().items():
            total[name] += value / len(users)
    model.load_state_dict(total)


report(a_round)
