"""Files of other programs in place of a prepared data set are named for what they are."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from raw_data import write_idx

from pausefl.data.dataset import Dataset, load_dataset
from pausefl.data.partition import load_partition
from pausefl.errors import DataError

IMAGES, LABELS = np.zeros((3, 8, 8), np.uint8), np.zeros(3, np.int64)


def keras(path: Path) -> None:
    np.savez(path.open("wb"), x_train=IMAGES, y_train=LABELS, x_test=IMAGES, y_test=LABELS)


def archive(path: Path, *names: str) -> None:
    with zipfile.ZipFile(path, "w") as made:
        for name in names:
            made.writestr(name, "x")


def tar(path: Path) -> None:
    with tarfile.open(path, "w") as made:
        made.addfile(tarfile.TarInfo("a"), io.BytesIO())


def idx(path: Path) -> None:
    write_idx(path, (3, 28, 28))


MADE: dict[str, Callable[[Path], object]] = {
    "Keras's npz file, with the arrays x_train, y_train, x_test, y_test": keras,
    "another npz file, with the arrays x, y": lambda path: np.savez(path.open("wb"), x=IMAGES, y=LABELS),
    "another npz file, with the arrays objects": lambda path: np.savez(
        path.open("wb"), objects=np.array([{}], dtype=object)
    ),
    "another npz file, with the arrays a0, a1, a2, a3, a4, a5, a6, a7 and 2 more": lambda path: np.savez(
        path.open("wb"), **{f"a{i}": LABELS for i in range(10)}
    ),
    "a Parquet file": lambda path: pd.DataFrame({"x": [1]}).to_parquet(path),
    "an Arrow or Feather file": lambda path: pd.DataFrame({"x": [1]}).to_feather(path),
    "a single NumPy array (npy)": lambda path: np.save(path.open("wb"), IMAGES),
    "a file of PyTorch": lambda path: torch.save({"x": torch.zeros(2)}, path),
    "a pickle": lambda path: path.write_bytes(pickle.dumps({"x": IMAGES})),
    "an HDF5 file": lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(90)),
    "a MATLAB file": lambda path: path.write_bytes(b"MATLAB 5.0 MAT-file" + bytes(90)),
    "an IDX file, as of MNIST": idx,
    "an image (PNG)": lambda path: Image.new("L", (3, 3)).save(path, "PNG"),
    "an image (JPEG)": lambda path: Image.new("L", (3, 3)).save(path, "JPEG"),
    "compressed by gzip": lambda path: path.write_bytes(gzip.compress(b"x")),
    "a ZIP archive": lambda path: archive(path, "train/cat/0.png"),
    "a document of an office program": lambda path: archive(path, "[Content_Types].xml", "xl/a.xml"),
    "a model of Keras": lambda path: archive(path, "config.json", "model.weights.h5"),
    "a tar archive": tar,
    "an Arrow stream": lambda path: path.write_bytes(b"\xff" * 4 + bytes(90)),
    "a safetensors file": lambda path: path.write_bytes((20).to_bytes(8, "little") + b'{"x":{}}' + bytes(90)),
    "a ZIP archive with nothing in it": lambda path: np.savez(path.open("wb")),
    "empty": lambda path: path.write_bytes(b""),
    "of a kind that is not known here": lambda path: path.write_bytes(bytes(range(128, 255))),
    "JSON": lambda path: path.write_text(json.dumps({"x": [1]})),
    "a text": lambda path: path.write_text("pixel0,pixel1,größe\n" + "0,1,5\n" * 200, "utf-8"),
}


@pytest.mark.parametrize("what", MADE)
def test_a_file_of_another_program_is_named(tmp_path: Path, what: str) -> None:
    MADE[what](path := tmp_path / "data.npz")
    words = "data of one's own are read by a data source (docs/extending.md, A data source)"
    for read, kind in ((load_dataset, "data set"), (lambda path: load_partition(path, "x"), "partition")):
        with pytest.raises(DataError) as error:
            read(path)
        assert str(error.value) == f"{path} is {what}, and no {kind} of pausefl: {words}"


def test_one_of_pausefl_is_damaged_or_of_another_kind(digits: Dataset, tmp_path: Path) -> None:
    digits.save(path := tmp_path / "digits.npz")
    assert load_dataset(path).name == "digits"
    with pytest.raises(DataError, match="holds pausefl data set 1, expected pausefl partition 2"):
        load_partition(path, "x")
    whole = path.read_bytes()
    for damaged in (whole[:-100], whole[: len(whole) // 2], whole[:30]):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"digits\.npz: truncated or corrupt") as error:
            load_dataset(path)
        assert "pickle" not in str(error.value)


@pytest.mark.parametrize("content", [b"", b"\0\1" * 99])
def test_what_lies_where_the_workflow_writes_can_be_made_again(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "prepared").mkdir()
    for path, advice in ((tmp_path / "a.npz", False), (tmp_path / "prepared/a.npz", True)):
        path.write_bytes(content)
        with pytest.raises(DataError, match="and no data set of pausefl: data of one's own") as error:
            load_dataset(path)
        assert ("snakemake" in str(error.value)) is advice
