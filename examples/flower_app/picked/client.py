"""The client: it trains, bounds its update, adds noise for its budget, and says how long it took."""

import time
from pathlib import Path

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

import pausefl

#: Width of the interval to which each coordinate of an update is clamped.
WIDTH = 0.2

app = ClientApp()


def digits(part, n_parts):
    """Images (n, 64) and labels (n,) of a part of 1,797 digits."""
    data = np.load(Path(pausefl.__file__).parent / "data/sources/digits.npz")
    return data["pixels"][part::n_parts] / 16, data["labels"][part::n_parts]


def protect(update, epsilon):
    """Laplace mechanism: the update is epsilon-differentially private in each coordinate."""
    noise = np.random.default_rng().laplace(scale=WIDTH / epsilon, size=update.shape)
    return np.clip(update, -WIDTH / 2, WIDTH / 2) + noise


@app.query()
def who(message, context):
    """The name by which the server keeps this client's budget, also after a restart."""
    name = str(context.node_config.get("name", context.node_config["partition-id"]))
    return Message(RecordDict({"who": ConfigRecord({"name": name})}), reply_to=message)


@app.train()
def train(message: Message, context: Context) -> Message:
    """Softmax regression on this client's part of the digits."""
    start = time.perf_counter()
    part, n_parts = int(context.node_config["partition-id"]), int(context.node_config["num-partitions"])
    x, y = digits(part, n_parts)
    received = message.content["arrays"]["weights"].numpy()
    weights = received.copy()
    for _ in range(20):
        output = np.exp(x @ weights)
        output /= output.sum(axis=1, keepdims=True)
        weights -= 0.5 * x.T @ (output - np.eye(10)[y]) / len(y)
    time.sleep(0.5 * (part % 2))  # every other machine is slow
    update = protect(weights - received, message.content["config"]["epsilon"])
    metrics = {"num-examples": len(y), "latency": time.perf_counter() - start}
    arrays = ArrayRecord({"weights": Array(received + update)})
    return Message(RecordDict({"arrays": arrays, "metrics": MetricRecord(metrics)}), reply_to=message)
