"""Table of the privacy that users have spent: pure sums of the ledgers, and two tighter accounts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from pausefl.analysis import markdown
from pausefl.analysis.formats import number, raised
from pausefl.analysis.pld import epsilons
from pausefl.errors import PauseflError
from pausefl.privacy import MECHANISMS, zcdp
from pausefl.privacy.zcdp import DELTA
from pausefl.runs.run import Run
from pausefl.runs.run_id import RunId
from pausefl.selectors import SELECTORS, Selector
from pausefl.settings import PrivacySettings

#: Columns of a ledger.
LEDGER = ("user", "participations", "epsilon_coordinate", "epsilon_update", "values_unprotected")


def selects_without_releases(part: type[Selector]) -> bool:
    """Whether a private selector's choices depend on nothing that users release.

    It then looks at counts, sizes, qualities, latencies and budgets left, and neither at updates nor at
    losses. So how often a user takes part is independent of its releases, as the accounts at a delta need.
    """
    return part.private and not (part.needs_updates or part.needs_losses or part.asks_losses)


def by_what_they_select(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Private selectors among some names: those that select without releases, and those that look at them."""
    private = [name for name in SELECTORS.order(names) if SELECTORS[name].private]
    fixed = [name for name in private if selects_without_releases(SELECTORS[name])]
    return fixed, [name for name in private if name not in fixed]


