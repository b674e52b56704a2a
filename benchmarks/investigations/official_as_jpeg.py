"""Makes a folder of JPEG files from the official CIFAR-10, as the published runs were trained on.

``python benchmarks/investigations/official_as_jpeg.py data/raw`` reads the official batches in that folder,
compares their checksums, and writes ``data/raw/cifar10/SPLIT/CLASS/NNNN.jpg``. The images of a class are
numbered in the order of the batches. Then it prepares the data set from the folder, and compares its digest
with that of published runs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from PIL import Image

from pausefl.data.raw_data import prepare
from pausefl.errors import PauseflError
from pausefl.hashing import of_arrays
from pausefl.runs.collected import LINES
from pausefl.settings import DataSettings, RawData

#: Class names of the official labels 0 to 9.
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
#: The scenario of which the first published run names the digest.
SCENARIO = "cifar10_small_iid_r1"
_FOLDER = "cifar10"
#: Colours have half the resolution in both directions; Huffman tables are the standard ones.
_QUALITY, _COLOURS = 75, "4:2:0"
_CIFAR10 = DataSettings(source="cifar10", n_validation=0)


def write(root: Path) -> Path:
    """The folder of JPEG files made from the official files below ``root``.

    Raises
    ------
    PauseflError
        If a file is missing or not the official one, or if the folder is there already.
    """
    data = prepare(_CIFAR10, RawData(root=root, download=False, folders={}))
    folder = root / _FOLDER
    if folder.exists():
        raise PauseflError(f"{folder}: there already; remove it or name another folder of official files")
    for split, images, labels in (
        ("train", data.train_x, data.train_y),
        ("test", data.test_x, data.test_y),
    ):
        for label, name in enumerate(CLASSES):
            place = folder / split / name
            place.mkdir(parents=True)
            for number, image in enumerate(images[labels == label]):
                pixels = np.ascontiguousarray(image.transpose(1, 2, 0))
                Image.fromarray(pixels).save(
                    place / f"{number:04}.jpg", quality=_QUALITY, subsampling=_COLOURS
                )
    return folder


def digest(root: Path) -> str:
    """SHA-256 of the data set prepared from the folder, as the summary of a run has it."""
    data = prepare(_CIFAR10, RawData(root=root, download=False, folders={"cifar10": _FOLDER}))
    return of_arrays((data.train_x, data.train_y, data.test_x, data.test_y))


def published_digest(published: Path) -> str:
    """SHA-256 of the data set that published runs were trained on."""
    with (published / SCENARIO / LINES).open(encoding="utf-8") as lines:
        found: str = json.loads(next(lines))["digests"]["data set"]
    return found


def main(
    root: Annotated[Path, typer.Argument(help="Folder with cifar-10-batches-py in it.")],
    published: Annotated[Path, typer.Option(help="Published results.")] = Path("results/published"),
) -> None:
    """Make a folder of JPEG files from the official CIFAR-10, and compare its digest."""
    try:
        folder = write(root)
        ours, theirs = digest(root), published_digest(published)
    except PauseflError as error:
        typer.secho(f"Error: {error}", fg=typer.colors.RED, err=True)
        raise SystemExit(2) from None
    typer.echo(f"{folder}\nprepared data, SHA-256: {ours}\nof published runs:       {theirs}")
    typer.echo("the same data" if ours == theirs else "other data: compare accuracies, not bits")


if __name__ == "__main__":
    typer.run(main)
