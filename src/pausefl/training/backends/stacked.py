"""Many users in one network, side by side in its channels: GPUs.

Images are (batch, users * channels, height, width), so a convolution has a group for each user and batch
normalisation a channel for each user and channel. After `torch.nn.Flatten`, values are (users, features,
batch), and a dense layer is one batched product.

A step takes nothing from the host: which examples it visits, and their dropout, stand in a table on the
device, at a position that the step itself moves on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from pausefl.errors import ConfigError
from pausefl.training.adam import BETA_1, BETA_2, EPSILON
from pausefl.training.backends.autograd import Autograd
from pausefl.training.backends.base import LocalUpdates, Vector, Workbench
from pausefl.training.batches import Participation
from pausefl.training.dropout import MaskedDropout


class Run(NamedTuple):
    """Consecutive steps of some users on mini-batches of one size.

    Attributes
    ----------
    places
        (n,) which participations, those with the most such steps left first.
    first
        (n,) number of the first mini-batch of each.
    size
        Examples of a mini-batch.
    n_steps
        Number of steps.
    """

    places: list[int]
    first: list[int]
    size: int
    n_steps: int


def runs_of(sizes: Sequence[Sequence[int]]) -> Iterator[Run]:
    """Order the mini-batches of some users, given their sizes, into few runs.

    Only mini-batches of one size are trained together, because padding would change batch statistics.
    """
    done = [0] * len(sizes)
    while left := [i for i, mine in enumerate(sizes) if done[i] < len(mine)]:
        size = max(sizes[i][done[i]] for i in left)
        lengths = {i: _equal_from(sizes[i], done[i]) for i in left if sizes[i][done[i]] == size}
        places = sorted(lengths, key=lambda i: (-lengths[i], i))
        n_steps = lengths[places[-1]]
        yield Run(places, [done[i] for i in places], size, n_steps)
        for i in places:
            done[i] += n_steps


def _equal_from(values: Sequence[int], start: int) -> int:
    """How many values from ``start`` on equal the first of them."""
    return next((i for i, v in enumerate(values[start:]) if v != values[start]), len(values) - start)


class Stacked(Autograd):
    """Many users at once, each with its own values, in one network."""

    n_together = 64
    evaluation_batch = 2500
    memory_format = torch.contiguous_format

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        self.layers = list(_stacked_layers(bench.flat.module))
        if self.test_x.dim() == 4:
            self.test_x = self.test_x.contiguous(memory_format=torch.channels_last)
        if not bench.regression:  # cross-entropy with probabilities needs no scattered sums
            self.train_y = functional.one_hot(self.train_y, bench.dataset.n_classes).to(bench.flat.values)
        self._reserve(0, 0)

    def _reserve(self, n_users: int, n_examples: int) -> None:
        """Make room for a round's users and for the examples that they visit."""
        device, layout = self.bench.device, self.bench.flat.layout
        self.table = torch.zeros(n_examples, dtype=torch.int64, device=device)
        self.kept = [
            torch.zeros(n_examples, *(layer.shape or ()), dtype=torch.bool, device=device)
            for layer in self.dropout
        ]
        self.offsets = torch.arange(n_examples, device=device)
        self.position = torch.zeros(1, dtype=torch.int64, device=device)
        self.loss_sum = torch.zeros((), device=device)
        self.steps = torch.zeros(n_users, device=device)
        self.trainable, self.first, self.second = (
            torch.zeros(n_users, layout.n_trainable, device=device) for _ in range(3)
        )
        empty = torch.zeros(n_users, layout.n_values - layout.n_trainable, device=device)
        self.running = {name: window.contiguous() for name, window in self.bench.flat.buffers(empty).items()}

    def train(self, theta: Vector, part: Sequence[Participation]) -> LocalUpdates:
        """See `Backend.train`."""
        n, adam = len(part), self.bench.adam
        n_visited, n_rows, n_users = sum(p.n_visited for p in part), len(self.table), len(self.steps)
        if n > n_users or n_visited > n_rows:
            self._reserve(max(n, n_users), max(2 * n_visited, n_rows))
        users = [p.user for p in part]
        start = self._to_device(torch.from_numpy(theta))
        self._load(start, users)
        runs = list(runs_of([[len(batch) for batch in p.batches] for p in part]))
        self._fill_table(part, runs)
        order = list(range(n))
        for run in runs:
            order = self._arrange(order, run.places)
            for _ in range(run.n_steps):
                self._step(len(run.places), run.size)
        self._arrange(order, list(range(n)))
        for i, user in enumerate(users):
            adam.first[user].copy_(self.first[i])
            adam.second[user].copy_(self.second[i])
            adam.steps[user].copy_(self.steps[i])
        updates = torch.cat([self.trainable[:n], *(b[:n].flatten(1) for b in self.running.values())], 1)
        return LocalUpdates(part, updates - start, self.loss_sum.clone())

    def _to_device(self, values: Tensor) -> Tensor:
        """A copy on the device, for which nothing waits."""
        if self.bench.device.type == "cuda":
            values = values.pin_memory()
        return values.to(self.bench.device, non_blocking=True)

    @property
    def _state(self) -> list[Tensor]:
        """All arrays with a row a user."""
        return [self.trainable, self.first, self.second, self.steps, *self.running.values()]

    def _load(self, start: Tensor, users: list[int]) -> None:
        """Start the users from the global model ``start`` (n_values,) and from their optimiser's state."""
        n, adam, flat = len(users), self.bench.adam, self.bench.flat
        self.trainable[:n] = start[: flat.layout.n_trainable]
        for name, values in flat.buffers(start[flat.layout.n_trainable :]).items():
            self.running[name][:n] = values
        ids = self._to_device(torch.tensor(users))
        for mine, of_all in ((self.first, adam.first), (self.second, adam.second), (self.steps, adam.steps)):
            mine[:n] = of_all.index_select(0, ids) if adam.persist else 0
        self.position.zero_()
        self.loss_sum.zero_()

    def _fill_table(self, part: Sequence[Participation], runs: list[Run]) -> None:
        """Copy to the device what all steps visit; of one step, all users' first examples come first."""
        drawn = [list(self.masks(p)) for p in part] if self.dropout else []
        batches: list[NDArray[np.int64]] = []
        kept: list[list[Tensor]] = [[] for _ in self.dropout]
        for run in runs:
            for step in range(run.n_steps):
                visited = [(i, first + step) for i, first in zip(run.places, run.first, strict=True)]
                batches.append(np.stack([part[i].batches[batch] for i, batch in visited], 1).ravel())
                for layer, rows in enumerate(kept):
                    masks = torch.stack([drawn[i][batch][layer] for i, batch in visited], 1)
                    rows.append(masks.flatten(0, 1) != 0)
        n_rows = sum(map(len, batches))
        self.table[:n_rows] = self._to_device(torch.from_numpy(np.concatenate(batches)))
        for target, rows in zip(self.kept, kept, strict=True):
            target[:n_rows] = self._to_device(torch.cat(rows))

    def _arrange(self, order: list[int], places: list[int]) -> list[int]:
        """Move the rows of ``places`` to the front; returns the new order of all."""
        if order[: len(places)] == places:
            return order
        arranged = places + [i for i in order if i not in places]
        rows = self._to_device(torch.tensor([order.index(i) for i in arranged]))
        for state in self._state:
            state[: len(rows)] = state.index_select(0, rows)
        return arranged

    def _step(self, n: int, size: int) -> None:
        """The next step of the first ``n`` users, on ``size`` examples each."""
        bench, here = self.bench, self.offsets[: n * size] + self.position
        visited = self.table.index_select(0, here)
        x, y = self.train_x.index_select(0, visited), self.train_y.index_select(0, visited)
        for layer, kept in zip(self.dropout, self.kept, strict=True):
            layer.mask = kept.index_select(0, here).to(x.dtype).div_(1 - layer.probability)
        trainable = self.trainable[:n].detach().requires_grad_()
        values = bench.flat.trainable(trainable) | {name: b[:n] for name, b in self.running.items()}
        x = x.view(size, -1, *x.shape[2:])
        with self.precision():
            for compute, layer, names in self.layers:
                x = compute(layer, x, n, **{name: values[path] for name, path in names.items()})
            loss = bench.loss(x.permute(2, 0, 1).flatten(0, 1), y, reduction="sum")
        (gradient,) = torch.autograd.grad(loss / size, trainable)
        self._adam(n, gradient)
        self.loss_sum += loss.detach()
        self.position += n * size

    @torch.no_grad()
    def _adam(self, n: int, gradient: Tensor) -> None:
        """A step of Adam along the gradient (n, n_trainable); each user has its own number of steps."""
        first, second, steps = self.first[:n], self.second[:n], self.steps[:n].unsqueeze(1)
        steps += 1
        count = steps.double()
        rate = (self.bench.adam.learning_rate / (1 - BETA_1**count)).to(first.dtype)
        scale = (1 - BETA_2**count).rsqrt().to(first.dtype)
        first.lerp_(gradient, 1 - BETA_1)
        second.mul_(BETA_2).addcmul_(gradient, gradient, value=1 - BETA_2)
        self.trainable[:n] -= (first * rate).div_(second.sqrt().mul_(scale).add_(EPSILON))


