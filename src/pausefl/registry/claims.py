"""Kinds of claim tests, and the quantities by which claims compare runs."""

from __future__ import annotations

from dataclasses import dataclass

from pausefl.registry.base import Record, Registry


@dataclass(frozen=True)
class ClaimTestRecord(Record):
    """A kind of claim test and the keys it has in ``config/claims.yaml``.

    Attributes
    ----------
    code
        Function ``(test, records, scale)`` that yields a `pausefl.claims.findings.Finding` for each
        comparison.
    needs
        Keys that a test of this kind must have.
    allows
        Keys that it may have.
    one_of
        Keys of which it must have at least one.
    laws
        Values of the key ``law``.
    """

    needs: tuple[str, ...] = ()
    allows: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    laws: tuple[str, ...] = ()


@dataclass(frozen=True)
class QuantityRecord(Record):
    """A number of a run, which the key ``metric`` of a claim test names.

    Attributes
    ----------
    code
        Function ``(run, other)`` that returns the number; ``other`` is the run it is compared with.
    unit
        Unit of a difference.
    infinite
        What a run of an infinite value does, for notes: "never reaches the target".
    """

    unit: str = ""
    infinite: str = ""


CLAIM_TESTS: Registry[ClaimTestRecord] = Registry(
    "kind of claim test",
    {
        "ordering": ClaimTestRecord(
            "pausefl.claims.kinds:ordering",
            needs=("scenarios", "selectors", "metric", "gap", "direction"),
            allows=("margin",),
            one_of=("against", "reference"),
        ),
        "equivalence": ClaimTestRecord(
            "pausefl.claims.kinds:equivalence",
            needs=("scenarios", "selectors", "against", "metric", "gap", "margin"),
        ),
        "collapse": ClaimTestRecord(
            "pausefl.claims.kinds:collapse", needs=("scenarios", "selectors", "against", "margin")
        ),
        "bound": ClaimTestRecord("pausefl.claims.kinds:bound", needs=("scenarios",)),
        "coincidence": ClaimTestRecord(
            "pausefl.claims.kinds:coincidence", needs=("scenarios", "selectors", "against")
        ),
        "regret": ClaimTestRecord(
            "pausefl.claims.laws:regret",
            needs=("studies", "selectors", "law"),
            allows=("margin",),
            laws=("logarithmic", "linear"),
        ),
        "cost": ClaimTestRecord(
            "pausefl.claims.laws:cost",
            needs=("studies", "selectors", "law"),
            allows=("exponent", "margin"),
            laws=("power", "exponential"),
        ),
        "share": ClaimTestRecord("pausefl.claims.laws:share", needs=("studies", "selectors", "at_least")),
        "exactness": ClaimTestRecord("pausefl.claims.searches:exactness", needs=("rewards", "n_instances")),
        "limit": ClaimTestRecord(
            "pausefl.claims.searches:limit", needs=("selectors", "n_instances", "at_least")
        ),
    },
)

QUANTITIES: Registry[QuantityRecord] = Registry(
    "metric",
    {
        "final_accuracy": QuantityRecord("pausefl.claims.quantities:final_accuracy", unit="share"),
        "final_loss": QuantityRecord("pausefl.claims.quantities:final_loss", unit="loss"),
        "accuracy_in_time": QuantityRecord("pausefl.claims.quantities:accuracy_in_time", unit="share"),
        "loss_in_time": QuantityRecord("pausefl.claims.quantities:loss_in_time", unit="loss"),
        "loss_over_time": QuantityRecord("pausefl.claims.quantities:loss_over_time", unit="loss"),
        "seconds_to_target": QuantityRecord(
            "pausefl.claims.quantities:seconds_to_target", unit="s", infinite="never reaches the target"
        ),
        "mean_round_s": QuantityRecord("pausefl.claims.quantities:mean_round_s", unit="s"),
        "leakage_max": QuantityRecord("pausefl.claims.quantities:leakage_max", unit="epsilon"),
        "leakage_over_rounds": QuantityRecord(
            "pausefl.claims.quantities:leakage_over_rounds", unit="epsilon"
        ),
    },
)
