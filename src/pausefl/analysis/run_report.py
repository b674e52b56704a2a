"""What a finished run came to: its results, as a table has them, and what a reader has to know."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from pausefl.analysis.formats import number
from pausefl.analysis.markdown import aligned
from pausefl.analysis.outcomes import WINDOW, outcomes
from pausefl.privacy import MECHANISMS
from pausefl.runs.collected import read_run
from pausefl.runs.run import Run, rounds_of

#: Of what accuracy and loss are means.
AVERAGED = f"Accuracy and loss are means of at most {WINDOW} last rounds."

#: A fall of accuracy is reported beyond this share of the best, and beyond this much: any learning has less.
_FALLEN_SHARE, _FALLEN_BY = 0.1, 0.05


def run_report(folder: Path) -> str:
    """The results of the run in a folder, where its files are, and warnings, for whoever started it."""
    run = read_run(folder)
    rows = {name: value for name, value in results_of(run).items() if value != "–"}
    rows["files"] = f"{folder}/rounds.parquet, ledger.parquet and summary.json"
    return "\n".join(
        [
            f"{run.scenario}, {run.selector}, seed {run.seed}:",
            *(f"  {line}" for line in aligned(list(rows.items()))),
            *([f"  {AVERAGED}"] if run.summary["trained"] else []),
            *(f"Warning: {warning}" for warning in _warnings(run)),
        ]
    )


def results_of(run: Run) -> dict[str, str]:
    """The results of a run by name, in words; a dash for what it does not have."""
    (found,) = outcomes(rounds_of([run])).values()
    summary, n = run.summary, len(run.rounds)
    return {
        "accuracy (%)": number(100 * found["final_accuracy"], ".2f"),
        "best (%)": number(100 * found["best_accuracy"], ".2f"),
        "loss": number(found["final_loss"], ".4g"),
        "rounds": str(n) if n == summary["n_rounds"] else f"{n} of at most {summary['n_rounds']}",
        "simulated time (s)": number(found["elapsed_s"], ".2f"),
        "largest budget spent (ε)": _leakage(run),
        "diverged in round": str(summary["diverged_round"] or "–"),
        "wall-clock time (s)": number(summary["timings_s"]["total"], ".1f"),
        "peak memory (MB)": number(summary["peak_memory_bytes"] / 1e6, ".0f"),
    }


def _leakage(run: Run) -> str:
    """The largest leakage of a user, its budget, and what the epsilon is for."""
    leakage, privacy = run.rounds["leakage_max"].iloc[-1], run.summary["scenario"].get("privacy")
    if privacy is None or math.isinf(leakage):
        return "unlimited"
    protects = MECHANISMS.find(privacy["mechanism"]).protects
    return f"{leakage:.4g} of {privacy['epsilon_total']:g} per {protects}"


def _warnings(run: Run) -> Iterator[str]:
    """Yield a sentence for each thing that a reader of the results has to know."""
    summary, rounds = run.summary, run.rounds
    if (t := summary["diverged_round"]) is not None:
        yield f"the model diverged in round {t}: from there on it has chance level and an infinite loss"
    empty = rounds.loc[rounds["selection"].map(len) == 0, "round"]
    if len(empty):
        yield (
            f"nobody took part in {len(empty)} of {len(rounds)} rounds, first in round {empty.iloc[0]}:"
            " nobody was there with budget left"
        )
    if n := summary["refused_updates"]["n"]:
        first = summary["refused_updates"]["first"][0]
        yield (
            f"{n} updates were not finite and count as zeros, the first of user {first['user']} in round"
            f" {first['round']}"
        )
    (found,) = outcomes(rounds_of([run])).values()
    best, last = found["best_accuracy"], found["final_accuracy"]  # NaN without training
    protected = math.isfinite(found["leakage_max"])
    if best - last > max(_FALLEN_BY, _FALLEN_SHARE * best) and protected and t is None:
        # Without a decay, later participations need not have smaller budgets.
        grew = ", as noise grew" if summary["scenario"]["privacy"].get("decay") else ""
        yield f"accuracy fell from {100 * best:.3g} % to {100 * last:.3g} %{grew}"
