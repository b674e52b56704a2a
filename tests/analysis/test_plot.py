"""Figures of one's own runs: the library's `plot` and ``pausefl plot``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from typer.testing import CliRunner

import pausefl
from pausefl.analysis.figures.kinds import FIGURES
from pausefl.analysis.figures.names import broken
from pausefl.cli import app
from pausefl.errors import ConfigError, PauseflError
from pausefl.selectors import LABELS, SELECTORS

Runs = dict[str, pausefl.Run]


def mine(history: pausefl.History, rng: np.random.Generator) -> Any:
    return history.candidates()[: history.n_selected]


@pytest.fixture(scope="module")
def runs() -> Runs:
    """Short runs, most of the small demo: also without training, and of a selector of one's own."""
    demo = pausefl.change(pausefl.load_scenario("demo_small"), {"training.n_rounds": 12})
    small = pausefl.change(demo, {"privacy.epsilon_total": 20.0})
    linear = pausefl.change(
        pausefl.load_scenario("bsfl_linear_iid"), {"training.n_rounds": 3, "training.time_horizon_s": None}
    )
    return {
        "pause 0": pausefl.run(demo, "pause", 0),
        "pause 1": pausefl.run(demo, "pause", 1),
        "random": pausefl.run(demo, "random", 1),
        "untrained": pausefl.run(demo, "fedavg", 0, train=False),
        "unprotected": pausefl.run(demo, "fedavg_no_privacy", 0, train=False),
        "small": pausefl.run(small, "pause", 0),
        "mine": pausefl.run(demo, mine, 0),
        "linear": pausefl.run(linear, "bsfl", 0),
    }


def names_of(figure: Any) -> list[str]:
    """Names beside the first axes."""
    texts = sorted(text.get_text() for text in figure.axes[0].texts)
    return [" ".join(text.replace("\u00a0", " ").split()) for text in texts]


@pytest.mark.parametrize("kind", FIGURES)
def test_every_kind_of_figure_is_made_of_runs(kind: str, runs: Runs) -> None:
    figure = pausefl.plot([runs["pause 0"], runs["pause 1"], runs["random"], runs["mine"]], kind)
    assert figure.axes
    assert "mine" not in SELECTORS
    assert "mine" not in LABELS


def rule(name: str) -> type[pausefl.Selector]:
    def select(self: pausefl.Selector, history: pausefl.History, rng: np.random.Generator) -> Any:
        return mine(history, rng)

    return type(name, (pausefl.Selector,), {"__call__": select, "name": name})


