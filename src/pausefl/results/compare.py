"""Runs side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pandas as pd

from pausefl.errors import ConfigError, PauseflError, suggest
from pausefl.files import write_text
from pausefl.registry.figures import protected
from pausefl.results.differences import first_differences
from pausefl.results.groups import OWN, Finished, collected, grouped, names_of
from pausefl.results.markdown import aligned, to_latex
from pausefl.results.outcomes import WINDOW, evaluations
from pausefl.results.tables import by_selector, summarise, to_markdown
from pausefl.settings import Experiment
from pausefl.settings.changes import differing, flattened
from pausefl.settings.scenario import as_of_today

#: Keys of a summary that say how a run went, not what was run.
_COURSE = (
    *("timings_s", "peak_memory_bytes", "diverged_round", "resumed_from_rounds", "refused_updates"),
    *("rounds_made", "ended_by", "trained_by", "class_accuracy", "code"),
)
#: Digests that say no more than that the rounds differ, which is reported by round.
_REPORTED = ("digests.rounds.parquet", "digests.ledger.parquet")
#: Digests that follow from seed and settings, which a comparison of many runs tells.
_FOLLOWING = ("digests.partition", "digests.data set")


def compare(*folders: Path) -> str:
    """Runs side by side: settings that differ, results, and of two the first round that differs.

    Raises
    ------
    PauseflError
        If a folder is neither that of a finished run nor the name of a published one, or there is but one.
    """
    if len(folders) < 2:
        raise PauseflError("one run has nothing to be compared with: name the folders of two or more")
    runs = [Finished.read(folder) for folder in folders]
    heads = _heads(len(runs))
    settings = [_settings(run.summary) for run in runs]
    keys = [key for key in _differing(settings) if key not in _REPORTED]
    results = [_results(run.summary, run.rounds) for run in runs]
    named = [f"{head}: {folder}" for head, folder in zip(heads, folders, strict=True)]
    if len(runs) > 2:
        shown = [key for key in keys if key not in ("selector", "seed", "code_hash", *_FOLLOWING)]
        text = [*named, "", "Settings, code and machine that differ:", *_by_value(heads, settings, shown)]
        return "\n".join([*text, "", "Results:", *_by_run(heads, runs, results)])
    rows = [(key, *_apart(key, *(str(values.get(key, "–")) for values in settings))) for key in keys]
    measured = [(key, value, results[1][key]) for key, value in results[0].items()]
    return "\n".join(
        [
            *named,
            "",
            "Settings, code and machine that differ:",
            *[f"  {line}" for line in aligned([("", *heads), *rows] if rows else [("nothing",)])],
            "",
            "Results:",
            *[f"  {line}" for line in aligned([("", *heads), *measured])],
            "",
            _first_difference(runs[0].rounds, runs[1].rounds),
        ]
    )


def write_means(folders: Iterable[Path], out: Path) -> None:
    """Write means and standard deviations over seeds, one row for each selector in each settings.

    The columns are those of ``results/tables/SCENARIO/summary.csv``, or ``.md`` or ``.tex``.

    Raises
    ------
    PauseflError
        If a folder has no finished run, or ``out`` ends otherwise.
    """
    if (suffix := out.suffix.lower()) not in (".csv", ".md", ".tex"):
        raise ConfigError(
            f"a table cannot be written as '{out.name}'. {suggest(suffix, ('.csv', '.md', '.tex'))}"
        )
    groups = grouped(map(Finished.read, folders))
    labels = {name: group.label for name, group in zip(names_of(groups), groups, strict=True)}
    rounds = collected(groups)
    summaries = {
        Experiment(OWN, name, run.seed): run.summary
        for name, group in zip(labels, groups, strict=True)
        for run in group.runs
    }
    table = by_selector(summarise(rounds, summaries))
    text = to_markdown(table, labels, protected(groups[0].scenario))
    if suffix == ".csv":
        text = table.assign(selector=table["selector"].map(labels)).to_csv(index=False)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, to_latex(text) if suffix == ".tex" else text)


def _heads(n: int) -> list[str]:
    """What ``n`` runs are called: letters, or numbers if these do not suffice."""
    return list(ascii_uppercase[:n]) if n <= len(ascii_uppercase) else [str(i + 1) for i in range(n)]


def _differing(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Keys in which some settings differ, in the order in which they come."""
    return list(dict.fromkeys(key for other in settings[1:] for key in differing(settings[0], other)))


