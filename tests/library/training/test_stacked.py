"""Users in the channels of one network are trained as users alone, with and without graphs of the steps."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from local_training import assert_equal, assert_same, partition, train
from numpy.typing import NDArray
from torch import nn

from pausefl.data.dataset import Dataset
from pausefl.errors import ConfigError
from pausefl.settings import ModelSettings, TrainingSettings
from pausefl.streams import Streams
from pausefl.training.backends import layers
from pausefl.training.backends.base import Backend
from pausefl.training.backends.dense import Dense
from pausefl.training.backends.one_by_one import OneByOne
from pausefl.training.backends.stacked import Stacked
from pausefl.training.dropout import adopt_dropout
from pausefl.training.engine import Trainer, choose_device
from pausefl.training.networks import is_batch_norm, token_lstm

CPU = torch.device("cpu")
#: Five participations of four steps, or of fewer; mini-batches of 6, and of 2 to 5 at the end.
SIZES = [20, 22, 12, 23]
ROUNDS = [[0, 1, 2, 3], [3, 0], [0, 1, 3], [1, 0, 2, 3], [0, 1, 3]]


def model(name: str, norm: str = "none") -> ModelSettings:
    return ModelSettings(name=name, norm=norm)


#: In place of a size: windows of seven of eleven symbols.
TEXT = -7
#: With the smallest images that they take; 0: features and targets of a regression.
NETWORKS = [
    (model("linear"), 0),
    (model("linear"), 3),
    (model("fc"), 6),
    (model("cnn_bsfl"), 10),
    (model("cnn3", "batch"), 22),
    (model("cnn3", "group"), 22),
    pytest.param(model("cnn5", "batch"), 32, marks=pytest.mark.slow),
    pytest.param(model("cnn5", "group"), 32, marks=pytest.mark.slow),
    (model("cnn5_as_run", "batch"), 32),
    (model("token_mlp"), TEXT),
]


def data(n: int, size: int, channels: int = 3) -> Dataset:
    rng = np.random.default_rng(0)
    if size == TEXT:
        x, y = rng.integers(0, 11, (n + 9, 7)).astype(np.uint8), rng.integers(0, 11, n + 9)
        return Dataset("text", x[:n], y[:n], x[n:], y[n:], 11, "drawn", n_symbols=11)
    if size == 0:
        x = rng.standard_normal((n + 9, 4)).astype(np.float32)
        y = x.sum(1) + rng.standard_normal(n + 9).astype(np.float32)
    else:
        x = rng.integers(0, 256, (n + 9, channels, size, size)).astype(np.uint8)
        y = rng.integers(0, 10, n + 9)
    return Dataset("noise", x[:n], y[:n], x[n:], y[n:], 10 if size else 0, "drawn")


#: Steps so small that a network does not amplify rounding.
RATES = {"none": 1e-4, "group": 1e-5, "batch": 1e-6}


def undetermined(made: Trainer) -> NDArray[np.bool_]:
    """Which values (n_values,) are biases that batch normalisation follows.

    Where its channel is positive everywhere, normalisation subtracts that bias again: its gradient is 0 but
    for rounding. Two examples that hardly differ enlarge that rounding, and Adam steps along its sign.
    """
    flat = made._bench.flat
    found = torch.zeros((1, len(made.initial)))
    windows = flat.trainable(found[:, : flat.layout.n_trainable])
    bias = ""
    for name, layer in flat.module.named_children():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            bias = f"{name}.bias"
        elif is_batch_norm(layer):
            windows[bias].fill_(1)
    return found.numpy().squeeze() > 0


def local(norm: str = "none", **changes: Any) -> TrainingSettings:
    values = {"n_epochs": 1, "batch_size": 6, "max_batches": 100, "learning_rate": RATES[norm]} | changes
    return TrainingSettings(n_rounds=1, **({"optimizer_state": "persist"} | values))


def trainer(
    backend: type[Backend],
    model: ModelSettings,
    size: int,
    training: TrainingSettings,
    sizes: list[int] = SIZES,
    device: torch.device = CPU,
) -> Trainer:
    return Trainer(model, training, data(sum(sizes), size), partition(sizes), Streams(3), device, backend)


ALL = dict(enumerate(ROUNDS, start=1))
#: With a rate at which it moves as far as Adam.
SGD: list[dict[str, Any]] = [
    {"optimizer": "sgd", "learning_rate": 1e-3},
    {"optimizer": "sgd", "learning_rate": 1e-3, "momentum": 0.9},
    {"optimizer": "sgd", "learning_rate": 1e-3, "momentum": 0.9, "optimizer_state": "reset"},
]


@pytest.mark.usefixtures("double_precision")
@pytest.mark.parametrize(
    ("model", "size"), NETWORKS, ids=lambda v: f"{v.name}-{v.norm}" if hasattr(v, "name") else str(v)
)
def test_twenty_steps_saved_and_resumed_equal_those_of_users_alone(model: ModelSettings, size: int) -> None:
    training = local(model.norm)
    alone = trainer(OneByOne, model, size, training)
    expected = train(alone, ALL)
    assert alone._optimizer.steps[0] == 20
    first = trainer(Stacked, model, size, training)
    found = train(first, {t: ALL[t] for t in (1, 2)})
    second = trainer(Stacked, model, size, training)
    second.restore({name: array.copy() for name, array in first.state().items()})
    found += train(second, {t: ALL[t] for t in (3, 4, 5)})
    # A thousandth of a step for biases that are not determined.
    assert_same(found, expected, np.where(undetermined(alone), 1e-3 * training.learning_rate, 1e-10))
    for name, array in alone.state().items():
        np.testing.assert_allclose(second.state()[name], array, rtol=1e-6, atol=1e-10)
    scores = [made.evaluate(made.initial) for made in (alone, second)]
    assert scores[0].loss == pytest.approx(scores[1].loss, rel=1e-10)


@pytest.mark.usefixtures("double_precision")
@pytest.mark.parametrize(
    "changes",
    [{"optimizer_state": "reset"}, {"n_epochs": 3}, {"max_batches": 1}, *SGD],
    ids=str,
)
def test_all_local_training_equals_that_of_users_alone(changes: dict[str, Any]) -> None:
    expected, found = (train(trainer(b, model("fc"), 6, local(**changes)), ALL) for b in (OneByOne, Stacked))
    assert_same(found, expected, atol=1e-10)


@pytest.mark.usefixtures("double_precision")
def test_more_users_than_go_together_are_trained_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = train(trainer(Stacked, model("fc"), 6, local()), ALL)
    monkeypatch.setattr(Stacked, "n_together", 3)
    assert_same(train(trainer(Stacked, model("fc"), 6, local()), ALL), expected, atol=1e-10)


def small(norm: str, dropout: float) -> nn.Module:
    """A network of all kinds of layers, for two-channel images of 4 x 4."""
    norms: dict[str, list[nn.Module]] = {
        "batch": [nn.BatchNorm2d(4), nn.BatchNorm1d(6)],
        "group": [nn.GroupNorm(2, 4), nn.GroupNorm(3, 6)],
        "none": [nn.Identity(), nn.Identity()],
    }
    image, dense = norms[norm]
    return nn.Sequential(
        *(nn.Conv2d(2, 4, 3, padding=1), nn.MaxPool2d(2), nn.Tanh(), image, nn.Dropout(dropout)),
        nn.Sequential(nn.Flatten(), nn.Linear(16, 6, bias=False), nn.Tanh(), dense, nn.Dropout(dropout)),
        nn.Linear(6, 10),
    )


@pytest.mark.usefixtures("double_precision")
@examples(max_examples=15, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sizes=st.lists(st.integers(2, 9), min_size=1, max_size=5),
    batch_size=st.integers(2, 5),
    n_epochs=st.integers(1, 2),
    norm=st.sampled_from(["batch", "group", "none"]),
    dropout=st.sampled_from([0.0, 0.2, 0.7]),
)
def test_any_users_with_any_data_and_dropout_are_trained_as_alone(
    sizes: list[int], batch_size: int, n_epochs: int, norm: str, dropout: float
) -> None:
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pausefl.training.settings.ModelSettings.build", lambda *_: small(norm, dropout))
        for backend in (OneByOne, Stacked):
            share, training = partition(sizes), local(norm, batch_size=batch_size, n_epochs=n_epochs)
            images = data(sum(sizes), 4, channels=2)
            made = Trainer(model("cnn3", norm), training, images, share, Streams(1), CPU, backend)
            found.append(train(made, {t: list(range(len(sizes))) for t in (1, 2)}))
    assert_same(found[1], found[0], atol=1e-10)


@pytest.mark.parametrize("backend", [Stacked, Dense])
def test_in_single_precision_backends_differ_by_less_than_1e_4(backend: type[Backend]) -> None:
    """The tolerance that the documentation states, after rounds of Adam at 0.01."""
    training = local(n_epochs=2, batch_size=20, learning_rate=0.01)
    sizes, rounds = [1, 7, 20, 21, 45, 60], {1: [0, 1, 2, 3, 4, 5], 2: [5, 0, 3], 3: [4], 4: [1, 3, 4, 5]}
    expected, found = (
        train(trainer(one, model("fc"), 6, training, sizes), rounds) for one in (OneByOne, backend)
    )
    for (rows, _), (expected_rows, _) in zip(found, expected, strict=True):
        for user, row in rows.items():
            np.testing.assert_allclose(row, expected_rows[user], rtol=0, atol=1e-4)


# ---- Layers


@pytest.mark.parametrize(
    "module",
    [
        nn.Sequential(nn.Flatten(), nn.Linear(4, 2), nn.Softmax(1)),
        nn.Sequential(nn.Conv2d(1, 1, 3, padding=1, padding_mode="circular")),
        nn.ModuleDict({"a": nn.Linear(4, 2)}),
        nn.Sequential(nn.Embedding(9, 2, padding_idx=0)),
        token_lstm((5, 9), 9),
    ],
    ids=["layer", "padding", "not a sequence", "padded tokens", "lstm"],
)
def test_a_network_that_it_cannot_train_is_refused(module: nn.Module) -> None:
    with pytest.raises(ConfigError, match=r"(?s)a GPU cannot train the layer .* use --device cpu"):
        list(layers.stacked(module))


def test_dropout_that_could_not_be_repeated_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"Dropout2d is not supported: use torch\.nn\.Dropout"):
        adopt_dropout(nn.Sequential(nn.Conv2d(1, 2, 3), nn.Dropout2d()), torch.zeros(1, 1, 4, 4))


# ---- On a GPU


def test_a_gpu_is_told_to_repeat_itself_in_full_precision() -> None:
    """In a process of its own: what is told holds for all of it."""
    code = """
