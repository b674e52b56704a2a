"""Every kind of figure looks as it did: drawn from fixed data, and compared with small pictures.

Words are compared as words, all else as pixels, since letters differ from font to font: pictures are drawn
without any text, and compared in blocks of pixels, with a tolerance for rounding. They were made with the
Matplotlib of ``constraints.txt``; another one may place steps and margins a pixel off.

After a change that is meant, look at the pictures that this writes::

    .venv/bin/python tests/unit/figures/test_visual.py
"""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.lines import Line2D
from matplotlib.text import Text
from numpy.typing import NDArray

from pausefl.data.partition import Partition
from pausefl.figures import (
    audit,
    generalization,
    kinds,
    optimality_gap,
    partition,
    regret,
    searches,
    selection,
    style,
)
from pausefl.privacy import make_schedule
from pausefl.settings import scenario as config
from pausefl.settings.studies import Generalization, Graphs
from pausefl.studies.generalization import run as evaluate
from pausefl.studies.graphs import first
from pausefl.studies.growth import fits
from pausefl.studies.regret import kept_rounds

ROOT = Path(__file__).parents[3]
BASELINE = Path(__file__).parent / "baseline"

#: Dots an inch of the pictures, and pixels a side of the blocks whose mean colours are compared.
DPI, BLOCK = 72, 4

#: A block differs if a channel (0 to 1) does by more than this.
TOLERANCE = 0.06

#: Lines of single users and instances are no wider, in points.
HAIRLINE = 0.5

Pixels = NDArray[np.float64]

N_ROUNDS, N_USERS = 40, 12
SPEED = {"pause": 0.5, "sa_pause": 0.7, "random": 0.9, "fedavg": 1.1}


def scenario() -> config.Scenario:
    whole = config.load_scenario("demo_small", ROOT / "config" / "scenarios")
    return dataclasses.replace(whole, training=dataclasses.replace(whole.training, n_rounds=N_ROUNDS))


def rounds() -> pd.DataFrame:
    """Runs of four selectors and two seeds, made of sines and exponentials."""
    t, frames, privacy = np.arange(1, N_ROUNDS + 1), [], scenario().privacy
    assert privacy is not None
    for i, (selector, latency) in enumerate(SPEED.items()):
        for seed in range(2):
            # The later the selector, the more often users of small numbers.
            places = [((0.618 * k + 0.37 * j) % 1) ** (1 + i) for k in t for j in range(3)]
            drawn = (N_USERS * np.array(places)).astype(int).reshape(N_ROUNDS, 3)
            everyone = list(range(N_USERS))
            selections = [everyone if selector == "fedavg" else sorted({*users}) for users in drawn.tolist()]
            counts = np.zeros((N_ROUNDS, N_USERS), np.int64)
            for k, users in enumerate(selections):
                counts[k:, users] += 1
            rise = (0.9 - 0.1 * i) * (1 - np.exp(-t / (4 + 3 * i))) - 0.07 * seed + 0.02 * np.sin(t + i)
            accuracy = 0.1 + rise * (np.exp(-t / 25) if selector == "fedavg" else 1)
            frames.append(
                pd.DataFrame(
                    {
                        "scenario": "demo_small",
                        "selector": selector,
                        "seed": seed,
                        "round": t,
                        "selection": selections,
                        "elapsed_s": latency * t * (1 + 0.1 * seed),
                        "accuracy": accuracy.clip(0, 1),
                        "loss": 2.2 - 2 * accuracy,
                        "leakage_max": make_schedule(privacy).spent(counts).max(axis=1),
                    }
                )
            )
    return pd.concat(frames)


def of_kind(kind: str) -> Figure:
    return kinds.draw(kind, rounds(), scenario(), ["Diverged: Random (seed 1 in round 30)."])


def regret_figure() -> Figure:
    t = kept_rounds(10_000)
    means = {"random": 2.0 * t, "pause": 300 * np.log(t) + 10, "bsfl": 60 * t**0.5}
    runs = [
        pd.DataFrame({"selector": selector, "seed": seed, "round": t, "regret": (0.7 + 0.6 * seed) * mean})
        for selector, mean in means.items()
        for seed in range(2)
    ]
    table = pd.concat(runs, ignore_index=True)
    return regret.draw(table, fits(table), "Regret")


def gap_figure() -> Figure:
    t = np.arange(1, 61)
    optimum = np.where(t <= 5, np.inf, 1.0)
    runs = [
        pd.DataFrame({"selector": selector, "seed": seed, "round": t, "optimum": optimum}).assign(
            gap=size * (1 + seed) * (1 + 0.2 * np.sin(t / 5)), elapsed_s=latency * t
        )
        for selector, size, latency in (("pause", 0, 1), ("sa_pause", 1, 2), ("sa_vanilla", 3, 3))
        for seed in range(2)
    ]
    return optimality_gap.draw(pd.concat(runs), "What annealing loses")


