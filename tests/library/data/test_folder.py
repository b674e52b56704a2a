"""Folders of images: what is read from them, and what is refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from raw_data import raw, refusal, source, write_images

from pausefl.data.raw_data import check_available, missing_files, prepare

PETS = source("imagefolder", folder="pets")


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    for split, n in (("train", 6), ("test", 2)):
        write_images(tmp_path / "pets" / split / "cat", n, shade=10)
        write_images(tmp_path / "pets" / split / "dog", n, shade=100)
    (tmp_path / "pets" / "train" / "cat" / "notes.txt").write_text("no image")
    (tmp_path / "pets" / "train" / ".cache").mkdir()
    return tmp_path


def test_train_and_test(pets: Path) -> None:
    data = prepare(PETS, raw(pets))
    assert data.train_x.shape == (12, 3, 10, 12)
    assert data.test_x.shape == (4, 3, 10, 12)
    assert (data.train_x.dtype, data.n_classes) == (np.uint8, 2)
    shade = data.train_x[:, 0, 0, 0]
    np.testing.assert_array_equal(data.train_y, shade >= 100)
    assert sorted(shade) == [*range(10, 16), *range(100, 106)]
    # Examples are not in the order of classes, and always in the same.
    assert np.count_nonzero(np.diff(data.train_y)) > 1
    np.testing.assert_array_equal(data.train_x, prepare(PETS, raw(pets)).train_x)


def test_images_of_another_size_are_resized(pets: Path) -> None:
    write_images(pets / "pets" / "train" / "cat", 1, size=(40, 20), shade=10)
    data = prepare(source("imagefolder", folder="pets", image_size=8), raw(pets))
    assert data.train_x.shape == (12, 3, 8, 8)


def test_class_folders_alone_are_split(pets: Path) -> None:
    alone = source("imagefolder", folder=str(pets / "pets" / "train"), test_fraction=0.25)
    data = prepare(alone, raw(Path("elsewhere")))
    assert (len(data.train_x), len(data.test_x)) == (9, 3)
    shades = np.concatenate([data.train_x, data.test_x])[:, 0, 0, 0]
    assert sorted(shades) == [*range(10, 16), *range(100, 106)]


@pytest.mark.parametrize("action", [prepare, check_available])
def test_class_folders_alone_need_a_test_fraction(pets: Path, action: Callable[..., object]) -> None:
    text = refusal(action, source("imagefolder", folder="pets/train"), raw(pets))
    assert text.startswith(f"{pets}/pets/train: ")
    assert "set data.test_fraction" in text


def test_folders_of_classes_that_cannot_be_are_named(pets: Path) -> None:
    (pets / "pets/test/eel").mkdir()
    assert "differ in their class folders: eel" in refusal(prepare, PETS, raw(pets))
    (pets / "pets/train/eel").mkdir()
    assert refusal(prepare, PETS, raw(pets)).startswith(f"{pets}/pets/train/eel: no images")
    shutil.rmtree(pets / "pets/test")
    assert "none called 'test'" in refusal(prepare, PETS, raw(pets))


@pytest.mark.parametrize("action", [prepare, check_available])
def test_a_missing_folder(tmp_path: Path, action: Callable[..., object]) -> None:
    text = refusal(action, PETS, raw(tmp_path, download=True))
    assert f"\n  {tmp_path}/pets" in text
    assert "data.folder" in text
    assert missing_files(PETS, raw(tmp_path)) == [tmp_path / "pets"]
    text = refusal(action, source("cifar10"), raw(tmp_path, cifar10="jpeg"))
    assert f"\n  {tmp_path}/jpeg" in text
    assert "image_folders.cifar10" in text


@pytest.mark.parametrize(("file", "size"), [("train/dog/003.png", (13, 10)), ("test/dog/001.png", (12, 11))])
def test_an_image_of_another_size_is_named(pets: Path, file: str, size: tuple[int, int]) -> None:
    Image.new("RGB", size).save(pets / "pets" / file)
    text = refusal(prepare, PETS, raw(pets))
    assert text.startswith(f"{pets}/pets/{file}: {size[0]} x {size[1]} pixels, expected 12 x 10")


def test_numbered_classes_are_sorted_as_numbers(tmp_path: Path) -> None:
    for label in (1, 2, 10):
        write_images(tmp_path / "n" / str(label), 4, shade=label * 10)
    data = prepare(source("imagefolder", folder="n", test_fraction=0.2), raw(tmp_path))
    assert set(data.train_y[data.train_x[:, 0, 0, 0] >= 100]) == {2}


def test_mnist_from_an_image_folder(tmp_path: Path) -> None:
    for split in ("train", "test"):
        for label in range(10):
            write_images(tmp_path / "jpeg" / split / str(label), 2, size=(28, 28), shade=20 * label)
    data = prepare(source("mnist"), raw(tmp_path, mnist="jpeg"))
    assert data.train_x.shape == (20, 1, 28, 28)
    np.testing.assert_array_equal(data.train_x[:, 0, 0, 0] // 20, data.train_y)
    assert "expected 32 x 32" in refusal(prepare, source("cifar10"), raw(tmp_path, cifar10="jpeg"))
    for split in ("train", "test"):
        shutil.rmtree(tmp_path / "jpeg" / split / "9")
    assert "9 class folders, expected 10" in refusal(prepare, source("mnist"), raw(tmp_path, mnist="jpeg"))


def test_more_than_eight_bits_are_refused(pets: Path) -> None:
    path = pets / "pets" / "train" / "cat" / "000.png"
    Image.fromarray(np.full((10, 12), 40_000, np.uint16)).save(path)
    assert refusal(prepare, PETS, raw(pets)).startswith(f"{path}: more than 8 bits a channel")


def test_every_image_that_pillow_reads_is_read(pets: Path) -> None:
    for suffix in ("jfif", "gif", "tif", "webp", "JPG"):
        write_images(pets / "pets/train/cat", 1, shade=10, suffix=suffix)
    assert prepare(PETS, raw(pets)).train_x.shape == (17, 3, 10, 12)
    for name in ("000.heic", "001.heic", "2.svg"):
        (pets / "pets/train/cat" / name).touch()
    assert "does not read: 2 .heic, 1 .svg; " in refusal(prepare, PETS, raw(pets))


def test_what_macos_puts_into_archives_is_no_class(pets: Path) -> None:
    write_images(pets / "pets/train/__MACOSX", 1)
    write_images(pets / "pets/train/.thumbs", 1)
    assert prepare(PETS, raw(pets)).n_classes == 2


TRAIN_AND_TEST = [("pets/train", "pets/training"), ("pets/test", "pets/testing")]
DEEPER = [(f"pets/{one}", f"pets/{one}/images") for one in ("train/cat", "train/dog", "test/cat", "test/dog")]


@pytest.mark.parametrize("test_fraction", [None, 0.2])
@pytest.mark.parametrize("action", [prepare, check_available])
@pytest.mark.parametrize(
    ("moves", "holding", "advice"),
    [
        (TRAIN_AND_TEST, "testing/cat", "call two of the folders testing, training 'train' and 'test'"),
        (TRAIN_AND_TEST[1:], "testing/cat", "call two of the folders testing, train 'train' and 'test'"),
        (
            [("pets/train", "pets/all/training"), ("pets/test", "pets/all/testing")],
            "all/testing/cat",
            "call two of the folders testing, training 'train' and 'test' and name {pets}/all",
        ),
        ([("pets/train", "pets/all/train"), ("pets/test", "pets/all/test")], "all/test", "name {pets}/all"),
        ([("pets/train", "pets/all"), ("pets/test", "test")], "all/cat", "name {pets}/all and set data.test"),
        (DEEPER, "train/cat/images", "move what is in each 'images' to the folder above"),
        ([("pets/train/cat", "cats"), ("pets", "rest"), ("cats", "pets")], ".", "name the folder above"),
    ],
)
def test_images_in_other_folders_are_found(
    pets: Path,
    moves: list[tuple[str, str]],
    holding: str,
    advice: str,
    action: Callable[..., object],
    test_fraction: float | None,
) -> None:
    for old, new in moves:
        shutil.move(pets / old, pets / "moved")
        (pets / new).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(pets / "moved", pets / new)
    (pets / "pets/__MACOSX/.x").mkdir(parents=True)
    text = refusal(action, source("imagefolder", folder="pets", test_fraction=test_fraction), raw(pets))
    assert holding in text
    assert advice.format(pets=pets / "pets") in text
    assert "MACOSX" not in text
    assert "test split has to be made" not in text


def test_a_data_root_one_level_off_is_named(pets: Path) -> None:
    (pets / "data").mkdir()
    shutil.move(pets / "pets", pets / "data/pets")
    for root in (pets, pets / "data/pets"):
        text = refusal(check_available, PETS, raw(root))
        assert f"They are below {pets}/data: set data_root to it" in text
