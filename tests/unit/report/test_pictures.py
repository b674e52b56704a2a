"""Pictures of the report: complete, small, and sharp at any zoom."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from pausefl.errors import PauseflError
from pausefl.figures import style
from pausefl.figures.kinds import plot
from pausefl.registry.selectors import LABELS
from pausefl.report.pictures import Figures, pixels
from pausefl.settings import Scenario

HREF = "{http://www.w3.org/1999/xlink}href"


def unpacked(packed: str) -> str:
    return gzip.decompress(base64.b64decode(packed)).decode()


def saved(folder: Path, name: str, words: str) -> Path:
    with style.theme():
        figure, axes = style.new_figure()
        axes.plot([0, 1], [0, 1])
        axes.set_title(f"{words} $\\alpha^2$")
    style.save(figure, folder / name, {})
    return folder / f"{name}.svg"


def test_a_figure_and_the_letters_of_the_page_are_what_was_drawn(tmp_path: Path) -> None:
    path, figures = saved(tmp_path, "one", "Accuracy"), Figures()
    picture = figures.add(path)
    letters = json.loads(unpacked(figures.letters()))
    drawing = ElementTree.fromstring(unpacked(picture.svg))
    there = {element.get("id") for element in drawing.iter()} | set(letters)
    used = {str(element.get(HREF))[1:] for element in drawing.iter() if element.get(HREF)}
    assert used <= there
    assert not {element.get("id") for element in drawing.iter()} & set(letters)
    original = ElementTree.parse(path).getroot()
    for tag in ("path", "use", "clipPath"):
        name = f"{{http://www.w3.org/2000/svg}}{tag}"
        n_letters = len(letters) if tag == "path" else 0
        assert len(drawing.findall(f".//{name}")) + n_letters == len(original.findall(f".//{name}")) > 0
    assert (picture.width, picture.height) == (336, round(2.9 * 96))
    assert drawing.get("width") is drawing.get("height") is None
    assert drawing.get("viewBox") == original.get("viewBox")
    assert picture.pdf == "data:application/pdf;base64," + base64.b64encode(
        path.with_suffix(".pdf").read_bytes()
    ).decode("ascii")


def test_a_page_has_every_letter_once(tmp_path: Path) -> None:
    figures = Figures()
    for name, words in (("one", "Accuracy"), ("two", "Accuracy"), ("three", "Accuracyz")):
        figures.add(saved(tmp_path, name, words))
    more = Figures()
    more.add(tmp_path / "one.svg")
    assert len(json.loads(unpacked(figures.letters()))) == len(json.loads(unpacked(more.letters()))) + 1


def test_a_letter_of_another_font_file_stays_in_its_figure(tmp_path: Path) -> None:
    path, figures = saved(tmp_path, "one", "Accuracy"), Figures()
    figures.add(path)
    text = path.read_text("utf-8")
    letter = re.search(r'<path id="([^"]+-[0-9a-f]+)" d="M ', text)
    assert letter is not None
    path.write_text(text.replace(letter[0], f"{letter[0]}1"), "utf-8")
    drawing = ElementTree.fromstring(unpacked(figures.add(path).svg))
    assert {element.get("id") for element in drawing.iter()} & set(
        json.loads(unpacked(figures.letters()))
    ) == {letter[1]}


def test_a_dense_figure_is_small(demo: Scenario, tmp_path: Path) -> None:
    """As many selectors, seeds and rounds as any published figure, with the noise of MNIST."""
    random, t = np.random.default_rng(0), np.arange(1, 1501)
    runs = []
    for i, selector in enumerate([*LABELS][:8]):
        for seed in range(3):
            mean = 0.95 - 0.85 * np.exp(-t / (50 + 20 * i)) + 0.002 * seed
            run = {"scenario": "demo_small", "selector": selector, "seed": seed, "round": t}
            accuracy = mean + random.normal(0, 0.003, t.size)
            run |= {"accuracy": accuracy, "elapsed_s": (1 + i / 9) * t, "leakage_max": t / 10}
            runs.append(pd.DataFrame(run))
    style.save(plot("accuracy_vs_time", pd.concat(runs), demo).figure, tmp_path / "dense", {})
    picture = Figures().add(tmp_path / "dense.svg")
    assert len(picture.svg) + len(picture.pdf) < 300_000


def test_a_file_that_is_no_figure_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.svg").write_text("<svg>", "utf-8")
    with pytest.raises(PauseflError, match=r"x\.svg is no figure of the workflow\. Delete it"):
        Figures().add(tmp_path / "x.svg")


def test_a_picture_of_pixels_has_a_palette(tmp_path: Path) -> None:
    shades = np.linspace(0, 255, 90_000).reshape(300, 300)
    image = np.stack([shades, shades.T, np.full_like(shades, 90)], axis=-1).astype(np.uint8)
    Image.fromarray(image).save(tmp_path / "x.png")
    picture = pixels(tmp_path / "x.png")
    (tmp_path / "y.png").write_bytes(base64.b64decode(picture.source.split(",")[1]))
    with Image.open(tmp_path / "y.png") as few:
        assert few.mode == "P"
        assert few.size == (picture.width, picture.height) == (300, 300)
        off = np.abs(np.asarray(few.convert("RGB"), np.int64) - image)
    assert off.mean() < 8
