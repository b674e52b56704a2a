"""Names of lines beside the axes, at the heights where the lines end."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

#: Characters of a line of a name. In points: its height, the space between names, where they begin, and the
#: sample of its line before it.
_WIDTH, _HEIGHT, _SPACE, _INDENT, _SAMPLE = 22, 7.6, 1.5, 21, (4, 11, 18)

#: Marks where a word may be broken.
_HERE = "\x1f"

#: Matplotlib's identifier of what is written here.
_NAME = "name of a line"

Floats = NDArray[np.float64]


def name_ends(axes: Axes, lines: Iterable[Line2D]) -> None:
    """Write the labels of lines to the right of their axes, each at the height where its line ends.

    Before each is a sample of the line. Labels that would overlap are moved apart, and the figure grows if
    they need it. Names that were written before are replaced.
    """
    from matplotlib.lines import Line2D
    from matplotlib.transforms import Affine2D, ScaledTranslation

    figure = axes.get_figure(root=True)
    assert figure is not None
    for artist in axes.findobj(lambda one: one.get_gid() == _NAME):
        artist.remove()
    figure.draw_without_rendering()  # finds the height of the axes
    ends = sorted(((_end(axes, line), line) for line in lines), key=lambda one: one[0])
    words = [broken(str(line.get_label()), _WIDTH) for _, line in ends]
    sizes = np.array([_SPACE + _HEIGHT * (1 + name.count("\n")) for name in words])
    height = axes.bbox.height * 72 / figure.dpi
    if (missing := sizes.sum() - height) > 0:
        figure.set_figheight(figure.get_figheight() + missing / 72)
        height += missing
    heights = moved_apart(height * np.array([end for end, _ in ends]), sizes, height)
    corner: Any = ScaledTranslation(1, 0, axes.transAxes)  # type: ignore[arg-type]
    place: dict[str, Any] = {"transform": Affine2D().scale(1 / 72) + figure.dpi_scale_trans + corner}
    for y, name, (_, line) in zip(heights, words, ends, strict=True):
        sample = Line2D([], [])
        sample.update_from(line)
        sample.set(data=(_SAMPLE, [y] * 3), markevery=[1], clip_on=False, label="_", gid=_NAME, **place)
        axes.add_artist(sample)
        axes.text(_INDENT, y, name, fontsize="small", va="center", linespacing=0.9, gid=_NAME, **place)


def broken(text: str, width: int) -> str:
    """A text in lines of at most ``width`` characters, broken at spaces.

    Only a word that is longer is broken: at a space that would hold it together, else after ``_``, ``.`` or
    ``/``, as in names of settings, else anywhere.
    """

    def opened(found: re.Match[str]) -> str:
        word = found[0].replace("\u00a0", " ") if len(found[0]) > width else found[0]
        return " ".join(
            re.sub(r"([_./])(?=\w)", rf"\1{_HERE} ", one) if len(one) > width else one
            for one in word.split(" ")
        )

    filled = textwrap.fill(re.sub(r"[^ ]+", opened, text), width)
    return filled.replace(f"{_HERE} ", "").replace(_HERE, "")


def names_in(axes: Axes) -> list[Line2D]:
    """The lines whose names stand beside their axes."""
    named = any(text.get_gid() == _NAME for text in axes.texts)
    return [line for line in axes.lines if named and not str(line.get_label()).startswith("_")]


def moved_apart(heights: Floats, sizes: Floats, top: float) -> Floats:
    """Increasing heights (n,) of labels, moved as far as their sizes (n,) need, between 0 and a top."""
    middles = np.cumsum(sizes) - sizes / 2
    wanted = heights - middles
    up, down = np.maximum.accumulate(wanted), np.minimum.accumulate(wanted[::-1])[::-1]
    places: Floats = np.clip((up + down) / 2, 0, top - sizes.sum()) + middles
    return places


def _end(axes: Axes, line: Line2D) -> float:
    """Where a line ends within its axes, as a share of their height."""
    x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
    seen = y[np.isfinite(y) & (x <= axes.get_xlim()[1])]
    to_share = axes.transData + axes.transAxes.inverted()
    return float(np.clip(to_share.transform((0, seen[-1]))[1], 0, 1)) if len(seen) else 0.0
