"""Runs side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from string import ascii_uppercase

from pausefl.errors import ConfigError, PauseflError, suggest
from pausefl.files import write_text
from pausefl.registry.figures import protected
from pausefl.results.markdown import aligned, to_latex
from pausefl.results.outcomes import WINDOW, evaluations
from pausefl.results.tables import by_selector, summarise, to_markdown
from pausefl.runs.collected import runs_in
from pausefl.runs.differences import first_differences
from pausefl.runs.groups import OWN, grouped, rounds_of_groups
from pausefl.runs.run import Run
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
#: What a comparison of many runs tells elsewhere, or follows from that.
_TOLD = ("selector", "seed", "code_hash", "digests.partition", "digests.data set")
#: Of this, two runs show what the other machine lacks.
_INSTRUCTIONS = "hardware.instructions"


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
    results = [_results(run) for run in runs]
    settings = []
    for run in runs:
        what = {key: value for key, value in run.summary.items() if key not in _COURSE}
        settings.append(flattened(what | {"scenario": as_of_today(what["scenario"])}))
    keys = dict.fromkeys(key for other in settings[1:] for key in differing(settings[0], other))
    shown = {key: [str(values.get(key, "–")) for values in settings] for key in keys if key not in _REPORTED}
    if len(runs) == 2:
        if _INSTRUCTIONS in shown:
            shown[_INSTRUCTIONS] = _only(*shown[_INSTRUCTIONS])
        titles = ["", *heads]
        different = [titles, *([key, *values] for key, values in shown.items())] if shown else []
        outcome = [titles, *([key, *(one[key] for one in results)] for key in results[0])]
        first, second = (run.rounds for run in runs)
        rounds = sorted(first_differences(first, second).items(), key=itemgetter(1))
        listed = ", ".join(f"{column} in round {row + 1}" for column, row in rounds)
        alike = f"Their first {min(len(first), len(second))} rounds are identical."
        align, last = "l", ["", f"First difference: {listed}." if listed else alike]
    else:
        different = [
            row for key, values in shown.items() if key not in _TOLD for row in _by_value(key, values, heads)
        ]
        had = [key for key in results[0] if any(one[key] != "–" for one in results)]
        outcome = [["", "selector", "seed", *(key.partition(",")[0] for key in had)]]
        for head, run, one in zip(heads, runs, results, strict=True):
            outcome.append([head, run.selector, str(run.seed), *(one[key] for key in had)])
        align, last = "llr", [f"  Accuracy and loss are means of at most {WINDOW} last rounds."]
    return "\n".join(
        [
            *(f"{head}: {run.name}" for head, run in zip(heads, runs, strict=True)),
            "",
            "Settings, code and machine that differ:",
            *(f"  {line}" for line in aligned(different or [["nothing"]])),
            "",
            "Results:",
            *(f"  {line}" for line in aligned(outcome, align)),
            *last,
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
    runs = {Experiment(OWN, one.name, run.seed): run.summary for one in groups for run in one.runs}
    table = by_selector(summarise(rounds_of_groups(groups), runs))
    text = to_markdown(table, labels, protected(groups[0].scenario))
    if suffix == ".csv":
        text = table.assign(selector=table["selector"].map(labels)).to_csv(index=False)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, to_latex(text) if suffix == ".tex" else text)


def _by_value(key: str, values: Sequence[str], heads: Sequence[str]) -> Iterator[list[str]]:
    """Yield a row for each value of a key, with the runs that have it."""
    for value in dict.fromkeys(values):
        having = " ".join(head for head, own in zip(heads, values, strict=True) if own == value)
        yield [key if value == values[0] else "", value, having]


def _only(*texts: str) -> list[str]:
    """Of two machines' instructions, those that the other lacks."""
    ours, theirs = (set(text.split()) for text in texts)
    return [" ".join(sorted(only)) or "–" for only in (ours - theirs, theirs - ours)]


def _results(run: Run) -> dict[str, str]:
    """Results of a run in words."""
    summary, rounds = run.summary, run.rounds
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
