"""Numbers in words: for tables, pages, captions and messages."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

#: A smaller number is rounding, and written as 0 where few significant digits are.
_ROUNDING = 1e-12

_RAISED = dict(zip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", strict=True))
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def number(value: float, form: str) -> str:
    """A number in one of Python's formats, with a minus sign; a dash for NaN, ∞ if it is unbounded."""
    return "–" if math.isnan(value) else f"{value:{form}}".replace("-", "−").replace("inf", "∞")


def rounded(value: float | None, digits: int = 3) -> str:
    """A number in a few significant digits; 0 if it is rounding, a dash without a finite number."""
    if value is None or not math.isfinite(value):
        return "–"
    if abs(value) < _ROUNDING:
        return "0"
    return number(value, ",.0f" if abs(value) >= 1000 else f".{digits}g")


def raised(power: int) -> str:
    """A power as it stands beside a number: ``⁻⁵``."""
    return str(power).translate(str.maketrans("".join(_RAISED.values()), "".join(_RAISED)))


def not_raised(power: str) -> str:
    """A power that is `raised`, as digits."""
    return "".join(_RAISED[sign] for sign in power)


def mean_sd(row: Any, column: str, digits: int, scale: float = 1) -> str:
    """``mean ± sd`` of the columns ``…_mean`` and ``…_sd``; a dash without a value, ∞ if unbounded."""
    mean, sd = row[f"{column}_mean"] * scale, row[f"{column}_sd"] * scale
    if math.isnan(sd) or not math.isfinite(mean):
        return number(mean, f".{digits}f")
    return f"{mean:.{digits}f} ± {sd:.{digits}f}"


def interval(low: float, high: float, form: str) -> str:
    """``0.54 to 0.69``; a dash without one."""
    return "–" if math.isnan(low) else f"{number(low, form)} to {number(high, form)}"


def with_interval(mean: float, low: float, high: float, form: str) -> str:
    """``0.62 (0.58 to 0.66)``; alone if the interval is NaN."""
    return number(mean, form) + ("" if math.isnan(low) else f" ({interval(low, high, form)})")


def in_points(mean: float, low: float, high: float) -> str:
    """``−0.9 (−1.4 to −0.4)``, a difference of shares in points with its interval; alone if that is NaN."""
    return with_interval(100 * mean, 100 * low, 100 * high, "+.1f")


def p_value(p: float | None) -> str:
    """``0.031``, ``< 0.0001``; a dash without one."""
    if p is None or math.isnan(p):
        return "–"
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def cost(value: float, digits: int = 2) -> str:
    """A cost: a dash if it is not known, and no zero for what is only little."""
    least = 10.0**-digits
    return f"< {least:g}" if 0 < value < least / 2 else number(value, f".{digits}f")


def span(values: Iterable[str]) -> str:
    """The first and the last of some values, ``1.04 to 1.28``; one of them if they are equal.

    `KeyError` if there are none.
    """
    listed = list(values)
    if not listed:
        raise KeyError("there is no such value")
    return listed[0] if listed[0] == listed[-1] else f"{listed[0]} to {listed[-1]}"


def change(*ratios: float) -> str:
    """Ratios with their direction: ``39 % less``, of several ``30 to 40 % less``.

    `ValueError` if some lie on either side of 1.
    """
    if min(ratios) < 1 < max(ratios):
        raise ValueError(f"ratios from {min(ratios):.3g} to {max(ratios):.3g} have no one direction")
    per_cent = sorted(abs(100 * (ratio - 1)) for ratio in (min(ratios), max(ratios)))
    return f"{span(f'{one:.0f}' for one in per_cent)} % {'less' if max(ratios) < 1 else 'more'}"


def in_words(n: int) -> str:
    """A small number in words."""
    return _WORDS[n] if n < len(_WORDS) else str(n)
