"""Which of two ways to compute a convolution of many users a device keeps.

They differ by rounding, so the faster one is measured once and written down: jobs on one machine, resumed,
repeated or with another selector, compute alike.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

from pausefl.errors import ConfigError
from pausefl.files import replacing
from pausefl.training.backends.layers import grouped, unfolded

#: Users of the convolutions that are timed, whatever the number that a job selects.
N_USERS = 16
_REPEATS = 10

#: The ways by name.
WAYS = {"grouped": grouped, "unfolded": unfolded}


def fastest(layer: nn.Conv2d, image: torch.Size, batch_size: int, device: torch.device) -> str:
    """Name of the way that the device keeps for a layer: measured at its first use, then read.

    Where it cannot be written down it is not measured, and is ``grouped``.

    Parameters
    ----------
    layer
        The convolution of one user.
    image
        (height, width) of its input.
    batch_size
        Examples of a mini-batch.
    device
        Where; products are computed in the precision of the context.
    """
    if layer.groups > 1 or isinstance(layer.padding, str):
        return "grouped"
    half = torch.is_autocast_enabled(device.type)
    of = f"{layer} of {'x'.join(map(str, image))}, batch {batch_size}, {'bfloat16' if half else 'float32'}"
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    key = f"{name}, torch {torch.__version__}: {of}"
    return recorded(key, lambda: timed(layer, image, batch_size, device))


def timed(layer: nn.Conv2d, image: torch.Size, batch_size: int, device: torch.device) -> dict[str, float]:
    """Seconds of each way, forward and backward, for `N_USERS`; the arguments are those of `fastest`."""
    x = torch.zeros(batch_size, N_USERS * layer.in_channels, *image, device=device, requires_grad=True)
    weight = layer.weight.detach().expand(N_USERS, *layer.weight.shape).clone().requires_grad_()
    best = dict.fromkeys(WAYS, math.inf)
    with torch.enable_grad():
        for _ in range(_REPEATS):
            for name, way in WAYS.items():
                start = _now(device)
                torch.autograd.grad(way(layer, x, N_USERS, weight).sum(), (x, weight))
                best[name] = min(best[name], _now(device) - start)
    return best


def _now(device: torch.device) -> float:
    """Seconds, once the device has done what it was asked for."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def recorded(key: str, measure: Callable[[], dict[str, float]]) -> str:
    """The fastest name under ``key`` in the record of this user; measured if it is not there."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "pausefl"
    path = folder / "convolutions.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "convolutions.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # until it is closed
            known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
            if key not in known:
                seconds = measure()
                known[key] = {"kept": min(seconds, key=seconds.__getitem__), "seconds": seconds}
                with replacing(path) as (staged,):
                    staged.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    except OSError:
        return "grouped"
    except ValueError as error:
        raise ConfigError(f"{path} is damaged ({error}): delete it, and it is measured again") from None
    return str(known[key]["kept"])
