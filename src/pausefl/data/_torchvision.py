"""torchvision's data sets, importable beside a CPU-only torch.

The registry's torchvision is built for CUDA. Beside a CPU build of torch its C++ library does not load, the
operators that it would define are missing, and ``import torchvision`` fails with "operator torchvision::nms
does not exist", although data sets need none of them. Declaring the two schemas that torchvision's Python
side refers to is enough. They cannot be declared beforehand: where the library does load, it would find
its namespace taken.

Import this module where a data set has to be downloaded or unpickled, and nowhere else: jobs run on machines
without torchvision.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import torch

#: Kept for the life of the process: the schemas vanish with the object that declared them.
_LIBRARIES: list[torch.library.Library] = []


def _import_datasets() -> ModuleType:
    try:
        return importlib.import_module("torchvision.datasets")
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise
    _declare_operators()
    # The failed attempt leaves half of the package behind, which a second import would take for whole.
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        del sys.modules[name]
    return importlib.import_module("torchvision.datasets")


def _declare_operators() -> None:
    library = torch.library.Library("torchvision", "DEF")  # type: ignore[no-untyped-call]
    for operator in ("nms", "qnms"):
        schema = f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
        library.define(schema)  # type: ignore[no-untyped-call]
    _LIBRARIES.append(library)


datasets = _import_datasets()
