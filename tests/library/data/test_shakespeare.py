"""Tiny Shakespeare: who speaks, how windows are cut, and a file that is another one."""

from __future__ import annotations

import io
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from raw_data import raw, refusal, source

from pausefl.data.raw_data import check_available, download, prepare
from pausefl.data.sources import SOURCES, shakespeare
from pausefl.data.sources.shakespeare import ALPHABET, WINDOW, examples_of, speakers, windows
from pausefl.errors import DataError

TEXT = source("shakespeare")
PLAY = """\
First Citizen:
Before we proceed any further,
hear me speak.

All:
Speak, speak.

TITUS:

First Citizen:
You are all resolved: yes?


All:
Resolved.
"""


def words(ids: NDArray[Any]) -> str:
    return "".join(ALPHABET[i] for i in ids)


def play(**lengths: int) -> str:
    """A text in which speakers say so many characters, in which no window is twice."""
    said = "".join(f"{number_in_letters(i)} " for i in range(4000))
    return "\n\n".join(f"{name}:\n{said[:length]}" for name, length in lengths.items()) + "\n"


def number_in_letters(i: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in str(i))


# --- a text that is made up -------------------------------------------------------------------------


def test_speeches_of_a_speaker_are_put_together() -> None:
    assert speakers(PLAY) == {
        "First Citizen": "Before we proceed any further,\nhear me speak.\nYou are all resolved: yes?",
        "All": "Speak, speak.\nResolved.",
        "TITUS": "",
    }


@pytest.mark.parametrize("stride", [1, 3])
def test_a_window_is_followed_by_its_target(stride: int) -> None:
    text = play(A=101)[3:-1]
    x, y = windows(text, stride)
    assert [words(row) for row in x] == [text[i : i + WINDOW] for i in range(0, 101 - WINDOW, stride)]
    assert words(y) == text[WINDOW::stride]
    assert (x.dtype, y.dtype) == (np.uint8, np.int64)


def test_users_are_those_who_say_enough_and_the_last_fifth_is_for_testing() -> None:
    text = play(Long=2000, Short=999, Least=1000)
    data = examples_of(text)
    assert data.train_users is not None
    names, counts = np.unique(data.train_users, return_counts=True)
    assert dict(zip(names, counts, strict=True)) == {"Least": 144, "Long": 304}  # of (800 - 80) / 5, …
    assert len(data.test_y) == 6 + 16  # of (200 - 80) / 20, …
    assert data.n_classes == data.n_symbols == 65
    said = speakers(text)
    for x, y, user in zip(data.train_x, data.train_y, data.train_users, strict=True):
        at = said[user].index(words([*x, y]))
        assert at % 5 == 0
        assert at + WINDOW < len(said[user]) * 4 / 5
    tested = [said["Long"].rindex(words([*x, y])) for x, y in zip(data.test_x, data.test_y, strict=True)]
    assert tested[:16] == [*range(1600, 1920, 20)]


def test_examples_are_in_the_same_order_each_time_and_not_speaker_by_speaker() -> None:
    first, second = examples_of(text := play(A=1500, B=1500)), examples_of(text)
    np.testing.assert_array_equal(first.train_x, second.train_x)
    assert first.train_users is not None
    assert {*first.train_users[:50]} == {"A", "B"}


def test_a_text_without_a_long_speaker_is_refused() -> None:
    with pytest.raises(DataError, match="no speaker says 1000 characters or more"):
        examples_of(PLAY)


# --- another file, and the download -----------------------------------------------------------------


def test_another_file_is_refused_before_anything_runs(tmp_path: Path) -> None:
    path = tmp_path / "shakespeare/input.txt"
    path.parent.mkdir()
    path.write_text(PLAY, encoding="utf-8")
    for action in (check_available, prepare):
        text = refusal(action, TEXT, raw(tmp_path))
        assert f"{path}: corrupt, or not the usual file: SHA-256" in text
        assert "expected 86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed" in text


def test_the_download_is_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(urllib.request, "urlopen", lambda url, timeout: io.BytesIO(PLAY.encode()))
    text = refusal(download, "shakespeare", Path("raw"))
    assert "The download failed: https://raw.githubusercontent.com/" in text
    assert "is not the usual file" in text
    assert not (tmp_path / "raw/shakespeare").exists()
    monkeypatch.setattr(shakespeare, "_SHA256", shakespeare._sha256(PLAY.encode()))
    download("shakespeare", Path("raw"))
    assert (tmp_path / "raw/shakespeare/input.txt").read_text("utf-8") == PLAY


def test_the_address_is_of_https() -> None:
    assert all(url.startswith("https://") for url in shakespeare.Shakespeare().addresses())


# --- the real file ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(data_root: Path) -> Path:
    path = data_root / "shakespeare/input.txt"
    if not path.is_file():
        pytest.skip(f"no file {path}; a run with download: true gets it")
    return path


def test_the_numbers_that_are_documented_are_those_of_the_file(real: Path) -> None:
    text = real.read_text("ascii")
    said = speakers(text)
    assert len(text) == real.stat().st_size == 1_115_394
    assert "".join(sorted({*text})) == ALPHABET
    assert len(ALPHABET) == 65
    assert len(said) == 309
    assert sum(bool(one) for one in said.values()) == 299
    assert sum(len(one) >= 1000 for one in said.values()) == 141


def test_examples_of_the_file(real: Path) -> None:
    data = prepare(TEXT, raw(real.parents[1]))
    facts = SOURCES["shakespeare"]
    assert data.train_x.shape == (facts.n_train, 80) == (154_025, 80)
    assert data.test_x.shape == (facts.n_test, 80) == (9_259, 80)
    assert data.input_shape == (80, 65)
    assert data.n_classes == 65
    _, counts = np.unique(data.train_users, return_counts=True)
    assert len(counts) == 141
    assert (counts.min(), np.median(counts), counts.max()) == (148, 647, 6003)
