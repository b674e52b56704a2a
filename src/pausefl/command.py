"""The command ``pausefl``, which says in a sentence what to install where it cannot run."""

from __future__ import annotations

from pausefl.errors import to_install
from pausefl.shadowed import shadow


def main() -> None:
    """Run the command; a file that hides a package which it needs is named."""
    try:
        try:
            from pausefl.cli import main as run
        except ModuleNotFoundError as error:
            raise SystemExit(f"Error: {to_install('the command pausefl', error)}") from None
        run()
    except Exception as error:
        if hides := shadow(error):
            raise SystemExit(f"Error: {hides}") from None
        raise
