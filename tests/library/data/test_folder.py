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
    assert "differ in their class folders: 'eel'" in refusal(prepare, PETS, raw(pets))
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


def one_image(folder: Path, image: Image.Image, name: str = "000.png", **saving: object) -> np.ndarray:
    """What is read of an image, (3, height, width)."""
    (place := folder / "one/pet").mkdir(parents=True)
    image.save(place / name, **saving)
    image.save(place / f"2{name}", **saving)
    data = prepare(source("imagefolder", folder="one", test_fraction=0.5), raw(folder))
    np.testing.assert_array_equal(data.train_x, data.test_x)
    return data.train_x[0]


HALVES = np.zeros((4, 6, 3), np.uint8)
HALVES[:, :3], HALVES[0, 0] = (200, 0, 0), (0, 0, 255)
#: By EXIF's orientation: what a viewer shows of an array of rows and columns.
TURNED: dict[int, Callable[[np.ndarray], np.ndarray]] = {
    1: lambda a: a,
    2: lambda a: a[:, ::-1],
    3: lambda a: a[::-1, ::-1],
    4: lambda a: a[::-1],
    5: lambda a: a.swapaxes(0, 1),
    6: lambda a: np.rot90(a, -1),
    7: lambda a: a[::-1, ::-1].swapaxes(0, 1),
    8: np.rot90,
}


@pytest.mark.parametrize("orientation", TURNED)
@pytest.mark.parametrize("kind", ["png", "webp", "tif"])
def test_an_image_is_turned_as_a_viewer_shows_it(tmp_path: Path, kind: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    more = {"lossless": True} if kind == "webp" else {}
    found = one_image(tmp_path, Image.fromarray(HALVES), f"0.{kind}", exif=exif, **more)
    np.testing.assert_array_equal(found.transpose(1, 2, 0), TURNED[orientation](HALVES))


def test_turned_photos_have_the_size_that_is_seen(pets: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (10, 12)).save(pets / "pets/train/dog/9.jpg", exif=exif)  # seen 12 wide, 10 high
    assert prepare(PETS, raw(pets)).train_x.shape == (13, 3, 10, 12)
    Image.new("RGB", (12, 10)).save(pets / "pets/train/dog/9.jpg", exif=exif)
    assert "9.jpg: 10 x 12 pixels, expected 12 x 10" in refusal(prepare, PETS, raw(pets))


def test_exif_data_that_are_none_turn_nothing(tmp_path: Path) -> None:
    found = one_image(tmp_path, Image.fromarray(HALVES), exif=b"Exif\0\0MM\0*\0\0")
    np.testing.assert_array_equal(found.transpose(1, 2, 0), HALVES)


def transparent(mode: str) -> tuple[Image.Image, dict[str, object]]:
    """An image that hides red: left transparent, in the middle half, right opaque."""
    alpha = np.repeat(np.array([[0, 128, 255]], np.uint8), 4, axis=0)
    whole = np.dstack(
        [np.full((4, 3), 200, np.uint8), *(np.zeros((4, 3), np.uint8) for _ in range(2)), alpha]
    )
    if mode == "RGBA":
        return Image.fromarray(whole), {}
    if mode == "LA":
        return Image.fromarray(np.dstack([whole[..., 0], alpha])), {}
    grey = Image.fromarray(np.repeat(np.array([[200, 90, 200]], np.uint8), 4, axis=0))
    return grey.convert(mode), {"transparency": 90 if mode in ("L", "P") else (90, 90, 90)}


@pytest.mark.parametrize(
    ("mode", "columns"),
    [
        ("RGBA", [(255, 255, 255), (227, 127, 127), (200, 0, 0)]),
        ("LA", [(255, 255, 255), (227, 227, 227), (200, 200, 200)]),
        ("L", [(200, 200, 200), (255, 255, 255), (200, 200, 200)]),
        ("RGB", [(200, 200, 200), (255, 255, 255), (200, 200, 200)]),
        ("P", [(200, 200, 200), (255, 255, 255), (200, 200, 200)]),
    ],
)
def test_behind_what_is_transparent_is_white(
    tmp_path: Path, mode: str, columns: list[tuple[int, ...]]
) -> None:
    image, saving = transparent(mode)
    if mode == "P":
        saving = {"transparency": image.getpixel((1, 0))}
    found = one_image(tmp_path, image, **saving)
    for i, expected in enumerate(columns):
        np.testing.assert_allclose(found[:, 0, i], expected, atol=1)


@pytest.mark.parametrize("kind", ["gif", "webp"])
def test_transparency_in_other_containers(tmp_path: Path, kind: str) -> None:
    image = Image.new("RGBA", (6, 4), (200, 0, 0, 255))
    image.paste((0, 99, 0, 0), (0, 0, 3, 4))
    saving = {"lossless": True, "exact": True} if kind == "webp" else {}
    found = one_image(tmp_path, image, f"0.{kind}", **saving)
    np.testing.assert_allclose(found[:, 1, 0], (255, 255, 255), atol=1)
    np.testing.assert_allclose(found[:, 1, 5], (200, 0, 0), atol=1)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "CMYK", "YCbCr", "HSV"])
