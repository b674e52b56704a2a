"""Bad files: raw data, images, prepared data, partitions, results, saved states; bad options and places."""

from __future__ import annotations

import atexit
import gzip
import json
import os
import resource
import shutil
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from bad_settings import SCENARIOS
from cases import RAN, Case, command
from PIL import Image
from raw_data import IDX_FILES, raw, source, write_idx, write_images

from pausefl.data.dataset import load_dataset
from pausefl.data.partition import load_partition, make_partition
from pausefl.data.sources import check_available, prepare
from pausefl.files import replacing
from pausefl.results.privacy_table import privacy_table
from pausefl.results.runs import collect
from pausefl.settings import Experiment, RawData, load_scenario
from pausefl.streams import Streams

ROUNDS = 10
#: What can be wrong with any file. Each gets the path of a good one.
DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "cut after 10 bytes": lambda path: os.truncate(path, min(10, path.stat().st_size // 2)),
    "cut in the middle": lambda path: os.truncate(path, path.stat().st_size // 2),
    "without its last byte": lambda path: os.truncate(path, path.stat().st_size - 2),
    "text": lambda path: path.write_text("hello\n"),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "a device": lambda path: (path.unlink(), path.symlink_to("/dev/zero")),
    "a link to itself": lambda path: (path.unlink(), path.symlink_to(path.name)),
}


@cache
def store() -> Path:
    """Folder with a prepared data set, a partition, and finished runs of the demo."""
    folder = Path(tempfile.mkdtemp(prefix="trial-store-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    scenario = load_scenario("demo_small", SCENARIOS)
    digits = prepare(scenario.data, RawData(Path("nowhere"), False, {}))
    digits.save(folder / "digits.npz")
    make_partition(digits.train_y, scenario.data, scenario.partition, 12, Streams(0)).save(
        folder / "partition.npz"
    )
    for name, selector, seed, more in (
        ("pause-0", "pause", 0, []),
        ("pause-1", "pause", 1, []),
        ("random-0", "random", 0, []),
        ("alone", "pause", 0, ["--no-train"]),
        ("long", "pause", 0, ["--rounds", 2 * ROUNDS]),
    ):
        run(folder / "runs" / name, "--seed", seed, *more, selector=selector, data=folder / "digits.npz")
    return folder


def run(out: Path, *more: object, selector: str = "random", data: Path | None = None) -> str:
    """A short job of the demo on prepared data."""
    options: dict[object, object] = {
        "--scenario": "demo_small",
        "--seed": 0,
        "--rounds": ROUNDS,
        "--threads": 1,
    }
    options |= {"--scenarios": SCENARIOS, "--out": out, "--selector": selector}
    options["--data"] = store() / "digits.npz" if data is None else data
    flags = [argument for argument in more if argument in _FLAGS]
    rest = [argument for argument in more if argument not in flags]
    options |= dict(zip(rest[::2], rest[1::2], strict=True))
    return command("run", *[part for pair in options.items() for part in pair], *flags)


_FLAGS = ("--restart", "--no-train")


# --- raw data ----------------------------------------------------------------------------------------


def raw_files() -> Iterator[Case]:
    """MNIST, Fashion-MNIST and CIFAR-10."""
    kind = "Raw data files"
    damages: dict[str, Callable[[Path], object]] = {
        **DAMAGES,
        "one byte too long": lambda path: os.truncate(path, path.stat().st_size + 1),
        "of another type of numbers": lambda path: _poke(path, 2, b"\x0d"),
        "of another number of dimensions": lambda path: _poke(path, 3, b"\x02"),
        "of 59,999 examples by its header": lambda path: _poke(path, 4, struct.pack(">I", 59999)),
        "compressed": lambda path: path.write_bytes(gzip.compress(path.read_bytes()[:5000])),
    }
    for name in ("train-images-idx3-ubyte", "t10k-labels-idx1-ubyte"):
        for what, damage in damages.items():
            yield Case(kind, f"Fashion-MNIST, {name}: {what}", _idx(name, damage), (name,))
    for label in (10, 255):
        poke = _idx("train-labels-idx1-ubyte", lambda path, label=label: _poke(path, 1000, bytes([label])))
        yield Case(kind, f"Fashion-MNIST: a label {label}", poke, ("label", str(label)))
    yield Case(kind, "Fashion-MNIST: MNIST's labels", _idx("train-labels-idx1-ubyte", _mnists), ("MNIST",))
    yield Case(
        kind,
        "Fashion-MNIST: images where labels belong",
        _idx("train-labels-idx1-ubyte", _images),
        ("labels",),
    )
    yield Case(kind, "MNIST: zeros of the right form", _idx("", lambda path: None, "MNIST"), ("MD5",))
    yield Case(kind, "Fashion-MNIST: zeros of the right form", _idx("", lambda path: None), (), RAN)
    for what in ("missing", "text", "a folder", "a pipe", "a device"):
        yield Case(kind, f"CIFAR-10, data_batch_1: {what}", _cifar(DAMAGES[what]), ("data_batch_1",))
    yield Case(kind, "CIFAR-10: no folder", lambda folder: _prepare("cifar10", folder), ("data_batch_1",))


def _idx(name: str, damage: Callable[[Path], object], of: str = "FashionMNIST") -> Callable[[Path], None]:
    def action(folder: Path) -> None:
        for file, dims in IDX_FILES.items():
            write_idx(folder / of / "raw" / file, dims)
        damage(folder / of / "raw" / name)
        _prepare({"MNIST": "mnist", "FashionMNIST": "fashion_mnist"}[of], folder)

    return action


def _prepare(name: str, folder: Path) -> None:
    prepare(source(name), raw(folder))


def _poke(path: Path, where: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(where)
        file.write(content)


def _mnists(path: Path) -> None:
    counts = (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949)
    _poke(path, 8, np.repeat(np.arange(10, dtype=np.uint8), counts).tobytes())


def _images(path: Path) -> None:
    path.unlink()
    write_idx(path, IDX_FILES["train-images-idx3-ubyte"])


def _cifar(damage: Callable[[Path], object]) -> Callable[[Path], None]:
    def action(folder: Path) -> None:
        place = folder / "cifar-10-batches-py"
        place.mkdir()
        for name in (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch", "batches.meta"):
            (place / name).write_bytes(b"\x80\x04")
        damage(place / "data_batch_1")
        _prepare("cifar10", folder)

    return action


# --- folders of images -------------------------------------------------------------------------------


def image_folders() -> Iterator[Case]:
    """Folders with something that is no image, or with images that do not fit."""
    kind = "Folders of images"
    for what, damage in DAMAGES.items():
        if what not in ("missing", "without its last byte"):
            yield _pets(
                kind, f"an image: {what}", lambda pets, damage=damage: damage(pets / _CAT), ("cat/000.png",)
            )
    odd: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
        "a device with the name of an image": (
            lambda pets: (pets / "train/cat/x.png").symlink_to("/dev/null"),
            ("x.png",),
        ),
        "a pipe with the name of an image": (lambda pets: os.mkfifo(pets / "train/cat/x.jpg"), ("x.jpg",)),
        "a socket's place": (lambda pets: (pets / "train/cat/x.bmp").mkdir(), ("x.bmp",)),
        "16 bits of grey": (lambda pets: _sixteen(pets / _CAT), ("8 bits", "000.png")),
        "32 bits of grey": (lambda pets: _tiff(pets / "train/cat/000.tif", np.int32), ("8 bits", "000.tif")),
        "floating point": (lambda pets: _tiff(pets / "train/cat/000.tif", np.float32), ("8 bits", "000.tif")),
        "values that are not finite": (
            lambda pets: _tiff(pets / "train/cat/000.tif", np.float32, np.nan),
            ("8 bits",),
        ),
        "another size": (lambda pets: Image.new("RGB", (5, 5)).save(pets / _CAT), ("5 x 5",)),
        "a picture of 20,000 x 20,000": (lambda pets: _bomb(pets / _CAT), ("000.png",)),
        "an empty class": (lambda pets: (pets / "train/eel").mkdir(), ("eel",)),
        "a class without test": (lambda pets: write_images(pets / "train/eel", 1), ("eel",)),
        "no test": (lambda pets: shutil.rmtree(pets / "test"), ("test",)),
        "no train": (lambda pets: shutil.rmtree(pets / "train"), ("train",)),
        "no classes": (lambda pets: [shutil.rmtree(path) for path in pets.glob("*/*")], ("class",)),
        "test is a file": (
            lambda pets: (shutil.rmtree(pets / "test"), (pets / "test").write_text("x")),
            ("test",),
        ),
        "no folder": (shutil.rmtree, ("pets",)),
        "a file in place of the folder": (
            lambda pets: (shutil.rmtree(pets), pets.write_text("x")),
            ("pets",),
        ),
        "a pipe in place of the folder": (lambda pets: (shutil.rmtree(pets), os.mkfifo(pets)), ("pets",)),
    }
    for what, (damage, words) in odd.items():
        yield _pets(kind, what, damage, words)
    allowed: dict[str, Callable[[Path], object]] = {
        "notes beside images": lambda pets: (pets / "train/cat/notes.txt").write_text("x"),
        "hidden files": lambda pets: (pets / "train/cat/.x.png").write_text("x"),
        "a palette": lambda pets: Image.new("P", (12, 10)).save(pets / _CAT),
        "transparency": lambda pets: Image.new("RGBA", (12, 10)).save(pets / _CAT),
        "black and white": lambda pets: Image.new("1", (12, 10)).save(pets / _CAT),
        "a link to an image": lambda pets: (pets / "train/cat/x.png").symlink_to(pets / _CAT),
    }
    for what, make in allowed.items():
        yield _pets(kind, what, make, (), RAN)
    yield Case(kind, "more images than memory holds", _huge, ("memory", "image_size"))
    yield Case(kind, "nine classes as MNIST", _nine, ("9 class folders",))


_CAT = "train/cat/000.png"


def _pets(
    kind: str, what: str, damage: Callable[[Path], object], words: tuple[str, ...], expected: str = "refused"
) -> Case:
    def action(folder: Path) -> None:
        pets = folder / "pets"
        for split, n in (("train", 4), ("test", 2)):
            write_images(pets / split / "cat", n, shade=10)
            write_images(pets / split / "dog", n, shade=100)
        damage(pets)
        settings = source("imagefolder", folder="pets")
        check_available(settings, raw(folder))
        prepare(settings, raw(folder))

    return Case(kind, what, action, words, expected)


def _sixteen(path: Path) -> None:
    Image.fromarray(np.full((10, 12), 40_000, np.uint16)).save(path)


def _tiff(path: Path, kind: Any, value: float = 1000) -> None:
    Image.fromarray(np.full((10, 12), value, kind)).save(path)


def _bomb(path: Path) -> None:
    Image.new("1", (20_000, 20_000)).save(path)


def _huge(folder: Path) -> None:
    for i in range(2):
        write_images(folder / "pets" / str(i), 1)
        for j in range(20_000):
            os.link(folder / "pets" / str(i) / "000.png", folder / "pets" / str(i) / f"{j + 1}.png")
    prepare(source("imagefolder", folder="pets", test_fraction=0.5, image_size=4096), raw(folder))


def _nine(folder: Path) -> None:
    for split in ("train", "test"):
        for label in range(9):
            write_images(folder / "x" / split / str(label), 1, size=(28, 28))
    prepare(source("mnist"), raw(folder, mnist="x"))


# --- prepared data sets and partitions ---------------------------------------------------------------


def prepared_files() -> Iterator[Case]:
    """Data sets and partitions whose content or form is wrong."""
    kind = "Prepared data sets"
    for what, damage in DAMAGES.items():
        yield Case(kind, what, _npz("digits.npz", damage), ("digits.npz",))
        yield Case(
            kind,
            f"{what}, as --data",
            _npz("digits.npz", damage, lambda path: run(path.parent / "out", data=path)),
        )
    changes: dict[str, Callable[[dict[str, Any]], object]] = {
        "a negative label": lambda a: a["train_y"].__setitem__(3, -1),
        "a label too large": lambda a: a["train_y"].__setitem__(3, 10),
        "a negative label for testing": lambda a: a["test_y"].__setitem__(0, -(2**62)),
        "labels with a point": lambda a: a.update(train_y=a["train_y"].astype(float)),
        "labels of 32 bits": lambda a: a.update(train_y=a["train_y"].astype(np.int32)),
        "too few labels": lambda a: a.update(train_y=a["train_y"][:-1]),
        "labels in a square": lambda a: a.update(train_y=a["train_y"][:, None]),
        "fewer classes than labels": lambda a: a.update(n_classes=np.array(3)),
        "minus one class": lambda a: a.update(n_classes=np.array(-1)),
        "half a class": lambda a: a.update(n_classes=np.array(9.5)),
        "two numbers of classes": lambda a: a.update(n_classes=np.array([10, 10])),
        "no class, but labels": lambda a: a.update(n_classes=np.array(0)),
        "images of floats": lambda a: a.update(train_x=a["train_x"].astype(np.float64)),
        "images without channel": lambda a: a.update(train_x=a["train_x"][:, 0]),
        "images of another size for testing": lambda a: a.update(test_x=a["test_x"][:, :, :4]),
        "features that are not numbers": lambda a: _features(a, np.nan),
        "infinite features": lambda a: _features(a, np.inf),
        "no examples": lambda a: a.update(train_x=a["train_x"][:0], train_y=a["train_y"][:0]),
        "no test examples": lambda a: a.update(test_x=a["test_x"][:0], test_y=a["test_y"][:0]),
        "no array train_y": lambda a: a.pop("train_y"),
        "of no kind": lambda a: a.pop("kind"),
        "of another kind": lambda a: a.update(kind=np.array("pausefl partition 1")),
        "a number for a name": lambda a: a.update(name=np.array(1)),
        "Python objects": lambda a: a.update(origin=np.array([{}], dtype=object)),
        "of another source": lambda a: a.update(name=np.array("mnist")),
    }
    for what, change in changes.items():
        yield Case(
            kind, what, _npz("digits.npz", _arrays(change), lambda path: run(path.parent / "out", data=path))
        )
    yield Case(kind, "an array of 10^15 numbers by its header", _npz("digits.npz", _claims_to_be_huge))

    kind = "Partitions"
    for what, damage in DAMAGES.items():
        yield Case(kind, what, _npz("partition.npz", damage, load_partition), ("partition.npz",))
    parts: dict[str, Callable[[dict[str, Any]], object]] = {
        "an example twice": lambda a: a["indices"].__setitem__(0, a["indices"][1]),
        "a negative index": lambda a: a["indices"].__setitem__(0, -1),
        "sizes that do not add up": lambda a: a["sizes"].__setitem__(0, 1),
        "a negative size": lambda a: a["sizes"].__setitem__(slice(0, 2), (-5, a["sizes"][:2].sum() + 5)),
        "a user without data": lambda a: a["sizes"].__setitem__(slice(0, 2), (0, a["sizes"][:2].sum())),
        "nobody": lambda a: a.update(
            sizes=a["sizes"][:0], indices=a["indices"][:0], quality=a["quality"][:0]
        ),
        "indices of floats": lambda a: a.update(indices=a["indices"].astype(float)),
        "a quality of 2": lambda a: a["quality"].__setitem__(0, 2.0),
        "a quality that is no number": lambda a: a["quality"].__setitem__(0, np.nan),
        "a quality too few": lambda a: a.update(quality=a["quality"][1:]),
        "an example held by a user and for validation": lambda a: a.update(validation=a["indices"][:1]),
        "of another kind": lambda a: a.update(kind=np.array("pausefl data set 1")),
        "no array of sizes": lambda a: a.pop("sizes"),
    }
    for what, change in parts.items():
        yield Case(kind, what, _npz("partition.npz", _arrays(change), load_partition), ("partition.npz",))


def _npz(
    name: str, damage: Callable[[Path], object], read: Callable[[Path], object] = load_dataset
) -> Callable[[Path], None]:
    def action(folder: Path) -> None:
        path = Path(shutil.copy(store() / name, folder))
        damage(path)
        read(path)

    return action


def _arrays(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with np.load(path) as archive:
            arrays: dict[str, Any] = {name: archive[name] for name in archive.files}
        change(arrays)
        np.savez(path, **arrays)

    return damage


def _features(arrays: dict[str, Any], value: float) -> None:
    for split in ("train", "test"):
        x = arrays[f"{split}_x"].reshape(len(arrays[f"{split}_x"]), -1).astype(np.float32)
        x[0, 0] = value
        arrays[f"{split}_x"] = x


def _claims_to_be_huge(path: Path) -> None:
    content = path.read_bytes()
    _poke(path, content.index(b"'shape': (1438, 1, 8, 8)"), b"'shape': (99999999999999,)")


# --- results -----------------------------------------------------------------------------------------

FILES = ("rounds.parquet", "ledger.parquet", "summary.json")


#: Files of other runs that are equal, byte for byte; and a summary's selector leaves no trace in tables.
_ALIKE = (("ledger.parquet", "alone"), ("ledger.parquet", "pause-1"), ("summary.json", "random-0"))


def results() -> Iterator[Case]:
    """Runs of which a file is damaged or another run's, as commands and tables read them."""
    readers: dict[str, Callable[[Path], object]] = {
        "compare": lambda folder: command("compare", folder, store() / "runs" / "random-0"),
        "a table": lambda folder: collect({Experiment("demo_small", "pause", 0): folder}),
    }
    for reader, read in readers.items():
        kind = f"Finished runs, read by {reader}"
        for file in FILES:
            for what, damage in DAMAGES.items():
                yield Case(kind, f"{file}: {what}", _run_with(file, damage, read))
            for other in ("pause-1", "random-0", "alone", "long"):
                if (file, other) not in _ALIKE:
                    yield Case(
                        kind, f"{file} of another run ({other})", _run_with(file, _of(other, file), read)
                    )
        if reader == "a table":
            both = _pair_of("pause-1")
            yield Case(kind, "rounds and ledger of another seed", _run_with("summary.json", both, read))
        for what, change in _SUMMARIES.items():
            yield Case(kind, f"summary.json: {what}", _run_with("summary.json", _json(change), read))
        for what, alter in _ROUNDS.items():
            yield Case(kind, f"rounds.parquet: {what}", _run_with("rounds.parquet", _parquet(alter), read))
    kind = "Finished runs, read by a table"
    yield Case(
        kind,
        "a ledger without users",
        _run_with("ledger.parquet", _parquet(lambda t: t[:0]), readers["a table"]),
    )
    for what in ("empty", "cut in the middle", "text", "a folder", "a pipe"):
        yield Case(
            "Finished runs, read by a table of spending",
            f"ledger.parquet: {what}",
            _run_with("ledger.parquet", DAMAGES[what], _spending),
        )
    kind = "Finished runs, in the way of a job"
    again = lambda folder: run(folder, selector="pause")  # noqa: E731
    yield Case(kind, "the same job again", _run_with("summary.json", lambda path: None, again), (), RAN)
    for what in ("empty", "text", "cut in the middle", "a folder", "a pipe", "a device"):
        yield Case(kind, f"summary.json: {what}", _run_with("summary.json", DAMAGES[what], again))
    for what in ("a folder", "a pipe", "text"):
        yield Case(kind, f"rounds.parquet: {what}", _run_with("rounds.parquet", DAMAGES[what], again))
    for option, value in (("--seed", 1), ("--rounds", 3), ("--selector", "pause_brute")):
        other = lambda folder, option=option, value=value: run(folder, option, value, selector="pause")  # noqa: E731
        yield Case(
            kind, f"another job: {option} {value}", _run_with("summary.json", lambda path: None, other)
        )


def _spending(folder: Path) -> object:
    scenario = load_scenario("demo_small", SCENARIOS)
    assert scenario.privacy is not None
    return privacy_table({Experiment("demo_small", "pause", 0): folder}, scenario.privacy)


def _run_with(
    file: str, damage: Callable[[Path], object], read: Callable[[Path], object]
) -> Callable[[Path], None]:
    def action(folder: Path) -> None:
        copy = folder / "run"
        shutil.copytree(store() / "runs" / "pause-0", copy)
        damage(copy / file)
        read(copy)

    return action


def _of(other: str, file: str) -> Callable[[Path], object]:
    return lambda path: shutil.copy(store() / "runs" / other / file, path)


def _pair_of(other: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        for file in FILES[:2]:
            shutil.copy(store() / "runs" / other / file, path.with_name(file))

    return damage


def _json(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        document = json.loads(path.read_text())
        changed = change(document)
        path.write_text(json.dumps(document if changed is None else changed))

    return damage


def _parquet(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[Path], None]:
    return lambda path: change(pd.read_parquet(path)).to_parquet(path)


_SUMMARIES: dict[str, Callable[[dict[str, Any]], object]] = {
    "a list": lambda d: [1],
    "a number": lambda d: 7,
    "without its settings": lambda d: d.update(scenario=None),
    "settings without network": lambda d: d["scenario"].pop("network") and None,
    "another seed": lambda d: d.update(seed=5),
    "another number of rounds": lambda d: d.update(n_rounds=9),
    "a text for a number of rounds": lambda d: d.update(n_rounds="8"),
    "10^18 rounds": lambda d: d.update(n_rounds=10**18),
    "not trained": lambda d: d.update(trained=False),
    "without times": lambda d: d.pop("timings_s") and None,
    "other latencies": lambda d: d["scenario"]["network"].update(latency_std=0.2),
}
_ROUNDS: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "a round is missing": lambda t: t.drop(index=3),
    "a round is there twice": lambda t: pd.concat([t, t[3:4]]),
    "in another order": lambda t: t[::-1],
    "no rounds": lambda t: t[:0],
    "a column is missing": lambda t: t.drop(columns="leakage_max"),
    "another leakage": lambda t: t.assign(leakage_max=2 * t["leakage_max"]),
    "another selection": lambda t: t.assign(selection=[[0, 1, 2]] * len(t)),
    "users that do not exist": lambda t: t.assign(selection=[[0, 1, 99]] * len(t)),
    "negative users": lambda t: t.assign(selection=[[0, 1, -1]] * len(t)),
    "numbers for selections": lambda t: t.assign(selection=1),
}


# --- saved states ------------------------------------------------------------------------------------


def states() -> Iterator[Case]:
    """The saved state of an unfinished job; a damaged one is told and not used."""
    kind = "Saved states"
    for what, damage in DAMAGES.items():
        expected = "refused" if what in ("a folder", "a pipe", "a device") else RAN
        yield Case(kind, what, _state(damage), ("state.npz",) if expected != RAN else (), expected)
    for option, value in (("--seed", 1), ("--rounds", 99), ("--selector", "pause"), ("--threads", 2)):
        more = [option, value]
        yield Case(
            kind, f"of another job: {option} {value}", _state(lambda path: None, *more), ("another job",)
        )
    yield Case(
        kind, "of another job, with --restart", _state(lambda path: None, "--seed", 1, "--restart"), (), RAN
    )
    yield Case(kind, "unharmed", _state(lambda path: None), (), RAN)
    yield Case(
        kind, "Python objects", _state(lambda path: np.savez(path, about=np.array([{}], object))), (), RAN
    )
    yield Case(kind, "of no job", _state(lambda path: np.savez(path, about=np.zeros(3))), (), RAN)
    yield Case(kind, "arrays are missing", _state(_arrays(_only_about)), ("state.npz", "--restart"))
    yield Case(kind, "arrays of another shape", _state(_arrays(_shorter)), ("state.npz", "--restart"))


def _only_about(arrays: dict[str, Any]) -> None:
    for name in [name for name in arrays if name != "about"]:
        del arrays[name]


def _shorter(arrays: dict[str, Any]) -> None:
    for name in [name for name in arrays if name != "about" and arrays[name].ndim]:
        arrays[name] = arrays[name][:-1]


@cache
def _stopped() -> Path:
    """Folder of a job that was stopped after a round."""
    folder = store() / "stopped"
    pid = os.fork()
    if not pid:
        from pausefl.federated import run as module

        module.write_files = lambda *_: os._exit(0)
        run(folder, "--save-every", 0)
        os._exit(1)
    os.waitpid(pid, 0)
    assert (folder / "state.npz").is_file()
    return folder


def _state(damage: Callable[[Path], object], *more: object) -> Callable[[Path], None]:
    def action(folder: Path) -> None:
        out = folder / "out"
        out.mkdir()
        path = Path(shutil.copy(_stopped() / "state.npz", out))
        damage(path)
        run(out, *more)
        for name in FILES[:2]:
            if not more:
                assert (out / name).read_bytes() == (store() / "runs" / "random-0" / name).read_bytes()

    return action


# --- options -----------------------------------------------------------------------------------------


def options() -> Iterator[Case]:
    """Options and arguments of the command line."""
    kind = "Options"
    pairs: dict[str, list[Any]] = {
        "--scenario": ["", "demo_smal", "../demo_small", "demo_small.yaml", "a b", "x" * 1000],
        "--selector": ["", "puase", "PAUSE", "cs_ucb"],
        "--seed": [-1, 1.5, "x", "", 2**63, 10**30, "nan"],
        "--rounds": [0, -1, 1.5, "x", 10**18, "inf"],
        "--threads": [0, -1, 10**6, 10**18, "x"],
        "--device": ["gpu", "", "cuda:99", "CPU"],
        "--save-every": [-1, "nan", "inf", "x", 1e300],
        "--out": ["", "/dev/null", "/dev/null/x", "/proc/x", "x" * 300],
        "--data": ["nowhere.npz", "", ".", "/dev/zero"],
        "--scenarios": ["nowhere", "/dev/null", ""],
        "--no-such-option": [1],
    }
    for option, values in pairs.items():
        for value in values:
            shown = f"{len(value)} letters" if isinstance(value, str) and len(value) > 50 else repr(value)
            yield Case(kind, f"run {option} {shown}", _option(option, value))
    for text in (
        "network.n_users",
        "=3",
        "network.n_user=3",
        "network.n_users=",
        "network.n_users=three",
        "network.n_users=.inf",
        "network.n_users=1e18",
        "network.n_users=[3",
        "network.n_users.x=3",
        "privacy.epsilon_total=.inf",
        "privacy.epsilon_total=.nan",
        "reward.alpha=!!python/object:os.x {}",
        "name=x",
        "data.source=mars",
        "network=3",
    ):
        yield Case(kind, f"run --set {text[:40]}", _option("--set", text))
    alone = ["run", "--scenario", "demo_small", "--selector", "random", "--seed", 0, "--out", "/dev/null/x"]
    folders = {
        "with a source that has none": ["--data-folder", "x"],
        "of an empty name": ["--data-folder", "", "--scenario", "mnist_small_authors"],
        "beside --data": ["--data-folder", "x", "--data", "y"],
    }
    for what, given in folders.items():
        action = _command(*alone, *given)
        yield Case(kind, f"run --data-folder {what}", action, ("older",))
    arguments: dict[str, list[Any]] = {
        "no such command": ["fly"],
        "run without options": ["run"],
        "compare with one run": ["compare", "x"],
        "compare with folders that do not exist": ["compare", "nowhere", "elsewhere"],
        "compare with itself as a file": ["compare", "README.md", "README.md"],
        "explain of an unknown figure": ["explain", "pause_v2_fig88"],
        "explain without a figure": ["explain"],
        "explain of an empty name": ["explain", ""],
        "check of no file": ["check", "--config", "nowhere.yaml"],
        "check of a folder": ["check", "--config", "config"],
        "check of an empty name": ["check", "--config", ""],
        "check of another kind of file": ["check", "--config", "config/claims.yaml"],
        "check of a document": ["check", "--config", "README.md"],
        "plan of no file": ["plan", "--config", "nowhere.yaml"],
        "claims of no file": ["claims", "--file", "nowhere.yaml"],
        "claims of another kind of file": ["claims", "--file", "config/studies.yaml"],
        "claims without results": ["claims", "--config", "config/demo.yaml", "--results", "/nowhere"],
    }
    for what, given in arguments.items():
        yield Case(kind, what, _command(*given), seconds=20)


def _command(*arguments: object) -> Callable[[Path], object]:
    return lambda folder: command(*arguments)


def _option(option: str, value: object) -> Callable[[Path], None]:
    def action(folder: Path) -> None:
        name = str(value)
        below = option == "--out" and name and not name.startswith("/")
        run(folder / "out", option, folder / name if below else value)

    return action


# --- the environment ---------------------------------------------------------------------------------


def environment() -> Iterator[Case]:
    """Full disks, limits, permissions, streams and locales."""
    kind = "The environment"
    yield Case(kind, "a disk that is full at the last write", _full("rounds.parquet"), ("same command",))
    yield Case(kind, "a disk that is full at the summary", _full("summary.json"), ("same command",))
    yield Case(kind, "files of at most 2 kB", _limited, ("same command",))
    yield Case(kind, "an output folder that is a file", _out(lambda out: out.write_text("x")), ("out",))
    yield Case(kind, "an output folder that is a pipe", _out(os.mkfifo), ("out",))
    yield Case(
        kind,
        "an output folder that is a link to nothing",
        _out(lambda out: out.symlink_to("no/such/folder")),
        ("out",),
    )
    yield Case(
        kind, "an output folder below a file", lambda folder: run(store() / "digits.npz" / "out"), ("out",)
    )
    yield Case(kind, "another process in the folder", _held, ("job",))
    for mask in (0o077, 0):
        yield Case(kind, f"umask {mask:03o}", _with_umask(mask), (), RAN)
    for variables in (
        {"LC_ALL": "C"},
        {"LC_ALL": "xx_YY.UTF-8"},
        {"HOME": "/nowhere"},
        {"COLUMNS": "1"},
        {"TERM": "dumb"},
    ):
        (name, value), *_ = variables.items()
        yield Case(kind, f"{name}={value}", _with_variables(variables), (), RAN)
    yield Case(kind, "a folder with spaces and umlauts", lambda folder: run(folder / "a b ü 猫"), (), RAN)


def _full(name: str) -> Callable[[Path], None]:
    """The disk is full when a result is written."""
    store()

    def action(folder: Path) -> None:
        import pausefl.federated.job as module

        @contextmanager
        def full(*paths: Path) -> Iterator[tuple[Path, ...]]:
            with replacing(*paths) as staged:
                staged[[path.name for path in paths].index(name)].symlink_to("/dev/full")
                yield staged

        before, module.replacing = module.replacing, full  # type: ignore[attr-defined]
        try:
            run(folder / "out")
        finally:
            module.replacing = before  # type: ignore[attr-defined]
            assert not any((folder / "out").glob("*.parquet"))

    return action


def _limited(folder: Path) -> None:
    store()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
    try:
        run(folder / "out", "--save-every", 0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert not any((folder / "out").glob("*.parquet"))


def _out(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def action(folder: Path) -> None:
        make(folder / "out")
        run(folder / "out")

    return action


def _held(folder: Path) -> None:
    from pausefl.files import locked

    (folder / "out").mkdir()
    with locked(folder / "out", print):
        run(folder / "out")


def _with_umask(mask: int) -> Callable[[Path], None]:
    def action(folder: Path) -> None:
        before = os.umask(mask)
        try:
            run(folder / "out")
        finally:
            os.umask(before)

    return action


def _with_variables(variables: dict[str, str]) -> Callable[[Path], None]:
    def action(folder: Path) -> None:
        before = {name: os.environ.get(name) for name in variables}
        os.environ.update(variables)
        try:
            run(folder / "out")
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})

    return action


def all_cases() -> Iterator[Case]:
    """Every case of this file."""
    yield from raw_files()
    yield from image_folders()
    yield from prepared_files()
    yield from results()
    yield from states()
    yield from options()
    yield from environment()


assert sys.platform == "linux", "devices and limits of the trial are those of Linux"
