"""LaTeX typesets the tables of every kind, with the preamble of docs/files.md."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pausefl.figures.kinds import plot
from pausefl.figures.style import to_latex as of_numbers
from pausefl.results import archive, privacy_table, tables
from pausefl.results.compare import write_means
from pausefl.results.markdown import to_latex
from pausefl.runs.collected import runs_in
from pausefl.runs.run import rounds_of
from pausefl.selectors import LABELS
from pausefl.settings import Experiment, load_scenario

ROOT = Path(__file__).parents[3]
NAME = "mnist_large_iid_r1_as_run"
PREAMBLE = re.search(r"```latex\n(.*)\n", (ROOT / "docs" / "files.md").read_text("utf-8"))


def typeset(made: dict[str, str], folder: Path) -> None:
    """Put all tables into one document."""
    lines = [r"\documentclass{article}", PREAMBLE[1] if PREAMBLE else "", r"\begin{document}"]
    for name, text in made.items():
        (folder / f"{name}.tex").write_text(text, "utf-8")
        lines += [rf"\input{{{name}}}", ""]
    (folder / "all.tex").write_text("\n".join([*lines, r"\end{document}"]), "utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    said = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, said[-3000:]
    assert "Missing character" not in said


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex")
def test_latex_typesets_tables_of_every_kind(tmp_path: Path) -> None:
    scenario, folder = (
        load_scenario(NAME, ROOT / "config" / "scenarios"),
        ROOT / "results" / "published" / NAME,
    )
    runs = {Experiment(folder.name, one.selector, one.seed): one for one in runs_in(folder)}
    rounds = rounds_of(runs.values())
    by_selector = tables.by_selector(
        tables.summarise(rounds, {key: run.summary for key, run in runs.items()})
    )
    write_means([run.folder for run in runs.values() if run.folder][:3], tmp_path / "means.tex")
    shown = plot("accuracy_vs_time", rounds, scenario).numbers
    assert shown is not None
    assert scenario.privacy is not None
    grid = np.linspace(0, 1e-17, 1205)
    made = {
        "summary": to_latex(tables.to_markdown(by_selector, LABELS, scenario.protects)),
        "privacy": to_latex(
            privacy_table.to_markdown(privacy_table.privacy_table(runs, scenario.privacy), LABELS)
        ),
        "authors": to_latex(archive.to_markdown(archive.beside_ours(rounds, scenario), LABELS)),
        "means": (tmp_path / "means.tex").read_text("utf-8"),
        "figure": of_numbers(shown),
        "curve": of_numbers(pd.DataFrame({"beta_mean": grid, "a^b ~ {\\x} & 100 % of $": "50 % #1", "n": 3})),
        "study": of_numbers(pd.read_csv(folder.parent / "studies/bsfl_fig4/shares.csv")),
    }
    typeset(made, tmp_path)
