"""The papers' claims and how each is tested: ``config/claims.yaml``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Self, get_args

from pydantic import BeforeValidator, Field, Strict, model_validator

from pausefl.errors import ConfigError, suggest
from pausefl.reproduction.claims.base import RUN, ClaimTest, readings
from pausefl.reproduction.claims.comparison_result import Comparison
from pausefl.reproduction.claims.on_runs import RunTests
from pausefl.reproduction.claims.on_studies import StudyTests
from pausefl.reproduction.claims.records import ANNEALERS
from pausefl.schema.base import Settings, shortened
from pausefl.schema.types import Distinct, Items, Several, Text
from pausefl.schema.yaml import read_yaml
from pausefl.selectors import LABELS
from pausefl.settings.load import load_scenario, scenario_file, scenario_names
from pausefl.settings.scenario import SCALES, Scenario, SelectorName

#: Every kind of test by its name.
KINDS: dict[str, type[ClaimTest]] = {
    get_args(kind.model_fields["kind"].annotation)[0]: kind for kind in get_args(RunTests | StudyTests)
}


def _of_its_kind(values: Any) -> ClaimTest:
    """Check a test as one of its kind, so that messages have the path in the file and the nearest names."""
    if isinstance(values, ClaimTest):
        return values
    kind = values.get("kind") if isinstance(values, Mapping) else None
    if kind is None:  # says what is missing, or that a mapping is
        return ClaimTest.model_validate({} if isinstance(values, Mapping) else values)
    if kind not in list(KINDS):
        raise ValueError(f"kind = {shortened(kind)} is not known. {suggest(str(kind), KINDS)}")
    return KINDS[kind].model_validate(values)


#: A test in the file: the key ``kind`` says of which model it is.
AnyTest = Annotated[RunTests | StudyTests, Field(discriminator="kind"), BeforeValidator(_of_its_kind)]


class PaperFigure(Settings):
    """A figure of the papers that shows a claim."""

    of: Distinct[str]
    """Scenarios and studies on which it is compared."""
    lacks: Distinct[SelectorName] = ()
    """Selectors that it does not show: what is compared of them does not cover it."""

    def shows(self, comparison: Comparison) -> bool:
        """Whether it shows what is compared."""
        return comparison.where in self.of and comparison.subject not in self.lacks


class Statement(Settings):
    """What the papers say."""

    id: Annotated[str, Strict(), Field(pattern=r"^[A-Z][A-Za-z0-9]*$")]
    """What the statement is called."""
    sentence: Text
    """What is claimed, in our words."""
    place: Text
    """Where the papers have it."""
    note: Annotated[str, Strict()] = ""
    """What has to be said wherever it stands."""


class Alternative(Settings):
    """Another value of a setting that the papers do not give, with which the claim is judged as well."""

    label: Text
    """What it is called."""
    selector: SelectorName
    """Selector whose runs it concerns."""
    scenarios: dict[str, str]
    """By scenario that is tested on, the one with this value, whose runs take the place."""


class Claim(Statement):
    """One claim."""

    assumed_settings: Annotated[str, Strict()] = ""
    """Settings that the papers do not give and that the verdict rests on, in a sentence."""
    alternatives: Annotated[tuple[Alternative, ...], Items(0, distinct=False)] = ()
    """Other values of such a setting."""
    failing: Annotated[str, Strict()] = ""
    """What a failure means, in words beside the finding."""
    figures: dict[str, PaperFigure] = {}
    """Figures of the papers that show it."""
    tests: Several[AnyTest]
    """How it is tested."""


class Headline(Settings):
    """A question of a reader that a comparison of a claim answers; it opens the report and the pages."""

    question: Text
    """What a reader asks."""
    claim: Text
    """Claim whose comparison answers it."""
    scenario: Text
    """Scenario as written that is compared; as run its name ends in `_as_run`."""
    topic: Text
    """What is compared, as the comparison says it."""
    selector: SelectorName
    """Selector that the question is about; the annealers of the authors' logs stand for `sa_pause`."""
    against: SelectorName
    """Selector that it is compared with."""
    where: Text
    """Scenario in words."""

    @property
    def who(self) -> str:
        """The two selectors in words."""
        return f"{LABELS[self.selector]} against {LABELS[self.against]}"

    def asks(self, subject: str, who: str) -> bool:
        """Whether a comparison of these selectors answers it."""
        same = subject == self.selector or {subject, self.selector} <= set(ANNEALERS)
        return same and who.endswith(f" against {LABELS[self.against]}")


