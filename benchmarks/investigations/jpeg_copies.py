r"""A prepared data set of images, encoded as JPEG once more; it shows what JPEG costs in accuracy.

The published runs read CIFAR-10 from JPEG files. What that costs is measured by `authors_code.py`: 1.0 to 2.3
points. A second encoding costs less (1.0 points where the first costs 2.3), since what JPEG takes away is
gone by then: this underestimates. Each image moves by four pixels first, so that JPEG's blocks of 8 x 8
pixels lie elsewhere. Both sets then train the same job:

    python benchmarks/investigations/jpeg_copies.py --data data/prepared/cifar10.npz --out again.npz
    pausefl run --scenario cifar10_small_authors --selector fedavg_no_privacy --rounds 100 \
        --data again.npz --out results/mine/again
"""

from __future__ import annotations

import argparse
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from pausefl.data.dataset import load_dataset


def encoded(images: NDArray[np.uint8], quality: int, shift: int) -> NDArray[np.uint8]:
    """Images of shape (N, 3, height, width) after JPEG, whose blocks begin ``shift`` pixels outside."""
    result = np.empty_like(images)
    for image, place in zip(images, result, strict=True):
        padded = np.pad(image.transpose(1, 2, 0), ((shift, 0), (shift, 0), (0, 0)), mode="edge")
        file = io.BytesIO()
        Image.fromarray(padded).save(file, "JPEG", quality=quality)
        place[:] = np.asarray(Image.open(file))[shift:, shift:].transpose(2, 0, 1)
    return result


def main() -> None:
    """Encode, and print the root mean square difference of the pixels."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="prepared data set")
    parser.add_argument("--out", type=Path, required=True, help="prepared data set to write")
    parser.add_argument("--quality", type=int, default=75, help="JPEG quality, 1 to 95")
    parser.add_argument("--shift", type=int, default=4, help="pixels, 0 to 7")
    arguments = parser.parse_args()

    data = load_dataset(arguments.data)
    splits = {
        name: encoded(getattr(data, name), arguments.quality, arguments.shift)
        for name in ("train_x", "test_x")
    }
    origin = (
        f"{data.origin}; once more as JPEG, quality {arguments.quality}, moved by {arguments.shift} pixels"
    )
    replace(data, **splits, origin=origin).save(arguments.out)
    for name, images in splits.items():
        difference = np.sqrt(np.mean((images.astype(np.float32) - getattr(data, name)) ** 2))
        print(f"{name}: pixels differ by {difference:.2f} of 255 (root mean square)")


if __name__ == "__main__":
    main()
