"""The tables of a scenario's runs, as files for programs (CSV) and for people (Markdown, LaTeX)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pandas as pd

from pausefl.results import authors_archive, privacy_table, tables
from pausefl.results.fairness import fairness_of
from pausefl.results.markdown import to_latex
from pausefl.runs.run import KEY, Run, rounds_of
from pausefl.selectors import LABELS
from pausefl.settings import Experiment, Scenario


def write_tables(
    kinds: Iterable[str],
    scenario: Scenario,
    runs: Mapping[Experiment, Run],
    notes: Iterable[str],
    folder: Path,
) -> None:
    """Write ``runs.csv``, with a line for each run, and the tables of some ``kinds``.

    A table of our runs has ``notes`` at its top, in bold.
    """
    summaries, rounds = {key: run.summary for key, run in runs.items()}, rounds_of(runs.values())
    by_run = tables.summarise(rounds, summaries)
    by_run["fairness"] = [
        fairness_of(scenario, runs[Experiment(*key)].rounds["selection"])["fairness"]
        for key in by_run[KEY].itertuples(index=False)
    ]
    head = "".join(f"**{note}**\n\n" for note in notes if note)

    def summary() -> tuple[pd.DataFrame, str]:
        table = tables.by_selector(by_run)
        origins = "; ".join(sorted({one["dataset_origin"] for one in summaries.values()}))
        text = tables.to_markdown(table, LABELS, scenario.protects)
        return table, f"{head}{text}\nData: {origins}.\n"

    def privacy() -> tuple[pd.DataFrame, str]:
        assert scenario.privacy is not None
        table = privacy_table.privacy_table(runs, scenario.privacy)
        return table, head + privacy_table.to_markdown(table, LABELS)

    def authors() -> tuple[pd.DataFrame, str]:
        table = authors_archive.beside_ours(rounds, scenario)
        return table, authors_archive.to_markdown(table, LABELS)

    make: dict[str, Callable[[], tuple[pd.DataFrame, str]]]
    make = {"summary": summary, "privacy": privacy, "authors": authors}
    by_run.to_csv(folder / "runs.csv", index=False)
    for kind in kinds:
        table, text = make[kind]()
        table.to_csv(folder / f"{kind}.csv", index=False)
        (folder / f"{kind}.md").write_text(text, encoding="utf-8")
        (folder / f"{kind}.tex").write_text(to_latex(text), encoding="utf-8")
