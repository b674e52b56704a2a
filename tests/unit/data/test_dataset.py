"""A prepared data set survives its file, and a damaged file is refused by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pausefl.data.dataset import Dataset, load_dataset, write_arrays
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


def test_saving_twice_gives_the_same_bytes(stored: Path) -> None:
    first = stored.read_bytes()
    small().save(stored)
    assert stored.read_bytes() == first


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = stored.read_bytes()

    def disk_full(file: object, **arrays: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", disk_full)
    with pytest.raises(OSError, match="disk full"):
        small().save(stored)
    assert [path.name for path in stored.parent.iterdir()] == [stored.name]
    assert stored.read_bytes() == before


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"absent\.npz: no such file"):
        load_dataset(tmp_path / "absent.npz")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(kept=st.floats(0, 0.999))
def test_truncated_file(stored: Path, kept: float) -> None:
    content = stored.read_bytes()
    path = stored.with_name("truncated.npz")
    path.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(DataError, match=r"truncated\.npz: truncated or corrupt .*; delete it and rerun"):
        load_dataset(path)


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
        with pytest.raises(DataError, match=r"flipped\.npz: .*; delete it and rerun"):
            load_dataset(path)
        return
    # It was a bit of the archive's book-keeping that nothing depends on.
    np.testing.assert_array_equal(loaded.train_x, small().train_x)
    np.testing.assert_array_equal(loaded.train_y, small().train_y)


@pytest.mark.parametrize("content", [b"", b"not an archive", b"\x93NUMPY\x01\x00v\x00"])
def test_not_an_archive(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.npz"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"other\.npz: truncated or corrupt"):
        load_dataset(path)


def test_an_array_file_and_an_archive_of_something_else(tmp_path: Path) -> None:
    with (tmp_path / "array.npz").open("wb") as file:
        np.save(file, np.arange(3))
    with pytest.raises(DataError, match=r"array\.npz: .*delete it and rerun"):
        load_dataset(tmp_path / "array.npz")
    np.savez(tmp_path / "foreign.npz", a=np.arange(3))
    with pytest.raises(DataError, match=r"foreign\.npz: holds nothing known, expected pausefl data set"):
        load_dataset(tmp_path / "foreign.npz")
    write_arrays(tmp_path / "partition.npz", "pausefl partition 1", a=np.arange(3))
    with pytest.raises(DataError, match="holds pausefl partition 1, expected pausefl data set"):
        load_dataset(tmp_path / "partition.npz")


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    np.savez(tmp_path / "pickle.npz", kind=np.array([{}], dtype=object))
    with pytest.raises(DataError, match=r"pickle\.npz: truncated or corrupt"):
        load_dataset(tmp_path / "pickle.npz")
