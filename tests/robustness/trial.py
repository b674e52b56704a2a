"""The trial: bad inputs and killed jobs, and the page on what was seen.

``python tests/robustness/trial.py`` tries everything and writes ``docs/robustness.md``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests" / name) for name in ("robustness", "helpers", "mutation")]

import bad_files  # noqa: E402
import bad_settings  # noqa: E402
from cases import RAN, REFUSED, Case, seen  # noqa: E402
from kills import Kill, Trial, kills  # noqa: E402
from mutation import section  # noqa: E402

PAGE = ROOT / "docs" / "robustness.md"
EQUAL = "equal, byte for byte"

_HEAD = """\
# Robustness

<!-- Written by tests/robustness/trial.py; do not edit. -->

What pausefl does with bad input and with killed jobs. A script tries everything below and writes this page,
in a few minutes: `.venv/bin/python tests/robustness/trial.py`. `make test-all` repeats the trial.

## Bad input

A refusal is one message that names the key or the file, without a traceback and without advice to delete
something; commands exit with 2. YAML is refused within a second of processor time, but for one case: lists
nested 50,000 deep crash its parser, before anything runs. Some inputs are odd but right, and run.

Where standard error is closed or full, its messages go to standard output and jobs run on. With less address
space (`ulimit -v`) than a small job needs, `pausefl run` does not start; in a library that gets none later,
the error is one sentence that names the limit, unless the library ends the process itself.

Where the file system has no locks, two jobs that write one folder both run, and say that it cannot be locked.
In a trial their results were equal, as those of one job are; nothing enforces it.

Not noticed: rounds and ledger of another selector, both at once, in place of those of a run with the same
scenario and seed.

"""
_KILLS = """
## Killed jobs

Small jobs that save their state after every round, as processes of their own. A signal comes at a moment
between the start and the end of a job; then the same command runs again until the job is finished.
`rounds.parquet` and `ledger.parquet` must be those of a job that nobody killed, byte for byte, and nothing
else may be left.

"""
_WORKFLOW = """
## The workflow

Other tests run a small workflow (`tests/workflow/test_reruns.py`, `tests/workflow/test_kills.py`).

- Kills: a whole workflow, ten times SIGKILL to all its processes: before and while its first steps start, and
  while it writes a study, a partition, the state of a job twice, the results of a job, a table, figures and
  the report. Each time the same command goes on. In the end all results are those of a workflow that nobody
  killed, byte for byte, but for measured times and memory. A killed step leaves the temporary file that it
  wrote; the next one overwrites it, except beside prepared data and partitions.
- Full disks: ten limits of the size of a file, from next to nothing to one byte less than the largest. Every
  file that is left is whole. With room the same command completes what is missing, byte for byte.
- Folders that may not be written, as in another user's checkout: `.snakemake`, a folder in it, and one that a
  step writes to. Each is named in one sentence before anything runs. Write-protected results are listed by
  Snakemake itself.
- Scripts: a new time stamp, other words and an edit that is taken back rerun nothing; another effect reruns
  the script's rules, and one of `pausefl.workflow.step` all rules.
"""
_EDITS = """
## Edited published results

Git has a digest of every published run and study in `results/published/manifest.json`. Whatever reads
published results, `make figures` too, refuses what has another digest, and names it. `make verify` replays
every run without training and without data, and names the round, or the user of the ledger.
On a processor with other instructions than a run's an annealer may select otherwise in at most a twentieth
of the rounds, given the rounds before; this is only told. So one edited selection of an annealer, with
everything remade, is noticed for certain only on a processor like the run's.
`tests/unit/tools/test_verify.py` plants these edits in a copy, with digests in `runs.jsonl` remade or not:

| edit | cases | manifest as it was: refused | all digests and the manifest remade |
| --- | ---: | ---: | --- |
| accuracies of a run, all or one | 5 | 4 | not noticed (1) |
| runs of two selectors swapped | 3 | 2 | noticed by `make verify`: run, round (1) |
| latencies times 0.6, all or one | 6 | 4 | noticed by `make verify`: run, round (2) |
| a selection, a reward | 6 | 4 | noticed by `make verify`: run, round (2) |
| leakage, uses or rows of a ledger halved | 9 | 6 | noticed by `make verify`: run, user (3) |
| a study overwritten or added, a run left out | 3 | 3 | not noticed |

No replay gives accuracies, losses and studies. Whoever edits these and remakes all digests is found by Git's
history or by computing again: `python -m pausefl.tools.recompute --draw N` draws runs, and how many of their
rounds, anew each time; rounds of long runs that take more than two minutes to reach are never trained again.
Selections of `clustered_similarity`, which looks at updates, are not replayed (71 runs); what follows
from them is.
"""


def bad_inputs() -> list[Case]:
    """Every bad or odd input."""
    return list(chain(bad_settings.all_cases(), bad_files.all_cases()))


def page(found: Iterable[tuple[Case, str]], killed: Iterable[tuple[Kill, str]]) -> str:
    """The page on what was expected and seen."""
    rows: dict[str, list[tuple[Case, str]]] = {}
    for case, what in found:
        rows.setdefault(case.kind, []).append((case, what))
    lines = [
        "| class | examples | inputs | expected: refused | seen | expected: runs | seen | anything else |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    total = [0] * 6
    for kind, tried in rows.items():
        expected = [case.expected for case, _ in tried]
        results = [what for _, what in tried]
        counts = [len(tried)]
        for one in (REFUSED, RAN):
            counts += [expected.count(one), results.count(one)]
        counts.append(len(tried) - results.count(REFUSED) - results.count(RAN))
        total = [a + b for a, b in zip(total, counts, strict=True)]
        lines.append(
            f"| {kind} | {_examples([case for case, _ in tried])} | {' | '.join(map(str, counts))} |"
        )
    lines.append(f"| all | | {' | '.join(map(str, total))} |")
    kinds: dict[str, list[str]] = {}
    for kill, what in killed:
        kinds.setdefault(kill.kind, []).append(what)
    table = [
        "| signal | jobs | expected: equal results | seen: equal results |",
        "| --- | ---: | ---: | ---: |",
    ]
    table += [f"| {kind} | {len(of)} | {len(of)} | {of.count(EQUAL)} |" for kind, of in kinds.items()]
    n = sum(map(len, kinds.values()))
    table.append(f"| all | {n} | {n} | {sum(of.count(EQUAL) for of in kinds.values())} |")
    text = _HEAD + "\n".join(lines) + "\n" + _KILLS + "\n".join(table) + "\n"
    return text + _WORKFLOW + _EDITS + section()


def _examples(cases: list[Case]) -> str:
    """The first, the middle and the last input of a class."""
    picked = dict.fromkeys(cases[i].what for i in (0, len(cases) // 2, -1))
    return "; ".join(f"{what}" for what in picked).replace("|", "\\|").replace("<", "\\<")


def main() -> None:
    """Try everything, say what is not as expected, and write the page."""
    os.chdir(ROOT)
    found, wrong = [], 0
    for case in bad_inputs():
        what = seen(case)
        found.append((case, what))
        if what != case.expected:
            wrong += 1
            print(f"{case.kind}, {case.what}: expected {case.expected}, seen: {what}", flush=True)
    trial, killed = Trial(), []
    for kill in kills():
        what = trial.seen(kill)
        killed.append((kill, what))
        if what != EQUAL:
            wrong += 1
            print(f"{kill}: {what}", flush=True)
    PAGE.write_text(page(found, killed), encoding="utf-8")
    print(f"{len(found)} inputs and {len(killed)} kills, {wrong} not as expected: {PAGE}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