def test_all_modes_of_eight_bits_are_read(tmp_path: Path, mode: str) -> None:
    image = Image.new("RGB", (6, 4), "white").convert(mode)
    kind = {"CMYK": "tif", "YCbCr": "tif", "HSV": "png"}.get(mode, "png")
    if mode == "HSV":
        image = image.convert("RGB")
    np.testing.assert_allclose(one_image(tmp_path, image, f"0.{kind}"), 255, atol=1)


def frames(folder: Path, kind: str) -> None:
    pages = [Image.new("RGB", (12, 10), (shade,) * 3) for shade in (10, 90)]
    pages[0].save(folder / f"9.{kind}", save_all=True, append_images=pages[1:])


def deep(folder: Path, mode: str) -> None:
    """A PNG file of 16 bits a channel, which Pillow would open with 8."""
    import struct
    import zlib

    n_channels = {"RGB": 3, "RGBA": 4, "LA": 2}[mode]
    header = struct.pack(">IIBBBBB", 12, 10, 16, {"RGB": 2, "RGBA": 6, "LA": 4}[mode], 0, 0, 0)
    lines = zlib.compress((b"\0" + bytes(12 * 2 * n_channels)) * 10)
    chunks = ((b"IHDR", header), (b"IDAT", lines), (b"IEND", b""))
    parts = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    ]
    (folder / "9.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))


def deep_ppm(folder: Path, kind: bytes) -> None:
    values = bytes(720) if kind == b"P6" else b"40000 " * 360
    (folder / "9.ppm").write_bytes(kind + b" 12 10 65535\n" + values)


def deep_sgi(folder: Path) -> None:
    import struct

    header = struct.pack(">hbbHHHHii", 474, 0, 2, 3, 12, 10, 3, 0, 65535)
    (folder / "9.sgi").write_bytes(header.ljust(512, b"\0") + bytes(720))


@pytest.mark.parametrize("kind", ["ppm", "sgi"])
def test_eight_bits_of_such_formats_are_read(pets: Path, kind: str) -> None:
    Image.new("RGB", (12, 10)).save(pets / f"pets/train/dog/9.{kind}")
    assert len(prepare(PETS, raw(pets)).train_x) == 13


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: frames(folder, "gif"), "9.gif: has 2 frames or pages; keep one of them"),
        (lambda folder: frames(folder, "tif"), "9.tif: has 2 frames"),
        (lambda folder: frames(folder, "webp"), "9.webp: has 2 frames"),
        (lambda folder: frames(folder, "png"), "9.png: has 2 frames"),
        (lambda folder: deep(folder, "RGB"), "9.png: more than 8 bits a channel"),
        (lambda folder: deep(folder, "RGBA"), "9.png: more than 8 bits a channel"),
        (lambda folder: deep(folder, "LA"), "9.png: more than 8 bits a channel"),
        (lambda folder: Image.new("F", (12, 10)).save(folder / "9.tif"), "9.tif: more than 8 bits a channel"),
        (lambda folder: deep_ppm(folder, b"P6"), "9.ppm: more than 8 bits a channel"),
        (lambda folder: deep_ppm(folder, b"P3"), "9.ppm: more than 8 bits a channel"),
        (deep_sgi, "9.sgi: more than 8 bits a channel"),
        (lambda folder: Image.new("LAB", (12, 10)).save(folder / "9.tif"), "9.tif: is in Lab colours"),
    ],
)
def test_what_is_not_one_image_of_eight_bits_is_refused(
    pets: Path, make: Callable[[Path], None], words: str
) -> None:
    make(pets / "pets/train/dog")
    assert words in refusal(prepare, PETS, raw(pets))


