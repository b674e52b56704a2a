"""The training engine equals a plain loop over users: a module and a torch optimiser each."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest
import torch
from local_training import partition
from torch import nn
from torch.nn import functional

from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.errors import ConfigError, PauseflError
from pausefl.settings import ModelSettings, TrainingSettings
from pausefl.streams import Streams
from pausefl.training.backends.base import LocalUpdates
from pausefl.training.batches import plan_batches
from pausefl.training.engine import Trainer, build_model, choose_device
from pausefl.training.flat import FlatModel

CPU = torch.device("cpu")
FC, CNN = ModelSettings(name="fc", norm="none"), ModelSettings(name="cnn3", norm="batch")
CNN5, BSFL = ModelSettings(name="cnn5", norm="batch"), ModelSettings(name="cnn_bsfl", norm="none")
TOKENS = [ModelSettings(name=name, norm="none") for name in ("token_mlp", "token_lstm", "token_lstm_small")]
AS_RUN, LINEAR = ModelSettings(name="cnn5_as_run", norm="batch"), ModelSettings(name="linear", norm="none")


def images(n: int, size: int, n_test: int = 40, channels: int = 1, seed: int = 0) -> Dataset:
    """Noise around one pattern a class, easy enough to learn."""
    rng = np.random.default_rng(seed)
    patterns = rng.integers(0, 200, (4, channels, size, size))
    y = rng.integers(0, 4, n + n_test)
    x = (patterns[y] + rng.integers(0, 56, (n + n_test, channels, size, size))).astype(np.uint8)
    return Dataset("noise", x[:n], y[:n], x[n:], y[n:], 4, "drawn")


def features(n: int, n_test: int = 40) -> Dataset:
    """Points around the centre of each of four classes, in three dimensions."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, n + n_test)
    x = (2 * rng.standard_normal((4, 3))[y] + rng.standard_normal((n + n_test, 3))).astype(np.float32)
    return Dataset("points", x[:n], y[:n], x[n:], y[n:], 4, "drawn")


def tokens(n: int, n_test: int = 40, kind: str = "uint8") -> Dataset:
    """Windows of six symbols of nine; the next one is the third plus a random step of 0 or 1, of four."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, (n + n_test, 6)).astype(kind)
    y = (x[:, 2].astype(np.int64) + rng.integers(0, 2, n + n_test)) % 4
    return Dataset("text", x[:n], y[:n], x[n:], y[n:], 4, "drawn", n_symbols=9)


def entering(x: np.ndarray[Any, Any]) -> torch.Tensor:
    """What a network sees: pixels in [-1, 1], features as they are, token ids as int64."""
    if x.ndim == 2 and x.dtype.kind in "iu":
        return torch.from_numpy(x.astype(np.int64))
    return torch.from_numpy(x).float() / 127.5 - 1 if x.dtype == np.uint8 else torch.from_numpy(x)


WEIGHTS = np.array([1.5, -2.0, 0.5])


def regression(n: int, n_test: int = 40, noise: float = 0.1) -> Dataset:
    """Targets that are a weighted sum of three features, plus 1 and noise."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n + n_test, 3))
    y = (x @ WEIGHTS + 1 + noise * rng.standard_normal(n + n_test)).astype(np.float32)
    x = x.astype(np.float32)
    return Dataset("regression", x[:n], y[:n], x[n:], y[n:], 0, "drawn")


def training(optimizer_state: str = "persist", **changes: Any) -> TrainingSettings:
    values = {"n_epochs": 1, "batch_size": 20, "max_batches": 100, "learning_rate": 0.01} | changes
    return TrainingSettings(**{"n_rounds": 1, "optimizer_state": optimizer_state, **values})