def _by_value(
    heads: Sequence[str], settings: Sequence[Mapping[str, Any]], keys: Iterable[str]
) -> Iterator[str]:
    """Yield a line for each value of each key, with the runs that have it."""
    rows = []
    for key in keys:
        having: dict[str, list[str]] = {}
        for head, values in zip(heads, settings, strict=True):
            having.setdefault(str(values.get(key, "–")), []).append(head)
        rows += [
            (key if i == 0 else "", value, " ".join(own)) for i, (value, own) in enumerate(having.items())
        ]
    yield from (f"  {line}" for line in aligned(rows or [("nothing",)]))


def _by_run(
    heads: Sequence[str], runs: Sequence[Finished], results: Sequence[Mapping[str, str]]
) -> Iterator[str]:
    """Yield the lines of a table with a row a run; a result that no run has is left out."""
    shown = [key for key in results[0] if any(one[key] != "–" for one in results)]
    titles = [key.partition(",")[0] for key in shown]
    rows = [
        (head, run.selector, str(run.seed), *(one[key] for key in shown))
        for head, run, one in zip(heads, runs, results, strict=True)
    ]
    yield from (f"  {line}" for line in aligned([("", "selector", "seed", *titles), *rows], "llr"))
    yield f"  Accuracy and loss are means of at most {WINDOW} last rounds."


def _settings(summary: Mapping[str, Any]) -> dict[str, Any]:
    """What was run, by dotted key."""
    what = {key: value for key, value in summary.items() if key not in _COURSE}
    return flattened(what | {"scenario": as_of_today(summary["scenario"])})


def _apart(key: str, *texts: str) -> Iterable[str]:
    """Values of a key as text: of instructions, those that the other machine lacks."""
    if key != "hardware.instructions":
        return texts
    ours, theirs = (set(text.split()) for text in texts)
    return [" ".join(sorted(only)) or "–" for only in (ours - theirs, theirs - ours)]


def _results(summary: Mapping[str, Any], rounds: pd.DataFrame) -> dict[str, str]:
    """Results of a run in words."""
    accuracy, loss = (evaluations(rounds, column) for column in ("accuracy", "loss"))
    final = f"mean of at most {WINDOW} last rounds"
    return {
        "rounds": str(len(rounds)),
        f"accuracy (%), {final}": f"{100 * accuracy[-1]:.2f}" if len(accuracy) else "–",
        f"loss, {final}": f"{loss[-1]:.4f}" if len(loss) else "–",
        "simulated time (s)": f"{rounds['elapsed_s'].iloc[-1]:.2f}",
        "largest leakage (ε)": f"{rounds['leakage_max'].iloc[-1]:.4f}",
        "diverged in round": str(summary["diverged_round"] or "–"),
        "wall-clock time (s)": f"{summary['timings_s']['total']:.1f}",
        "peak memory (MB)": f"{summary['peak_memory_bytes'] / 1e6:.0f}",
    }


def _first_difference(first: pd.DataFrame, second: pd.DataFrame) -> str:
    """The first round in which each column differs."""
    found = first_differences(first, second)
    if not found:
        return f"Their first {min(len(first), len(second))} rounds are identical."
    listed = [f"{column} in round {row + 1}" for column, row in sorted(found.items(), key=itemgetter(1))]
    return f"First difference: {', '.join(listed)}."
