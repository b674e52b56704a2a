"""Claim tests on studies of selection: laws of growth, ends of regret, shares of comparisons, degrees."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np
import pandas as pd

from pausefl.bandit.latency import expected_speeds
from pausefl.claims.comparisons import RATIO, Comparison, Head, decided, not_run, wanted_text
from pausefl.claims.records import Records, expected_latencies
from pausefl.claims.statistics import (
    FAILS,
    HOLDS,
    LEVEL,
    ROUNDING,
    UNDECIDED,
    Floats,
    Judgement,
    gaps,
    judge,
    region,
)
from pausefl.results.intervals import CONFIDENCE, Estimate, t_quantile
from pausefl.settings import Scenario
from pausefl.settings.claims import ClaimTest
from pausefl.studies.regret import MEAN
from pausefl.studies.runtime import QUANTITIES, fits

_ABSENT = "the study is not configured, or is missing"

#: Laws of growth that are logarithmic, or slower.
_SLOW = ("constant", "logarithmic")


def regret(test: ClaimTest, records: Records, scale: str) -> Iterator[Comparison]:
    """Regret grows by a law.

    Logarithmic: seed by seed, the error of the logarithm's fit is at most the margin above that of the best
    other law (`pausefl.studies.regret.fits`); the gap is the ratio of errors. Linear: the local exponent over
    the last decade of rounds is 1 within the margin.
    """
    linear = test.law == "linear"
    for study, selector in product(test.studies[scale], test.selectors):
        if linear:
            low, high = 1 - test.margin, 1 + test.margin
            head = (test.kind, study, f"exponent of regret: {selector}", wanted_text(low, high, "exponent"))
        else:
            low, high = region("not higher", test.margin, RATIO)
            question = f"fit of a logarithm to regret, error against the best other law: {selector}"
            head = (test.kind, study, question, wanted_text(low, high, RATIO))
        laws, growth = records.study(study, "fits.csv"), records.study(study, "growth.csv")
        if laws is None or growth is None:
            yield not_run(*head, _ABSENT)
            continue
        laws, growth = _of_seeds(laws, selector), _of_seeds(growth, selector)
        if not len(growth):
            yield not_run(*head, f"{selector} is not in the study")
            continue
        seeds = tuple(int(seed) for seed in growth["seed"])
        exponents = growth["exponent"].to_numpy(np.float64)
        judged = judge(exponents if linear else _error_ratios(laws, seeds), low, high)
        best = laws[laws["preferred"]]["law"].value_counts().items()
        told = "laws that fit best, in seeds: " + ", ".join(f"{n} {law}" for law, n in best)
        if not linear:
            told = f"mean exponent over the last decade of rounds {exponents.mean():.2f}; {told}"
        yield decided(
            head,
            judged,
            "difference" if linear else RATIO,
            unit="" if linear else RATIO,
            measure="exponent of regret" if linear else "error of a logarithm's fit",
            seeds=seeds,
            runs=(f"study {study}",),
            note=told,
            prints=_prints(records, study, (selector,), seeds),
        )


def _of_seeds(table: pd.DataFrame, selector: str) -> pd.DataFrame:
    """Rows of a selector's seeds, without those of the mean curve."""
    return table[(table["selector"] == selector) & (table["seed"].astype(str) != MEAN)]


def _error_ratios(laws: pd.DataFrame, seeds: Iterable[int]) -> Floats:
    """For each seed, the log of the least error of a slow law over the least error of all others."""
    slow, of_seed = laws["law"].isin(_SLOW), laws["seed"].astype(int)

    def least(rows: pd.Series) -> Floats:
        errors = laws[rows].groupby(of_seed[rows])["error"].min()
        return np.asarray(np.log(np.maximum(errors.loc[list(seeds)].to_numpy(np.float64), ROUNDING)))

    return np.asarray(least(slow) - least(~slow))


def _prints(
    records: Records, study: str, selectors: Iterable[str], seeds: Iterable[int]
) -> dict[tuple[str, int], str]:
    """Hashes of the simulated times of each run: equal selections have equal times."""
    found = {}
    for place, seed in product(enumerate(selectors), seeds):
        side, selector = place
        file = f"{selector}/seed-{seed}.parquet"
        table = records.study(study, file) if records.has(study, file) else None
        if table is not None:
            times = np.ascontiguousarray(table["elapsed_s"].to_numpy(np.float64)).tobytes()
            found[("ours", "theirs")[side], seed] = hashlib.sha256(times).hexdigest()
    return found


