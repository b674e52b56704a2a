"""Pictures of the report: complete, small, and sharp at any zoom."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from pausefl.analysis.figures import style
from pausefl.errors import PauseflError
from pausefl.reproduction.report.pictures import beside, within


def saved(folder: Path, name: str, words: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with style.theme():
        drawn, axes = style.new_figure()
        axes.plot([0, 1], [0, 1])
        axes.set_title(f"{words} $\\alpha^2$")
    style.save(drawn, folder / name, {})
    return folder / f"{name}.png"


def test_a_picture_within_the_page_is_sharp_at_twice_its_size(tmp_path: Path) -> None:
    path = saved(tmp_path, "one", "Accuracy")
    picture = within(path)
    assert (picture.width, picture.height) == (420, 348)
    with Image.open(io.BytesIO(base64.b64decode(picture.source.partition(",")[2]))) as image:
        assert image.size == (2 * picture.width, 2 * picture.height)
    assert picture == within(path)


def test_a_picture_beside_the_page_is_named_from_there_and_leads_to_its_pdf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = saved(Path("results/figures"), "one", "Accuracy")
    picture = beside(path)
    assert (picture.width, picture.height) == (420, 348)
    assert (picture.source, picture.file) == ("../figures/one.png", "../figures/one.pdf")
    path.with_suffix(".pdf").unlink()
    assert beside(path).file == "../figures/one.png"


@pytest.mark.parametrize("read", [within, beside])
def test_a_file_that_is_no_figure_is_named(read: Callable[[Path], object], tmp_path: Path) -> None:
    (tmp_path / "x.png").write_text("<svg>", "utf-8")
    with pytest.raises(PauseflError, match=r"x\.png is no figure of the workflow\. Delete it"):
        read(tmp_path / "x.png")
