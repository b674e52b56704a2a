"""Finished runs side by side, and means over their seeds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from string import ascii_uppercase

from pausefl.errors import ConfigError, PauseflError, suggest
from pausefl.files import write_text
from pausefl.registry.figures import protected
from pausefl.results.markdown import aligned, to_latex
from pausefl.results.run_report import AVERAGED, results_of
from pausefl.results.tables import by_selector, summarise, to_markdown
from pausefl.runs.collected import runs_in
from pausefl.runs.differences import first_differences
from pausefl.runs.groups import grouped, named_runs, rounds_of_groups
from pausefl.runs.run import Run
from pausefl.settings.changes import flattened

#: Keys of a summary that, beside the settings, can bear on numbers.
_CIRCUMSTANCES = (
    *("trained", "losses", "selector_source", "code_hash", "device", "n_threads"),
    *("versions", "hardware"),
)


def compare(*folders: Path) -> str:
    """Runs side by side: settings that differ, results, and of two the first round that differs.

    A folder of collected runs stands for all of them. `PauseflError` if a folder has no finished run, or
    there is but one.
    """
    runs = [run for folder in folders for run in runs_in(folder)]
    if len(runs) < 2:
        raise PauseflError("one run has nothing to be compared with: name the folders of two or more")
    numbers = [str(i + 1) for i in range(len(runs))]
    heads = numbers if len(runs) > len(ascii_uppercase) else list(ascii_uppercase[: len(runs)])
    results = [
        {"": head, "selector": run.selector, "seed": str(run.seed)} | results_of(run)
        for head, run in zip(heads, runs, strict=True)
    ]
    shown = [key for key in results[0] if any(one[key] != "–" for one in results)]
    return "\n".join(
        [
            *(f"{head}: {run.name}" for head, run in zip(heads, runs, strict=True)),
            "",
            "Settings, code and machine that differ:",
            *(f"  {line}" for line in aligned(list(_different(runs, heads)) or [["nothing"]])),
            "",
            "Results:",
            *(
                f"  {line}"
                for line in aligned([shown, *([one[key] for key in shown] for one in results)], "llr")
            ),
            f"  {AVERAGED}",
            *(["", _first_difference(*runs)] if len(runs) == 2 else []),
        ]
    )


def write_means(folders: Iterable[Path], out: Path) -> None:
    """Write means and standard deviations over seeds, one row for each selector in each settings.

    The columns are those of ``results/tables/SCENARIO/summary.csv``, or ``.md`` or ``.tex``. `PauseflError`
    if a folder has no finished run, or ``out`` ends otherwise.
    """
    if (suffix := out.suffix.lower()) not in (".csv", ".md", ".tex"):
        raise ConfigError(
            f"a table cannot be written as '{out.name}'. {suggest(suffix, ('.csv', '.md', '.tex'))}"
        )
    groups = grouped(run for folder in folders for run in runs_in(folder))
    labels = {group.name: group.label for group in groups}
    summaries = {name: run.summary for name, run in named_runs(groups).items()}
    table = by_selector(summarise(rounds_of_groups(groups), summaries))
    text = to_markdown(table, labels, protected(groups[0].scenario))
    if suffix == ".csv":
        text = table.assign(selector=table["selector"].map(labels)).to_csv(index=False)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, to_latex(text) if suffix == ".tex" else text)


def _different(runs: Sequence[Run], heads: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each key in which runs differ, and its values, each with the runs that have it."""
    all_values = [_conditions(run) for run in runs]
    for key in dict.fromkeys(key for values in all_values for key in values):
        having: dict[str, list[str]] = {}
        for head, values in zip(heads, all_values, strict=True):
            having.setdefault(str(values.get(key, "–")), []).append(head)
        if len(having) > 1:
            # Processors have dozens of instructions in common.
            common = set.intersection(*(set(value.split()) for value in having))
            hidden = common if key == "hardware.instructions" else set()
            texts = {
                value: " ".join(word for word in value.split() if word not in hidden) for value in having
            }
            yield key, ", ".join(f"{texts[value] or '–'} ({' '.join(of)})" for value, of in having.items())


def _conditions(run: Run) -> dict[str, object]:
    """Settings, code and machine of a run, by dotted key; selector and seed are told with the results."""
    summary = run.summary
    data = str(summary.get("digests", {}).get("data set", "–"))[:8]
    around = {key: summary[key] for key in _CIRCUMSTANCES if key in summary}
    return run.settings | {"data digest": data} | flattened(around)


def _first_difference(one: Run, other: Run) -> str:
    """The first round in which each column of two runs differs, in a sentence."""
    found = sorted(first_differences(one.rounds, other.rounds).items(), key=itemgetter(1))
    if not found:
        return f"Their first {min(len(one.rounds), len(other.rounds))} rounds are identical."
    return f"First difference: {', '.join(f'{column} in round {row + 1}' for column, row in found)}."
