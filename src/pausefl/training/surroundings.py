"""Settings of the process that a job is computed with, whatever the caller's are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

#: What NumPy does of itself.
_NUMPY: dict[str, Any] = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


@contextmanager
def usual_settings(n_threads: int) -> Iterator[None]:
    """Compute with PyTorch's and NumPy's own settings inside the block, and with some threads.

    A caller may have another default type or device, fast products, automatic mixed precision, or no
    gradients; results must not depend on it. All settings are as they were afterwards, also after an error.
    What a GPU needs besides is set where it trains (`pausefl.training.backends.stacked`), and put back here.
    """
    import torch

    cudnn, mkldnn = torch.backends.cudnn, torch.backends.mkldnn
    with ExitStack() as stack:

        def put(get: Callable[[], Any], set_: Callable[[Any], object], value: Any) -> None:
            stack.callback(set_, before := get())
            if before != value:
                set_(value)

        def keep(owner: Any, name: str, value: Any) -> None:
            put(lambda: getattr(owner, name), lambda given: setattr(owner, name, given), value)

        stack.enter_context(np.errstate(**_NUMPY))
        put(torch.get_num_threads, torch.set_num_threads, n_threads)
        put(torch.get_default_dtype, torch.set_default_dtype, torch.float32)
        stack.enter_context(_full_precision())
        put(torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode, 0)
        put(_flushes_denormals, torch.set_flush_denormal, False)
        keep(torch.utils.deterministic, "fill_uninitialized_memory", True)
        keep(cudnn, "enabled", True)
        keep(cudnn, "benchmark", False)
        keep(cudnn, "deterministic", False)
        keep(mkldnn, "enabled", True)
        if torch.get_default_device().type != "cpu":
            stack.enter_context(torch.device("cpu"))
        if torch.is_inference_mode_enabled():
            stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.enable_grad())
        for device in ("cpu", "cuda"):
            if torch.is_autocast_enabled(device):
                stack.enter_context(torch.autocast(device, enabled=False))
        yield


@contextmanager
def _full_precision() -> Iterator[None]:
    """Products in float32 inside the block, but for convolutions on a GPU, where PyTorch's default is TF32.

    PyTorch has two interfaces, which know of each other and refuse to answer if both were used.
    """
    import torch

    whole: Any = torch.backends  # whose stubs lack much
    cuda, cudnn, mkldnn = whole.cuda.matmul, whole.cudnn, whole.mkldnn
    parts: list[tuple[Any, str]] = [(cuda, "ieee"), (cudnn.conv, "tf32"), (cudnn.rnn, "tf32")]
    parts += [(mkldnn.matmul, "ieee"), (mkldnn.conv, "ieee"), (mkldnn.rnn, "ieee")]
    of_all, whole.fp32_precision = whole.fp32_precision, "none"  # so that parts tell what is their own
    of_parts = [part.fp32_precision for part, _ in parts]
    try:
        of_products = torch.get_float32_matmul_precision()
    except RuntimeError:  # set by the other interface
        of_products = "highest"
    try:
        of_convolutions = cudnn.allow_tf32
    except RuntimeError:
        of_convolutions = True
    try:
        torch.set_float32_matmul_precision("highest")
        cudnn.allow_tf32 = True
        for part, value in parts:
            part.fp32_precision = value
        yield
    finally:
        torch.set_float32_matmul_precision(of_products)
        cudnn.allow_tf32 = of_convolutions
        for (part, _), value in zip(parts, of_parts, strict=True):
            part.fp32_precision = value
        whole.fp32_precision = of_all


def _flushes_denormals() -> bool:
    """Whether this thread takes the smallest numbers for 0."""
    import torch

    smallest = torch.full((1,), 1e-310, dtype=torch.float64, device="cpu")
    return not bool((smallest * 1.0).item())
