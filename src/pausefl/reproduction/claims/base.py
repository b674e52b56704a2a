"""What kinds of claim tests have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import Field, Strict, model_validator

from pausefl.reproduction.claims.comparison_result import Comparison
from pausefl.reproduction.claims.records import Records
from pausefl.reproduction.figures.papers import AS_RUN, AS_WRITTEN
from pausefl.schema.base import Settings
from pausefl.schema.types import Distinct, NonNegative, OneOf
from pausefl.settings.scenario import SCALES, SelectorName

#: The scenarios of a test are in groups: one a scale and, apart, those of the papers' scale as they were run.
RUN = "as_run"
Group = Annotated[str, OneOf((*SCALES, RUN))]

#: Keys that several kinds have.
Against = Annotated[
    Distinct[SelectorName], Field(description="Selectors that each of them is compared with.")
]
Margin = Annotated[
    NonNegative,
    Field(
        description="What a gap has to exceed (`ordering`, `collapse`, `final_regret`) or must not (other"
        " kinds): in the metric's unit (accuracy in points), of a ratio its distance from 1."
    ),
]


def readings(scale: str) -> dict[str, str]:
    """The group of scenarios of each reading of the papers at a scale."""
    return {AS_WRITTEN: scale} | ({AS_RUN: RUN} if scale == "paper" else {})


class ClaimTest(Settings):
    """One test of a claim. A kind is a subclass, whose docstring says when it holds."""

    kind: str
    """Kind of test; it decides which other keys there are."""
    selectors: Distinct[SelectorName]
    """Selectors that the claim is about."""
    reason: Annotated[str, Strict()] = ""
    """Why this `margin` or `at_least`; needed where one of them is given."""

    @model_validator(mode="after")
    def _our_numbers_have_reasons(self) -> Self:
        ours = sorted(self.model_fields_set & {"margin", "at_least"})
        if ours and not self.reason:
            raise ValueError(f"{' and '.join(ours)} needs the key 'reason', which says why")
        return self

    def scenarios_at(self, group: str) -> tuple[str, ...]:
        """All scenarios of a group whose runs the test needs."""
        return ()

    def studies_at(self, scale: str) -> tuple[str, ...]:
        """All studies that it needs at a scale."""
        return ()

    def applies(self, group: str) -> bool:
        """Whether the test is part of its claim on a group of scenarios."""
        return bool(self.scenarios_at(group) or self.studies_at(group))

    def compare(self, records: Records, group: str) -> Iterator[Comparison]:
        """Yield all comparisons on a group of scenarios or on the studies of a scale.

        Those that cannot be made say why.
        """
        raise NotImplementedError
