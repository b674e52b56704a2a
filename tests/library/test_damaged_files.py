"""Each file that users meet, damaged in each way: an error names the file, and none is read as another."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from raw_data import IDX_FILES, raw, source, write_idx, write_images

from pausefl.data.dataset import load_dataset
from pausefl.data.partition import Partition, load_partition
from pausefl.data.raw_data import prepare
from pausefl.errors import PauseflError
from pausefl.runs.collected import FILES, read_run, write
from pausefl.runs.run import RUN_FILES
from pausefl.settings import Scenario

DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "cut in the middle": lambda path: os.truncate(path, path.stat().st_size // 2),
    "without its last bytes": lambda path: os.truncate(path, path.stat().st_size - 2),
    "flipped": lambda path: path.write_bytes(bytes(255 - byte for byte in path.read_bytes()[:10_000])),
    "text": lambda path: path.write_text("hello\n"),
    "folder": lambda path: (path.unlink(), path.mkdir()),
    "pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "device": lambda path: (path.unlink(), path.symlink_to("/dev/zero")),
}


@pytest.fixture(scope="session")
def finished(
    demo: Scenario,
    prepared: Path,
    share_out: Callable[[Scenario, int], Partition],
    finish: Callable[..., Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """A folder with a prepared data set, a partition, and two finished runs, alone and collected."""
    folder = tmp_path_factory.mktemp("finished")
    shutil.copy(prepared, folder)
    share_out(demo, 0).save(folder / "partition.npz", "digits/iid/seed-0")
    write((read_run(finish(folder / name, name)) for name in ("pause", "random")), folder / "demo_small")
    return folder


def idx(folder: Path) -> Path:
    for name, dims in IDX_FILES.items():
        write_idx(folder / "FashionMNIST/raw" / name, dims)
    return folder / "FashionMNIST/raw/t10k-labels-idx1-ubyte"


def cifar10(folder: Path) -> Path:
    place = folder / "cifar-10-batches-py"
    place.mkdir()
    for name in (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch", "batches.meta"):
        (place / name).write_bytes(pickle.dumps({"data": np.zeros((2, 3072), np.uint8), "labels": [0, 1]}))
    return place / "data_batch_1"


def image(folder: Path) -> Path:
    for split, n in (("train", 4), ("test", 2)):
        for label in ("cat", "dog"):
            write_images(folder / "pets" / split / label, n)
    return folder / "pets/train/cat/000.png"


def shakespeare(folder: Path) -> Path:
    path = folder / "shakespeare/input.txt"
    path.parent.mkdir()
    path.write_text("First Citizen:\nSpeak, speak.\n", encoding="utf-8")
    return path


def leaf(folder: Path) -> Path:
    for split in ("train", "test"):
        data = {"users": ["a"], "num_samples": [1], "user_data": {"a": {"x": [[0.5, 1]], "y": [0]}}}
        path = folder / "letters" / split / "all.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(data), encoding="utf-8")
    return path


def read_source(name: str, **keys: str) -> Callable[[Path], object]:
    return lambda folder: prepare(source(name, **keys), raw(folder))


#: How a good file is made in an empty folder, and what reads it.
MADE = {
    "IDX": (idx, read_source("fashion_mnist")),
    "CIFAR-10": (cifar10, read_source("cifar10")),
    "image": (image, read_source("imagefolder", folder="pets")),
    "text": (shakespeare, read_source("shakespeare")),
    "LEAF": (leaf, read_source("leaf", folder="letters")),
}
#: Files beside a finished run, and what reads them.
WRITTEN: dict[str, Callable[[Path], object]] = {
    "digits.npz": lambda folder: load_dataset(folder / "digits.npz"),
    "partition.npz": lambda folder: load_partition(folder / "partition.npz", "digits/iid/seed-0"),
    **{f"pause/{name}": lambda folder: read_run(folder / "pause") for name in RUN_FILES},
    **{f"demo_small/{name}": lambda folder: read_run(folder / "demo_small/pause/seed-0") for name in FILES},
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", MADE)
def test_damaged_raw_data_are_refused(kind: str, damage: str, tmp_path: Path) -> None:
    if kind == "image" and damage in ("missing", "without its last bytes"):
        pytest.skip("one image fewer is no damage, and a PNG file's last bytes are those of an empty block")
    if kind == "LEAF" and damage == "missing":
        pytest.skip("a folder may have any number of files; without one it is named itself")
    make, read = MADE[kind]
    path = make(tmp_path)
    DAMAGES[damage](path)
    with pytest.raises(PauseflError, match=path.name):
        read(tmp_path)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", WRITTEN)
def test_damaged_results_are_refused(name: str, damage: str, finished: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(finished, tmp_path / "copy")
    DAMAGES[damage](folder / name)
    with pytest.raises(PauseflError, match=Path(name).name):
        WRITTEN[name](folder)
