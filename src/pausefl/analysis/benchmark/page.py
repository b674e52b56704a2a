"""The folder that a benchmark leaves: tables, pictures, and one page that shows them."""

from __future__ import annotations

import base64
import html
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from pausefl.analysis import markdown
from pausefl.analysis.benchmark.comparisons import Measure, compare, measures_of, times_to_targets, unranked
from pausefl.analysis.benchmark.figures import plot_front, plot_ranks
from pausefl.analysis.benchmark.suite import Cell, Suite
from pausefl.analysis.benchmark.training import Failed
from pausefl.analysis.figures.style import save, theme
from pausefl.analysis.formats import interval, number
from pausefl.analysis.table_files import write_table
from pausefl.files import write_text
from pausefl.selectors import LABELS

#: Mark of a selector without a rank.
_MARK = "‡"

#: How to read the pictures, by the beginning of their names.
_READING = {
    "ranks": (
        "Rank 1 is the best; ranks are means over all cells, a world with a law of labels each. A bar joins "
        "selectors whose ranks differ by less than the critical difference of Nemenyi's test at 5 %, so "
        "that chance may explain their order."
    ),
    "front": (
        "To the left is faster, below spends less. Filled and bold: on the front, since in 80 % of "
        "bootstrap samples of seeds no other is at least as good in all of time, budget and accuracy. "
        "Lines hold 95 % of the samples. Grey: without a rank, since it knows true latencies, or its losses "
        "are noise. Who misses the target under half of the seeds is left out."
    ),
}

_STYLE = """body{font:16px/1.5 system-ui,sans-serif;
max-width:76rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;font-size:.78rem;display:block;overflow-x:auto;margin:1rem 0}
td,th{padding:.2rem .45rem;border-bottom:1px solid #ddd;text-align:right;white-space:nowrap}
td:first-child,th:first-child{text-align:left}img{max-width:100%}.failed{color:#a00;white-space:pre-wrap}"""