#: A layer of all users: (layer, values, users, its parameters and statistics (users, ...)) -> values.
Layer = Callable[..., Tensor]


def _convolution(layer: nn.Conv2d, x: Tensor, n: int, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """A group, or as many as the layer has, for each user."""
    filters, shift = weight.flatten(0, 1), None if bias is None else bias.flatten()
    n_groups = layer.groups * n
    return functional.conv2d(x, filters, shift, layer.stride, layer.padding, layer.dilation, n_groups)


def _dense(layer: nn.Module, x: Tensor, n: int, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return weight @ x if bias is None else torch.baddbmm(bias.unsqueeze(2), weight, x)


def _batch_norm(
    layer: nn.BatchNorm2d,
    x: Tensor,
    n: int,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor,
    bias: Tensor,
) -> Tensor:
    """Normalise each channel of each user; brings the running statistics up to date."""
    channels = x if x.dim() == 4 else x.reshape(1, -1, x.shape[2])
    mean, var, scale, shift = (values.flatten() for values in (running_mean, running_var, weight, bias))
    momentum = layer.momentum or 0.0
    normal = functional.batch_norm(channels, mean, var, scale, shift, True, momentum, layer.eps)
    return normal.view(x.shape)


def _group_norm(layer: nn.GroupNorm, x: Tensor, n: int, weight: Tensor, bias: Tensor) -> Tensor:
    """Normalise each example of each user in each group of its channels."""
    examples = x if x.dim() == 4 else x.permute(2, 0, 1).flatten(1)
    n_groups, scale, shift = layer.num_groups * n, weight.flatten(), bias.flatten()
    normal = functional.group_norm(examples, n_groups, scale, shift, layer.eps)
    return normal if x.dim() == 4 else normal.view(-1, n, x.shape[1]).permute(1, 2, 0)


def _flatten(layer: nn.Flatten, x: Tensor, n: int) -> Tensor:
    return x.reshape(len(x), n, -1).permute(1, 2, 0)


def _dropout(layer: MaskedDropout, x: Tensor, n: int) -> Tensor:
    assert layer.mask is not None
    if x.dim() == 4:
        return x * layer.mask.view(x.shape)
    return x * layer.mask.view(-1, n, x.shape[1]).permute(1, 2, 0)


def _alike(layer: nn.Module, x: Tensor, n: int) -> Tensor:
    return layer(x)  # type: ignore[no-any-return]


#: How each type of layer is computed for all users.
_LAYERS: dict[type[nn.Module], Layer] = {
    nn.Conv2d: _convolution,
    nn.Linear: _dense,
    nn.BatchNorm1d: _batch_norm,
    nn.BatchNorm2d: _batch_norm,
    nn.GroupNorm: _group_norm,
    nn.Flatten: _flatten,
    MaskedDropout: _dropout,
    **dict.fromkeys((nn.ReLU, nn.GELU, nn.Tanh, nn.Sigmoid, nn.Identity, nn.MaxPool2d, nn.AvgPool2d), _alike),
}


def _stacked_layers(module: nn.Module, path: str = "") -> Iterator[tuple[Layer, Any, dict[str, str]]]:
    """How to compute each layer, the layer, and paths of its values by name.

    Raises
    ------
    ConfigError
        If it has another layer, or is not a sequence of layers.
    """
    if type(module).forward is nn.Sequential.forward:
        for name, child in module.named_children():
            yield from _stacked_layers(child, f"{path}{name}.")
        return
    if type(module) not in _LAYERS or getattr(module, "padding_mode", "zeros") != "zeros":
        raise ConfigError(
            f"a GPU cannot train the layer {module} of the model: use --device cpu, or add it to {__name__}"
        )
    values = [*module.named_parameters(), *module.named_buffers()]
    yield _LAYERS[type(module)], module, {name: path + name for name, v in values if v.is_floating_point()}
