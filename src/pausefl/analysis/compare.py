"""Finished runs side by side, and means over their seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from pausefl.analysis.differences import first_differences
from pausefl.analysis.groups import grouped, named_runs, rounds_of_groups
from pausefl.analysis.markdown import aligned, to_latex
from pausefl.analysis.run_report import AVERAGED, results_of
from pausefl.analysis.tables import by_selector, summarise, to_markdown
from pausefl.errors import ConfigError, PauseflError, suggest
from pausefl.files import write_text
from pausefl.runs.collected import runs_in
from pausefl.runs.run import Run, selector_version
from pausefl.selectors.settings import CONSTANT_KEYS
from pausefl.settings.dotted_keys import flattened

#: Keys of a summary that, beside the settings, can bear on numbers.
_CIRCUMSTANCES = ("trained", "losses", "code_hash", "device", "n_threads", "versions", "hardware")


def compare(*folders: Path) -> str:
    """Runs side by side: settings that differ, results, and of two the first round that differs.

    A folder of collected runs stands for all of them. `PauseflError` if a folder has no finished run, or
    there is but one.
    """
    several = [run for folder in folders for run in runs_in(folder)]
    if len(several) < 2:
        raise PauseflError("one run has nothing to be compared with: name the folders of two or more")
    letters = (
        ascii_uppercase if len(several) <= len(ascii_uppercase) else map(str, range(1, len(several) + 1))
    )
    runs = dict(zip(letters, several, strict=False))
    results = [
        {"": letter, "selector": run.selector, "seed": str(run.seed)} | results_of(run)
        for letter, run in runs.items()
    ]
    columns = [key for key in results[0] if any(one[key] != "–" for one in results)]
    table = aligned([columns, *([one[key] for key in columns] for one in results)], "llr")
    parts = [
        [f"{letter}: {run.name}" for letter, run in runs.items()],
        ["Settings, code and machine that differ:", *_indented(aligned(_different(runs) or [["nothing"]]))],
        ["Results:", *_indented([*table, AVERAGED])],
        [_first_difference(*several)] if len(several) == 2 else [],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def write_means(folders: Iterable[Path], out: Path) -> None:
    """Write means and standard deviations over seeds, one row for each selector in each settings.

    The columns are those of ``results/tables/SCENARIO/summary.csv``, or ``.md`` or ``.tex``. `PauseflError`
    if a folder has no finished run, or ``out`` ends otherwise.
    """
    suffix = table_suffix(out)
    groups = grouped(run for folder in folders for run in runs_in(folder))
    labels = {group.name: group.label for group in groups}
    summaries = {name: run.summary for name, run in named_runs(groups).items()}
    table = by_selector(summarise(rounds_of_groups(groups), summaries))
    text = to_markdown(table, labels, groups[0].scenario.protects)
    if suffix == ".csv":
        text = table.assign(selector=table["selector"].map(labels)).to_csv(index=False)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, to_latex(text) if suffix == ".tex" else text)


def table_suffix(out: Path) -> str:
    """``.csv``, ``.md`` or ``.tex``, as a table's file ends; `ConfigError` if it ends otherwise."""
    if (suffix := out.suffix.lower()) not in (".csv", ".md", ".tex"):
        raise ConfigError(
            f"a table cannot be written as '{out.name}'. {suggest(suffix, ('.csv', '.md', '.tex'))}"
        )
    return suffix


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _different(runs: Mapping[str, Run]) -> list[list[str]]:
    """Each key in which runs differ, and its values, each with the letters of the runs that have it."""
    conditions = {letter: _conditions(run) for letter, run in runs.items()}
    codes = {(run.selector, run.summary.get("code_hash")) for run in runs.values()}
    one_code_each = len(codes) == len({selector for selector, _ in codes})
    rows = []
    for key in dict.fromkeys(key for one in conditions.values() for key in one):
        letters: dict[str, list[str]] = {}
        for letter, one in conditions.items():
            if key in CONSTANT_KEYS and key not in one:  # its selector does not look at it
                continue
            value = one.get(key)
            letters.setdefault("–" if value is None else str(value), []).append(letter)
        if len(letters) > 1 and not (one_code_each and key == "code_hash"):  # each selector has its own
            if key == "hardware.instructions":
                letters = _without_common(letters)
            values = (f"{value} ({' '.join(having)})" for value, having in letters.items())
            rows.append([key, ", ".join(values)])
    return rows


def _without_common(lists: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Lists of words without the words that all have, each with what it had."""
    common = set.intersection(*(set(words.split()) for words in lists))
    return {" ".join(w for w in words.split() if w not in common) or "–": had for words, had in lists.items()}


def _conditions(run: Run) -> dict[str, Any]:
    """Settings, code and machine of a run, by dotted key; selector and seed stand with the results."""
    around = {key: run.summary[key] for key in _CIRCUMSTANCES if key in run.summary}
    long = {
        "data digest": run.summary.get("digests", {}).get("data set", "–")[:8],
        "selector source": selector_version(run),
    }
    return run.settings | long | flattened(around)


def _first_difference(one: Run, other: Run) -> str:
    """The first round in which each column of two runs differs, in a sentence."""
    found = sorted(first_differences(one.rounds, other.rounds).items(), key=itemgetter(1))
    if not found:
        return f"Their first {min(len(one.rounds), len(other.rounds))} rounds are identical."
    return f"First difference: {', '.join(f'{column} in round {row + 1}' for column, row in found)}."
