"""Data sets in the form of LEAF (https://leaf.cmu.edu): JSON files that say whose each example is."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pausefl.data.sources.base import FIXED, Array, Examples, Source, read_bytes
from pausefl.errors import DataError

_KEYS = ("users", "num_samples", "user_data")
#: Largest number that float32 has.
_LARGEST = float(np.finfo(np.float32).max)
#: More classes than this are a mistake, and no model could be built for them.
_MOST_CLASSES = 1_000_000


class UserData(NamedTuple):
    """What a file has of one user: examples ``x``, not checked yet, and the target ``y`` of each."""

    file: Path
    user: str
    x: list[Any]
    y: list[Any]

    def wrong(self, what: str) -> DataError:
        """An error of this user's data."""
        return DataError(f"{self.file}: user {self.user!r}: {what}")

    def refuse(self, key: str, fits: Callable[[Any], bool], what: str) -> None:
        """Raise `DataError` for the first of the values ``x`` or ``y`` that does not fit."""
        for i, value in enumerate(getattr(self, key)):
            if not fits(value):
                raise self.wrong(f"{key}[{i}] = {value!r:.40} is not {what}")


class Split(NamedTuple):
    """Examples ``x`` (n, length), targets ``y`` (n,), and whose each is, ``users`` (n,), as text."""

    x: Array
    y: Array
    users: Array


class LeafFolder(Source):
    """All ``.json`` files of the folders ``train`` and ``test``, as LEAF's ``preprocess.sh`` writes them.

    A file is ``{"users": [...], "num_samples": [...], "user_data": {USER: {"x": [...], "y": [...]}}}``; more
    keys do not matter. A user is in one file of a folder at most. Users without training examples do not take
    part. Examples for training are put in a fixed random order; those for testing keep theirs.
    """

    files = ("{folder}/train", "{folder}/test")
    images = False

    folder: str

    @abstractmethod
    def arrays(self, own: UserData) -> tuple[Array, Array]:
        """Examples (n, length) and targets (n,) of a user; `DataError` if they are not of this kind."""

    @abstractmethod
    def finish(self, train: Split, test: Split) -> Examples:
        """The examples of all users as `pausefl.data.dataset.Dataset` has them, in the same order."""

    def check(self, files: list[Path]) -> None:
        """Raise `DataError` if ``train`` or ``test`` is no folder, or has no JSON file."""
        for folder in files:
            _json_files(folder)

    def read(self, files: list[Path]) -> Examples:
        """See `Source.read`; ``train_users`` are LEAF's ids of users, as text."""
        train = self._read_split(files[0])
        test = self._read_split(files[1], length=train.x.shape[1])
        order = FIXED.generator("source/order").permutation(len(train.y))
        train = Split(*(values[order] for values in train))
        return self.finish(train, test)._replace(train_users=train.users)

    def _read_split(self, folder: Path, length: int = 0) -> Split:
        """All files of a folder; examples must have a ``length``, that of the first one if it is 0."""
        parts, found = list[tuple[Array, Array]](), dict[str, Path]()
        for own in (own for path in _json_files(folder) for own in _users_of(path)):
            if own.user in found:
                raise DataError(f"{own.file}: user {own.user!r} is in {found[own.user].name}, too")
            found[own.user] = own.file
            length = length or (_length(own.x[0]) if own.x else 0)
            own.refuse("x", partial(_may_have, length), f"of length {length}")
            parts.append(self.arrays(own))
        users = np.repeat([*found], [len(y) for _, y in parts])
        if not len(users):
            raise DataError(f"{folder}: no user in it has an example")
        x, y = zip(*((x, y) for x, y in parts if len(y)), strict=True)
        return Split(np.concatenate(x), np.concatenate(y), users)


@dataclass(frozen=True)
class Leaf(LeafFolder):
    """Examples are lists of numbers, all of one length, and targets are classes, such as FEMNIST's.

    Features are float32 (N, features), taken as they are; FEMNIST's 784 are pixels from 0 to 1.
    """

    origin = "LEAF's {folder}, features"
    about = "LEAF's JSON in `folder`: features, and a class"

    folder: str

    def arrays(self, own: UserData) -> tuple[Array, Array]:
        """Features, float32 (n, features), and classes, int64 (n,)."""
        own.refuse("x", lambda one: isinstance(one, list) and len(one) > 0, "a list of numbers")
        own.refuse("y", _is_class, f"a class, a whole number from 0 to {_MOST_CLASSES - 1}")
        return _table(own), np.array(own.y, np.int64)

    def finish(self, train: Split, test: Split) -> Examples:
        """See `LeafFolder.finish`; classes are as many as the largest number says."""
        n_classes = 1 + int(max(train.y.max(), test.y.max()))
        return Examples(train.x, train.y, test.x, test.y, n_classes)


