"""Columns of the tables that a run leaves. What checks, joins, shows and documents them reads this record."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    #: What it means, for the page on files.
    meaning: str
    #: ``int64``, ``float64``, or ``list`` of int64.
    type: str = "float64"
    #: Unit of a number, or its range.
    unit: str = ""
    #: Whether only runs that trained have it.
    trained: bool = False
    #: The first version that writes it; files of earlier ones lack it, and are read without it.
    since: str = ""
    #: Title of a column of summary tables that has its value after the last round; none by default.
    title: str = ""
    #: Digits behind the point there.
    digits: int = 2


#: Columns of ``rounds.parquet``, one row a round.
ROUNDS = {
    "round": Column("t, from 1", "int64"),
    "selection": Column("user ids, ascending; clustered sampling may repeat some", "list"),
    "latency_s": Column("duration of the round", unit="simulated s"),
    "elapsed_s": Column("time since the start", unit="simulated s"),
    "leakage_max": Column("largest budget spent so far; infinite without privacy", unit="ε per coordinate"),
    "leakage_mean": Column("mean budget spent so far; infinite without privacy", unit="ε per coordinate"),
    "reward": Column("realised reward; null if nobody takes part"),
    "pseudo_regret": Column("null without `--genie` or m distinct users"),
    "train_loss": Column("mean cross-entropy over the examples visited", unit="nats", trained=True),
    "accuracy": Column(
        "on the test split; chance level after divergence (D69); null for regression",
        unit="0 to 1",
        trained=True,
    ),
    "loss": Column(
        "mean cross-entropy on the test split; infinite after divergence", unit="nats", trained=True
    ),
}

#: Columns of ``ledger.parquet``, one row a user.
LEDGER = {
    "user": Column("id", "int64"),
    "participations": Column("T_k at the end", "int64"),
    "epsilon_coordinate": Column("ε spent per coordinate; infinite without privacy"),
    "epsilon_update": Column("ε composed over all protected values of the update, and the reported loss"),
    "values_unprotected": Column("values released unprotected, in all participations", "int64"),
}

#: Columns of rounds that every run has, and those that only trained runs have.
ALONE = tuple(name for name, column in ROUNDS.items() if not column.trained)
TRAINED = tuple(name for name, column in ROUNDS.items() if column.trained)
