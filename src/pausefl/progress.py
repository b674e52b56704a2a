"""Times in words, and a bar on a terminal, for whatever takes long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

#: Below each number of seconds, an estimate is rounded up to a multiple of the second number.
_ROUNDED = ((60, 10), (600, 60), (3600, 300), (36_000, 1800))


def took(seconds: float) -> str:
    """A time that has passed: ``0.4 s``, ``12 s``, ``3 min 05 s``, ``2 h 10 min``."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60:02d} s"
    return f"{rounded // 3600} h {rounded % 3600 // 60:02d} min"


def about(seconds: float) -> str:
    """An estimate, with no more digits than it deserves: ``about 3 min``, ``about 2.5 h``."""
    if seconds <= 10:
        return "a few seconds"
    step = next((step for limit, step in _ROUNDED if seconds <= limit), 3600)
    rounded = -(-seconds // step) * step
    if rounded < 60:
        return f"about {rounded:.0f} s"
    if rounded < 3600:
        return f"about {rounded / 60:.0f} min"
    return f"about {rounded / 3600:g} h"


@contextmanager
def bar(console: Console, state: Callable[[], tuple[float, str]]) -> Iterator[None]:
    """Show a bar below all other output until the block ends, and then nothing.

    Parameters
    ----------
    console
        A terminal.
    state
        The share that is done, from 0 to 1, and what to say: a line beside the bar, and maybe one below it;
        asked twice a second.
    """
    from rich.console import Group
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    def drawn() -> Group:
        share, text = state()
        beside, *below = (Text(line, overflow="ellipsis", no_wrap=True) for line in text.splitlines())
        table = Table.grid(padding=(0, 1))
        table.add_row(ProgressBar(1.0, share, width=24), beside)
        return Group(table, *below)

    with Live(get_renderable=drawn, console=console, refresh_per_second=2, transient=True):
        yield