def privacy_table(runs: Mapping[RunId, Run], privacy: PrivacySettings) -> pd.DataFrame:
    """Two rows a run of a scenario: the user who has spent most, and the median user.

    Returns
    -------
    pandas.DataFrame
        ``scenario``, ``selector``, ``seed``; ``rank`` (``highest`` or ``median``; of two middle users, the
        higher); `LEDGER`; ``epsilon_pld`` at ``delta``, and ``pld_of``, what it protects: a ``coordinate`` or
        the ``update``; ``epsilon_update_zcdp`` at ``delta``, never above ``epsilon_update``, for the same
        values (`pausefl.privacy.zcdp`); ``participations_fixed``, whether `selects_without_releases`. Both
        epsilons at ``delta`` are valid for a number of participations that does not depend on releases, and
        unlike the sums they are no filters. They are NaN under a mechanism of a user's own, and the one by
        zCDP under another accountant than ``pure``, whose ledgers have no sums. Epsilons are infinite without
        privacy. Selectors come in the order of `pausefl.selectors.SELECTORS`.
    """
    rows: list[dict[str, Any]] = []
    n_protected: list[int] = []
    order = SELECTORS.order(run.selector for run in runs)
    for run in sorted(runs, key=lambda run: (order.index(run.selector), run.seed)):
        ledger = _ledger(runs[run])
        ledger = ledger.sort_values(["epsilon_coordinate", "participations", "user"])
        for rank, user in (("highest", ledger.iloc[-1]), ("median", ledger.iloc[len(ledger) // 2])):
            rows.append(run._asdict() | {"rank": rank} | {name: user[name] for name in LEDGER})
            n_protected.append(_n_protected(ledger, privacy, run.selector))
    table = pd.DataFrame(rows).astype({name: int for name in LEDGER if not name.startswith("epsilon")})
    private = table["epsilon_coordinate"].map(math.isfinite)
    table["epsilon_pld"] = math.inf
    schedule, mechanism = privacy.make_schedule(), privacy.make_mechanism()
    shares = table["selector"].map(lambda name: _loss_share(privacy, name))
    for share in shares[private].unique():
        rows_of = private & (shares == share)
        counts = table.loc[rows_of, "participations"]
        tighter = epsilons(schedule, mechanism, counts, loss_share=share)
        table.loc[rows_of, "epsilon_pld"] = counts.map(tighter)
    table["delta"] = DELTA
    table["pld_of"] = MECHANISMS.find(privacy.mechanism).protects
    counts = table["participations"]
    rho = [
        float(zcdp.rho_of_updates(schedule, mechanism, *one))
        for one in zip(counts, n_protected, shares, strict=True)
    ]
    # Pure epsilon is (epsilon, delta) for every delta. The minimum keeps NaN.
    update = np.minimum(zcdp.epsilon_of(rho, DELTA), table["epsilon_update"].to_numpy())
    table["epsilon_update_zcdp"] = np.where(
        private, update if privacy.accountant == "pure" else np.nan, math.inf
    )
    table["participations_fixed"] = [selects_without_releases(SELECTORS[one]) for one in table["selector"]]
    return table


def _loss_share(privacy: PrivacySettings, selector: str) -> float:
    return privacy.share_for_losses(SELECTORS[selector].releases_losses())


def _n_protected(ledger: pd.DataFrame, privacy: PrivacySettings, selector: str) -> int:
    """Protected coordinates of an update, by the sums of a ledger; 0 if they do not say.

    Under `CoordinateMechanism` epsilon of the update is d (1 - s) + s times that of a coordinate. Under
    `VectorMechanism` it does not matter.
    """
    share = _loss_share(privacy, selector)
    coordinate, update = (float(ledger[f"epsilon_{of}"].iloc[-1]) for of in ("coordinate", "update"))
    if not 0 < coordinate < math.inf:
        return 0
    return round((update / coordinate - share) / (1 - share))


def _ledger(run: Run) -> pd.DataFrame:
    ledger = run.ledger
    missing = [name for name in LEDGER if name not in ledger]
    if missing or ledger.empty:
        raise PauseflError(f"the ledger of {run.name} lacks {', '.join(missing) or 'users'}")
    return ledger[list(LEDGER)]


def to_markdown(table: pd.DataFrame, labels: Mapping[str, str], accountant: str = "pure") -> str:
    """The `privacy_table` for people, one row a selector; each number is the largest over seeds.

    ``accountant`` is the one that the runs were made with.
    """
    protected, delta = (
        str(table["pld_of"].iloc[0]),
        f"10{raised(round(math.log10(table['delta'].iloc[0])))}",
    )
    in_parts, pure = protected != "update", accountant == "pure"
    records = []
    for selector, runs in table.groupby("selector", sort=False):
        highest, median = (
            runs[runs["rank"] == rank].max(numeric_only=True) for rank in ("highest", "median")
        )
        # Where the other account is of the whole update, it is the tighter one.
        of_update = {
            "ε per update": number(highest["epsilon_update"], ",.0f"),
            f"ε per update by zCDP, δ = {delta}": number(highest["epsilon_update_zcdp"], ",.0f"),
        }
        if not pure:  # whose ledgers have no sums to compose
            of_update = {"ε per update": of_update["ε per update"]}
        cells = {
            "Selector": labels[str(selector)],
            "Participations": f"{highest['participations']:.0f}",
            f"ε per {protected}": number(highest["epsilon_coordinate"], ",.2f"),
            f"ε per {protected}, δ = {delta}": number(highest["epsilon_pld"], ",.2f"),
            **(of_update if in_parts else {}),
            "Unprotected values": f"{highest['values_unprotected']:,.0f}",
            "Median: participations": f"{median['participations']:.0f}",
            "ε": number(median["epsilon_coordinate"], ",.2f"),
            f"ε, δ = {delta}": number(median["epsilon_pld"], ",.2f"),
        }
        records.append(cells)
    note = (
        "The user who spent most, then the median user; each number is the largest over seeds. ε without δ is"
        + (
            " the sum of the budgets (pure), which holds whoever is selected and when."
            if pure
            else f" what the accountant `{accountant}` says of the participations."
        )
        + f" ε at δ = {delta} composes privacy-loss distributions"
        + (" of the Laplace noise on one coordinate" if in_parts else " of the worst pure mechanisms")
        + ("; by zCDP it adds ε²/2 up over participations and coordinates" if in_parts and pure else "")
        + f". It is **not a filter**. {_holds_for(table['selector'].unique(), labels, pure)}"
        " Unprotected values were released as they are, outside any ε."
    )
    return markdown.of_records(records, note)


def _holds_for(selectors: Iterable[str], labels: Mapping[str, str], pure: bool) -> str:
    """For which selectors the epsilons at a delta hold, in words."""
    fixed, adaptive = (", ".join(labels[name] for name in names) for names in by_what_they_select(selectors))
    words = "It holds where participations do not depend on released values"
    words += f": for {fixed}." if fixed else ", which is so for no selector here."
    if adaptive:
        holds = "Only the sums hold" if pure else "Only the total budget is guaranteed"
        words += f" {holds} for {adaptive}."
    return words
