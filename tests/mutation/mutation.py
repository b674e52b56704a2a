"""Make wrong versions of the library, one at a time, and see that tests notice each of them.

``.venv/bin/python tests/mutation/mutation.py`` copies the tree to a temporary folder. For each line of
``mutants.txt`` it changes one text of the copy and runs the tests that are meant to notice; if they pass, all
quick tests of the science and the judgement. It prints what survives, and ends with 1 if a mutant survives
that is not argued to be equivalent, or if one that is argued to be is noticed. With ``--jobs N`` it tries N
mutants at a time, with ``--only TEXT`` those whose file or effect has the text, with ``--left`` those that
``seen.txt`` lacks, where it writes what it sees. ``--quick`` leaves the other tests out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST, SEEN = (Path(__file__).with_name(name) for name in ("mutants.txt", "seen.txt"))
SOURCE, TESTS = "src/pausefl", "tests/unit"

#: Folders of tests that are tried where those that are meant to notice pass.
WIDER = ("bandit", "selectors", "privacy", "training", "data", "federated", "studies", "claims", "results")
WIDER += ("figures", "test_streams.py")
#: Of these, tests that any change of the code of a job fails, since they know its hash.
KNOW_THE_CODE = ("tools/test_recompute.py::test_all_published_results_that_were_compared_are_equal",)

#: Plugins of pytest; others that happen to be installed take seconds in each run.
PLUGINS = ("pytest_mpl.plugin", "_hypothesis_pytestplugin", "no:cacheprovider")

#: Seconds after which a test run counts as endless, and so as failed.
LONGEST_S = 900

_SEPARATOR, _EQUIVALENT = " ¦ ", "equivalent: "


@dataclass(frozen=True)
class Mutant:
    """One wrong version of the library.

    Attributes
    ----------
    line
        Its line in the list.
    file
        Relative to the root of the repository.
    old, new
        The text that is replaced, and what replaces it.
    breaks
        What is wrong with it, in words.
    tests
        Relative to the root: those that are meant to notice.
    equivalent
        Why nobody can notice; empty if somebody should.
    """

    line: int
    file: str
    old: str
    new: str
    breaks: str
    tests: tuple[str, ...]
    equivalent: str = ""

    @property
    def name(self) -> str:
        """What tells it from the others."""
        return f"{Path(self.file).relative_to(SOURCE)}: {self.breaks}"

    def text(self, root: Path) -> str:
        """The mutated file of a tree.

        Raises
        ------
        ValueError
            If the old text is not in the file exactly once.
        """
        content = (root / self.file).read_text("utf-8")
        if (n := content.count(self.old)) != 1:
            raise ValueError(f"mutants.txt:{self.line}: the old text is {n} times in {self.file}: {self.old}")
        return content.replace(self.old, self.new)


def read() -> Iterator[Mutant]:
    """Yield the mutants of the list.

    Raises
    ------
    ValueError
        If a line is neither a mutant nor a heading.
    """
    file, tests = "", ()
    for number, line in enumerate(LIST.read_text("utf-8").splitlines(), start=1):
        if line.startswith("#") or not line:
            continue
        if line.startswith("["):
            name, _, named = line[1:].partition("]")
            file, tests = f"{SOURCE}/{name}", tuple(f"{TESTS}/{test}" for test in named.split())
            continue
        parts = line.split(_SEPARATOR)
        if len(parts) not in (3, 4) or (len(parts) == 4 and not parts[3].startswith(_EQUIVALENT)):
            raise ValueError(f"mutants.txt:{number}: not `old ¦ new ¦ what it breaks[ ¦ equivalent: why]`")
        yield Mutant(number, file, *parts[:3], tests, "".join(parts[3:]).removeprefix(_EQUIVALENT))


#: What can be seen of a mutant.
OUTCOMES = ("noticed by the tests meant", "noticed by others", "survived", "equivalent")


def section() -> str:
    """The section of ``docs/robustness.md``: mutants by what they are of, and what was seen of them."""
    found, counts = seen(), dict[str, Counter[str]]()
    for mutant in read():
        part = Path(mutant.file).relative_to(SOURCE).parts[0].removesuffix(".py")
        for place in (part, "all"):
            counts.setdefault(place, Counter()).update(["versions", found.get(mutant.name, "not tried yet")])
    columns = ("versions", *OUTCOMES, "not tried yet")
    rows = [
        f"| {part} | {' | '.join(str(counts[part][column]) for column in columns)} |"
        for part in sorted(counts, key=lambda part: part == "all")
    ]
    lines = [f"| of | {' | '.join(columns)} |", "| --- |" + " ---: |" * len(columns), *rows]
    return _SECTION + "\n".join(lines) + "\n"


_SECTION = """
## Wrong versions of the library