class PlainLoop:
    """What the engine is to compute, as slowly and plainly as possible, in contiguous memory."""

    def __init__(
        self,
        model: ModelSettings,
        settings: TrainingSettings,
        data: Dataset,
        share: Partition,
        streams: Streams,
    ) -> None:
        self.settings, self.data, self.share, self.streams = settings, data, share, streams
        self.initial = build_model(model, data, streams)
        self.smallest = 2 if model.norm == "batch" else 1
        self.modules: dict[int, tuple[nn.Module, torch.optim.Optimizer]] = {}

    def train(self, start: nn.Module, user: int, round: int) -> tuple[nn.Module, float, int]:
        """The local model of a user, its summed loss and the number of examples visited."""
        if user not in self.modules or self.settings.optimizer_state == "reset":
            module = copy.deepcopy(start)
            self.modules[user] = module, self.optimizer(module)
        module, optimiser = self.modules[user]
        module.load_state_dict(start.state_dict())
        module.train()
        rng, mine = self.streams.generator("batches", user=user, round=round), self.share.users[user]
        torch.manual_seed(int(self.streams.generator("dropout", user=user, round=round).integers(2**63)))
        loss_sum, n_visited = 0.0, 0
        for batch in plan_batches(len(mine), self.settings, self.smallest, rng):
            y = torch.from_numpy(self.data.train_y[mine[batch]])
            x = entering(self.data.train_x[mine[batch]])
            out = module(x.to(torch.get_default_dtype()) if x.is_floating_point() else x)
            loss = functional.cross_entropy(out, y) if self.data.n_classes else ((out[:, 0] - y) ** 2).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            loss_sum += loss.item() * len(batch)
            n_visited += len(batch)
        return module, loss_sum, n_visited

    def optimizer(self, module: nn.Module) -> torch.optim.Optimizer:
        rate = self.settings.learning_rate
        if self.settings.optimizer == "sgd":
            return torch.optim.SGD(module.parameters(), lr=rate, momentum=self.settings.momentum)
        return torch.optim.Adam(module.parameters(), lr=rate)


def flat(module: nn.Module) -> Any:
    return FlatModel(copy.deepcopy(module), CPU).values.numpy()


def by_user(found: list[LocalUpdates], what: str = "updates") -> dict[int, Any]:
    return {
        int(user): value
        for local in found
        for user, value in zip(local.users, getattr(local, what), strict=True)
    }


def compare(
    model: ModelSettings,
    data: Dataset,
    sizes: list[int],
    settings: TrainingSettings,
    rounds: Any,
    atol: float,
) -> None:
    """Updates by engine and plain loop; a round starts where the last user ended the round before."""
    share, streams = partition(sizes), Streams(3)
    trainer = Trainer(model, settings, data, share, streams, CPU)
    plain = PlainLoop(model, settings, data, share, streams)
    start = plain.initial
    for t, users in enumerate(rounds, start=1):
        theta = flat(start)
        state = torch.get_rng_state()
        found = list(trainer.train(theta, np.array(users), t))
        assert torch.equal(torch.get_rng_state(), state)
        updates, losses, n_visited = (by_user(found, what) for what in ("updates", "losses", "n_visited"))
        loss_sum = 0.0
        assert sorted(updates) == sorted(users)
        for user in users:
            local, loss, n = plain.train(start, user, t)
            np.testing.assert_allclose(updates[user], flat(local) - theta, atol=atol)
            assert np.abs(updates[user]).max() > 100 * atol
            assert losses[user] == pytest.approx(loss, rel=1e-3)
            assert n_visited[user] == n
            loss_sum += loss
        assert sum(local.loss_sum for local in found) == pytest.approx(loss_sum, rel=1e-3)
        start = copy.deepcopy(local)


MOMENTUM = {"optimizer": "sgd", "momentum": 0.9, "learning_rate": 0.05}


@pytest.mark.usefixtures("double_precision")
@pytest.mark.parametrize(
    ("model", "changes"),
    [
        (FC, {"optimizer": "sgd", "learning_rate": 0.05}),
        (FC, MOMENTUM),
        (FC, {**MOMENTUM, "optimizer_state": "reset"}),
        # Not with Adam, which amplifies the rounding of gradients that are 0: those of biases before a norm.
        (CNN, MOMENTUM),
    ],
    ids=str,
)
def test_optimizers_equal_a_plain_loop(model: ModelSettings, changes: dict[str, Any]) -> None:
    sizes, rounds = [21, 45, 14], [[0, 1], [2, 1], [0, 1, 2]]
    compare(model, images(80, 22), sizes, training(batch_size=10, **changes), rounds, atol=1e-8)


def test_more_users_than_are_trained_at_once_equal_a_plain_loop() -> None:
    sizes = [5 + 3 * (k % 7) for k in range(40)]
    compare(FC, images(sum(sizes), 4), sizes, training(), [list(range(40)), list(range(0, 40, 2))], atol=1e-5)


def test_colour_images_enter_dense_networks_in_the_right_order() -> None:
    compare(FC, images(50, 5, channels=3), [20, 30], training(), [[0, 1]], atol=1e-5)