def texts_cut(figure: Any) -> list[str]:
    """Texts of a figure that go beyond its edges; an axis hides the ticks beyond its ends."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    ticks = [
        tick for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for tick in axis.get_ticklabels()
    ]
    hidden = {tick for tick in ticks if len(tick.get_text()) < 6}
    texts = [one for one in figure.findobj(Text) if one.get_visible() and one.get_text().strip()]
    boxes = [(one, one.get_window_extent(canvas.get_renderer())) for one in texts if one not in hidden]
    width, height = figure.bbox.size
    inside = {
        one for one, box in boxes if min(box.x0, box.y0) > -1 and box.x1 < width + 1 and box.y1 < height + 1
    }
    return [one.get_text() for one, _ in boxes if one not in inside]


@pytest.mark.parametrize("kind", [*FIGURES, "paired"])
def test_no_text_is_cut_however_long_names_are(kind: str, runs: Runs) -> None:
    long = "looks_at_speeds_and_sizes_of_everyone", "Donaudampfschifffahrtsgesellschaftskapitaen", "W" * 22
    demo = pausefl.change(pausefl.load_scenario("demo_small"), {"training.n_rounds": 12})
    shown = [runs["pause 0"], *(pausefl.run(demo, rule(name), 0) for name in long)]
    figure = pausefl.paired(shown, "mean_round_s").plot() if kind == "paired" else pausefl.plot(shown, kind)
    assert texts_cut(figure) == []
    assert not any(text.get_text().startswith("Ours") for text in figure.findobj(Text))


def test_names_of_settings_are_broken_between_their_words(runs: Runs) -> None:
    demo = pausefl.load_scenario("demo_small")
    slow = pausefl.change(demo, {"training.n_rounds": 12, "network.slow_latency_max": 1.75})
    figure = pausefl.plot([runs["pause 0"], pausefl.run(slow, "pause", 0)], "leakage_vs_time")
    names = [text.get_text() for text in figure.axes[0].texts]
    assert "PAUSE,\nslow_latency_max =\n1.75" in names


@given(st.text(alphabet="ab_./ \u00a0", min_size=1, max_size=80), st.integers(4, 30))
def test_broken_text_keeps_its_characters_and_its_width(text: str, width: int) -> None:
    lines = broken(text, width)
    assert all(len(line) <= width for line in lines.splitlines())
    assert re.sub(r"\s", "", lines) == re.sub(r"\s", "", text)


def test_seeds_are_one_line_and_settings_that_differ_are_named(runs: Runs) -> None:
    figure = pausefl.plot([runs["pause 0"], runs["pause 1"], runs["mine"]], "loss_vs_time")
    assert names_of(figure) == ["Mine, n = 1", "PAUSE"]
    assert figure.axes[0].get_title("left") == "Mean and range of 2 seeds, fewer where stated"
    figure = pausefl.plot([runs["pause 0"], runs["small"]], "leakage_vs_rounds")
    assert names_of(figure) == ["PAUSE, epsilon_total = 20", "PAUSE, epsilon_total = 40"]
    lines = [line for line in figure.axes[0].lines if "PAUSE" in str(line.get_label())]
    assert len({line.get_color() for line in lines}) == len({line.get_marker() for line in lines}) == 2


def test_a_note_on_the_scale_is_true_of_all_runs_or_left_out(runs: Runs) -> None:
    def notes(*shown: pausefl.Run) -> str:
        figure = pausefl.plot(shown, "leakage_vs_rounds")
        return " ".join(" ".join(text.get_text() for text in figure.texts).split())

    demo = pausefl.run(pausefl.load_scenario("demo_small"), "pause", n_rounds=3)
    assert "Demo: small data" in notes(demo)
    assert "Own settings: training.n_rounds = 12" in notes(runs["random"])
    mixed = notes(demo, runs["linear"])
    assert "Demo" not in mixed
    assert "Own settings" not in mixed


@pytest.mark.parametrize(
    ("names", "kind", "message"),
    [
        (["pause 0", "untrained"], "accuracy_vs_time", r"not trained \(--no-train\): FedAvg with privacy"),
        (["linear"], "accuracy_vs_time", "regressions, .*Figures of these runs: loss_vs_time, selections"),
        (["pause 0", "small"], "spending_vs_rounds", "one privacy.epsilon_total, and these have 40.0 or 20"),
        (["pause 0", "pause 0"], "loss_vs_time", "are the same run"),
    ],
)
def test_what_a_figure_cannot_show_is_said(
    names: list[str], kind: str | None, message: str, runs: Runs
) -> None:
    with pytest.raises(PauseflError, match=message):
        pausefl.plot([runs[name] for name in names], kind)


def test_the_command_writes_what_the_suffix_says(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("pause 0", "untrained"):
        runs[name].save(tmp_path / name)
    done = CliRunner().invoke(app, ["plot", "pause 0"])
    assert done.output == "accuracy_vs_time.png\n"
    assert (tmp_path / "accuracy_vs_time.png").read_bytes().startswith(b"\x89PNG")
    # The first that they can have.
    assert CliRunner().invoke(app, ["plot", "pause 0", "untrained"]).output == "leakage_vs_time.png\n"
    arguments = ["plot", "pause 0", "untrained", "--figure", "selections", "--out"]
    for file, content in (("a.pdf", b"%PDF"), ("b/a.svg", b"<?xml"), ("a.tex", rb"\begin{tabular}")):
        assert CliRunner().invoke(app, [*arguments, file]).output == f"{file}\n"
        assert (tmp_path / file).read_bytes().startswith(content)
    with pytest.raises(ConfigError, match=r"'a\.pfd'\. Did you mean 'pdf'\?"):
        pausefl.plot("pause 0", out="a.pfd")
    with pytest.raises(PauseflError, match="nowhere is not a finished run"):
        pausefl.plot(["nowhere"])
