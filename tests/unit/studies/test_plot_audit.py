"""The figure of the privacy audit shows its table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.colors import same_color

from pausefl.studies import audit, load_studies

ROOT = Path(__file__).parents[3]
STUDIES = load_studies(ROOT / "config" / "studies.yaml", ROOT / "config" / "scenarios")


def table() -> pd.DataFrame:
    seen = {"one coordinate": 1, "one coordinate, two rounds": 1, "update of 2 coordinates": 2}
    rows = [
        {"mechanism": mechanism, "observation": name, "n_coordinates": n, "epsilon": epsilon}
        | {"claimed": epsilon * (n if mechanism == "coordinate" else 1), "audited": 0.8 * epsilon}
        for mechanism in ("coordinate", "vector")
        for epsilon in (0.1, 1.0, 4.0)
        for name, n in seen.items()
    ]
    return pd.DataFrame(rows).assign(ceiling=7.0, violated=False)


def test_bounds_are_beside_claims_and_nothing_is_left_out() -> None:
    shown = table()
    shown.loc[0, "audited"] = 0.0
    figure = audit.plot_bounds(shown)
    coordinate, vector, sizes = figure.axes
    assert [axes.get_title() for axes in (coordinate, vector)] == [
        "“coordinate” protects each coordinate",
        "“vector” protects each update",
    ]
    dots = [line for line in coordinate.lines if line.get_marker() not in ("None", "x")]
    points = np.concatenate([line.get_xydata() for line in dots])
    assert len(points) == 9
    floor = coordinate.get_ylim()[0]
    assert points[:, 1].min() == floor
    assert coordinate.get_yticklabels()[0].get_text() == "0"
    (most,) = [line for line in coordinate.lines if len(set(line.get_ydata())) == 1 and line not in dots]
    assert most.get_ydata()[0] == 7
    claimed, audited, *_ = sizes.lines
    assert (list(claimed.get_ydata()), list(audited.get_ydata())) == ([1, 2], [0.8, 0.8])
    assert "ε = 1" in sizes.get_title()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "One coordinate",
        "One coordinate, two rounds",
        "Update of 2 coordinates",
    ]


def test_a_violation_is_crossed_in_red() -> None:
    shown = table()
    shown.loc[[1, 2], ["audited", "violated"]] = 6.0, True
    figure = audit.plot_bounds(shown)
    (crosses,) = [line for line in figure.axes[0].lines if line.get_marker() == "x"]
    assert len(crosses.get_xydata()) == 2
    assert same_color(crosses.get_color(), "#D00000")
    assert "VIOLATED: more than claimed" in [text.get_text() for text in figure.legends[0].get_texts()]
