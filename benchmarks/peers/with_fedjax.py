"""The work by FedJAX: its federated averaging, with clients under ``jit``."""

from __future__ import annotations

import os

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import fedjax
import haiku as hk
import jax
from work import BATCH, LEARNING_RATE, WIDTHS, cohort, data, one_core, report

one_core()
features, labels = data()


def forward(batch: dict[str, jax.Array]) -> jax.Array:
    """Logits."""
    return hk.nets.MLP(WIDTHS[1:])(batch["x"])


network = hk.transform(forward)
sample = {"x": features[0, :BATCH], "y": labels[0, :BATCH]}
model = fedjax.create_model_from_haiku(
    transformed_forward_pass=network,
    sample_batch=sample,
    train_loss=lambda batch, logits: fedjax.metrics.unreduced_cross_entropy_loss(batch["y"], logits),
)
algorithm = fedjax.algorithms.fed_avg.federated_averaging(
    grad_fn=fedjax.model_grad(model),
    client_optimizer=fedjax.optimizers.adam(LEARNING_RATE),
    server_optimizer=fedjax.optimizers.sgd(1.0),
    client_batch_hparams=fedjax.ShuffleRepeatBatchHParams(batch_size=BATCH, num_epochs=1),
)
clients = [fedjax.ClientDataset({"x": features[user], "y": labels[user]}) for user in range(len(features))]
state = algorithm.init(model.init(jax.random.PRNGKey(0)))


def a_round(t: int) -> None:
    """Train and average."""
    global state
    keys = jax.random.split(jax.random.PRNGKey(t), len(cohort(t)))
    chosen = [(bytes(user), clients[user], key) for user, key in zip(cohort(t), keys, strict=True)]
    state, _ = algorithm.apply(state, chosen)
    jax.block_until_ready(state.params)


report(a_round)
