"""The command ``pausefl``, which says in a sentence what to install where it cannot run."""

from __future__ import annotations

from pausefl.errors import to_install


def main() -> None:
    """Run the command."""
    try:
        from pausefl.cli import main as run
    except ModuleNotFoundError as error:
        raise SystemExit(f"Error: {to_install('the command pausefl', error)}") from None
    run()
