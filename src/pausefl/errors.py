"""Errors a user can act on, and the one helper that phrases them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class PauseflError(Exception):
    """Base of all errors that are shown to the user as a message, without a traceback."""


class ConfigError(PauseflError):
    """A configuration value is missing, misspelt, out of range or contradicts another."""


class DataError(PauseflError):
    """A data file is missing, truncated, corrupt, or too small for what is asked of it."""


class PrivacyError(PauseflError):
    """Something that must not leave a user was about to."""


class StoppedError(PauseflError):
    """A job was asked to stop; the same command resumes it."""


def to_install(what: str, error: ModuleNotFoundError, extra: str = "training") -> str:
    """A sentence on what to install for something that lacks a package; raises an error of pausefl's own."""
    package = (error.name or "pausefl").partition(".")[0]
    if package == "pausefl":
        raise error
    return f"{what} needs {package}: pip install 'pausefl[{extra}]'"


def suggest(name: str, allowed: Iterable[str]) -> str:
    """Say what is allowed in place of ``name``, the nearest spelling first.

    Parameters
    ----------
    name
        What the user wrote.
    allowed
        Every valid name.

    Returns
    -------
    str
        One sentence or two, ready to follow an error message.
    """
    allowed = sorted(allowed)
    nearest = difflib.get_close_matches(name, allowed, n=1, cutoff=0.6)
    hint = f"Did you mean '{nearest[0]}'? " if nearest else ""
    return f"{hint}Allowed: {', '.join(allowed)}." if allowed else "There is none."
