"""The papers' claims and how each is tested: ``config/claims.yaml``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, Strict, model_validator

from pausefl.errors import ConfigError, suggest
from pausefl.registry import REWARDS
from pausefl.registry.claims import CLAIM_TESTS, QUANTITIES
from pausefl.settings.base import Settings
from pausefl.settings.load import load_scenario, scenario_file, scenario_names
from pausefl.settings.scenario import SCALES, Scale, SelectorName
from pausefl.settings.types import Count, Distinct, NonNegative, OneOf, Positive, Real, Several, Text
from pausefl.settings.yaml import read_yaml

#: The scale of a test that makes its instances itself, and is part of a claim at every scale.
ANY = "any"


#: Keys with a number that is ours, and that a claim has to argue for.
_NEED_A_REASON = {"margin", "at_least"}


class ClaimTest(Settings):
    """One test of a claim, in each of its scenarios or studies."""

    kind: Annotated[str, OneOf(CLAIM_TESTS)]
    """Kind of test; it decides which of the other keys are needed."""
    scenarios: dict[Scale, Distinct[str]] = {}
    """Scenarios whose runs are compared, by scale (`paper`, `reduced`, `demo`); a scenario has one scale."""
    studies: dict[Scale, Distinct[str]] = {}
    """Studies that are read, by scale."""
    reference: dict[Scale, str] = {}
    """By scale, a scenario whose runs the others are compared with, in place of the same scenario."""
    selectors: Distinct[SelectorName] = ()
    """Selectors that the claim is about."""
    against: Distinct[SelectorName] = ()
    """Selectors that each of them is compared with."""
    rewards: Distinct[Annotated[str, OneOf(REWARDS)]] = ()
    """Rewards that are searched."""
    metric: Annotated[str, OneOf(QUANTITIES)] = ""
    """What is compared: when the first of two runs ends (`_in_time`), over the time until then
    (`_over_time`), or in as many rounds as both have (`_rounds`, `mean_round_s`, `latency_spread`)."""
    gap: Annotated[str, OneOf(("ratio", "difference"))] = "difference"
    """Whether values are compared by their ratio or their difference."""
    direction: Annotated[str, OneOf(("lower", "higher"))] = "lower"
    """Which side the selectors' values are to be on."""
    margin: NonNegative = 0.0
    """What a gap has to exceed (`ordering`, `collapse`, `final_regret`) or must not (other kinds): in the
    metric's unit (accuracy in points), of a ratio its distance from 1."""
    law: Annotated[str, OneOf([law for record in CLAIM_TESTS.values() for law in record.laws])] = ""
    """Law of growth: `logarithmic` or `linear` of regret; `power`, `linearithmic` (as a sort of K numbers),
    `at most linearithmic` or `exponential` of time."""
    quantity: Annotated[str, OneOf(("selection", "listing"))] = "selection"
    """Which time: of a `selection`, or of an annealer's iteration that is `listing` all neighbours."""
    exponent: Positive = 1.0
    """Power of K by which a search's time is to grow."""
    at_least: Annotated[float, Real(ge=0, le=1)] = 1.0
    """Least share of instances, or of graphs."""
    reason: Annotated[str, Strict()] = ""
    """Why this `margin` or `at_least`; needed where one of them is given."""
    rows: dict[str, tuple[str | int | float, ...]] = {}
    """Rows of a study's table of shares that are used: columns, and the values that they may have."""
    pool: Distinct[Annotated[str, Strict()]] = ()
    """Columns of that table over whose values the instances are counted together."""
    n_instances: Count = 0
    """How many instances are sampled."""

    @model_validator(mode="after")
    def _keys_of_the_kind(self) -> Self:
        record, given = CLAIM_TESTS[self.kind], self.model_fields_set - {"kind", "reason"}
        known = {*record.needs, *record.allows, *record.one_of}
        for key in sorted(given - known):
            raise ValueError(f"{key} is no key of a test of kind '{self.kind}'. {suggest(key, known)}")
        for key in sorted(set(record.needs) - given):
            raise ValueError(f"kind = '{self.kind}' needs the key '{key}'")
        if record.one_of and not given & set(record.one_of):
            raise ValueError(f"kind = '{self.kind}' needs the key {' or '.join(map(repr, record.one_of))}")
        if given & _NEED_A_REASON and not self.reason:
            raise ValueError(
                f"{' and '.join(sorted(given & _NEED_A_REASON))} needs the key 'reason', which says why"
            )
        if record.laws and self.law not in record.laws:
            raise ValueError(f"law = '{self.law}' is not known. {suggest(self.law, record.laws)}")
        return self

    def scenarios_at(self, scale: str) -> tuple[str, ...]:
        """All scenarios whose runs the test needs at a scale."""
        own = self.scenarios.get(scale, ())
        return (*own, self.reference[scale]) if own and scale in self.reference else own

    def applies(self, scale: str) -> bool:
        """Whether the test is part of its claim at a scale."""
        anywhere = not self.scenarios and not self.studies
        return anywhere or bool(self.scenarios.get(scale) or self.studies.get(scale))