def final_regret(test: ClaimTest, records: Records, scale: str) -> Iterator[Comparison]:
    """A selector's regret after all rounds is below that of others by more than the margin, as a ratio."""
    low, high = region("lower", test.margin, RATIO)
    for study, ours, theirs in product(test.studies[scale], test.selectors, test.against):
        head = (test.kind, study, f"final regret: {ours} against {theirs}", wanted_text(low, high, RATIO))
        growth = records.study(study, "growth.csv")
        if growth is None:
            yield not_run(*head, _ABSENT)
            continue
        first, second = (_of_seeds(growth, name).set_index("seed")["regret"] for name in (ours, theirs))
        both = first.index.intersection(second.index)
        if not len(both):
            yield not_run(*head, "the study lacks one of the two")
            continue
        seeds = tuple(int(seed) for seed in both)
        yield decided(
            head,
            judge(gaps(first[both], second[both], RATIO), low, high),
            RATIO,
            unit=RATIO,
            measure="final regret",
            seeds=seeds,
            runs=(f"study {study}",),
            prints=_prints(records, study, (ours, theirs), seeds),
        )


def cost(test: ClaimTest, records: Records, scale: str) -> Iterator[Comparison]:
    """A time grows with K as a power, as K log K, at most as K log K, within the margin, or exponentially.

    The law is the one with the smaller error in ln t (`pausefl.studies.runtime.fits`). The interval is that
    of its slope. K log K has the slope of its own line through the same sizes.
    """
    for study, selector in product(test.studies[scale], test.selectors):
        head = (test.kind, study, f"growth with K of {_TIMED[test.quantity]}: {selector}", _LAWS[test.law])
        if test.law == "power":
            head = (*head[:3], f"as K to the power {test.exponent:g}")
        times = records.study(study, "times.csv")
        if times is None:
            yield not_run(*head, _ABSENT)
            continue
        times = times[times["selector"] == selector]
        fitted = fits(times)
        fitted = fitted[fitted["quantity"] == test.quantity]
        if not len(fitted):
            yield not_run(*head, f"fewer than three sizes with {_TIMED[test.quantity]}")
            continue
        sizes = times[times[QUANTITIES[test.quantity]].notna()]["n_users"].to_numpy(np.float64)
        yield _by_law(head, test, fitted.iloc[0], sizes)


#: What is timed, and how it is to grow, in words.
_TIMED = {"selection": "a selection's time", "listing": "the time of an iteration that lists all neighbours"}
_LAWS = {
    "exponential": "exponentially",
    "linearithmic": "as K log K",
    "at most linearithmic": "at most as K log K",
    "power": "",
}

#: Unit of what is judged, and what it is.
_SLOPES = {
    "exponent": ("", "exponent of time"),
    "over_sort": ("", "exponent of time over that of a sort"),
    "rate": ("a user", "growth of ln(time)"),
}


def _by_law(head: Head, test: ClaimTest, fit: pd.Series, sizes: Floats) -> Comparison:
    """Judge one fit to some of the sizes (n,)."""
    sizes = sizes[(sizes >= fit["from_users"]) & (sizes <= fit["to_users"])]
    is_power = fit["exponent_error"] <= fit["rate_error"]
    to_sort = test.law.endswith("linearithmic")
    slope = "rate" if test.law == "exponential" else "over_sort" if to_sort else "exponent"
    better = "a power" if is_power else "an exponential"
    told = f"K from {fit['from_users']:,} to {fit['to_users']:,}, {len(sizes)} sizes; {better} fits better"
    wanted, error = 0.0 if to_sort else test.exponent, float(fit[f"{slope}_se"])
    if math.isnan(error):
        return not_run(*head, "no sort of as many numbers was timed")
    if test.law == "exponential":
        half = t_quantile(len(sizes) - 2) * error
        found = Estimate(fit[slope], fit[slope] - half, fit[slope] + half)
        judged = Judgement(FAILS if is_power else HOLDS, found)
    else:
        low = -math.inf if test.law.startswith("at most") else wanted - test.margin
        high = wanted + test.margin
        judged = _within(float(fit[slope]), error, len(sizes) - 2, low, high)
        told = f"wanted: {'up to' if low == -math.inf else f'{low:.3g} to'} {high:.3g}; {told}"
        if not is_power:
            judged = Judgement(FAILS, judged.found)
    unit, measure = _SLOPES[slope]
    return decided(head, judged, unit=unit, measure=measure, runs=(f"study {head[1]}",), note=told)


