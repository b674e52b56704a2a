"""Tiny Shakespeare: each speaker is a user, and the next character of its text is asked for."""

from __future__ import annotations

import hashlib
import string
import urllib.request
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pausefl.data.sources.base import FIXED, OFFICIAL, Array, Examples, read_bytes
from pausefl.data.sources.torchvision_download import NETWORK_TIMEOUT, Official
from pausefl.errors import DataError

#: The characters of the file; a token id, and a class, is a place in it.
ALPHABET = "\n !$&',-.3:;?" + string.ascii_uppercase + string.ascii_lowercase
#: Characters of a window (LEAF).
WINDOW = 80
#: Characters that a speaker must say to be a user.
LEAST = 1000
#: The last of this many parts of a speaker's text is for testing.
PARTS = 5
#: Characters from the start of a window to that of the next one, for training and for testing.
TRAIN_STRIDE, TEST_STRIDE = 5, 20

_SHA256 = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"
_URL = "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt"


class Shakespeare(Official):
    """The 141 speakers of tiny Shakespeare who say 1,000 characters or more.

    The file has 1,115,394 bytes of 65 different characters, in which 309 names speak; the file must have the
    known SHA-256. Names stay as they are spelt: ``Nurse`` and ``NURSE`` are two speakers. An example is a
    window of 80 characters, uint8 of shape (80,), and its class the character that follows, 0 to 64.

    A speaker's text is all its speeches in their order, a line break between two, so a window may reach over
    the end of a speech. The last fifth of the text is for testing, what is before it for training; no window
    reaches over this border, so none shows the other split. A window starts every 5 characters for training
    and every 20 for testing. These are 154,025 and 9,259 windows; a user has 148 to 6,003 for training, half
    of the users 647 or less. A window at each character, as in LEAF, would be 769,841 that hardly differ from
    their neighbours. Testing needs fewer: the standard error of an accuracy is about half a percent.
    """

    origin = "tiny Shakespeare, next character, a user for each speaker"
    files = ("shakespeare/input.txt",)
    dataset = "shakespeare"
    n_train, n_test = 154_025, 9_259
    images = False
    tokens = True
    n_symbols = len(ALPHABET)

    def check(self, files: list[Path]) -> None:
        """Raise `DataError` unless the file has the known SHA-256."""
        (path,) = files
        if (found := _sha256(read_bytes(path))) != _SHA256:
            raise DataError(
                f"{path}: corrupt, or not the usual file: SHA-256 {found}, expected {_SHA256}{OFFICIAL}"
            )

    def read(self, files: list[Path]) -> Examples:
        """See `Source.read`; ``train_users`` are the names of the speakers."""
        self.check(files)
        return examples_of(read_bytes(files[0]).decode("ascii"))

    def fetch(self, folder: Path) -> None:
        """See `Official.fetch`."""
        (url,), (path,) = self.addresses(), self.paths(folder)
        with urllib.request.urlopen(url, timeout=NETWORK_TIMEOUT) as answer:
            content = answer.read()
        if _sha256(content) != _SHA256:
            raise RuntimeError(f"{url} is not the usual file: its SHA-256 is not {_SHA256}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def addresses(self) -> list[str]:
        """See `Official.addresses`."""
        return [_URL]


def examples_of(text: str) -> Examples:
    """Windows of all speakers in ``text`` who say enough, those for training in a fixed random order.

    ``text`` has characters of `ALPHABET` alone. `DataError` if nobody says enough.
    """
    train, test, names = list[Windows](), list[Windows](), list[str]()
    for name, said in speakers(text).items():
        if len(said) >= LEAST:
            border = len(said) - len(said) // PARTS
            train.append(windows(said[:border], TRAIN_STRIDE))
            test.append(windows(said[border:], TEST_STRIDE))
            names.append(name)
    if not names:
        raise DataError(f"no speaker says {LEAST} characters or more")
    users = np.repeat(names, [len(own.y) for own in train])
    order = FIXED.generator("source/order").permutation(len(users))
    x, y = (np.concatenate(parts)[order] for parts in zip(*train, strict=True))
    test_x, test_y = (np.concatenate(parts) for parts in zip(*test, strict=True))
    n = len(ALPHABET)
    return Examples(x, y, test_x, test_y, n_classes=n, train_users=users[order], n_symbols=n)


def speakers(text: str) -> dict[str, str]:
    """What each speaker says, by name: its speeches that are not empty, a line break between two.

    A speech is a line ``NAME:`` and all lines up to a blank one.
    """
    speeches: dict[str, list[str]] = {}
    for block in text.split("\n\n"):
        name, _, speech = block.strip("\n").partition("\n")
        if name:
            speeches.setdefault(name.removesuffix(":"), []).append(speech)
    return {name: "\n".join(filter(None, own)) for name, own in speeches.items()}


class Windows(NamedTuple):
    """Token ids ``x``, uint8 (n, `WINDOW`), and the one after each window, ``y``, int64 (n,)."""

    x: Array
    y: Array


def windows(text: str, stride: int) -> Windows:
    """Windows of a text of more than `WINDOW` characters, one every ``stride`` characters."""
    place = {character: i for i, character in enumerate(ALPHABET)}
    ids = np.array([place[character] for character in text], np.uint8)
    cut = np.lib.stride_tricks.sliding_window_view(ids, WINDOW + 1)[::stride]
    return Windows(cut[:, :-1].copy(), cut[:, -1].astype(np.int64))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
