"""Errors a user can act on, and the one helper that phrases them."""

from __future__ import annotations

import difflib
import unicodedata
from collections import Counter
from collections.abc import Iterable

from pausefl.shadowed import shadow


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
    if hides := shadow(error):
        return f"{what} cannot be had: {hides}"
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
    alike = [one for one in allowed if one != name and _seen(one) == _seen(name)]
    if alike and not (alike[0] + name).isascii():
        hint = f"Did you mean {alike[0]!a}? What is written looks like it, but is {name!a}. "
    return f"{hint}Allowed: {', '.join(allowed)}." if allowed else "There is none."


#: Cyrillic and Greek letters, and the Latin ones that they look like.
_ALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u03bf\u03b1\u03c1\u03bd\u043a\u043c\u0442\u0432\u043d",
    "aeopcyxijsdoapvkmtbh",
)


def told_apart(names: Iterable[str]) -> list[str]:
    """Names in quotes; those that look alike with the numbers of their letters, as Python writes them."""
    names = list(names)
    n = Counter(map(_seen, names))
    return [ascii(name) if n[_seen(name)] > 1 else f"'{name}'" for name in names]


def _seen(name: str) -> str:
    """What a person sees of a name: without accents' forms, what has no width, and other alphabets."""
    letters = unicodedata.normalize("NFKC", name).casefold().translate(_ALIKE)
    seen = (letter for letter in letters if unicodedata.category(letter) not in ("Cc", "Cf", "Mn"))
    return " ".join("".join(seen).split())
