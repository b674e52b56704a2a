"""A prepared data set survives its file, and a damaged file is refused by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pausefl.data.dataset import Dataset, load_dataset
from pausefl.errors import DataError


def small() -> Dataset:
    rng = np.random.default_rng(0)
    return Dataset(
        name="digits",
        train_x=rng.integers(0, 256, (20, 1, 8, 8)).astype(np.uint8),
        train_y=rng.integers(0, 10, 20),
        test_x=rng.integers(0, 256, (5, 1, 8, 8)).astype(np.uint8),
        test_y=rng.integers(0, 10, 5),
        n_classes=10,
        origin="made for a test, with a § in its name",
    )


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "small.npz"
    small().save(path)
    return path


def test_round_trip(stored: Path) -> None:
    saved, loaded = small(), load_dataset(stored)
    for name in ("train_x", "train_y", "test_x", "test_y"):
        before, after = getattr(saved, name), getattr(loaded, name)
        assert before.dtype == after.dtype
        np.testing.assert_array_equal(before, after)
    assert (loaded.name, loaded.n_classes, loaded.origin) == (saved.name, saved.n_classes, saved.origin)
    first = stored.read_bytes()
    small().save(stored)
    assert stored.read_bytes() == first


def test_users_of_the_source_survive_the_file_and_must_be_one_for_each_example(tmp_path: Path) -> None:
    named = replace(small(), train_users=np.array(["ann", "bob"] * 10))
    named.save(tmp_path / "named.npz")
    users = load_dataset(tmp_path / "named.npz").train_users
    assert users.tolist() == ["ann", "bob"] * 10
    replace(small(), train_users=np.arange(3)).save(tmp_path / "few.npz")
    with pytest.raises(DataError, match="train_users is not one number or text for each"):
        load_dataset(tmp_path / "few.npz")


@pytest.mark.parametrize("kind", ["uint8", "int32", "int64"])
def test_token_ids_survive_the_file(tmp_path: Path, kind: str) -> None:
    ids = np.arange(20, dtype=kind).reshape(10, 2)
    text = replace(small(), train_x=ids, train_y=np.zeros(10, np.int64), test_x=ids[:5], n_symbols=20)
    text.save(tmp_path / "text.npz")
    loaded = load_dataset(tmp_path / "text.npz")
    assert loaded.train_x.dtype == kind
    np.testing.assert_array_equal(loaded.train_x, ids)
    assert (loaded.n_symbols, loaded.input_shape) == (20, (2, 20))
    assert (small().n_symbols, small().input_shape) == (0, (1, 8, 8))


@pytest.mark.parametrize(
    ("train_x", "n_symbols", "message"),
    [
        (np.full((20, 3), 7, np.uint8), 7, r"train_x has token ids 7 \.\. 7, allowed are 0 \.\. 6"),
        (np.full((20, 3), -1), 7, r"train_x has token ids -1 \.\. -1, allowed are 0 \.\. 6"),
        (np.zeros((20, 3), np.uint8), 0, "n_symbols is 0, and train_x is uint8: token ids need it"),
        (np.zeros((20, 3), np.float32), 7, "n_symbols is 7, and train_x is float32"),
        (np.zeros((20, 3), np.int16), 7, "token ids uint8 or int32 or int64 of shape"),
        (np.zeros((20, 3), np.uint8), -1, "n_symbols is no count"),
    ],
)
def test_token_ids_are_within_the_symbols_that_a_source_has(
    tmp_path: Path, train_x: np.ndarray, n_symbols: int, message: str
) -> None:
    replace(small(), train_x=train_x, test_x=train_x[:5], n_symbols=n_symbols).save(tmp_path / "text.npz")
    with pytest.raises(DataError, match=message):
        load_dataset(tmp_path / "text.npz")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = stored.read_bytes()

    def disk_full(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", disk_full)
    with pytest.raises(OSError, match="disk full"):
        small().save(stored)
    assert [path.name for path in stored.parent.iterdir()] == [stored.name]
    assert stored.read_bytes() == before


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300)
@given(where=st.floats(0, 0.9999), bit=st.integers(0, 7))
def test_a_flipped_bit_never_changes_the_data(stored: Path, where: float, bit: int) -> None:
    content = bytearray(stored.read_bytes())
    content[int(where * len(content))] ^= 1 << bit
    path = stored.with_name("flipped.npz")
    path.write_bytes(content)
    try:
        loaded = load_dataset(path)
    except DataError:
        with pytest.raises(DataError, match=r"flipped\.npz: .*; .* snakemake --cores 1 --force"):
            load_dataset(path)
        return
    # It was a bit of the archive's book-keeping that nothing depends on.
    np.testing.assert_array_equal(loaded.train_x, small().train_x)
    np.testing.assert_array_equal(loaded.train_y, small().train_y)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"train_y": np.full(20, -1)}, "labels -1 .. -1, allowed are 0 .. 9"),
        ({"train_y": np.zeros(19, np.int64)}, "not one target for each example"),
        ({"test_x": np.zeros((5, 1, 9, 9), np.uint8)}, "test examples"),
    ],
)
def test_examples_that_cannot_be_are_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    replace(small(), **changes).save(tmp_path / "wrong.npz")
    with pytest.raises(DataError, match=r"wrong\.npz: not a data set") as refused:
        load_dataset(tmp_path / "wrong.npz")
    assert words in str(refused.value)
