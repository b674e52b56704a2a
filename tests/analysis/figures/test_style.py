"""Styles of selectors, and figures that come out the same every time."""

from __future__ import annotations

import json
import math
import resource
from pathlib import Path

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib.cbook import is_math_text
from matplotlib.figure import Figure
from matplotlib.image import imread

from pausefl.analysis.figures import panels, style
from pausefl.selectors import LABELS, SELECTORS, look_of


def a_figure() -> Figure:
    with style.theme():
        figure, axes = style.new_figure()
        axes.plot([0, 1], [0, 1], label="a")
        axes.plot([0.5], [0.5], "o")
        axes.fill_between([0, 1], [0, 0], [1, 2])
        axes.set_ylabel("ε")
        figure.legend(loc="outside lower center")
    return figure


#: Of the package's selectors: other tests register selectors of their own.
LOOKS = {name: look_of(name) for name in SELECTORS if SELECTORS.find(name).__module__.startswith("pausefl.")}


def test_every_selector_has_its_own_look() -> None:
    assert len({(one.marker, one.hollow) for one in LOOKS.values()}) == len(LOOKS)
    assert len({one.color for one in LOOKS.values()}) == len({LABELS[name] for name in LOOKS}) == len(LOOKS)


def test_saved_twice_is_the_same(tmp_path: Path) -> None:
    metadata = {"seeds": [1, 0], "code_hash": "ä"}
    for name in ("first.v9", "second.v9"):
        style.save(a_figure(), tmp_path / "new" / name, metadata)
    for suffix in (".pdf", ".png", ".json"):
        first, second = (tmp_path / "new" / f"{name}.v9{suffix}" for name in ("first", "second"))
        assert first.read_bytes() == second.read_bytes(), suffix
    assert json.loads(first.read_text(encoding="utf-8")) == metadata
    pdf = (tmp_path / "new" / "first.v9.pdf").read_bytes()
    assert b"CreationDate" not in pdf
    assert b"pausefl" in pdf
    assert imread(tmp_path / "new" / "first.v9.png").shape[1] == style.DPI * style.COLUMN_WIDTH


def test_user_settings_do_not_reach_a_figure(tmp_path: Path) -> None:
    style.save(a_figure(), tmp_path / "plain", {})
    with mpl.rc_context({"lines.linewidth": 9.0, "savefig.dpi": 10, "xtick.color": "red"}):
        style.save(a_figure(), tmp_path / "odd", {})
    assert (tmp_path / "plain.png").read_bytes() == (tmp_path / "odd.png").read_bytes()


def test_numbers_are_in_the_sidecar_and_in_a_table_for_latex(tmp_path: Path) -> None:
    numbers = pd.DataFrame(
        {"Selector": ["PAUSE", "R & D"], "Leakage (ε)": [1.23456, math.inf], "To 50.0 % (s)": [math.nan, 7.0]}
    )
    style.save(a_figure(), tmp_path / "x", {"kind": "k"}, numbers)
    rows = json.loads((tmp_path / "x.json").read_text("utf-8"))["numbers"]
    assert rows == [
        {"Selector": "PAUSE", "Leakage (ε)": 1.23456, "To 50.0 % (s)": None},
        {"Selector": "R & D", "Leakage (ε)": None, "To 50.0 % (s)": 7.0},
    ]
    assert style.to_latex(numbers.replace(math.inf, math.nan)).splitlines() == [
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"Selector & Leakage ($\varepsilon$) & To 50.0 \% (s) \\",
        r"\midrule",
        r"PAUSE & 1.235 & -- \\",
        r"R \& D & -- & 7 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_a_full_disk_leaves_no_part_of_a_figure(tmp_path: Path) -> None:
    style.save(a_figure(), tmp_path / "whole", {})
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    for size in [path.stat().st_size for path in tmp_path.glob("whole.*") if path.suffix != ".json"]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size - 1, usual[1]))
        try:
            with pytest.raises(OSError, match="File too large"):
                style.save(a_figure(), tmp_path / "cut", {})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert not [path for path in tmp_path.iterdir() if not path.name.startswith("whole.")]


@pytest.mark.parametrize("title", [r"\frac for $5 and $6", r"$\nonsense$"])
def test_a_title_is_shown_as_it_is(title: str) -> None:
    with style.theme():
        figure, _ = panels.new_panels((1, 2), 2)
        style.add_title(figure, title)
        figure.draw_without_rendering()
        assert not is_math_text(figure.get_suptitle())
