"""Numbers typed into the page on selectors are those of the published studies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pausefl.analysis.intervals import estimate
from pausefl.reproduction.studies.runtime import fits

ROOT = Path(__file__).parents[3]
STUDIES = ROOT / "results" / "published" / "studies"

#: What stands in the places of a sentence, in order.
Numbers = Iterable[float]


@cache
def study(file: str, query: str = "") -> pd.DataFrame:
    path = STUDIES / file
    table = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    return table.query(query) if query else table


class Number(float):
    """A float with formats for three digits, as 40,500, for millions, and for per cent up to 100."""

    def __format__(self, form: str) -> str:
        value = float(self)
        match form:
            case "3":
                return f"{float(f'{value:.3g}'):,.0f}"
            case "M":
                return f"{value / 1e6:.1f} million"
            case "%":
                return "100" if value == 100 else f"{value:.1f}"
        return format(value, form).replace("-", "−")


# Of docs/searches.md.


def growth_of(name: str, column: str) -> pd.DataFrame:
    """Regret at the end, or its exponent, of each selector: a row a seed."""
    table = study(f"{name}/growth.csv", "seed != 'mean'")
    return table.pivot(index="seed", columns="selector", values=column)


def regret(name: str, *selectors: str) -> Iterator[float]:
    """Mean regret of selectors in a study, each with its mean exponent."""
    for selector in selectors:
        for column in ("regret", "exponent"):
            yield growth_of(name, column)[selector].mean()


def errors(law: str, seeds: str = "seed == 'mean'") -> pd.Series:
    """Errors of a law in games of 20 users (%)."""
    games = [
        *(("bsfl_fig5_regret", "bsfl"), ("bsfl_fig8_regret", "bsfl")),
        *(("pause_v2_theorem3_small", one) for one in ("bsfl", "pause")),
    ]
    query = f"law == '{law}' and {seeds} and selector == "
    found = [study(f"{name}/fits.csv", f"{query}'{one}'")["error"] for name, one in games]
    together: pd.Series = pd.concat(found)
    return together * 100


def above_pause(size: str) -> list[float]:
    """What BSFL's regret lies above PAUSE's by, geometric mean and interval (%)."""
    regrets = growth_of(f"pause_v2_theorem3_{size}", "regret")
    return [100 * (np.exp(one) - 1) for one in estimate(np.log(regrets["bsfl"] / regrets["pause"]))]


def ends(values: Iterable[float]) -> list[float]:
    known = list(values)
    return [min(known), max(known)]


def knob(size: str, name: str, value: str, selector: str = "pause") -> pd.Series:
    """Means over seeds after 300 rounds, with one setting changed."""
    rows = study(f"knobs_{size}/knobs.parquet", f"knob == '{name}' and value == '{value}'")
    return rows[rows.selector == selector].mean(numeric_only=True)


def usual(size: str, selector: str = "pause") -> pd.Series:
    return knob(size, "usual", "usual", selector)


def fast(size: str) -> pd.Series:
    """PAUSE with the largest factor on speed."""
    return knob(size, "selection.exploitation", "30")


def gaps(k: int, m: int) -> list[float]:
    """Mean gap of plain annealing, with all moves, and with only active moves."""
    query = f"n_users == {k} and n_selected == {m} and temperature_divisor == 30 and energy == 'best'"
    rows = study("active_moves/shares.csv", f"{query} and budget == 'iterations'").set_index("moves")
    return [rows.gap_other["all"], rows.gap["all"], rows.gap["active"]]


def gaps_by_temperature(column: str) -> list[float]:
    query = "n_users == 300 and n_selected == 15 and moves == 'all' and energy == 'best'"
    rows = study("active_moves/shares.csv", f"{query} and budget == 'iterations'")
    return [rows.set_index("temperature_divisor")[column][divisor] for divisor in (1, 30, 1000)]


def after_300(reward: str, column: str, *selectors: str) -> list[float]:
    """Means over seeds of a column in the last round, large network."""
    rounds = study(f"selection_cifar10_large_noniid_{reward}/rounds.parquet", "round == 300")
    return [rounds[rounds.selector == name][column].mean() for name in selectors]


def won(query: str, source: str = "") -> float:
    """Share of the races that ALSA wins (%); ``query`` is a row of the page's table."""
    budget, energy, divisor, moves, *size = query.split()
    query = f"budget == '{budget}' and energy == '{energy}' and temperature_divisor == {divisor}"
    rows = study("bsfl_races/shares.csv", f"{query} and moves == '{moves}' and source == '{source}'")
    rows = rows[(rows.n_users == 500) & (rows.n_selected == 25)] if size else rows
    return 100 * float(rows.n_won.sum() / rows.n_instances.sum())


