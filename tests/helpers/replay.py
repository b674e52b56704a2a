"""CUDA graphs without CUDA: what a step launches is recorded and launched again on the same memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from pausefl.training.backends import stacked

#: What a capture does not allow: results that the host reads, sizes that depend on data, data of the host.
HOST = {
    "_local_scalar_dense",
    "item",
    "equal",
    "is_nonzero",
    "nonzero",
    "masked_select",
    "_unique2",
    "lift_fresh",
}
#: What checks indices on the host if algorithms are to be deterministic.
CHECKS_INDICES = {
    "index_put",
    "index_put_",
    "_index_put_impl_",
    "index_copy",
    "index_copy_",
    "put_",
    "scatter",
}


class Recorder(TorchDispatchMode):
    """Records what is launched; refuses what a CUDA graph could not hold."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, Any, Any, Any]] = []

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """PyTorch would import its compiler, which takes seconds."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if name in HOST | CHECKS_INDICES:
            raise RuntimeError(f"{name} cannot be captured")
        out = func(*args, **(kwargs or {}))
        self.calls.append((func, args, kwargs or {}, out))
        return out

    def replay(self) -> None:
        """Launch everything again; results go where they went."""
        with torch.no_grad():
            for func, args, kwargs, out in self.calls:
                again = func(*args, **kwargs)
                for old, new in zip(tree_leaves(out), tree_leaves(again), strict=True):
                    if isinstance(old, torch.Tensor) and old.data_ptr() != new.data_ptr():
                        old.copy_(new)

    @property
    def launches(self) -> list[tuple[str, list[tuple[int, ...]]]]:
        """Names, and shapes of the results, of all that is no mere view."""
        return [
            (str(func), [tuple(t.shape) for t in tree_leaves(out) if isinstance(t, torch.Tensor)])
            for func, _, _, out in self.calls
            if not func.is_view
            and not func.overloadpacket.__name__.startswith(("empty", "detach", "_unsafe"))
        ]


class Stream:
    """A stream that has always done what it was asked for."""

    def wait_stream(self, other: Stream) -> None:
        """Wait for nothing."""

    record = synchronize = lambda self: None


def pretend_gpu(patch: pytest.MonkeyPatch) -> list[Recorder]:
    """Let `Stacked` take the CPU for a GPU with graphs; returns a list to which each graph is added."""
    graphs: list[Recorder] = []

    @contextmanager
    def capture(graph: Recorder, pool: object, stream: object) -> Iterator[None]:
        """Record what happens, and let it not have happened."""
        (backend,) = backends
        state = [*backend._state, backend.position, backend.loss_sum]
        before = [tensor.clone() for tensor in state]
        try:
            with graph:
                yield
            graphs.append(graph)
        finally:
            for tensor, was in zip(state, before, strict=True):
                tensor.copy_(was)

    backends: list[stacked.Stacked] = []
    reserve = stacked.Stacked._reserve

    def reserve_and_tell(backend: stacked.Stacked, n_users: int, n_examples: int) -> None:
        backends[:] = [backend]
        reserve(backend, n_users, n_examples)

    patch.setattr(stacked.Stacked, "_reserve", reserve_and_tell)
    patch.setattr(stacked.Stacked, "on_gpu", True)
    patch.setattr(stacked, "_be_reproducible", lambda: None)
    patch.setattr(torch.Tensor, "pin_memory", lambda tensor: tensor)
    for name, value in {
        "Stream": Stream,
        "Event": Stream,
        "CUDAGraph": Recorder,
        "graph": capture,
        "graph_pool_handle": lambda: None,
        "current_stream": Stream,
        "stream": lambda _: nullcontext(),
        "synchronize": lambda: None,
    }.items():
        patch.setattr(torch.cuda, name, value)
    return graphs
