"""A prepared data set, in memory and as one file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pausefl.errors import DataError

_KIND = "pausefl data set 1"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Training and test examples of one source, in a fixed order.

    Attributes
    ----------
    name
        The source, e.g. ``"mnist"``.
    train_x, test_x
        Images: uint8, shape (N, channels, height, width), values 0 to 255.
        Features: float32, shape (N, features).
    train_y, test_y
        Classes: int64, shape (N,), values 0 to ``n_classes`` - 1. Regression: float32, shape (N,).
    n_classes
        Number of classes; 0 for regression.
    origin
        What exactly it was made from; shown with every result made from it.
    """

    name: str
    train_x: npt.NDArray[Any]
    train_y: npt.NDArray[Any]
    test_x: npt.NDArray[Any]
    test_y: npt.NDArray[Any]
    n_classes: int
    origin: str

    def save(self, path: Path) -> None:
        """Write to ``path`` (npz, uncompressed), atomically."""
        write_arrays(
            path,
            _KIND,
            name=np.array(self.name),
            train_x=self.train_x,
            train_y=self.train_y,
            test_x=self.test_x,
            test_y=self.test_y,
            n_classes=np.array(self.n_classes),
            origin=np.array(self.origin),
        )


def load_dataset(path: Path) -> Dataset:
    """Read what `Dataset.save` wrote.

    Raises
    ------
    DataError
        If the file is missing, truncated, corrupt or of another kind.
    """
    arrays = read_arrays(path, _KIND, (field.name for field in fields(Dataset)))
    return Dataset(
        name=str(arrays["name"]),
        train_x=arrays["train_x"],
        train_y=arrays["train_y"],
        test_x=arrays["test_x"],
        test_y=arrays["test_y"],
        n_classes=int(arrays["n_classes"]),
        origin=str(arrays["origin"]),
    )


def write_arrays(path: Path, kind: str, **arrays: npt.NDArray[Any]) -> None:
    """Write arrays to one npz file under their names, atomically.

    Parameters
    ----------
    path
        The file; its folder is created if needed.
    kind
        What the file holds; `read_arrays` refuses a file of another kind.
    **arrays
        Arrays without Python objects, by name.
    """
    content: dict[str, Any] = {"kind": np.array(kind), **arrays}
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            np.savez(file, **content)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read_arrays(path: Path, kind: str, names: Iterable[str]) -> dict[str, npt.NDArray[Any]]:
    """Read the named arrays of a file that `write_arrays` wrote.

    Raises
    ------
    DataError
        If the file is missing, truncated, corrupt or of another kind.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; rerun the workflow to make it") from None
    except PermissionError:
        raise DataError(f"{path}: no permission to read it") from None
    # numpy and zipfile raise a dozen kinds of errors for a damaged file.
    except Exception as error:
        raise DataError(f"{path}: truncated or corrupt ({error}); delete it and rerun") from None
    found = str(arrays.get("kind", "nothing known"))
    if found != kind:
        raise DataError(f"{path}: holds {found}, expected {kind}; delete it and rerun")
    try:
        return {name: arrays[name] for name in names}
    except KeyError as error:
        raise DataError(f"{path}: truncated or corrupt (no array {error}); delete it and rerun") from None