class Claim(Settings):
    """One claim."""

    id: Annotated[str, Strict(), Field(pattern=r"^[A-Z][A-Za-z0-9]*$")]
    """What the claim is called."""
    sentence: Text
    """What is claimed, in our words."""
    place: Text
    """Where the papers have it."""
    figures: dict[str, Distinct[str]] = {}
    """Figures of the papers that show it, each with the scenarios and studies that it is compared on."""
    tests: Several[ClaimTest]
    """How it is tested."""


class Claims(Settings):
    """What the papers claim, and how each claim is tested on runs and studies."""

    claims: Several[Claim]
    """The claims, in the order of the page. docs/claims.md says what each kind of test does."""

    @model_validator(mode="after")
    def _one_of_each_id(self) -> Self:
        ids = [claim.id for claim in self.claims]
        for name in ids:
            if ids.count(name) > 1:
                raise ValueError(f"claim '{name}' is there twice")
        return self

    @model_validator(mode="after")
    def _a_study_has_one_scale(self) -> Self:
        found: dict[str, str] = {}
        for claim in self.claims:
            for test in claim.tests:
                for scale, names in test.studies.items():
                    for name in names:
                        if found.setdefault(name, scale) != scale:
                            raise ValueError(
                                f"'{name}' is at scale '{found[name]}' in one test and at '{scale}' in"
                                f" another, of claim '{claim.id}'; it can have only one"
                            )
        return self


def load_claims(path: Path, *folders: Path) -> tuple[Claim, ...]:
    """Read and check a file of claims.

    Parameters
    ----------
    path
        The file.
    folders
        Where scenarios are looked for: the user's folder, then that of the workflow.

    Raises
    ------
    ConfigError
        For the first thing that is wrong, naming the claim.
    """
    claims = Claims.read(read_yaml(path), str(path)).claims
    known = scenario_names(*folders)
    for claim in claims:
        for scale in SCALES:
            for name in sorted(places([claim], scale)[0]):
                where = f"{path}: claim '{claim.id}'"
                if name not in known:
                    raise ConfigError(f"{where}: unknown scenario '{name}'. {suggest(name, known)}")
                if (own := load_scenario(name, *folders).scale) != scale:
                    file = scenario_file(name, *folders)
                    raise ConfigError(f"{where} lists '{name}' at scale '{scale}'; {file} says '{own}'")
    return claims


def places(claims: Iterable[Claim], scale: str) -> tuple[set[str], set[str]]:
    """Names of all scenarios and of all studies that claims are tested on at a scale."""
    tests = [test for claim in claims for test in claim.tests]
    scenarios = {name for test in tests for name in test.scenarios_at(scale)}
    return scenarios, {name for test in tests for name in test.studies.get(scale, ())}


def scales(claims: Iterable[Claim], scenarios: Iterable[str], studies: Iterable[str]) -> list[str]:
    """Scales at which claims have a test on any of these scenarios or studies."""
    claims, there = list(claims), (set(scenarios), set(studies))
    return [
        scale
        for scale in SCALES
        if any(named & given for named, given in zip(places(claims, scale), there, strict=True))
    ]
