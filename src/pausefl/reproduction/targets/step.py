"""The log of a rule, and what every script of the workflow does with a failure; imported first."""

import gc
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import TracebackType

from pausefl.errors import PauseflError, StoppedError


def _end(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Show an error as Python does, unless it is that the user stops the workflow while a script starts."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


sys.excepthook = _end

# A step writes files: the window or notebook that a caller may have asked figures of is not there.
os.environ["MPLBACKEND"] = "agg"

# What a script imports is no garbage: until it has begun, looking for some takes a tenth of a short step.
gc.disable()


@contextmanager
def logged(path: str) -> Iterator[Callable[[str], None]]:
    """Keep the rule's log: yields a function that adds a line with the time of day.

    A failure goes to the log, whose end is shown on the screen.
    """
    gc.freeze()
    gc.enable()
    # Slurm sends SIGTERM more than once, then SIGKILL to what has not ended. The first makes a job save
    # its state and stop (`pausefl.federated.run_job.stop_requests`); none of the others may end it before.
    if "SLURM_JOB_ID" in os.environ:
        signal.signal(signal.SIGTERM, lambda number, frame: None)
    with Path(path).open("w", encoding="utf-8") as log:

        def note(text: str) -> None:
            log.write(f"{datetime.now():%Y-%m-%d %H:%M:%S} {text}\n")
            log.flush()

        note("started")
        try:
            yield note
        except PauseflError as error:
            note(str(error) if isinstance(error, StoppedError) else f"Error: {error}")
            raise SystemExit(1) from None
        except KeyboardInterrupt:
            note("stopped")
            raise SystemExit(1) from None
        except Exception:
            note(traceback.format_exc())
            raise SystemExit(1) from None
        note("finished")
