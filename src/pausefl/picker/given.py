"""What a picker is given, checked: whole numbers, mappings by id, accountants, options of a selector."""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from pausefl.errors import ConfigError, suggest
from pausefl.plugins import arguments, build, missing
from pausefl.privacy.accountants import ACCOUNTANTS, Accountant
from pausefl.privacy.schedule import NUMBER, Schedule
from pausefl.privacy.zcdp import DELTA
from pausefl.schema.base import shortened
from pausefl.selectors import Selector
from pausefl.selectors.settings import SelectionSettings

#: Options that are left out: zeta, J and kappa of PAUSE v2, Section V-D, and the authors' configuration file.
DEFAULTS: dict[str, Any] = {"exploitation": 3.0, "n_iterations": 3000, "temperature_divisor": 30.0}

#: What a selector may be made from that is no option.
_GIVEN = ("reward", "round_latency_max", "latency_floor", "n_selected", "forgetting")


def mapping(what: str, given: Any) -> dict[Any, Any]:
    """A copy of values by id: of a mapping, or of a pandas Series with ids as its index; empty of None.

    `ConfigError` if it is neither, or a Series that has an id twice.
    """
    if given is None:
        return {}
    if not callable(getattr(given, "items", None)):
        raise ConfigError(f"{what} = {given!r:.80} must say it of each client: {{client: {what}}}")
    copied = dict(given.items())
    if len(copied) != len(given):
        raise ConfigError(f"{what} has a client more than once")
    return copied


def listed(what: str, given: Iterable[Hashable], known: Iterable[Hashable]) -> list[Any]:
    """A copy of some ids, which may come from an iterator; ``known`` are those of all clients.

    `ConfigError` if they are none, one text, not hashable, or True and False where no client is called so: a
    mask.
    """
    if isinstance(given, (str, bytes)):
        raise ConfigError(f"{what} = {given!r} is one text: give a list of ids")
    if not isinstance(given, Iterable):
        raise ConfigError(f"{what} = {given!r:.80} must be the ids of clients, as a list")
    ids, truths = list(given), {bool, np.bool_}
    for one in ids:
        try:
            hash(one)
        except TypeError:
            raise ConfigError(f"{what} has {one!r:.80}, which is no id: ids are hashable") from None
    if truths.intersection(map(type, ids)) and not truths.intersection(map(type, known)):
        raise ConfigError(
            f"{what} has True or False in it, and clients have other ids: instead of a mask, give the ids,"
            " such as numpy.flatnonzero(mask)"
        )
    return ids


def accountant_of(given: object, schedule: Schedule | None) -> Accountant:
    """The accountant of a name, or an object of one; `ConfigError` if it is none, or has nothing to count."""
    if given != "pure" and schedule is None:
        raise ConfigError(f"accountant = {given!r} counts the budgets of a schedule: give a schedule, too")
    if isinstance(given, str):
        part, keys = (
            ACCOUNTANTS.find(given),
            {"delta": DELTA, "epsilon_total": getattr(schedule, "epsilon_total", None)},
        )
        if lacking := missing(part, keys):
            raise ConfigError(f"accountant '{given}' is made from {', '.join(lacking)}: give an object of it")
        return build(part, keys)
    if not isinstance(given, Accountant):
        raise ConfigError(f"accountant = {given!r} must be a name, or a pausefl.privacy.Accountant")
    return given


def is_number(given: object) -> bool:
    """Whether something can be a number, or an array of numbers: no truth value, and no text."""
    kind = str(getattr(given, "dtype", ""))
    return not (
        isinstance(given, str | bytes | bytearray | bool) or "bool" in kind or kind[:2] in ("<U", "|S")
    )


def is_real(given: object) -> bool:
    """Whether something is one finite number that a float can be: no truth value, and not 10^400."""
    known = isinstance(given, NUMBER) and not isinstance(given, bool)
    return known and -sys.float_info.max <= given <= sys.float_info.max  # type: ignore[operator]


def seconds_of(measured: Any) -> float:
    """A measured time; NaN if it is no number: a truth value, a text, too large."""
    try:
        return float(measured) if is_number(measured) else math.nan
    except (OverflowError, RuntimeError, TypeError, ValueError):
        return math.nan


def whole(what: str, value: Any, least: int = 1) -> int:
    """A whole number; `ConfigError` if it is none, or too small."""
    known = isinstance(value, NUMBER) and not isinstance(value, bool)
    if known and least <= value < 2**53 and value % 1 == 0:
        return int(value)
    raise ConfigError(f"{what} = {shortened(value)} must be a whole number of at least {least}, below 2^53")


def seed_of(given: object) -> int:
    """A seed of random streams, as jobs have it; `ConfigError` if it is none."""
    whole = isinstance(given, int | np.integer) or (isinstance(given, float | np.floating) and given % 1 == 0)
    if whole and not isinstance(given, bool | np.bool_):
        seed = int(given)  # type: ignore[call-overload]
        if 0 <= seed < (2**63 if isinstance(given, int | np.integer) else 2**53):
            return int(seed)
    raise ConfigError(f"seed = {shortened(given)} must be a whole number of at least 0, below 2^63")


def options_of(name: str, facts: type[Selector], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a selector with those that may be left out, checked as the section ``selection`` is."""
    known = [key for key in arguments(facts) if key not in _GIVEN]
    for key in options:
        if key not in known:
            raise ConfigError(f"selector '{name}' has no option '{key}'. {suggest(key, known)}")
    if lacking := [key for key in missing(facts, {**DEFAULTS, **options}) if key not in _GIVEN]:
        raise ConfigError(
            f"selector '{name}' needs {', '.join(lacking)}: keyword arguments of Picker (what they are:"
            " config/README.md, section selection)"
        )
    of_settings = {key: options[key] for key in options if key in SelectionSettings.model_fields}
    checked = SelectionSettings.read(DEFAULTS | of_settings, f"selector '{name}'")
    return {**options, **vars(checked)}