def _within(slope: float, error: float, n_free: int, low: float, high: float) -> Judgement:
    """One-sided t tests of a fitted slope against the ends of a region."""
    from scipy.special import stdtr

    half = t_quantile(n_free) * error
    found = Estimate(slope, slope - half, slope + half)
    error = max(error, ROUNDING)
    above, below = (stdtr(n_free, (limit - slope) / error) for limit in (low, high))
    p_holds, p_fails = 2 * max(above, 1 - below), 2 * min(1 - above, below)
    outcome = HOLDS if p_holds < LEVEL else FAILS if p_fails < LEVEL else UNDECIDED
    return Judgement(outcome, found, p=float(min(p_holds, p_fails, 1.0)))


def regret_bound(test: ClaimTest, records: Records, scale: str) -> Iterator[Comparison]:
    """A selector's regret after all rounds is below its theorem's bound; the gap is their ratio.

    Of PAUSE that is Theorem 3, of BSFL Theorem 1, for which rewards have to be quantised.
    """
    for study, selector in product(test.studies[scale], test.selectors):
        head = (
            test.kind,
            study,
            f"final regret over the bound: {selector}",
            wanted_text(-math.inf, 0, RATIO),
        )
        growth = records.study(study, "growth.csv")
        growth = None if growth is None else _of_seeds(growth, selector)
        if growth is None or not len(growth):
            yield not_run(*head, _ABSENT if growth is None else f"{selector} is not in the study")
            continue
        settings = records.studies.of_kind("regret")[study]
        n_rounds, step = settings.n_rounds, settings.reward_step
        given = (settings.scenario, n_rounds)
        most = theorem3(*given) if step is None else theorem1(*given, step)
        seeds = tuple(int(seed) for seed in growth["seed"])
        worst = n_rounds * largest_gap(settings.scenario)
        told = f"bound {most:.2g} after {n_rounds:,} rounds"
        if worst <= most:
            told += f"; no selector can lose more than {worst:.2g}, so the bound excludes nothing yet"
        yield decided(
            head,
            judge(np.log(growth["regret"].to_numpy(np.float64)) - math.log(most), -math.inf, 0),
            RATIO,
            unit=RATIO,
            measure="regret over the bound",
            seeds=seeds,
            runs=(f"study {study}",),
            note=told,
            prints=_prints(records, study, (selector,), seeds),
        )


def theorem3(scenario: Scenario, n_rounds: int) -> float:
    """Bound on the regret after n rounds (PAUSE v2, Theorem 3), with the constant of its proof (D5).

    K (Delta_max + delta) (4 (m + 1) ln n / delta^2 + 1 + 4 pi^2 / 3), where delta is the least difference of
    two users' expected latencies in seconds (v2, II-A).
    """
    network = scenario.network
    delta = float(np.diff(np.sort(expected_latencies(network))).min())
    terms = 4 * (network.n_selected + 1) * math.log(n_rounds) / delta**2 + 1 + 4 * math.pi**2 / 3
    return network.n_users * (largest_gap(scenario) + delta) * terms


def theorem1(scenario: Scenario, n_rounds: int, step: float) -> float:
    """Bound on the regret after n rounds (BSFL, Theorem 1), where rewards are multiples of a step.

    Delta_max K (4 (m + 1) ln n / Delta_min^2 + 1 + pi^2 / 3), where Delta_min, the least difference of two
    rewards, is the step.
    """
    network = scenario.network
    terms = 4 * (network.n_selected + 1) * math.log(n_rounds) / step**2 + 1 + math.pi**2 / 3
    return network.n_users * largest_gap(scenario) * terms


