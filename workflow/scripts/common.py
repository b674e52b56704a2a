"""What every script of the workflow does with a failure."""

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pausefl.errors import PauseflError


@contextmanager
def reported(log: str) -> Iterator[None]:
    """Write a failure to the rule's log; what the user can act on is a message on the screen as well."""
    Path(log).write_text("", encoding="utf-8")
    try:
        yield
    except PauseflError as error:
        Path(log).write_text(f"Error: {error}\n", encoding="utf-8")
        print(f"\nError: {error}\n", file=sys.stderr)
        raise SystemExit(1) from None
    except Exception:
        Path(log).write_text(traceback.format_exc(), encoding="utf-8")
        raise