@dataclass(frozen=True)
class LeafText(LeafFolder):
    """Examples are texts, all of one length, and targets the next character, as in LEAF's Shakespeare.

    Token ids are int32 (N, length). They and the classes are places among all characters of the files, which
    are sorted by their code points.
    """

    origin = "LEAF's {folder}, the next character of a text"
    about = "LEAF's JSON in `folder`: texts, and the next character"
    tokens = True

    folder: str

    def arrays(self, own: UserData) -> tuple[Array, Array]:
        """Code points of texts, int32 (n, length), and of the character after each, int32 (n,)."""
        own.refuse("x", lambda one: isinstance(one, str) and len(one) > 0, "a text")
        own.refuse("y", lambda one: isinstance(one, str) and len(one) == 1, "one character")
        return _codes(own.x), _codes(own.y).reshape(-1)

    def finish(self, train: Split, test: Split) -> Examples:
        """See `LeafFolder.finish`."""
        codes = (train.x, train.y, test.x, test.y)
        alphabet = np.unique(np.concatenate([np.unique(part) for part in codes]))
        x, y, test_x, test_y = (np.searchsorted(alphabet, part) for part in codes)
        n = len(alphabet)
        return Examples(x.astype(np.int32), y, test_x.astype(np.int32), test_y, n_classes=n, n_symbols=n)


def _json_files(folder: Path) -> list[Path]:
    """The JSON files of a folder by name; `DataError` if there are none."""
    if not folder.is_dir():
        raise DataError(f"{folder}: not a folder")
    if not (found := sorted(path for path in folder.glob("*.json") if not path.name.startswith("."))):
        raise DataError(f"{folder}: no .json file in it, such as LEAF's preprocess.sh writes")
    return found


def _users_of(path: Path) -> Iterator[UserData]:
    """Users of one file; `DataError` unless it is in LEAF's form, and its counts are right."""
    users, counts, data = _content(path)
    names = [str(user) for user in users]
    if len(names) != len(counts) or len(names) != len({*names}):
        raise DataError(f"{path}: 'users' must be different ones, each with a number in 'num_samples'")
    if other := {*names} ^ data.keys():
        raise DataError(f"{path}: user {min(other)!r} is in only one of 'users' and 'user_data'")
    for user, n in zip(names, counts, strict=True):
        own = data[user] if isinstance(data[user], dict) else {}
        x, y = own.get("x"), own.get("y")
        if not (isinstance(x, list) and isinstance(y, list) and len(x) == len(y) == n):
            raise DataError(f"{path}: user {user!r} needs lists x and y of num_samples = {n!r:.40} values")
        yield UserData(path, user, x, y)


def _content(path: Path) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """What a file has below LEAF's three keys; `DataError` if it is no such file."""
    try:
        content = json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: truncated, or not JSON ({error})") from None
    values = content if isinstance(content, dict) else {}
    if lacking := [key for key in _KEYS if key not in values]:
        raise DataError(f"{path}: not in LEAF's form: it lacks {', '.join(map(repr, lacking))}")
    users, counts, data = (values[key] for key in _KEYS)
    if not (isinstance(users, list) and isinstance(counts, list) and isinstance(data, dict)):
        raise DataError(f"{path}: 'users' and 'num_samples' must be lists, and 'user_data' a mapping")
    return users, counts, data


def _table(own: UserData) -> Array:
    """float32 (n, features) of lists of one length; `DataError` for what is not a finite number."""
    try:
        table = np.array(own.x)
    except ValueError:  # lists in some of the lists
        table = np.empty(0)
    if table.ndim != 2 or table.dtype.kind not in "iuf" or not (np.abs(table) <= _LARGEST).all():
        for i, features in enumerate(own.x):
            if bad := [one for one in features if not _is_number(one)]:
                raise own.wrong(f"x[{i}] has {bad[0]!r:.40}, which is not a finite number")
    return np.array(own.x, np.float32)


def _codes(texts: Sequence[str]) -> Array:
    """Code points of texts of one length, int32 (n, length)."""
    return np.array([[ord(character) for character in text] for text in texts], np.int32)


def _length(value: object) -> int:
    """Length of a first example, at least 1."""
    return max(1, len(value)) if isinstance(value, list | str) else 1


def _may_have(length: int, value: object) -> bool:
    """Whether an example has a length, or is nothing that has one."""
    return not isinstance(value, list | str) or len(value) == length


def _is_number(value: object) -> bool:
    """Whether it is a number that float32 has, and neither true nor false."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def _is_class(value: object) -> bool:
    return isinstance(value, int | float) and _is_number(value) and value in range(_MOST_CLASSES)
