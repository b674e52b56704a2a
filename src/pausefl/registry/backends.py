"""Every training backend: which jobs it takes, the fastest first.

All backends give a user the same examples in the same order, the same optimiser and the same dropout masks,
so their updates differ by rounding only.
"""

from __future__ import annotations

from dataclasses import dataclass

from pausefl.errors import PauseflError
from pausefl.registry.base import Record, Registry


@dataclass(frozen=True)
class BackendRecord(Record):
    """A backend's class and the jobs that it takes."""

    #: Types of device that it runs on.
    devices: tuple[str, ...]
    #: Families of models (`pausefl.registry.models`) that it trains.
    families: tuple[str, ...] = ("dense", "convolutional")
    #: Whether it trains on numbers as well as on classes.
    regression: bool = True

    def takes(self, device: str, family: str, regression: bool) -> bool:
        """Whether it trains such jobs."""
        return device in self.devices and family in self.families and (self.regression or not regression)


#: In order of preference.
BACKENDS: Registry[BackendRecord] = Registry(
    "training backend",
    {
        "kernels": BackendRecord(
            "pausefl.training.backends.dense:Dense",
            devices=("cpu",),
            families=("dense",),
            regression=False,
        ),
        "one_by_one": BackendRecord("pausefl.training.backends.one_by_one:OneByOne", devices=("cpu",)),
        "stacked": BackendRecord("pausefl.training.backends.stacked:Stacked", devices=("cuda", "cpu")),
    },
)


def fastest_backend(device: str, family: str, regression: bool) -> str:
    """Name of the backend for a job; `PauseflError` if there is none."""
    for name, record in BACKENDS.items():
        if record.takes(device, family, regression):
            return name
    raise PauseflError(f"no training backend for {family} models on device '{device}'")
