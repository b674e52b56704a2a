"""The work by this project's engine, without the noise."""

from __future__ import annotations

import numpy as np
import torch
from work import BATCH, LEARNING_RATE, N_EXAMPLES, N_SELECTED, N_USERS, cohort, data, one_core, report

from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.settings import ModelSettings, TrainingSettings
from pausefl.streams import Streams
from pausefl.training.engine import Trainer

one_core()
torch.set_num_threads(1)
features, labels = data()
# Images are bytes here; what is in them does not matter to the time.
images = np.clip(features.reshape(-1, 1, 28, 28) * 50 + 128, 0, 255).astype(np.uint8)
few = images[:BATCH]
dataset = Dataset("random", images, labels.reshape(-1), few, labels.reshape(-1)[:BATCH], 10, "drawn")
users = tuple(np.split(np.arange(N_USERS * N_EXAMPLES), N_USERS))
partition = Partition(users, np.ones(N_USERS), np.arange(0))
settings = TrainingSettings(
    n_rounds=1,
    n_epochs=1,
    batch_size=BATCH,
    max_batches=100,
    learning_rate=LEARNING_RATE,
    optimizer_state="persist",
)
trainer = Trainer(
    ModelSettings(name="fc", norm="none"), settings, dataset, partition, Streams(0), torch.device("cpu")
)
theta = trainer.initial.copy()


def a_round(t: int) -> None:
    """Train and average."""
    global theta
    step = np.zeros_like(theta)
    for local in trainer.train(theta, cohort(t), t + 1):
        step += local.updates.sum(axis=0) / np.float32(N_SELECTED)
    theta = theta + step


report(a_round)