def test_a_cameras_picture_with_a_preview_is_one_image(pets: Path) -> None:
    pages = [Image.new("RGB", (12, 10), (shade,) * 3) for shade in (10, 90)]
    pages[0].save(pets / "pets/train/dog/9.jpg", "MPO", save_all=True, append_images=pages[1:])
    assert len(prepare(PETS, raw(pets)).train_x) == 13


SYSTEMS = [
    "@eaDir",
    "#recycle",
    "$RECYCLE.BIN",
    "System Volume Information",
    "lost+found",
    "__pycache__",
    "@Recycle",
    "FOUND.001",
    "~snapshot",
    "CVS",
    "RECYCLED",
    "tmp.drivedownload",
    "_vti_cnf",
    "node_modules",
    "venv",
]


@pytest.mark.parametrize("name", [*SYSTEMS, ".ipynb_checkpoints", "@EADIR"])
@pytest.mark.parametrize("place", ["", "train", "test", "train/cat"])
def test_folders_that_systems_make_are_no_classes(pets: Path, name: str, place: str) -> None:
    (pets / "pets" / place / name).mkdir()
    before = prepare(PETS, raw(pets))
    assert (len(before.train_x), before.n_classes) == (12, 2)
    write_images(pets / "pets" / place / name, 2)
    after = prepare(PETS, raw(pets))
    np.testing.assert_array_equal(after.train_x, before.train_x)
    shutil.move(pets / "pets/test", pets / "rest")
    assert name not in refusal(prepare, PETS, raw(pets))


@pytest.mark.parametrize("name", ["Thumbs.db", "desktop.ini", "~$1.png", "._000.png", "Icon\r"])
def test_files_that_systems_make_are_no_images(pets: Path, name: str) -> None:
    (pets / "pets/train/cat" / name).write_bytes(b"no image")
    assert len(prepare(PETS, raw(pets)).train_x) == 12


COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


def test_names_that_look_alike_are_one_class(pets: Path) -> None:
    write_images(pets / "pets/train" / COMPOSED, 3, shade=50)
    write_images(pets / "pets/test" / DECOMPOSED, 1, shade=50)
    data = prepare(PETS, raw(pets))
    assert data.n_classes == 3
    for x, y in ((data.train_x, data.train_y), (data.test_x, data.test_y)):
        np.testing.assert_array_equal(y == 0, (x[:, 0, 0, 0] >= 50) & (x[:, 0, 0, 0] < 60))
    write_images(pets / "pets/train" / DECOMPOSED, 3)
    text = refusal(prepare, PETS, raw(pets))
    assert "have the same name, written in two ways: make them one" in text
    assert "\\u0301" in text
    assert "\\xe9" in text


@pytest.mark.parametrize(
    ("train", "test", "words"),
    [
        ("ab", "a\u200bb", r"class folders: 'ab', 'a\u200bb'"),
        ("cab", "\u0441ab", r"class folders: 'cab', '\u0441ab'"),
        ("a b", "a\u00a0b", r"class folders: 'a b', 'a\xa0b'"),
        ("ca", "cb", "class folders: 'ca', 'cb'"),
        ("\u00e9", "e", "class folders: 'e', '\u00e9'"),
    ],
)
def test_names_that_only_look_alike_are_told_apart(pets: Path, train: str, test: str, words: str) -> None:
    write_images(pets / "pets/train" / train, 1)
    write_images(pets / "pets/test" / test, 1)
    assert refusal(prepare, PETS, raw(pets)).endswith(words)


def test_the_order_of_files_does_not_depend_on_how_names_are_written(tmp_path: Path) -> None:
    shades = []
    for form, names in (("a", (COMPOSED, "cafz")), ("b", (DECOMPOSED, "cafz"))):
        (place := tmp_path / form / "pet").mkdir(parents=True)
        for i, name in enumerate(names):
            Image.new("RGB", (4, 4), (i,) * 3).save(place / f"{name}.png")
        data = prepare(source("imagefolder", folder=form, test_fraction=0.5), raw(tmp_path))
        shades.append(int(data.train_x[0, 0, 0, 0]))
    assert shades[0] == shades[1]