def test_features_enter_dense_networks_as_they_are() -> None:
    compare(FC, features(50), [20, 30], training(), [[0, 1], [1, 0]], atol=1e-5)


@pytest.mark.usefixtures("double_precision")
@pytest.mark.parametrize("model", [FC, CNN, ModelSettings(name="cnn3", norm="group")], ids=lambda m: m.norm)
@pytest.mark.parametrize("settings", [training(), training("reset"), training(n_epochs=2, max_batches=3)])
def test_every_network_equals_a_plain_loop_in_double_precision(
    model: ModelSettings, settings: TrainingSettings
) -> None:
    sizes, rounds = [21, 45, 4], [[0, 1], [2, 1], [0, 1, 2]]
    compare(model, images(70, 22), sizes, settings, rounds, atol=1e-8)


@pytest.mark.usefixtures("double_precision")
def test_cnn5_as_run_equals_a_plain_loop_that_skips_short_batches() -> None:
    """With SGD: Adam amplifies the rounding of gradients that are 0, those of biases before a norm."""
    settings = training(batch_size=4, short_batches="skip", **MOMENTUM)
    compare(AS_RUN, images(22, 32), [6, 13, 3], settings, [[0, 1], [2, 1]], atol=1e-8)


@pytest.mark.usefixtures("double_precision")
@pytest.mark.parametrize(
    ("model", "size"),
    [(CNN5, 32), (ModelSettings(name="cnn5", norm="group"), 32), (BSFL, 12)],
    ids=lambda v: str(v),
)
def test_networks_with_dropout_equal_a_plain_loop_of_the_same_seed(model: ModelSettings, size: int) -> None:
    settings = training(batch_size=4)
    compare(model, images(12, size), [5, 7], settings, [[0, 1], [1]], atol=1e-8)


@pytest.mark.usefixtures("double_precision")
@pytest.mark.parametrize("changes", [{}, {**MOMENTUM, "optimizer_state": "reset"}], ids=["adam", "sgd"])
@pytest.mark.parametrize("kind", ["uint8", "int32", "int64"])
@pytest.mark.parametrize("model", TOKENS, ids=lambda m: m.name)
def test_networks_on_token_ids_equal_a_plain_loop(
    model: ModelSettings, kind: str, changes: dict[str, Any]
) -> None:
    sizes, rounds = [11, 25, 4], [[0, 1], [2, 1], [0, 1, 2]]
    compare(model, tokens(40, kind=kind), sizes, training(batch_size=10, **changes), rounds, atol=1e-8)


def test_a_network_on_token_ids_learns_what_follows() -> None:
    data = tokens(800, 400)
    trainer = Trainer(TOKENS[0], training(n_epochs=10), data, partition([800]), Streams(0), CPU)
    (local,) = trainer.train(trainer.initial, np.array([0]), 1)
    before, after = trainer.evaluate(trainer.initial), trainer.evaluate(trainer.initial + local.updates[0])
    assert before.accuracy < 0.35
    assert after.accuracy > 0.45  # of two symbols that may follow, each is as likely
    losses = trainer.losses(trainer.initial, np.array([0]))
    assert losses[0] == pytest.approx(before.loss, rel=0.2)


@pytest.mark.parametrize("model", [LINEAR, FC], ids=["linear", "fc"])
def test_regression_equals_a_plain_loop(model: ModelSettings) -> None:
    compare(model, regression(47), [20, 27], training(n_epochs=3), [[0, 1], [1, 0]], atol=1e-5)


def test_the_loss_of_a_regression_is_the_mean_squared_error() -> None:
    data = regression(20, n_test=1201)
    trainer = Trainer(LINEAR, training(), data, partition([20]), Streams(0), CPU)
    theta = np.array([0.5, 1, -1, 2], np.float32)
    accuracy, loss, _, by_class = trainer.evaluate(theta)
    assert by_class == ()
    errors = data.test_x.astype(np.float64) @ theta[:3] + theta[3] - data.test_y
    assert math.isnan(accuracy)
    assert loss == pytest.approx(np.mean(errors**2), rel=1e-5)


