"""A run in a process whose PyTorch and NumPy are set otherwise: the same digits, and the settings stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import pausefl
from pausefl.settings import Scenario
from pausefl.training.surroundings import usual_settings

backends: Any = torch.backends


def settings() -> dict[str, Any]:
    """What a caller can set, and what it is."""
    values: dict[str, Any] = {
        "dtype": torch.get_default_dtype(),
        "device": torch.get_default_device(),
        "threads": torch.get_num_threads(),
        "grad": torch.is_grad_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "autocast": torch.is_autocast_enabled("cpu"),
        "deterministic": torch.get_deterministic_debug_mode(),
        "fill": torch.utils.deterministic.fill_uninitialized_memory,  # type: ignore[attr-defined]
        "denormal": float((torch.full((1,), 1e-310, dtype=torch.float64, device="cpu") * 1).item()),
        "numpy": np.geterr(),
        "random": torch.get_rng_state().tolist(),
        "numpy random": np.random.get_state()[1].tolist(),  # type: ignore[index] # noqa: NPY002
        "mkldnn": backends.mkldnn.enabled,
    }
    for name in ("enabled", "benchmark", "deterministic", "allow_tf32"):
        values[f"cudnn {name}"] = getattr(backends.cudnn, name)
    for part in (
        backends,
        backends.cuda.matmul,
        backends.cudnn.conv,
        backends.mkldnn.matmul,
        backends.mkldnn.conv,
    ):
        values[f"precision {part!r:.60} {len(values)}"] = part.fp32_precision
    return values


@contextmanager
def put(set_: Callable[[Any], object], value: Any, before: Any) -> Iterator[None]:
    set_(value)
    try:
        yield
    finally:
        set_(before)


def precision(part: Any, value: str) -> Callable[[], AbstractContextManager[None]]:
    return lambda: put(lambda given: setattr(part, "fp32_precision", given), value, "none")


OTHERWISE: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "float64": lambda: put(torch.set_default_dtype, torch.float64, torch.float32),
    "bfloat16": lambda: put(torch.set_default_dtype, torch.bfloat16, torch.float32),
    "meta": lambda: put(torch.set_default_device, "meta", None),
    "a device as a context": lambda: torch.device("meta"),
    "four threads": lambda: put(torch.set_num_threads, 4, torch.get_num_threads()),
    "no gradients": torch.no_grad,
    "inference": torch.inference_mode,
    "mixed precision": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "deterministic": lambda: put(torch.use_deterministic_algorithms, True, False),
    "products in bfloat16": lambda: put(torch.set_float32_matmul_precision, "medium", "highest"),
    "products in TF32 by the new interface": precision(backends, "tf32"),
    "oneDNN's products in bfloat16": precision(backends.mkldnn.matmul, "bf16"),
    "oneDNN's convolutions in bfloat16": precision(backends.mkldnn.conv, "bf16"),
    "no oneDNN": lambda: backends.mkldnn.flags(enabled=False),
    "no denormals": lambda: put(torch.set_flush_denormal, True, False),
    "NumPy raises": lambda: np.errstate(all="raise"),
    "a random seed": lambda: put(torch.manual_seed, 7, 8),
}


class Tiny(pausefl.Model):
    """A convolution and a dense layer."""

    @staticmethod
    def build(input_shape: tuple[int, ...], n_outputs: int, norm: str) -> torch.nn.Module:
        layers = (
            torch.nn.Conv2d(1, 4, 3),
            torch.nn.ReLU(),
            torch.nn.Flatten(),
            torch.nn.Linear(144, n_outputs),
        )
        return torch.nn.Sequential(*layers)


def run(scenario: Scenario, **more: Any) -> pd.DataFrame:
    return pausefl.run(scenario, "pause", 1, n_rounds=4, progress=False, device="cpu", **more).rounds


@pytest.fixture(scope="module", params=["fc", f"{__name__}:Tiny"])
def expected(request: pytest.FixtureRequest, demo: Scenario) -> tuple[Scenario, pd.DataFrame]:
    """Of the model of compiled kernels, and of one that PyTorch trains."""
    scenario = pausefl.change(demo, {"model.name": request.param, "model.norm": "none"})
    return scenario, run(scenario)


@pytest.mark.parametrize("name", OTHERWISE)
def test_the_digits_are_the_same_and_the_settings_as_before(
    expected: tuple[Scenario, pd.DataFrame], name: str
) -> None:
    scenario, rounds = expected
    with OTHERWISE[name]():
        before = settings()
        found = run(scenario)
        assert settings() == before
    pd.testing.assert_frame_equal(found, rounds, check_exact=True)


@pytest.mark.parametrize("name", OTHERWISE)
def test_also_after_an_error(demo: Scenario, name: str) -> None:
    class Fails(pausefl.Selector):
        def __call__(self, history: pausefl.History, rng: np.random.Generator) -> Any:
            assert torch.get_default_dtype() == torch.float32
            assert torch.empty(1).device.type == "cpu"
            raise ZeroDivisionError

    with OTHERWISE[name]():
        before = settings()
        with pytest.raises(ZeroDivisionError):
            pausefl.run(demo, Fails, 0, n_rounds=2, progress=False, device="cpu")
        assert settings() == before


def test_what_is_set_inside_is_undone() -> None:
    """As by the part that makes a GPU reproducible."""
    with nullcontext(settings()) as before, usual_settings(2):
        assert torch.get_num_threads() == 2
        torch.set_deterministic_debug_mode("warn")
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
        backends.cudnn.deterministic, backends.cudnn.benchmark = True, True
        backends.cudnn.allow_tf32 = backends.cuda.matmul.allow_tf32 = False
        with usual_settings(1):
            assert torch.get_num_threads() == 1
    assert settings() == before


@pytest.mark.cuda
def test_a_gpu_keeps_its_random_stream_and_settings(demo: Scenario) -> None:
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    scenario = pausefl.change(demo, {"training.n_epochs": 1})
    usual = pausefl.run(scenario, "pause", 1, n_rounds=2, progress=False, device="cuda").rounds
    torch.cuda.manual_seed_all(5)
    torch.set_default_device("cuda")
    try:
        before, stream = settings(), torch.cuda.get_rng_state().tolist()
        found = pausefl.run(scenario, "pause", 1, n_rounds=2, progress=False, device="cuda").rounds
        assert (settings(), torch.cuda.get_rng_state().tolist()) == (before, stream)
    finally:
        torch.set_default_device(None)
    pd.testing.assert_frame_equal(found, usual, check_exact=True)
