"""What a case of the trial is, and how it is tried."""

from __future__ import annotations

import contextlib
import io
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from pausefl.cli import main
from pausefl.errors import PauseflError

#: What is seen of a case, if all is well.
REFUSED, RAN = "refused", "ran"


@dataclass(frozen=True)
class Case:
    """One bad or odd input.

    Attributes
    ----------
    kind
        Its class, a row of the table.
    what
        The input in a few words.
    action
        Tries it; gets an empty folder. Returns what was printed, or raises what the input causes.
    words
        What a refusal has to say, for example the key or the file.
    expected
        `REFUSED`, or `RAN` for an input that is odd and allowed.
    seconds
        Most processor time that it may take.
    """

    kind: str
    what: str
    action: Callable[[Path], object]
    words: tuple[str, ...] = ()
    expected: str = REFUSED
    seconds: float = 5.0


class _HungError(BaseException):
    """A case does not end. No code under trial catches it."""


class RefusedError(Exception):
    """The command refused, with this message."""


def command(*arguments: object) -> str:
    """Run ``pausefl`` in this process; what it prints.

    Raises
    ------
    RefusedError
        If it ends with exit code 2 and a message.
    """
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["pausefl", *map(str, arguments)]
    code: object = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.argv = before
    if code == 2:
        raise RefusedError(" ".join(err.getvalue().split()))
    if code:
        raise AssertionError(f"exit code {code}: {err.getvalue()[-300:]}")
    return out.getvalue() + err.getvalue()


def seen(case: Case) -> str:
    """Try a case in a fresh folder: `REFUSED`, `RAN`, or a sentence on what is wrong."""
    folder = Path(tempfile.mkdtemp(prefix="trial-"))
    start = time.process_time()
    try:
        with _at_most(10 * case.seconds):
            case.action(folder)
        found, message = RAN, ""
    except (PauseflError, RefusedError) as refusal:
        found, message = REFUSED, " ".join(str(refusal).split())
    except _HungError:
        return "hangs"
    except BaseException as error:
        line = traceback.format_exc().strip().splitlines()[-1]
        return f"traceback of {type(error).__name__}: {line[:200]}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    took = time.process_time() - start
    if found == REFUSED and (problem := _problem(case, message)):
        return f"refused, but the message {problem}: {message[:300]}"
    if took > case.seconds:
        return f"{found} after {took:.1f} s"
    return found


def _problem(case: Case, message: str) -> str:
    """What is wrong with a message; empty if nothing is."""
    if missing := [word for word in case.words if word not in message]:
        return f"does not say {missing[0]!r}"
    if "Traceback" in message:
        return "is a traceback"
    if "delete " in message.lower() or " rm " in message:
        return "advises to delete something"
    return "" if 0 < len(message) < 3000 else f"has {len(message)} characters"


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    def hung(number: int, frame: FrameType | None) -> None:
        raise _HungError

    before = signal.signal(signal.SIGALRM, hung)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
