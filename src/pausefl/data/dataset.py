"""A prepared data set, in memory and as one file."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pausefl.data.foreign import what_it_is
from pausefl.errors import DataError
from pausefl.files import check_readable, remedy

_KIND = "pausefl data set 1"
#: Folders that the workflow writes such files to.
_OURS = frozenset({"prepared", "partitions"})
_TEXTS = ("name", "origin")
_USERS, _SYMBOLS = "train_users", "n_symbols"
#: Types of token ids; a step of training widens those of its mini-batch.
_TOKENS = ("uint8", "int32", "int64")


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
        Token ids: uint8, int32 or int64, shape (N, length), values 0 to ``n_symbols`` - 1.
    train_y, test_y
        Classes: int64, shape (N,), values 0 to ``n_classes`` - 1. Regression: float32, shape (N,).
    n_classes
        Number of classes; 0 for regression.
    origin
        What exactly it was made from; shown with every result made from it.
    train_users
        Whose each training example is, if the source says so: integers or text, shape (N,).
    n_symbols
        Number of symbols that token ids stand for; 0 if the examples are no token ids.
    """

    name: str
    train_x: npt.NDArray[Any]
    train_y: npt.NDArray[Any]
    test_x: npt.NDArray[Any]
    test_y: npt.NDArray[Any]
    n_classes: int
    origin: str
    train_users: npt.NDArray[Any] | None = None
    n_symbols: int = 0

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of an example: of images (channels, height, width), of features (features,).

        Of token ids (length, n_symbols): that of their indicators, of which the ids are a short form.
        """
        shape = self.train_x.shape[1:]
        return (*shape, self.n_symbols) if self.n_symbols else shape

    def save(self, path: Path) -> None:
        """Write to ``path`` (npz, uncompressed), atomically."""
        more = {} if self.train_users is None else {_USERS: self.train_users}
        if self.n_symbols:
            more[_SYMBOLS] = np.array(self.n_symbols)
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
            **more,
        )


def load_dataset(path: Path) -> Dataset:
    """Read what `Dataset.save` wrote.

    Raises
    ------
    DataError
        If the file is missing, truncated, corrupt or of another kind, or if its examples are impossible.
    """
    arrays = read_arrays(path, _KIND, (field.name for field in fields(Dataset)), may_lack=(_USERS, _SYMBOLS))
    check_examples(str(path), arrays)
    return Dataset(
        name=str(arrays["name"]),
        train_x=arrays["train_x"],
        train_y=arrays["train_y"],
        test_x=arrays["test_x"],
        test_y=arrays["test_y"],
        n_classes=int(arrays["n_classes"]),
        origin=str(arrays["origin"]),
        train_users=arrays.get(_USERS),
        n_symbols=int(arrays.get(_SYMBOLS, 0)),
    )


def check_examples(where: str, arrays: Mapping[str, Any]) -> None:
    """Raise `DataError` unless arrays are what `Dataset` says of them.

    Parameters
    ----------
    where
        What holds the arrays, for the message.
    arrays
        Values of `Dataset`'s attributes by name.
    """

    def refuse(problem: str) -> None:
        raise DataError(f"{where}: not a data set: {problem}")

    n_classes, n_symbols = np.asarray(arrays["n_classes"]), np.asarray(arrays.get(_SYMBOLS, 0))
    for name, count in (("n_classes", n_classes), (_SYMBOLS, n_symbols)):
        if count.ndim or count.dtype.kind not in "iu" or count < 0:
            refuse(f"{name} is no count")
    if any(np.asarray(arrays[name]).ndim or np.asarray(arrays[name]).dtype.kind != "U" for name in _TEXTS):
        refuse("name or origin is no text")
    for split in ("train", "test"):
        x, y = arrays[f"{split}_x"], arrays[f"{split}_y"]
        images = x.ndim == 4 and x.dtype == np.uint8
        tokens = x.ndim == 2 and x.dtype in _TOKENS
        if not (images or tokens) and not (x.ndim == 2 and x.dtype == np.float32):
            refuse(
                f"{split}_x is {x.dtype} of shape {x.shape}: images are uint8 of shape (n, channels, height,"
                f" width), features float32 of shape (n, p), token ids {' or '.join(_TOKENS)} of shape (n,"
                " length)"
            )
        if tokens != (n_symbols > 0):
            refuse(f"n_symbols is {n_symbols}, and {split}_x is {x.dtype}: token ids need it, and only they")
        if y.shape != x.shape[:1] or not x.size:
            refuse(f"{split}_x has shape {x.shape} and {split}_y {y.shape}: not one target for each example")
        if y.dtype != (wanted := np.dtype(np.int64 if n_classes else np.float32)):
            refuse(f"{split}_y is {y.dtype}, and with {n_classes} classes it must be {wanted}")
        if n_classes and not 0 <= y.min() <= y.max() < n_classes:
            refuse(f"{split}_y has labels {y.min()} .. {y.max()}, allowed are 0 .. {n_classes - 1}")
        if tokens and not 0 <= x.min() <= x.max() < n_symbols:
            refuse(f"{split}_x has token ids {x.min()} .. {x.max()}, allowed are 0 .. {n_symbols - 1}")
        if not (images or np.isfinite(x).all()) or not np.isfinite(y).all():
            refuse(f"{split}_x or {split}_y has values that are not finite")
    if (users := arrays.get(_USERS)) is not None and (
        np.shape(users) != arrays["train_y"].shape or np.asarray(users).dtype.kind not in "iuU"
    ):
        refuse("train_users is not one number or text for each training example")
    train, test = arrays["train_x"], arrays["test_x"]
    if (train.dtype, train.shape[1:]) != (test.dtype, test.shape[1:]):
        refuse(f"training examples have shape {train.shape[1:]}, test examples {test.shape[1:]}")


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


def read_arrays(
    path: Path, kind: str, names: Iterable[str], may_lack: Collection[str] = ()
) -> dict[str, npt.NDArray[Any]]:
    """Read the named arrays of a file that `write_arrays` wrote; some it ``may_lack``.

    Raises
    ------
    DataError
        If the file is missing, truncated, corrupt or of another kind; one of another program is named for
        what it is.
    """
    check_readable(path, DataError)
    names = tuple(names)
    if foreign := what_it_is(path, "kind", names):
        what = kind.removeprefix("pausefl ").rstrip("0123456789 ")
        raise DataError(
            f"{path} is {foreign}, and no {what} of pausefl: data of one's own are read by a data source"
            f" (docs/extending.md, A data source){remedy(path) if _OURS & {*path.parts} else ''}"
        )
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    # numpy and zipfile raise a dozen kinds of errors for a damaged file.
    except Exception as error:
        raise DataError(f"{path}: truncated or corrupt ({error}){remedy(path)}") from None
    found = str(arrays.get("kind", "nothing known"))
    if found != kind:
        raise DataError(f"{path}: holds {found}, expected {kind}{remedy(path)}")
    try:
        return {name: arrays[name] for name in names if name in arrays or name not in may_lack}
    except KeyError as error:
        raise DataError(f"{path}: truncated or corrupt (no array {error}){remedy(path)}") from None