A line of `tests/mutation/mutants.txt` changes one text of the science or of the judgement: a sign, a
constant, what is left out. `tests/mutation/mutation.py` makes these versions one at a time and runs the tests
that are meant to notice; it is no part of `make test-all`. None may survive but those that are argued, in
their lines, to be equivalent. `make test` checks that every line still fits the code.

"""


def seen() -> dict[str, str]:
    """What was seen of each mutant, by its name."""
    lines = SEEN.read_text("utf-8").splitlines() if SEEN.is_file() else []
    return {name: outcome for outcome, _, name in (line.partition(": ") for line in lines)}


def record(mutant: Mutant, outcome: str) -> None:
    """Write down what was seen of a mutant; what was seen of mutants that are gone goes."""
    found = seen() | {mutant.name: outcome}
    lines = [f"{found[each.name]}: {each.name}" for each in read() if each.name in found]
    SEEN.write_text("\n".join(lines) + "\n", "utf-8")


class Copy:
    """A copy of the tree, in which one file at a time is another."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        self.log = folder / "log"
        self.compiled = folder / "compiled"
        shutil.copytree(ROOT / "results" / "published", self.root / "results" / "published")
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for name in filter(None, names.split("\0")):
            target = self.root / name
            if (ROOT / name).is_file() and not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, target)

    def start(self, tests: tuple[str, ...], compiled: Path) -> int:
        """Start tests in a process of their own, which has the libraries already; returns its number."""
        if number := os.fork():
            return number
        code = 3
        try:
            signal.alarm(LONGEST_S)  # which ends the process
            log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for stream in (1, 2):
                os.dup2(log, stream)
            os.chdir(self.root)
            sys.path.insert(0, str(self.root / "src"))
            os.environ |= {"PYTHONPATH": str(self.root / "src"), "NUMBA_CACHE_DIR": str(compiled)}
            import numba
            import pytest

            numba.config.CACHE_DIR = str(compiled)
            options = ["-x", "-q", "-m", "not slow", "--assert=plain", "--hypothesis-seed=0"]
            options += [f"-p{plugin}" for plugin in PLUGINS]
            left_out = [f"--deselect={TESTS}/{test}" for test in KNOW_THE_CODE]
            code = int(pytest.main([*options, *left_out, *tests]))
        finally:
            sys.stdout.flush()
            os._exit(code)

    def work(self, mutant: Mutant) -> Iterator[int]:
        """Make a mutant, start tests on it, and more if these do not notice; yields each process."""
        path = self.root / mutant.file
        was, times = path.read_bytes(), path.stat()
        compiled = self.compiled.with_name("compiled-of-mutant")
        shutil.rmtree(compiled, ignore_errors=True)
        if b"njit" not in was and self.compiled.is_dir():
            compiled = self.compiled
        elif self.compiled.is_dir():  # a kernel is not compiled anew where only one that it calls changes
            shutil.copytree(self.compiled, compiled, ignore=shutil.ignore_patterns(f"{path.stem}.*"))
        path.write_text(mutant.text(self.root), "utf-8")
        try:
            yield self.start(mutant.tests, compiled)
            yield self.start(tuple(f"{TESTS}/{name}" for name in WIDER), compiled)
        finally:
            path.write_bytes(was)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def passed(status: int, copy: Copy) -> bool:
    """Whether the tests of a process that ended all passed; raises if they could not run."""
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1, 2, -signal.SIGALRM):  # 2: a mutant that cannot be imported
        raise RuntimeError(f"the tests ended with {code}:\n{copy.log.read_text('utf-8')[-4000:]}")
    return code == 0