def races(row: str) -> list[float]:
    """Shares of all sizes, drawn and from games; and of 25 of 500 users."""
    return [won(row + size, source) for size in ("", " largest") for source in ("drawn", "games")]


def by_size(m: int, divisor: int) -> list[float]:
    """Least and largest share of the races of m users in equal time (%)."""
    query = f"n_selected == {m} and temperature_divisor == {divisor} and moves == 'all'"
    rows = study("bsfl_races/shares.csv", f"{query} and budget == 'neighbours' and energy == 'best'")
    return [100 * rows.share.min(), 100 * rows.share.max()]


def growth(selector: str, quantity: str = "selection") -> pd.Series:
    table = fits(study("pause_v2_table1/times.csv"))
    return table[(table.selector == selector) & (table.quantity == quantity)].iloc[0]


def over_sort(selector: str, quantity: str = "selection") -> list[float]:
    """Exponent of K of a time, and that of a sort."""
    fit = growth(selector, quantity)
    return [fit.exponent, fit.exponent - fit.over_sort]


BOTH = ("iid", "noniid")

SEARCHES: list[tuple[str, Callable[[], Numbers]]] = [
    (
        "equal clients | BSFL {0:3} ({1:.2f}), ALSA {2:,.0f}, random {4:3} ({5:.2f}),"
        " CS-UCB {6:M} ({7:.3f}) |",
        lambda: regret("bsfl_fig5_regret", "bsfl", "alsa", "random", "cs_ucb"),
    ),
    (
        "unequal clients | BSFL {0:,.0f} ({1:.2f}), ALSA {2:,.0f}, random by size {4:3} ({5:.2f}),"
        " CS-UCB-Q {6:3} ({7:.2f}) |",
        lambda: regret("bsfl_fig8_regret", "bsfl", "alsa", "random_by_size", "cs_ucb_q"),
    ),
    (
        "steps of 0.05 | BSFL {:,.0f} ({:.2f}), random {:3} ({:.2f}), CS-UCB {:M} ({:.2f}) |",
        lambda: regret("bsfl_regret_quantised", "bsfl", "random", "cs_ucb"),
    ),
    (
        "τ_min = 0.5 s | BSFL {:,.0f} ({:.2f}), CS-UCB {:,.0f} ({:.2f}), random {:3} ({:.2f}) |",
        lambda: regret("bsfl_regret_speed", "bsfl", "cs_ucb", "random"),
    ),
    (
        "20 clients | PAUSE {0:3} ({1:.2f}), BSFL {2:3}, SA-PAUSE {4:3}, random {6:3}, CS-UCB {8:M}"
        " ({9:.2f}) |",
        lambda: regret("pause_v2_theorem3_small", "pause", "bsfl", "sa_pause", "random", "cs_ucb"),
    ),
    (
        "300 clients | PAUSE {0:3} ({1:.2f}), BSFL {2:3}, SA-PAUSE {4:3} ({5:.2f}), random {6:3},"
        " CS-UCB {8:3} ({9:.2f}) |",
        lambda: regret("pause_v2_theorem3_large", "pause", "bsfl", "sa_pause", "random", "cs_ucb"),
    ),
    (
        "of BSFL and of PAUSE within {:.1f} %;",
        lambda: [errors("root").max()],
    ),
    ("a logarithm misses by {:.0f} to {:.0f} %", lambda: ends(errors("logarithmic"))),
    (
        "has a regret only {:.0f} % above PAUSE's",
        lambda: above_pause("large")[:1],
    ),
    ("| `sa_pause` | {:.2f} | {:.2f} | {:.2f} |", lambda: gaps_by_temperature("gap")),
    ("| `sa_vanilla` | {:.2f} | {:.2f} | {:.2f} |", lambda: gaps_by_temperature("gap_other")),
    (
        "300 rounds take {:.0f} s with `sa_pause` and {:.0f} s with `pause`",
        lambda: after_300("r1", "elapsed_s", "sa_pause", "pause"),
    ),
    (
        "[takes {:.0f} s in place of {:.0f}]",
        lambda: [
            knob("large", "selection.temperature_divisor", "1000", "sa_pause").elapsed_s,
            usual("large", "sa_pause").elapsed_s,
        ],
    ),
    (
        "With 30 clients PAUSE takes {:.0f} s and random selection {:.0f} s; with 300 they take"
        " {:.0f} and {:.0f} s.",
        lambda: [usual(size, name).elapsed_s for size in ("small", "large") for name in ("pause", "random")],
    ),
    (
        "With 30 clients expected latencies in a round span {:.2f} s, with random selection {:.2f} s."
        " Slow clients make up {:.0f} % of the participations.",
        lambda: [
            *(usual("small", name).spread_s for name in ("pause", "random")),
            100 * usual("small").slow_share,
        ],
    ),
    (
        "the largest budget spent is {:.1f} with both, {:.1f} without the privacy term and {:.1f} without the"
        " generalisation term. Without both it reaches {:.1f} of the budget of 40.",
        lambda: [
            usual("small").leakage_max,
            *(knob("small", "variants", one).leakage_max for one in ("no_p", "no_g", "neither")),
        ],
    ),
    (
        "PAUSE takes {:.0f} s without it, and the largest budget spent is {:.1f}, not {:.1f}.",
        lambda: [
            *knob("large", "variants", "no_g")[["elapsed_s", "leakage_max"]],
            usual("large").leakage_max,
        ],
    ),
    (
        "With ζ = 30 PAUSE takes {:.0f} s with 30 clients and {:.0f} s with 300. Slow clients then make up"
        " {:.0f} and {:.0f} % of the participations.",
        lambda: [
            *(fast(size).elapsed_s for size in ("small", "large")),
            *(100 * fast(size).slow_share for size in ("small", "large")),
        ],
    ),
    (
        "from J = 100 to 10,000 its time falls from {:.0f} to {:.0f} s with 30 clients.",
        lambda: [knob("small", "selection.n_iterations", n, "sa_pause").elapsed_s for n in ("100", "10000")],
    ),
    *(
        (f"{words} | {{:%}} | {{:%}} | {{:%}} | {{:%}} |", lambda row=row: races(row))
        for words, row in [
            ("| equal iterations, best vertex, κ = 1", "iterations best 1 all"),
            ("| equal listing, best vertex, κ = 1", "neighbours best 1 all"),
            ("| equal listing, best vertex, κ = 30", "neighbours best 30 all"),
            ("moves: equal iterations, last vertex, κ = 1", "iterations final 1 active"),
            ("moves: equal listing, best vertex, κ = 1000", "neighbours best 1000 active"),
        ]
    ),
    (
        "then it wins {:.0f} to {:.0f} % with m = 5, and {:.0f} to {:.1f} % with m = 25",
        lambda: [share for m in (5, 25) for share in by_size(m, 1)],
    ),
    (
        "{:.2f} from the optimum in place of {:.2f} for 15 of 300 clients, but {:.2f} in place of {:.2f} for",
        lambda: [gap for k, m in ((300, 15), (30, 5)) for gap in gaps(k, m)[:0:-1]],
    ),
    (
        "time grows as K^{:.2f} for `pause`, as that of a sort does, and as K^{:.2f} for plain annealing",
        lambda: [growth("pause").exponent, growth("sa_vanilla").exponent],
    ),
    (
        "lists m(K − m), its time grows as K^{:.2f} from",
        lambda: [growth("sa_vanilla", "listing").exponent],
    ),
    ("time grows as K^{:.2f}, a sort's as K^{:.2f}.", lambda: over_sort("sa_pause", "listing")),
    ("of enumeration by {:.2f}, from 30 clients on", lambda: [np.exp(growth("pause_brute").rate)]),
]


@pytest.mark.parametrize(("words", "numbers"), SEARCHES)
def test_searches_say_what_the_studies_have(words: str, numbers: Callable[[], Numbers]) -> None:
    check_said("searches.md", words, numbers())


def check_said(page: str, words: str, numbers: Numbers) -> None:
    """A page has a sentence with these numbers; bold, and what is in brackets in tables, do not count."""
    text = " ".join((ROOT / "docs" / page).read_text("utf-8").replace("**", "").split())
    bare = re.sub(r" \([^()]*\)(?= \|)", "", text)
    asked = words.format(*map(Number, numbers))
    assert asked in text or asked in bare, f"{page} does not say: {asked}"