class Check(Statement):
    """One statement on code or a theorem, which tests show."""

    tests: Several[Text]
    """Names of the tests that show it, as pytest takes them."""


class Claims(Settings):
    """What the papers claim, and how each claim is tested on runs and studies."""

    claims: Several[Claim]
    """The claims, in the order of the page. docs/claims.md says what each kind of test does."""
    headlines: Annotated[tuple[Headline, ...], Items(0, distinct=False)] = ()
    """Comparisons that open the report and the pages."""
    checks: Annotated[tuple[Check, ...], Items(0, distinct=False)] = ()
    """Statements on our code and on theorems, which the tests of this project show."""

    @model_validator(mode="after")
    def _one_of_each_id(self) -> Self:
        ids = [*(claim.id for claim in self.claims), *(check.id for check in self.checks)]
        (name, n), *_ = Counter(ids).most_common(1)
        if n > 1:
            raise ValueError(f"claim '{name}' is there twice")
        return self


def load_claims(path: Path, *folders: Path) -> tuple[Claim, ...]:
    """Claims of a file, checked; scenarios are of the first of the ``folders`` that has them.

    `ConfigError` for the first thing that is wrong, naming the claim.
    """
    claims = Claims.read(read_yaml(path), str(path)).claims
    known = scenario_names(*folders)
    for claim, scale in product(claims, SCALES):
        for name in sorted(places([claim], scale)[0]):
            where = f"{path}: claim '{claim.id}'"
            if name not in known:
                raise ConfigError(f"{where}: unknown scenario '{name}'. {suggest(name, known)}")
            if (own := load_scenario(name, *folders).scale) != scale:
                file = scenario_file(name, *folders)
                raise ConfigError(f"{where} lists '{name}' at scale '{scale}'; {file} says '{own}'")
    return claims


def load_headlines(path: Path) -> tuple[Headline, ...]:
    """Headlines of a file of claims; `ConfigError` for the first thing that is wrong."""
    return Claims.read(read_yaml(path), str(path)).headlines


def load_checks(path: Path) -> tuple[Check, ...]:
    """Checks of a file of claims; `ConfigError` for the first thing that is wrong."""
    return Claims.read(read_yaml(path), str(path)).checks


def places(claims: Iterable[Claim], scale: str) -> tuple[set[str], set[str]]:
    """Names of all scenarios and of all studies that claims are tested on at a scale, in all readings."""
    claims = tuple(claims)
    tests = [test for claim in claims for test in claim.tests]
    groups = readings(scale).values()
    scenarios = {name for test in tests for group in groups for name in test.scenarios_at(group)}
    if scale == "paper":
        others = (one for claim in claims for one in claim.alternatives)
        scenarios |= {name for one in others for name in one.scenarios.values()}
    return scenarios, {name for test in tests for name in test.studies_at(scale)}


def scenarios_as_run(claims: Iterable[Claim], *folders: Path) -> dict[str, Scenario]:
    """The scenarios as run that claims are tested on, by name."""
    names = {name for claim in claims for test in claim.tests for name in test.scenarios_at(RUN)}
    return {name: load_scenario(name, *folders) for name in sorted(names)}


def scales(claims: Iterable[Claim], scenarios: Iterable[str], studies: Iterable[str]) -> list[str]:
    """Scales at which claims have a test on any of these scenarios or studies."""
    claims, scenarios, studies = tuple(claims), set(scenarios), set(studies)
    named = {scale: places(claims, scale) for scale in SCALES}
    return [scale for scale, (of, on) in named.items() if of & scenarios or on & studies]