def by_what(copy: Copy) -> str:
    """The first test that failed."""
    lines = [
        line for line in copy.log.read_text("utf-8").splitlines() if line.startswith(("FAILED", "ERROR"))
    ]
    return lines[0].split(" - ")[0] if lines else "no end"


def check_unchanged(copy: Copy, mutants: list[Mutant]) -> None:
    """Raise unless all tests that are meant to notice pass on the library as it is."""
    tests = tuple(sorted({test for mutant in mutants for test in mutant.tests}))
    if not passed(os.waitpid(copy.start(tests, copy.compiled), 0)[1], copy):
        raise RuntimeError(f"tests fail without any change:\n{copy.log.read_text('utf-8')[-4000:]}")


def run(mutants: list[Mutant], n_jobs: int, quick: bool, folder: Path) -> list[str]:
    """Try all mutants, some at a time; returns what is wrong in the end.

    ``quick`` leaves the other tests out, so that what only they notice survives.
    """
    start, wrong, todo = time.monotonic(), [], list(mutants)
    counts = dict.fromkeys(OUTCOMES, 0)
    copies = [Copy(Path(tempfile.mkdtemp(dir=folder))) for _ in range(min(n_jobs, len(mutants)))]
    check_unchanged(copies[0], mutants)
    for copy in copies[1:]:
        check_unchanged(copy, mutants)
    idle, busy = copies, {}
    while todo or busy:
        while todo and idle:
            mutant, copy = todo.pop(0), idle.pop()
            work = copy.work(mutant)
            busy[next(work)] = mutant, copy, work, False
        number, status = os.wait()
        mutant, copy, work, wider = busy.pop(number)
        survives = passed(status, copy)
        if survives and not wider and not quick:
            busy[next(work)] = mutant, copy, work, True
            continue
        work.close()
        idle.append(copy)
        if survives:
            outcome = "equivalent" if mutant.equivalent else "survived"
        else:
            outcome = "noticed by others" if wider else "noticed by the tests meant"
        counts[outcome] += 1
        record(mutant, outcome)
        told = f"{outcome}: {mutant.name}" + ("" if survives else f" ({by_what(copy)})")
        if survives != bool(mutant.equivalent):
            wrong.append(told)
        print(told, flush=True)
    summary = ", ".join(f"{n} {outcome}" for outcome, n in counts.items())
    print(f"\n{len(mutants)} mutants in {(time.monotonic() - start) / 60:.0f} minutes: {summary}")
    return wrong


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--left", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    there = seen() if options.left else {}
    mutants = [each for each in read() if options.only in each.name and each.name not in there]
    for mutant in mutants:
        compile(mutant.text(ROOT), mutant.file, "exec")
    os.environ |= {"OMP_NUM_THREADS": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    # Once for all mutants.
    import hypothesis.strategies  # noqa: F401
    import matplotlib.figure  # noqa: F401
    import numba  # noqa: F401
    import pandas  # noqa: F401
    import pyarrow.parquet  # noqa: F401
    import pydantic  # noqa: F401
    import pytest  # noqa: F401
    import pytest_mpl.plugin  # noqa: F401
    import scipy.stats  # noqa: F401
    import sklearn.datasets  # noqa: F401
    import torch.nn  # noqa: F401

    with tempfile.TemporaryDirectory() as folder:
        wrong = run(mutants, options.jobs, options.quick, Path(folder))
    if wrong:
        sys.exit("\n".join(["", "Not as it should be:", *wrong]))


if __name__ == "__main__":
    main()