def races_figure() -> Figure:
    j = np.unique(np.geomspace(1, 1000, 30).astype(int))
    curves = [
        pd.DataFrame({"temperature_divisor": divisor, "selector": selector, "iteration": j})
        .assign(
            median=level / np.log(j + 2), low=0.4 * level / np.log(j + 2), high=1.6 * level / np.log(j + 2)
        )
        .assign(example=level * (1.5 + 0.2 * np.sin(j)) / np.log(j + 2), ahead=0.5 + 0.4 * j / 1000)
        for divisor in (1.0, 30.0)
        for selector, level in (("alsa", 1.0), ("sa_bsfl", 2.5))
    ]
    return searches.draw_races(pd.concat(curves), "A race")


def costs_figure() -> Figure:
    sizes = np.geomspace(10, 100_000, 5)
    times = [
        pd.DataFrame({"selector": "pause", "n_users": sizes, "median_s": 1e-6 * sizes}).assign(
            iteration_s=np.nan
        ),
        pd.DataFrame({"selector": "sa_pause", "n_users": sizes, "median_s": 1e-3 + 1e-7 * sizes}).assign(
            iteration_s=1e-7 + 1e-8 * np.log(sizes)
        ),
        pd.DataFrame({"selector": "sa_vanilla", "n_users": sizes, "median_s": 4e-4 + 3e-8 * sizes}).assign(
            iteration_s=5e-8
        ),
    ]
    return searches.draw_costs(pd.concat(times), "Costs")


def audit_figure() -> Figure:
    seen = {"one coordinate": 1, "one coordinate, two rounds": 1, "update of 2": 2, "update of 4": 4}
    rows = [
        {"mechanism": mechanism, "observation": name, "n_coordinates": n, "epsilon": epsilon}
        | {"claimed": epsilon * (n if mechanism == "coordinate" else 1), "audited": (0.9 - 0.2 * i) * epsilon}
        for mechanism in ("coordinate", "vector")
        for epsilon in (0.1, 1.0, 4.0)
        for i, (name, n) in enumerate(seen.items())
    ]
    table = pd.DataFrame(rows).assign(ceiling=7.0, violated=False)
    table.loc[0, ["audited", "violated"]] = 1.0, True
    return audit.draw(table, "An audit")


def partition_figure() -> Figure:
    sizes = np.arange(60, 12, -4)
    labels = np.arange(sizes.sum()) % 10
    labels[::3] = np.repeat(np.arange(12), sizes)[::3] % 10
    shares = tuple(np.split(np.arange(sizes.sum()), sizes.cumsum()[:-1]))
    users = Partition(shares, np.ones(len(sizes)), np.empty(0, np.int64))
    with style.theme():
        return partition.draw_partition(users, labels, 10, "Made up")


def generalization_figure() -> Figure:
    return generalization.draw(evaluate(Generalization("", 8, 2, (1, 2, 4), 50)), 0.25, "Reward")


FIGURES: dict[str, Callable[[], Figure]] = {
    **{kind: lambda kind=kind: of_kind(kind) for kind in kinds.KINDS},  # type: ignore[misc]
    "regret": regret_figure,
    "gap": gap_figure,
    "selection": lambda: selection.draw(rounds(), scenario(), "Selection alone"),
    "races": races_figure,
    "graphs": lambda: searches.draw_graphs(*first(Graphs("", 5, 2, 1)), "Small graphs"),
    "costs": costs_figure,
    "audit": audit_figure,
    "partition": partition_figure,
    "generalization": generalization_figure,
}


def words_of(figure: Figure) -> list[str]:
    """All that is written on a figure but the labels of ticks, which depend on the room there is."""
    words = [figure.get_suptitle(), figure.get_supylabel(), *[text.get_text() for text in figure.texts]]
    legends = list(figure.legends)
    for axes in figure.axes:
        words += [axes.get_title(where) for where in ("left", "center", "right")]
        words += [axes.get_xlabel(), axes.get_ylabel(), *[text.get_text() for text in axes.texts]]
        legends += [legend] if (legend := axes.get_legend()) is not None else []
    for legend in legends:
        words += [legend.get_title().get_text(), *[text.get_text() for text in legend.get_texts()]]
    return [word for word in words if word]


