"""Claim tests on studies of selection: laws of growth, and shares of comparisons won."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd

from pausefl.claims.findings import Finding, not_run, wanted_text
from pausefl.claims.records import Records
from pausefl.claims.statistics import FAILS, HOLDS, UNDECIDED, judge, t_quantile
from pausefl.settings.claims import ClaimTest
from pausefl.studies.growth import MEAN
from pausefl.studies.runtime import fits

_ABSENT = "the study is not configured, or is missing"


def regret(test: ClaimTest, records: Records, scale: str) -> Iterator[Finding]:
    """Regret grows by a law in every seed.

    Logarithmic: a logarithm or a constant fits best (`pausefl.studies.growth.fits`). Linear: the local
    exponent over the last decade of rounds is 1 within the margin. The gap is that exponent.
    """
    for study, selector in product(test.studies[scale], test.selectors):
        linear = test.law == "linear"
        wanted = wanted_text(1 - test.margin, 1 + test.margin, "exponent") if linear else "law logarithmic"
        head = (test.kind, study, f"regret of {selector}", wanted)
        laws, growth = records.study(study, "fits.csv"), records.study(study, "growth.csv")
        if laws is None or growth is None:
            yield not_run(*head, _ABSENT)
            continue
        growth = growth[(growth["selector"] == selector) & (growth["seed"] != MEAN)]
        laws = laws[(laws["selector"] == selector) & (laws["seed"] != MEAN) & laws["preferred"]]
        exponents = growth["exponent"].to_numpy(np.float64)
        if not len(growth):
            yield not_run(*head, f"{selector} is not in the study")
            continue
        outcome, found = judge(exponents, 1 - test.margin, 1 + test.margin)
        if not linear:
            as_said = laws["law"].isin(["logarithmic", "constant"])
            outcome = HOLDS if as_said.all() else UNDECIDED if as_said.any() else FAILS
        best = ", ".join(f"{n} {law}" for law, n in laws["law"].value_counts().items())
        seeds = tuple(int(seed) for seed in growth["seed"])
        note = f"local exponent of the last decade; laws that fit best, in seeds: {best}"
        gap = (found.mean, found.low, found.high)
        yield Finding(*head, outcome, *gap, "exponent", seeds, (f"study {study}",), note=note)


def cost(test: ClaimTest, records: Records, scale: str) -> Iterator[Finding]:
    """The time of a search grows with K as a power, within the margin of the wanted one, or exponentially.

    The law is the one with the smaller error in ln t (`pausefl.studies.runtime.fits`). The interval is that
    of its slope.
    """
    for study, selector in product(test.studies[scale], test.selectors):
        power = test.law == "power"
        low, high = test.exponent - test.margin, test.exponent + test.margin
        wanted = wanted_text(low, high, "exponent") if power else "law exponential"
        head = (test.kind, study, f"time of a selection against K: {selector}", wanted)
        times = records.study(study, "times.csv")
        if times is None:
            yield not_run(*head, _ABSENT)
            continue
        times = times[times["selector"] == selector]
        fitted = fits(times)
        fitted = fitted[fitted["quantity"] == "selection"]
        if not len(fitted):
            yield not_run(*head, "fewer than three sizes to fit a law to")
            continue
        yield _by_law(head, fitted.iloc[0], times, power, (low, high), study)


def _by_law(
    head: tuple[str, str, str, str],
    fit: pd.Series,
    times: pd.DataFrame,
    power: bool,
    limits: tuple[float, float],
    study: str,
) -> Finding:
    """Judge one fit."""
    n_sizes = int(times["n_users"].between(fit["from_users"], fit["to_users"]).sum())
    is_power = fit["exponent_error"] <= fit["rate_error"]
    slope = "exponent" if power else "rate"
    half = t_quantile(n_sizes - 2) * fit[f"{slope}_se"]
    least, most = fit[slope] - half, fit[slope] + half
    if not power:
        outcome = FAILS if is_power else HOLDS
    elif not is_power or most <= limits[0] or least >= limits[1]:
        outcome = FAILS
    else:
        outcome = HOLDS if limits[0] < least and most < limits[1] else UNDECIDED
    better = "a power" if is_power else "an exponential"
    note = f"K from {fit['from_users']:,} to {fit['to_users']:,}, {n_sizes} sizes; {better} fits better"
    unit = "exponent" if power else "rate a user"
    return Finding(*head, outcome, fit[slope], least, most, unit, runs=(f"study {study}",), note=note)


def share(test: ClaimTest, records: Records, scale: str) -> Iterator[Finding]:
    """One annealer ends above the other in at least a share of instances, at every temperature divisor."""
    for study, selector in product(test.studies[scale], test.selectors):
        question = f"comparisons in which {selector} ends higher"
        head = (test.kind, study, question, f"share ≥ {test.at_least:g}")
        table = records.study(study, "summary.csv")
        if table is None:
            yield not_run(*head, _ABSENT)
            continue
        table = table[(table["selector"] == selector) & (table["energy"] == "final")]
        if not len(table):
            yield not_run(*head, f"{selector} is not the first of the study's two selectors")
        for row in table.to_dict("records"):
            outcome = HOLDS if row["low"] >= test.at_least else FAILS
            if outcome == FAILS and row["high"] >= test.at_least:
                outcome = UNDECIDED
            note = f"κ = {row['temperature_divisor']:g}, {row['n_instances']:,} instances"
            found = (row["share"], row["low"], row["high"])
            yield Finding(*head, outcome, *found, "share", runs=(f"study {study}",), note=note)
