"""Table of the privacy that users have spent: pure sums of the ledgers, and a tighter account."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd

from pausefl.errors import PauseflError
from pausefl.privacy import MECHANISMS
from pausefl.privacy.pld import DELTA, epsilons
from pausefl.results import markdown
from pausefl.runs.run import Run
from pausefl.selectors import SELECTORS
from pausefl.settings import Experiment, PrivacySettings

#: Columns of a ledger.
LEDGER = ("user", "participations", "epsilon_coordinate", "epsilon_update", "values_unprotected")


def privacy_table(runs: Mapping[Experiment, Run], privacy: PrivacySettings) -> pd.DataFrame:
    """Two rows a run of a scenario: the user who has spent most, and the median user.

    Returns
    -------
    pandas.DataFrame
        ``scenario``, ``selector``, ``seed``; ``rank`` (``highest`` or ``median``; of two middle users, the
        higher); `LEDGER`; ``epsilon_pld`` at ``delta``, and ``pld_of``, what it protects: a ``coordinate`` or
        the ``update``. ``epsilon_pld`` is valid for a number of participations fixed in advance. Unlike the
        sums, it is no filter under adaptive selection. Epsilons are infinite without privacy. Selectors come
        in the order of `pausefl.selectors.SELECTORS`.
    """
    rows: list[dict[str, Any]] = []
    order = SELECTORS.order(run.selector for run in runs)
    for run in sorted(runs, key=lambda run: (order.index(run.selector), run.seed)):
        ledger = _ledger(runs[run])
        ledger = ledger.sort_values(["epsilon_coordinate", "participations", "user"])
        for rank, user in (("highest", ledger.iloc[-1]), ("median", ledger.iloc[len(ledger) // 2])):
            rows.append(asdict(run) | {"rank": rank} | {name: user[name] for name in LEDGER})
    table = pd.DataFrame(rows).astype({name: int for name in LEDGER if not name.startswith("epsilon")})
    private = table["epsilon_coordinate"].map(math.isfinite)
    table["epsilon_pld"] = math.inf
    released = {name: SELECTORS[name].releases_losses() for name in order}
    shares = table["selector"].map(lambda name: privacy.share_for_losses(released[name]))
    for share in shares[private].unique():
        rows_of = private & (shares == share)
        counts = table.loc[rows_of, "participations"]
        tighter = epsilons(privacy.make_schedule(), privacy.make_mechanism(), counts, loss_share=share)
        table.loc[rows_of, "epsilon_pld"] = counts.map(tighter)
    table["delta"] = DELTA
    table["pld_of"] = MECHANISMS.find(privacy.mechanism).protects
    return table


def _ledger(run: Run) -> pd.DataFrame:
    ledger = run.ledger
    missing = [name for name in LEDGER if name not in ledger]
    if missing or ledger.empty:
        raise PauseflError(f"the ledger of {run.name} lacks {', '.join(missing) or 'users'}")
    return ledger[list(LEDGER)]


def to_markdown(table: pd.DataFrame, labels: Mapping[str, str]) -> str:
    """The `privacy_table` for people, one row a selector; each number is the largest over seeds."""
    of, delta = (
        str(table["pld_of"].iloc[0]),
        f"10{markdown.raised(round(math.log10(table['delta'].iloc[0])))}",
    )
    in_parts = of != "update"
    records = []
    for selector, runs in table.groupby("selector", sort=False):
        highest, median = (
            runs[runs["rank"] == rank].max(numeric_only=True) for rank in ("highest", "median")
        )
        of_update = {"ε per update": _epsilon(highest["epsilon_update"], 0)} if in_parts else {}
        cells = {
            "Selector": labels[str(selector)],
            "Participations": f"{highest['participations']:.0f}",
            f"ε per {of}": _epsilon(highest["epsilon_coordinate"]),
            f"ε per {of}, δ = {delta}": _epsilon(highest["epsilon_pld"]),
            **of_update,
            "Unprotected values": f"{highest['values_unprotected']:,.0f}",
            "Median: participations": f"{median['participations']:.0f}",
            "ε": _epsilon(median["epsilon_coordinate"]),
            f"ε, δ = {delta}": _epsilon(median["epsilon_pld"]),
        }
        records.append(cells)
    note = (
        "The user who spent most, then the median user; each number is the largest over seeds. ε without δ is"
        " the sum of the budgets (pure), which holds whoever is selected and when."
        f" ε at δ = {delta} composes privacy-loss distributions"
        + (" of the Laplace noise on one coordinate" if in_parts else " of the worst pure mechanisms")
        + "; it is valid for a number of participations fixed in advance. It is **not a filter**: where"
        " selection depends on earlier releases, as in clustered sampling by similarity, only the sums hold."
        " Unprotected values were released as they are, outside any ε."
    )
    return markdown.of_records(records, note)


def _epsilon(value: float, digits: int = 2) -> str:
    return "∞" if math.isinf(value) else f"{value:,.{digits}f}"
