"""What opens the report and the pages: comparisons of claims that answer a reader's questions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pausefl.analysis import formats, markdown
from pausefl.reproduction.claims.comparison_result import RATIO, Comparison
from pausefl.reproduction.claims.load import Headline
from pausefl.reproduction.claims.verdicts import Verdict
from pausefl.reproduction.figures.papers import AS_RUN, SETTINGS

#: Fewer seeds than these are said.
FEW = 5


def answers(headlines: Iterable[Headline], verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """The headlines that a comparison answers, in plain values.

    Each has ``question``, ``measured``, by reading what was ``found``, and ``authors``: what their log tells.
    """
    rows = []
    for headline in headlines:
        answering = dict(_answering(headline, verdicts))
        found = {reading: in_words(one) for reading, one in answering.items() if one.made}
        logged = [one for one in answering.values() if not math.isnan(one.authors)]
        if found:
            row = {"question": headline.question, "found": found}
            row["measured"] = f"{headline.topic}, {headline.who}; {headline.where}"
            rows.append(row | {"authors": size(logged[0].authors, logged[0].unit) if logged else ""})
    return rows


def _answering(headline: Headline, verdicts: Iterable[Verdict]) -> Iterator[tuple[str, Comparison]]:
    """Yield the comparison that answers a headline in each reading."""
    for verdict in verdicts:
        place = headline.scenario + ("_as_run" if verdict.reading == AS_RUN else "")
        for one in verdict.comparisons if verdict.claim.id == headline.claim else ():
            if (one.where, one.topic) == (place, headline.topic) and headline.asks(one.subject, one.who):
                yield verdict.reading, one


def to_markdown(rows: Iterable[dict[str, Any]]) -> str:
    """A table of `answers`."""
    head = ["Question", "Measured", *(words.capitalize() for words in SETTINGS.values()), "Authors' log"]
    cells = [
        [
            f"**{row['question']}**",
            row["measured"],
            *(row["found"].get(reading, "not run") for reading in SETTINGS),
            row["authors"] or "–",
        ]
        for row in rows
    ]
    return markdown.table(head, cells, "ll")


def in_words(one: Comparison) -> str:
    """The gap of a comparison and what it rests on: ``39 % less (31 to 46 %)``.

    Of a bound, why it is one. Where the interval has no difference in it, only its ends; where the correction
    for the number of comparisons takes the decision away, that.
    """
    if math.isnan(one.gap):
        return "not reached"
    even = 1 if one.unit == RATIO else 0
    if one.bound:
        least = (one.bound == "at most") == (one.gap < even)
        why = f" ({one.note})" if one.note else ""
        return f"at {'least' if least else 'most'} {size(one.gap, one.unit)}{why}"
    if one.low < even < one.high:
        return f"no clear difference ({size(one.low, one.unit)} to {size(one.high, one.unit)})"
    rests = []
    if not math.isnan(one.low):
        nearest, furthest = sorted((one.low, one.high), key=lambda end: abs(end - even))
        rests.append(f"{_amount(nearest, one.unit).partition(' ')[0]} to {_amount(furthest, one.unit)}")
    if 0 < len(one.seeds) < FEW:
        rests.append("one seed" if len(one.seeds) == 1 else f"{formats.in_words(len(one.seeds))} seeds")
    if one.alone:
        rests.append("not decided once corrected for the number of comparisons")
    return size(one.gap, one.unit) + (f" ({'; '.join(rests)})" if rests else "")


def size(gap: float, unit: str) -> str:
    """A gap with its direction: ``39 % less``, ``2.1 points lower``."""
    less, more = ("less", "more") if unit == RATIO else ("lower", "higher")
    return f"{_amount(gap, unit)} {less if gap < (1 if unit == RATIO else 0) else more}"


def _amount(gap: float, unit: str) -> str:
    """How far a gap is from none: of a ratio in per cent, of a difference in its unit."""
    amount = abs(100 * (gap - 1)) if unit == RATIO else abs(gap)
    digits = (0 if unit == RATIO else 1) + (0 < amount < 0.05) + (unit == RATIO and 0.05 <= amount < 0.5)
    return f"{amount:.{digits}f} {'%' if unit == RATIO else unit}"