@pytest.mark.parametrize("broken", [np.nan, np.inf])
@pytest.mark.parametrize("model", [LINEAR, FC], ids=lambda m: m.name)
def test_a_model_that_diverged_guesses_and_its_loss_is_infinite(model: ModelSettings, broken: float) -> None:
    data = regression(20) if model is LINEAR else images(20, 10)
    trainer = Trainer(model, training(), data, partition([20]), Streams(0), CPU)
    accuracy, loss, diverged, by_class = trainer.evaluate(np.full_like(trainer.initial, broken))
    assert (loss, diverged) == (math.inf, True)
    if model is LINEAR:
        assert math.isnan(accuracy)
    else:
        assert accuracy == 0.25  # of four classes
        assert by_class == (0.25,) * 4
    assert not trainer.evaluate(trainer.initial).diverged
    (local,) = trainer.train(np.full_like(trainer.initial, broken), np.array([0]), 1)
    assert not np.isfinite(local.updates).all()


@pytest.mark.parametrize(
    ("model", "kind"),
    [(FC, "images"), (CNN, "images"), (FC, "features"), *((one, "tokens") for one in TOKENS)],
)
@pytest.mark.parametrize("n_test", [40, 1201])
def test_accuracy_and_loss_are_those_of_all_probabilities_at_once(
    model: ModelSettings, kind: str, n_test: int
) -> None:
    makers = {"images": lambda: images(60, 22, n_test), "features": lambda: features(60, n_test)}
    data = makers.get(kind, lambda: tokens(60, n_test))()
    trainer = Trainer(model, training(), data, partition([60]), Streams(0), CPU)
    (local,) = trainer.train(trainer.initial, np.array([0]), 1)
    theta = trainer.initial + local.updates[0]
    net = build_model(model, data, Streams(1))
    FlatModel(net, CPU).values.copy_(torch.from_numpy(theta))
    with torch.no_grad():
        logits = net.eval()(entering(data.test_x))
    probability = logits.double().softmax(1).numpy()
    accuracy, loss, _, by_class = trainer.evaluate(theta)
    right = probability.argmax(1) == data.test_y
    assert accuracy == pytest.approx(right.mean(), abs=1.5 / n_test)
    recall = [right[data.test_y == label].mean() for label in range(4)]
    np.testing.assert_allclose(by_class, recall, atol=1.5 / np.bincount(data.test_y).min())
    expected = -np.log(probability[np.arange(n_test), data.test_y]).mean()
    assert loss == pytest.approx(expected, rel=1e-4)


def test_evaluating_between_rounds_changes_nothing() -> None:
    data, share = images(60, 22), partition([60])
    ends = []
    for evaluate in (True, False):
        trainer = Trainer(CNN, training(), data, share, Streams(0), CPU)
        for t in (1, 2):
            (local,) = trainer.train(trainer.initial, np.array([0]), t)
            if evaluate:
                trainer.evaluate(local.updates[0])
        ends.append(local.updates[0].copy())
    np.testing.assert_array_equal(*ends)


def test_initial_weights_are_fixed_by_the_seed_alone() -> None:
    data = images(60, 22)
    torch.manual_seed(1)
    first = Trainer(FC, training(), data, partition([60]), Streams(0), CPU).initial
    torch.manual_seed(2)
    state = torch.get_rng_state()
    second = Trainer(FC, training("reset"), data, partition([20, 40]), Streams(0), CPU).initial
    np.testing.assert_array_equal(first, second)
    assert torch.equal(torch.get_rng_state(), state)
    assert not np.array_equal(first, Trainer(FC, training(), data, partition([60]), Streams(1), CPU).initial)


@pytest.mark.parametrize(
    ("sizes", "batch_size"), [([59, 1], 20), ([60], 1)], ids=["one example", "batches of one"]
)
def test_users_on_whom_batch_normalisation_cannot_train_are_refused_at_once(
    sizes: list[int], batch_size: int
) -> None:
    settings = training(batch_size=batch_size)
    with pytest.raises(PauseflError):
        Trainer(CNN, settings, images(60, 22), partition(sizes), Streams(0), CPU)


def test_a_user_who_would_train_on_nothing_is_refused_at_once() -> None:
    def start(short_batches: str, batch_size: int) -> None:
        settings = training(short_batches=short_batches, batch_size=batch_size)
        Trainer(FC, settings, images(60, 6), partition([59, 1]), Streams(0), CPU)

    with pytest.raises(ConfigError, match=r"'skip' a user with a single example .* partition\.min_size to 2"):
        start("skip", 20)
    start("keep", 20)
    start("skip", 1)  # a full batch


def test_cuda_is_refused_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match="no usable CUDA device; use 'cpu'"):
        choose_device("cuda")
    assert choose_device("auto") == choose_device("cpu") == CPU
