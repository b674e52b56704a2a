"""Many users at once, each with its own values, in one network: GPUs.

A step takes nothing from the host: which examples it visits, and their dropout, stand in a table on the
device, at a position that the step itself moves on.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from pausefl.training.backends.autograd import Autograd, entering
from pausefl.training.backends.base import LocalUpdates, Vector, Workbench
from pausefl.training.backends.layers import stacked
from pausefl.training.batches import Participation


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
    """Number of values from ``start`` on that equal the first of them."""
    return next((i for i, v in enumerate(values[start:]) if v != values[start]), len(values) - start)


class Stacked(Autograd):
    """Many users side by side in the channels of one network (`pausefl.training.backends.layers`)."""

    n_together = 64
    devices = ("cuda", "cpu")
    evaluation_batch = 2500
    memory_format = torch.contiguous_format

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench
        if self.on_gpu:
            _be_reproducible()
            self.aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        super().__init__(bench)
        self.layers = list(stacked(bench.flat.module))
        if self.test_x.dim() == 4:
            self.test_x = self.test_x.contiguous(memory_format=torch.channels_last)
        if not bench.regression:  # cross-entropy as a product with log-probabilities: no scattered sums
            self.train_y = -functional.one_hot(self.train_y, bench.dataset.n_classes).to(bench.flat.values)
        self._reserve(0, 0)

    @property
    def on_gpu(self) -> bool:
        """Whether the device works while the host goes on, and captures graphs."""
        return self.bench.device.type == "cuda"

    def _reserve(self, n_users: int, n_examples: int) -> None:
        """Make room for a round's users and for the examples that they visit; graphs of former room go."""
        device, layout = self.bench.device, self.bench.flat.layout
        if self.on_gpu:
            torch.cuda.synchronize()
            self.pool = torch.cuda.graph_pool_handle()  # that of graphs that are gone is closed
        #: A step of (users, batch size).
        self.launches: dict[tuple[int, int], Callable[[], object]] = {}
        self.table = torch.zeros(n_examples, dtype=torch.int64, device=device)
        self.kept = [
            torch.zeros(n_examples, *(layer.shape or ()), dtype=torch.bool, device=device)
            for layer in self.dropout
        ]
        self.offsets = torch.arange(n_examples, device=device)
        self.position = torch.zeros(1, dtype=torch.int64, device=device)
        self.loss_sum = torch.zeros((), device=device)
        self.losses, self.squares, self.steps = (torch.zeros(n_users, device=device) for _ in range(3))
        self.trainable, *self.moments = (
            torch.zeros(n_users, layout.n_trainable, device=device)
            for _ in range(1 + len(self.bench.optimizer.moments))
        )
        rate = float(self.bench.training.learning_rate)
        self.rate = torch.full((), rate, dtype=torch.float64, device=device)
        empty = torch.zeros(n_users, layout.n_values - layout.n_trainable, device=device)
        self.running = {name: window.contiguous() for name, window in self.bench.flat.buffers(empty).items()}

    def train(self, theta: Vector, part: Sequence[Participation]) -> LocalUpdates:
        """See `Backend.train`."""
        n = len(part)
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
                self._launch(len(run.places), run.size)
        self._arrange(order, list(range(n)))
        for mine, of_all in self._remembered if self.bench.optimizer.persist else []:
            for i, user in enumerate(users):
                of_all[user].copy_(mine[i])
        updates = torch.cat([self.trainable[:n], *(b[:n].flatten(1) for b in self.running.values())], 1)
        made = _Awaited if self.on_gpu else LocalUpdates
        losses, squares = self.losses[:n].clone(), self.squares[:n].clone()
        return made(part, updates - start, losses, squares, self.loss_sum.clone())

    def _to_device(self, values: Tensor) -> Tensor:
        """A copy on the device, for which nothing waits."""
        if self.on_gpu:
            values = values.pin_memory()
        return values.to(self.bench.device, non_blocking=True)

    def _launch(self, n: int, size: int) -> None:
        """Take the next step of the first ``n`` users; a GPU captures it after the first of a kind."""
        if (n, size) in self.launches:
            self.launches[n, size]()
            return
        self._step_aside(n, size)
        self.launches[n, size] = self._captured(n, size)

    def _step_aside(self, n: int, size: int) -> None:
        """Take a step on a stream from which a GPU can capture."""
        if not self.on_gpu:
            self._step(n, size)
            return
        main = torch.cuda.current_stream()
        self.aside.wait_stream(main)
        with torch.cuda.stream(self.aside):
            self._step(n, size)
        main.wait_stream(self.aside)

    def _captured(self, n: int, size: int) -> Callable[[], object]:
        """A graph of all that a step launches, or the step itself where there can be none."""
        step = partial(self._step_aside, n, size)
        if not self.on_gpu:
            return step
        graph = torch.cuda.CUDAGraph()
        try:
            # A graph reads nothing in the pool but what it wrote, so all may share it, in any order.
            with torch.cuda.graph(graph, pool=self.pool, stream=self.aside):
                self._step(n, size)
        except RuntimeError as error:
            reason = str(error).partition("\n")[0]
            warnings.warn(f"training without CUDA graphs, which is slower: {reason}", stacklevel=2)
            return step
        return graph.replay

    @property
    def _state(self) -> list[Tensor]:
        """All arrays with a row a user."""
        return [self.trainable, *self.moments, self.steps, self.losses, self.squares, *self.running.values()]

    @property
    def _remembered(self) -> list[tuple[Tensor, Tensor]]:
        """State of the optimizer here, and of all users."""
        optimizer = self.bench.optimizer
        pairs = zip(self.moments, optimizer.moments.values(), strict=True)
        return [*pairs, (self.steps, optimizer.steps)]

    def _load(self, start: Tensor, users: list[int]) -> None:
        """Start the users from the global model ``start`` (n_values,) and from their optimizer's state."""
        n, flat = len(users), self.bench.flat
        self.trainable[:n] = start[: flat.layout.n_trainable]
        for name, values in flat.buffers(start[flat.layout.n_trainable :]).items():
            self.running[name][:n] = values
        ids = self._to_device(torch.tensor(users))
        for mine, of_all in self._remembered:
            mine[:n] = of_all.index_select(0, ids) if self.bench.optimizer.persist else 0
        for counter in (self.position, self.losses, self.squares, self.loss_sum):
            counter.zero_()

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
        x, y = entering(self.train_x.index_select(0, visited)), self.train_y.index_select(0, visited)
        for layer, kept in zip(self.dropout, self.kept, strict=True):
            layer.mask = kept.index_select(0, here).to(x.dtype).div_(1 - layer.probability)
        trainable = self.trainable[:n].detach().requires_grad_()
        values = bench.flat.trainable(trainable) | {name: b[:n] for name, b in self.running.items()}
        x = x.view(size, -1, *x.shape[2:])
        for compute, layer, names in self.layers:
            x = compute(layer, x, n, **{name: values[path] for name, path in names.items()})
        terms = self._loss_terms(x.permute(2, 0, 1).flatten(0, 1), y)
        loss = terms.sum()
        (gradient,) = torch.autograd.grad(loss / size, trainable)
        local = self.trainable[:n]
        moments = [moment[:n] for moment in self.moments]
        bench.optimizer.step_side_by_side(local, gradient, moments, self.steps[:n], self.rate)
        of_examples = terms.detach().view(size, n, -1)
        self.losses[:n] += of_examples.sum((0, 2))
        self.squares[:n] += of_examples.sum(2).square().sum(0)
        self.loss_sum += loss.detach()
        self.position += n * size

    def _loss_terms(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Terms whose sum is that of `Workbench.loss`, (examples, classes) or (examples,)."""
        if self.bench.regression:
            return functional.mse_loss(outputs.squeeze(1), y, reduction="none")
        return functional.log_softmax(outputs, 1, dtype=y.dtype) * y


class _Awaited(LocalUpdates):
    """Updates on their way from a GPU, which does not wait for their being read."""

    def __init__(self, part: Sequence[Participation], *results: Tensor) -> None:
        here = (torch.empty(t.shape, dtype=t.dtype).pin_memory().copy_(t, non_blocking=True) for t in results)
        super().__init__(part, *here)
        self._arrival = torch.cuda.Event()  # type: ignore[no-untyped-call]
        self._arrival.record()

    def wait(self) -> None:
        """See `LocalUpdates.wait`."""
        self._arrival.synchronize()


def _be_reproducible() -> None:
    """A GPU gives the same bits twice, and float32 means float32."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.set_deterministic_debug_mode("warn")
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = True, False
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