def write_page(
    rows: pd.DataFrame,
    suite: Suite,
    reference: str,
    folder: Path,
    left_out: Mapping[Cell, str] | None = None,
    failed: Sequence[Failed] = (),
) -> list[Path]:
    """Write tables (CSV, Markdown, LaTeX), pictures (PNG, PDF) and ``index.html``; their paths.

    Parameters
    ----------
    rows
        Of all runs, as `pausefl.analysis.benchmark.comparisons.row_of` makes them.
    suite
        What was compared.
    reference
        The selector that the others are compared with.
    folder
        Where the files go.
    left_out
        Cells that the reference cannot run in, and why.
    failed
        Jobs that failed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    table = compare(rows, suite, reference)
    rows.to_csv(folder / "runs.csv", index=False)
    table.to_csv(folder / "comparisons.csv", index=False)
    counts = counts_to_markdown(table, suite, reference)
    write_text(folder / "summary.md", counts)
    texts = {f"{LABELS[reference]} against each of the others": counts}
    for name, measured in measures_of(suite).items():
        for labels in suite.labels:
            mine = table[(table["measure"] == name) & (table["labels"] == labels)]
            if len(mine):
                text = to_markdown(mine, suite, measured, reference, unranked(rows))
                write_table(mine, text, folder / f"{name}_{labels}")
                texts[f"{measured.title}, {suite.labels[labels]}"] = text
    times = times_to_targets(rows)
    times.to_csv(folder / "times.csv", index=False)
    for labels, title in suite.labels.items():
        own = times[times["labels"] == labels]
        if len(own):
            texts[f"Time to other targets, {title}"] = text = times_to_markdown(own, suite)
            write_text(folder / f"times_{labels}.md", text)
    pictures = _draw(rows, suite, reference, folder)
    write_text(folder / "index.html", _html(suite, reference, rows, texts, pictures, left_out or {}, failed))
    return sorted(path for path in folder.iterdir() if path.is_file())


def to_markdown(
    table: pd.DataFrame, suite: Suite, measured: Measure, reference: str, marked: set[str]
) -> str:
    """A measure under one law of labels: a row a selector, a column a world; with a note.

    Bold: better than the reference in this world after Holm's correction.
    """
    worlds = [world for world in suite.worlds if world in set(table["world"])]
    records = []
    for selector in dict.fromkeys(table["selector"]):
        cells = table[table["selector"] == selector].set_index("world")
        mark = f" {_MARK}" if selector in marked else ""
        records.append(
            {"Selector": LABELS[selector] + mark}
            | {
                suite.worlds[world].title: _cell(cells.loc[world], measured) if world in cells.index else "–"
                for world in worlds
            }
        )
    value = "the median over seeds, where one that misses the target is later than all others"
    note = (
        f"{measured.title}: {value if measured.column.startswith('seconds') else 'the mean over seeds'}. In"
        f" brackets {'the ratio to' if measured.ratio else 'the difference from'} {LABELS[reference]} under"
        f" the same seed, with its 95 % interval. **Bold**: better than {LABELS[reference]} with p < 0.05"
        " after Holm's correction for the number of selectors."
    )
    if any(selector in marked for selector in table["selector"]):
        note += f" {_MARK} has no rank: it knows true latencies, or its losses are noise."
    return markdown.of_records(records, note)


def times_to_markdown(times: pd.DataFrame, suite: Suite) -> str:
    """Median times to several targets under one law of labels: a row a selector, a column a world."""
    targets, records = sorted(times["target"].unique()), []
    for selector, own in times.groupby("selector", sort=False):
        records.append({"Selector": LABELS[str(selector)]})
        for world, one in suite.worlds.items():
            medians = own[own["world"] == world].sort_values("target")["median_s"]
            shown = ("late" if math.isinf(value) else number(value, ".0f") for value in medians)
            records[-1][one.title] = ", ".join(shown) or "–"
    note = (
        f"Median simulated seconds to {', '.join(f'{100 * one:g}' for one in targets)} % accuracy; late:"
        " half of the seeds miss it."
    )
    return markdown.of_records(records, note)


def counts_to_markdown(table: pd.DataFrame, suite: Suite, reference: str) -> str:
    """In how many of the cells where both ran a selector is better and worse than each other one."""
    measures, records = measures_of(suite), []
    theirs = table.merge(table.loc[table["selector"] == reference, ["measure", "world", "labels"]])
    for selector, own in theirs[theirs["selector"] != reference].groupby("selector", sort=False):
        record = {"Against": LABELS[str(selector)]}
        for name, cells in own.groupby("measure", sort=False):
            verdicts = list(cells["verdict"])  # of the other one
            better, worse = verdicts.count("worse"), verdicts.count("better")
            record[measures[str(name)].title] = f"{better} better, {worse} worse, of {len(verdicts)}"
        records.append(record)
    note = (
        f"In how many cells, a world with a law of labels each, {LABELS[reference]} is better or worse than"
        " another selector with p < 0.05 after Holm's correction for the number of selectors; in the others"
        " the difference may be chance."
    )
    return markdown.of_records(records, note)


def _cell(row: pd.Series, measured: Measure) -> str:
    """``**87.1** (+1.2, 0.3 to 2.1)``; how many seeds reached the target, if not all did."""
    value = measured.factor * row["mean"]
    late = measured.column.startswith("seconds") and math.isinf(value)
    text = "late" if late else number(value, f".{measured.digits}f")
    if row["n_reached"] < row["n_seeds"]:
        text += f", {row['n_reached']} of {row['n_seeds']} seeds"
    if row["verdict"] == "better":
        text = f"**{text}**"
    if math.isnan(row["gap"]):
        return text
    form, factor = (".2f", 1.0) if measured.ratio else ("+.1f", measured.factor)
    gap = number(factor * row["gap"], form)
    if row["bound"]:
        return f"{text} ({row['bound']} {gap})"
    if math.isnan(row["low"]):  # of one seed
        return f"{text} ({gap})"
    return f"{text} ({gap}, {interval(factor * row['low'], factor * row['high'], form)})"


def _draw(rows: pd.DataFrame, suite: Suite, reference: str, folder: Path) -> dict[str, Path]:
    """Write the pictures; their files by what they show."""
    about = {"benchmark": suite.name, "reference": reference, "seeds": list(suite.seeds)}
    drawn = dict[str, Path]()
    with theme():
        figures: dict[str, tuple[str, Any]] = {
            "ranks": ("Mean ranks over worlds and laws of labels", plot_ranks(rows, suite, reference))
        }
        for labels, title in suite.labels.items():
            words = f"Time against budget spent, {title}"
            figures[f"front_{labels}"] = (words, plot_front(rows, suite, labels, reference))
    for name, (words, figure) in figures.items():
        if figure is not None:
            save(figure, folder / name, about)
            drawn[words] = folder / f"{name}.png"
    return drawn


def _html(
    suite: Suite,
    reference: str,
    rows: pd.DataFrame,
    texts: Mapping[str, str],
    pictures: Mapping[str, Path],
    left_out: Mapping[Cell, str],
    failed: Sequence[Failed],
) -> str:
    """One page with everything, in one file."""
    from markdown_it import MarkdownIt

    render = MarkdownIt("commonmark").enable("table").render
    worlds = "".join(
        f"<li><b>{html.escape(one.title)}</b>: {html.escape(one.law)}.</li>" for one in suite.worlds.values()
    )
    problems = [
        f"{suite.worlds[cell.world].title}, {suite.labels[cell.labels]}: not run. {why}"
        for cell, why in left_out.items()
    ] + [f"{one.run.scenario}, seed {one.run.seed}: failed. {one.why}" for one in failed]
    listed = "".join(f"<li>{html.escape(one)}</li>" for one in problems)
    trouble = f'<h2>What is missing</h2><ul class="failed">{listed}</ul>' if problems else ""
    drawings = "".join(
        f"<h2>{html.escape(words)}</h2><img alt='{html.escape(words)}'"
        f" src='data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}'>"
        f"<p>{_READING[path.stem.partition('_')[0]]}</p>"
        for words, path in pictures.items()
    )
    opening, *others = (f"<h2>{html.escape(title)}</h2>{render(text)}" for title, text in texts.items())
    tables = "".join(others)
    n_seeds, n_mine = rows["seed"].nunique(), int((rows["selector"] == reference).sum())
    title = f"{LABELS[reference]} in the selection benchmark"
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{html.escape(title)}</title>"
        f"<meta name='viewport' content='width=device-width'><style>{_STYLE}</style>"
        f"<h1>{html.escape(title)}</h1><p>{html.escape(suite.title)}. {LABELS[reference]} has {n_mine} runs,"
        f" paired by seed with {len(rows) - n_mine} runs of {rows['selector'].nunique() - 1} other selectors,"
        f" over {n_seeds} seeds. Worlds:</p><ul>{worlds}</ul>{trouble}{opening}{drawings}{tables}</html>\n"
    )