def wordless(figure: Figure) -> bytes:
    """The figure as a PNG file without any text, whose room is what one font takes everywhere."""
    for text in figure.findobj(Text):
        text.set_visible(False)
        text.set_in_layout(False)
        text.set_text("")  # type: ignore[attr-defined]
        text.set_fontfamily("DejaVu Sans")  # type: ignore[attr-defined]
    for axes in figure.findobj(Axes):  # the inset ones, too
        axes.tick_params(which="both", labelbottom=False, labelleft=False, labelright=False)  # type: ignore[attr-defined]
        for axis in (axes.xaxis, axes.yaxis):  # type: ignore[attr-defined]
            axis.get_offset_text().set_visible(False)
    file = io.BytesIO()
    with style.theme():
        figure.savefig(file, dpi=DPI, metadata={"Software": "pausefl"})
    return file.getvalue()


def blocks(png: bytes | Path) -> Pixels:
    """Mean colours (rows, columns, 3) of the blocks of a picture, which is filled up with white."""
    image = imread(io.BytesIO(png) if isinstance(png, bytes) else png)[..., :3].astype(np.float64)
    rows, columns = (-(-n // BLOCK) for n in image.shape[:2])
    whole = np.ones((rows * BLOCK, columns * BLOCK, 3))
    whole[: image.shape[0], : image.shape[1]] = image
    return np.asarray(whole.reshape(rows, BLOCK, columns, BLOCK, 3).mean(axis=(1, 3)))


def n_different(name: str, figure: Figure) -> float:
    """How many blocks of a figure differ from its baseline; all, if it has another size."""
    new, old = blocks(wordless(figure)), blocks(BASELINE / f"{name}.png")
    if new.shape != old.shape:
        return np.inf
    return float((np.abs(new - old).max(axis=2) > TOLERANCE).sum())


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_looks_and_reads_as_it_did(name: str) -> None:
    figure = FIGURES[name]()
    words = words_of(figure)
    assert words == json.loads((BASELINE / "words.json").read_text("utf-8"))[name]
    assert n_different(name, figure) == 0


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_in_another_font_passes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(style.THEME, "font.family", "DejaVu Sans Mono")
    monkeypatch.setitem(style.THEME, "mathtext.fontset", "dejavusans")
    test_a_figure_looks_and_reads_as_it_did(name)


def visible_lines(figure: Figure) -> list[tuple[Axes, Line2D]]:
    """Lines and rows of dots, but for hairlines, which are many, and what lies under the same data."""
    found = []
    for axes in figure.axes:
        seen: set[bytes] = set()
        for line in axes.lines:
            y = np.asarray(line.get_ydata(), float)
            if np.isfinite(y).any() and line.get_linewidth() > HAIRLINE and y.tobytes() not in seen:
                found.append((axes, line))
            seen.add(y.tobytes())
    return found


WITH_LINES = [name for name in FIGURES if name not in ("graphs", "partition")]


@pytest.mark.parametrize("name", WITH_LINES)
def test_swapped_colours_fail(name: str) -> None:
    figure = FIGURES[name]()
    one, *others = [line for _, line in visible_lines(figure)]
    other = next(line for line in others if not same_color(line.get_color(), one.get_color()))
    mine, its = one.get_color(), other.get_color()
    one.set_color(its)
    other.set_color(mine)
    assert n_different(name, figure) > 0


@pytest.mark.parametrize("name", WITH_LINES)
def test_a_missing_line_fails(name: str) -> None:
    lost = []
    for i in range(len(visible_lines(FIGURES[name]()))):
        figure = FIGURES[name]()
        axes, line = visible_lines(figure)[i]
        limits = axes.get_xlim(), axes.get_ylim()
        line.remove()
        axes.set(xlim=limits[0], ylim=limits[1])
        if n_different(name, figure) == 0:
            lost.append((axes.get_ylabel(), line))
    assert not lost


@pytest.mark.parametrize("name", [name for name in FIGURES if name != "graphs"])
def test_a_missing_legend_fails(name: str) -> None:
    figure = FIGURES[name]()
    legends = [
        *figure.legends,
        *[legend for axes in figure.axes if (legend := axes.get_legend()) is not None],
    ]
    legends[0].remove()
    assert n_different(name, figure) > 0
    assert words_of(figure) != words_of(FIGURES[name]())


@pytest.mark.parametrize("name", ["graphs", "partition", "accuracy_vs_time", "signal_vs_rounds"])
def test_missing_areas_bars_and_edges_fail(name: str) -> None:
    figure = FIGURES[name]()
    axes = figure.axes[0]
    (axes.collections or axes.patches)[0].remove()
    assert n_different(name, figure) > 0


def write() -> None:
    """Write all baselines anew."""
    BASELINE.mkdir(exist_ok=True)
    words = {}
    for name, make in FIGURES.items():
        figure = make()
        words[name] = words_of(figure)
        (BASELINE / f"{name}.png").write_bytes(wordless(figure))
    text = json.dumps(words, indent=1, ensure_ascii=False)
    (BASELINE / "words.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    write()