def largest_gap(scenario: Scenario) -> float:
    """Delta_max (PAUSE v2, Lemma 1; BSFL, eq. 14), with ranges 2 of generalisation and 1 of privacy (D4)."""
    speeds, reward = expected_speeds(scenario.network), scenario.reward
    return float(np.ptp(speeds)) + 2 * reward.alpha + (reward.gamma or 0.0)


def share(test: ClaimTest, records: Records, scale: str) -> Iterator[Comparison]:
    """One annealer beats the other in at least a share of instances, in each row of the study's table.

    ``rows`` chooses among the rows: columns and the values that they may have. ``pool`` names columns over
    whose values instances are counted together. The interval is Wilson's, the p-value that of the score test,
    which agrees with it.
    """
    for study, selector in product(test.studies[scale], test.selectors):
        head = (test.kind, study, f"share won by {selector}", f"share ≥ {test.at_least:g}")
        there = records.studies.get(study)
        table = records.study(study, there.claims[0]) if there is not None else None
        if table is None:
            yield not_run(*head, _ABSENT)
            continue
        table = table[table["selector"] == selector]
        for column, values in test.rows.items():
            known = table[column].astype(str) if column in table else pd.Series("", table.index)
            table = table[known.isin([str(value) for value in values])]
        if not len(table):
            yield not_run(*head, f"the study has no such rows of {selector}")
            continue
        cell = [name for name in _CELL if name in table and name not in test.pool]
        for names, rows in table.groupby(cell, sort=False):
            told = ", ".join(f"{name} {value}" for name, value in zip(cell, names, strict=True))
            n = int(rows["n_instances"].sum())
            won = round(float((rows["share"] * rows["n_instances"]).sum()))
            judged = _of_share(won, n, test.at_least)
            yield decided(
                (*head[:2], f"{head[2]}: {told}", head[3]),
                judged,
                unit="of instances",
                measure=f"share won by {selector}",
                runs=(f"study {study}",),
                note=f"{n:,} instances",
            )


#: Columns of a table of shares that say which comparison a row is.
_CELL = ("source", "n_users", "n_selected", "temperature_divisor", "moves", "budget", "energy")


def _of_share(won: int, n: int, least: float) -> Judgement:
    """Judge a share of n instances by Wilson's interval."""
    from scipy.stats import binomtest, norm

    found = binomtest(won, n).proportion_ci(CONFIDENCE, method="wilson")
    outcome = HOLDS if found.low >= least else FAILS if found.high < least else UNDECIDED
    spread = math.sqrt(least * (1 - least) / n)
    p = 2 * float(norm.sf(abs(won / n - least) / spread)) if spread else math.nan
    return Judgement(outcome, Estimate(won / n, found.low, found.high), p=p)


def degrees(test: ClaimTest, records: Records, scale: str) -> Iterator[Comparison]:
    """On every graph the mean number of neighbours is at most 4 (K - m), of plain annealing m (K - m)."""
    for study in test.studies[scale]:
        table = records.study(study, "degrees.parquet")
        for selector in (*test.selectors, *test.against):
            plain = selector in test.against
            wanted = "m (K − m) for every vertex" if plain else "at most 4 (K − m) on average"
            head = (test.kind, study, f"mean number of neighbours: {selector}", wanted)
            if table is None:
                yield not_run(*head, _ABSENT)
                continue
            settings = records.studies.of_kind("graphs")[study]
            n_out, m = settings.n_users - settings.n_selected, settings.n_selected
            own = table[table["selector"] == selector]
            claimed = (m if plain else 4) * n_out
            most = float(own["degree_mean"].max())
            told = f"{most:.4g} against {claimed}, {len(own):,} graphs of {m} of {settings.n_users} users"
            if plain:
                holds = bool((own[["degree_min", "degree_max"]] == claimed).all(axis=None))
            else:
                holds = most <= claimed
                if m <= 4:
                    told += "; with m ≤ 4 no graph has more"
            yield Comparison(
                *head,
                HOLDS if holds else FAILS,
                most / claimed,
                unit=RATIO,
                measure=f"mean neighbours over {'m (K − m)' if plain else '4 (K − m)'}",
                runs=(f"study {study}",),
                note=told,
            )