import torch
from pausefl.training.backends import stacked

stacked._be_reproducible()
cudnn, cuda = torch.backends.cudnn, torch.backends.cuda
print(torch.are_deterministic_algorithms_enabled(), cudnn.deterministic, end=" ")
print(cudnn.allow_tf32, cuda.matmul.allow_tf32)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True True False False\n"


ON_GPU = [pytest.mark.cuda, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]
NETWORKS_ON_GPU = [
    (model("token_mlp"), TEXT),
    (model("fc"), 6),
    (model("cnn_bsfl"), 10),
    (model("cnn3", "batch"), 22),
]
NETWORKS_ON_GPU += [(model(name, "group"), 32) for name in ("cnn3", "cnn5")]
NETWORKS_ON_GPU += [(model(name, "batch"), 32) for name in ("cnn5", "cnn5_as_run")]


def on_gpu(model: ModelSettings, size: int, **changes: Any) -> Trainer:
    return trainer(Stacked, model, size, local(**changes), device=choose_device("cuda"))


@pytest.mark.parametrize(("model", "size"), [pytest.param(*each, marks=ON_GPU) for each in NETWORKS_ON_GPU])
def test_a_gpu_gives_the_updates_of_the_cpu(model: ModelSettings, size: int) -> None:
    """The documentation states the tolerance: one step, before Adam amplifies rounding."""
    one = {"max_batches": 1, "learning_rate": 0.01}
    alone = trainer(OneByOne, model, size, local(**one))
    found, expected = (train(made, {1: [0, 1, 2, 3]}) for made in (on_gpu(model, size, **one), alone))
    determined = ~undetermined(alone)
    for user, row in found[0][0].items():
        assert np.mean(np.abs(row - expected[0][0][user])[determined] > 1e-4) < 1e-3


@pytest.mark.parametrize(("model", "size"), [pytest.param(*each, marks=ON_GPU) for each in NETWORKS_ON_GPU])
def test_a_gpu_repeats_itself_with_and_without_graphs(
    model: ModelSettings, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [train(on_gpu(model, size), ALL) for _ in range(2)]
    monkeypatch.setattr(Stacked, "_captured", lambda backend, n, size: lambda: backend._step_aside(n, size))
    found.append(train(on_gpu(model, size), ALL))
    for again in found[1:]:
        assert_equal(again, found[0])
