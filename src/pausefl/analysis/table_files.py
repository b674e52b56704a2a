"""The tables of a scenario's runs, as files for programs (CSV) and for people (Markdown, LaTeX)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from pausefl.analysis import measures, privacy_table, tables
from pausefl.analysis.markdown import to_latex
from pausefl.analysis.outcomes import fairness_of
from pausefl.runs.run import KEY, Run, rounds_of
from pausefl.runs.run_id import RunId
from pausefl.selectors import LABELS
from pausefl.settings import Scenario


def write_tables(
    kinds: Iterable[str],
    scenario: Scenario,
    runs: Mapping[RunId, Run],
    notes: Iterable[str],
    folder: Path,
) -> None:
    """Write ``runs.csv``, with a line for each run, and the tables of some kinds.

    Kinds are those of `pausefl.analysis.figures.kinds.TABLES`. A table of our runs has ``notes`` at its top,
    in bold.
    """
    summaries, rounds = {key: run.summary for key, run in runs.items()}, rounds_of(runs.values())
    by_run = tables.summarise(rounds, summaries)
    by_run["fairness"] = [
        fairness_of(scenario, runs[RunId(*key)].rounds["selection"])["fairness"]
        for key in by_run[KEY].itertuples(index=False)
    ]
    head = "".join(f"**{note}**\n\n" for note in notes if note)
    by_run.to_csv(folder / "runs.csv", index=False)
    for kind in kinds:
        if kind in ("speed", "budget"):
            at_time, time_s = measures.of_scenario(rounds, scenario)
            target, there = _middle(at_time), at_time["selector"].tolist()
            first = next((name for name in scenario.selectors if name in there), there[0])
            table = measures.across(at_time, first, target, measures.unranked(at_time))
            text = head + (
                measures.speed_table(table, LABELS, first, time_s, target)
                if kind == "speed"
                else measures.budget_table(table, LABELS)
            )
        elif kind == "privacy":
            assert scenario.privacy is not None
            table = privacy_table.privacy_table(runs, scenario.privacy)
            text = head + privacy_table.to_markdown(table, LABELS, scenario.privacy.accountant)
        else:
            table = tables.by_selector(by_run)
            origins = "; ".join(sorted({one["dataset_origin"] for one in summaries.values()}))
            text = f"{head}{tables.to_markdown(table, LABELS, scenario.protects)}\nData: {origins}.\n"
        write_table(table, text, folder / kind)


def write_table(table: pd.DataFrame, text: str, stem: Path) -> None:
    """Write a table as CSV, and its ``text`` for people as Markdown and LaTeX: the ``stem`` and a suffix."""
    table.to_csv(stem.with_suffix(".csv"), index=False)
    stem.with_suffix(".md").write_text(text, encoding="utf-8")
    stem.with_suffix(".tex").write_text(to_latex(text), encoding="utf-8")


def _middle(runs: pd.DataFrame) -> float:
    """The highest target that most runs reach in time, else the lowest of all."""
    shares = {
        one: runs[f"seconds_to_{measures.in_name(100 * one)}"].notna().mean() for one in measures.MORE_TARGETS
    }
    return max((one for one, share in shares.items() if share > 0.5), default=measures.MORE_TARGETS[0])
