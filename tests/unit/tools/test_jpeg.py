"""A folder of JPEG files made from files in the format of the official CIFAR-10."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
import typer
from PIL import Image
from raw_data import raw, source, write_cifar10
from typer.testing import CliRunner

from pausefl.data.sources import prepare
from pausefl.errors import PauseflError
from pausefl.tools import jpeg

ROOT = Path(__file__).parents[3]

#: Labels of ten images of each of the six batches; the second batch has them in another order.
LABELS = [list(range(10)), list(reversed(range(10))), *[list(range(10))] * 4]


@pytest.fixture
def official(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gradients of random colours, in batches of ten, with their own checksums."""
    rng = np.random.default_rng(0)
    colours = rng.integers(40, 120, (6, 10, 3, 1, 1))
    pixels = colours + np.arange(32) * 2 + np.arange(32)[:, None]
    write_cifar10(tmp_path, pixels.astype(np.uint8).reshape(6, 10, 3072), LABELS, monkeypatch)
    return tmp_path


def test_each_class_has_its_images_in_the_order_of_the_batches(official: Path) -> None:
    data = prepare(source("cifar10"), raw(official))
    folder = jpeg.write(official)
    names = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*.jpg"))]
    assert len(names) == 60
    assert names[:2] == ["test/airplane/0000.jpg", "test/automobile/0000.jpg"]
    second_cat = data.train_x[10:20][6].transpose(1, 2, 0)  # of the second batch, in falling order
    stream = io.BytesIO()
    Image.fromarray(second_cat).save(stream, "JPEG", quality=75, subsampling=2)
    assert (folder / "train/cat/0001.jpg").read_bytes() == stream.getvalue()


def test_the_files_are_encoded_as_those_of_the_published_runs(official: Path) -> None:
    """Standard tables of quality 75 (T.81, Annex K, halved), and colours at half resolution."""
    with Image.open(jpeg.write(official) / "test/ship/0000.jpg") as image:
        assert image.quantization[0][:8] == [8, 6, 5, 8, 12, 20, 26, 31]
        assert image.quantization[1][:8] == [9, 9, 12, 24, 50, 50, 50, 50]
        assert [sampling[1:3] for sampling in image.layer] == [(2, 2), (1, 1), (1, 1)]


def test_the_data_are_nearly_the_official_ones(official: Path) -> None:
    before = prepare(source("cifar10"), raw(official))
    jpeg.write(official)
    after = prepare(source("cifar10"), raw(official, cifar10="cifar10"))
    assert list(after.test_y) == list(range(10))
    assert not np.array_equal(after.test_x, before.test_x)
    assert np.abs(after.test_x.astype(int) - before.test_x).mean() < 3


def test_the_command_compares_the_digest(official: Path, tmp_path: Path) -> None:
    arguments = [str(official), "--published"]
    app = typer.Typer()
    app.command()(jpeg.main)
    done = CliRunner().invoke(app, [*arguments, str(ROOT / "results/published")])
    assert done.exit_code == 0
    assert "other data" in done.output
    assert jpeg.published_digest(ROOT / "results/published") in done.output
    (ours,) = re.findall("prepared data, SHA-256: ([0-9a-f]{64})", done.output)
    line = tmp_path / "mine" / jpeg.SCENARIO / "runs.jsonl"
    line.parent.mkdir(parents=True)
    line.write_text(json.dumps({"digests": {"data set": ours}}))
    (official / "cifar10").rename(official / "before")
    done = CliRunner().invoke(app, [*arguments, str(tmp_path / "mine")])
    assert "the same data" in done.output


def test_nothing_is_overwritten_and_nothing_made_of_damaged_files(official: Path) -> None:
    jpeg.write(official)
    with pytest.raises(PauseflError, match="there already"):
        jpeg.write(official)
    batch = official / "cifar-10-batches-py" / "data_batch_3"
    batch.write_bytes(batch.read_bytes()[:-1])
    with pytest.raises(PauseflError, match="data_batch_3: corrupt, or not the official file"):
        jpeg.write(official)


def test_all_published_runs_on_cifar10_read_the_folder() -> None:
    lines = [
        json.loads(line)
        for path in (ROOT / "results/published").glob("*/runs.jsonl")
        for line in path.read_text("utf-8").splitlines()
    ]
    runs = [run for run in lines if run["scenario"]["data"]["source"] == "cifar10"]
    assert runs
    assert all("re-encoded images" in run["dataset_origin"] for run in runs)
    known = {run["digests"]["data set"] for run in runs if "digests" in run}
    assert known == {jpeg.published_digest(ROOT / "results/published")}


def test_official_checksums_are_listed_with_the_raw_data() -> None:
    from pausefl.data._torchvision import datasets

    page = (ROOT / "data/raw/README.md").read_text("utf-8")
    cifar10 = datasets.CIFAR10
    official = dict([*cifar10.train_list, *cifar10.test_list])
    official[cifar10.meta["filename"]] = cifar10.meta["md5"]
    official["cifar-10-python.tar.gz"] = cifar10.tgz_md5
    official |= dict(datasets.MNIST.resources) | {
        f"Fashion {name}": md5 for name, md5 in datasets.FashionMNIST.resources
    }
    listed = dict(re.findall(r"^\| `?([^|`]+?)`? \| `([0-9a-f]{32})` \|$", page, re.MULTILINE))
    assert listed == official
    assert jpeg.published_digest(ROOT / "results/published") in page
