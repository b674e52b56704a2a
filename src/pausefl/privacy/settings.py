"""The section ``privacy`` of a scenario."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import model_validator

from pausefl.plugins import Plugins, build, check_choices
from pausefl.privacy.accountants import ACCOUNTANTS, Account, Accountant, unaffordable
from pausefl.privacy.mechanisms import MECHANISMS, Mechanism
from pausefl.privacy.samplers import SAMPLERS, Sampler
from pausefl.privacy.schedule import SCHEDULES, Schedule
from pausefl.schema.base import Settings
from pausefl.schema.types import OneOf, Positive, Real, Whole
from pausefl.streams import Streams


class PrivacySettings(Settings):
    """Bounded updates with Laplace noise, and the budget of each user; null for no privacy.

    With mechanism `coordinate` budgets hold per coordinate of the update (PAUSE v2, II-B and III-A), with
    `vector` for the update as a whole.
    """

    epsilon_total: Positive
    """Budget of a user over all its participations."""
    decay: Positive | None = None
    """Decay eta of the budget over a user's participations (schedule `geometric`); the i-th may spend
    epsilon_total (exp(eta) - 1) exp(-eta i)."""
    sensitivity: Positive | None = None
    """Sensitivity Delta of a coordinate (mechanism `coordinate`); updates are clamped to [-Delta/2, Delta/2]
    before noise of scale Delta/epsilon_i."""
    mechanism: Annotated[str, OneOf(MECHANISMS)] = "coordinate"
    """What the noise hides."""
    clip_norm: Positive | None = None
    """L1 norm C that updates are clipped to (mechanism `vector`); noise has scale 2 C/epsilon_i."""
    schedule: Annotated[str, OneOf(SCHEDULES)] = "geometric"
    """How the budget is spread. A user whose participations are used up takes no further part."""
    n_participations: Annotated[int, Whole(ge=1, le=1_000_000)] | None = None
    """Participations of a user (schedule `uniform`)."""
    epsilon_each: Positive | None = None
    """Budget of every participation (schedule `constant`)."""
    accountant: Annotated[str, OneOf(ACCOUNTANTS)] = "pure"
    """How the budgets of a user's participations add up to the epsilon that it has spent, and so when
    `epsilon_total` is spent. Budgets that users have spent are epsilons of this accountant."""
    delta: Annotated[float, Real(gt=0, lt=1)] | None = None
    """Probability with which the guarantee may fail (accountant `zcdp`); 1e-5 is usual."""
    sampler: Annotated[str, OneOf(SAMPLERS)] = "simulated"
    """Where the noise comes from."""
    loss_share: Annotated[float, Real(gt=0, lt=1)] | None = None
    """Share of each participation's budget that pays for the reported loss, of selectors that look at
    training losses; the rest pays for the update. Null: losses are reported without noise, outside the
    budget, and tables and figures say so."""
    loss_bound: Positive | None = None
    """Largest loss B that is reported (needs `loss_share`); losses are clamped to [0, B] before noise of
    scale B/(loss_share epsilon_i)."""

    @model_validator(mode="before")
    @classmethod
    def _finite_total(cls, values: Any) -> Any:
        total = values.get("epsilon_total") if isinstance(values, Mapping) else None
        if isinstance(total, float) and not math.isfinite(total):
            raise ValueError(
                f"epsilon_total = {total} must be a finite number; to have no privacy, write privacy: null"
            )
        return values

    @model_validator(mode="after")
    def _a_bound_for_paid_losses(self) -> Self:
        if (self.loss_share is None) != (self.loss_bound is None):
            given, missing = (
                ("loss_bound", "loss_share") if self.loss_share is None else ("loss_share", "loss_bound")
            )
            raise ValueError(
                f"{given} needs {missing}: a reported loss is paid for with both or with neither"
            )
        return self

    @model_validator(mode="after")
    def _has_the_keys_of_its_choices(self) -> Self:
        """The keys of the mechanism, the schedule and the accountant, and of no other ones."""
        choices: dict[str, Plugins[Any]] = {
            "mechanism": MECHANISMS,
            "schedule": SCHEDULES,
            "accountant": ACCOUNTANTS,
        }
        check_choices(self, "privacy", choices)
        return self

    @model_validator(mode="after")
    def _an_accountant_of_the_mechanism(self) -> Self:
        if self.accountant != "pure" and not MECHANISMS[self.mechanism].costs_as_pure:
            raise ValueError(
                f"accountant = '{self.accountant}' does not know what a release of mechanism"
                f" '{self.mechanism}' costs: its class must have costs_as_pure = True, if that is so"
            )
        return self

    def share_for_losses(self, released: bool) -> float:
        """Share s of each budget that pays for the reported loss; 0 if none is released or accounted for."""
        return (self.loss_share or 0.0) if released else 0.0

    def make_mechanism(self) -> Mechanism:
        """The mechanism."""
        return build(MECHANISMS[self.mechanism], vars(self))

    @model_validator(mode="after")
    def _pays_for_a_participation(self) -> Self:
        if problem := unaffordable(self.make_accountant(), self.make_schedule()):
            raise ValueError(f"schedule = '{self.schedule}': {problem}, so nobody could ever be selected")
        return self

    def make_schedule(self) -> Schedule:
        """The schedule."""
        return build(SCHEDULES[self.schedule], vars(self))

    def make_accountant(self) -> Accountant:
        """The accountant."""
        return build(ACCOUNTANTS[self.accountant], vars(self))

    def make_account(self) -> Account:
        """The schedule, with the accountant's epsilons in place of its sums."""
        return Account(self.make_schedule(), self.make_accountant())

    def make_sampler(self, streams: Streams, purpose: str = "noise") -> Sampler:
        """The sampler, on a stream of a seed."""
        return build(SAMPLERS[self.sampler], {"streams": streams, "purpose": purpose})
