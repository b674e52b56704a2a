"""The papers' claims and how each is tested: ``config/claims.yaml``, read and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from pausefl.errors import ConfigError, suggest
from pausefl.registry.claims import CLAIM_TESTS, QUANTITIES
from pausefl.registry.selectors import SELECTORS
from pausefl.settings.scenario import SCALES, check_schema, load_scenario, read_yaml, scenario_names

#: The scale of a test that draws its instances itself, and is part of a claim at every scale.
ANY = "any"


@dataclass(frozen=True)
class ClaimTest:
    """One test of a claim, in each of its scenarios or studies. See the schema for each key.

    Attributes
    ----------
    scenarios, studies
        Names by scale.
    reference
        Scenario by scale whose runs the others are compared with, in place of the same scenario.
    """

    kind: str
    scenarios: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    studies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reference: Mapping[str, str] = field(default_factory=dict)
    selectors: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    rewards: tuple[str, ...] = ()
    metric: str = ""
    gap: str = "difference"
    direction: str = "lower"
    margin: float = 0.0
    law: str = ""
    exponent: float = 1.0
    at_least: float = 1.0
    n_instances: int = 0

    def scenarios_at(self, scale: str) -> tuple[str, ...]:
        """All scenarios whose runs the test needs at a scale."""
        own = self.scenarios.get(scale, ())
        return (*own, self.reference[scale]) if own and scale in self.reference else own

    def applies(self, scale: str) -> bool:
        """Whether the test is part of its claim at a scale."""
        drawn = not self.scenarios and not self.studies
        return drawn or bool(self.scenarios.get(scale) or self.studies.get(scale))


@dataclass(frozen=True)
class Claim:
    """One claim of a paper.

    Attributes
    ----------
    id, sentence, place
        What it says, and where the papers have it.
    tests
        All of them have to hold.
    """

    id: str
    sentence: str
    place: str
    tests: tuple[ClaimTest, ...]


def load_claims(path: Path, scenario_folder: Path) -> tuple[Claim, ...]:
    """Read and check a file of claims.

    Raises
    ------
    ConfigError
        For the first thing that is wrong, naming the claim.
    """
    document = read_yaml(path)
    check_schema(document, "claims", str(path))
    known, seen = scenario_names(scenario_folder), set()
    claims = []
    for row in document["claims"]:
        where = f"{path}: claim '{row['id']}'"
        if row["id"] in seen:
            raise ConfigError(f"{where} is there twice")
        seen.add(row["id"])
        try:
            tests = tuple(_test(values, known) for values in row["tests"])
        except ConfigError as error:
            raise ConfigError(f"{where}: {error}") from None
        claims.append(Claim(row["id"], row["sentence"], row["place"], tests))
    _check_scales(claims, path, scenario_folder)
    return tuple(claims)


def _test(values: Mapping[str, Any], known_scenarios: list[str]) -> ClaimTest:
    """Build a test from its settings."""
    kind = values["kind"]
    record = CLAIM_TESTS.find(kind)
    given, known = set(values) - {"kind"}, {*record.needs, *record.allows, *record.one_of}
    for key in sorted(set(record.needs) - given):
        raise ConfigError(f"a test of kind '{kind}' needs the key '{key}'")
    for key in sorted(given - known):
        raise ConfigError(f"unknown key '{key}' of a test of kind '{kind}'. {suggest(key, known)}")
    if record.one_of and not given & set(record.one_of):
        raise ConfigError(f"a test of kind '{kind}' needs the key {' or '.join(map(repr, record.one_of))}")
    if record.laws and values["law"] not in record.laws:
        raise ConfigError(f"law = '{values['law']}' is not known. {suggest(values['law'], record.laws)}")
    if "metric" in values:
        QUANTITIES.find(values["metric"])
    test = ClaimTest(**{key: _frozen(value) for key, value in values.items()})
    for name in (*test.selectors, *test.against):
        if name not in SELECTORS:
            raise ConfigError(f"unknown selector '{name}'. {suggest(name, SELECTORS)}")
    for scale in test.scenarios:
        for name in test.scenarios_at(scale):
            if name not in known_scenarios:
                raise ConfigError(f"unknown scenario '{name}'. {suggest(name, known_scenarios)}")
    return test


def _frozen(value: Any) -> Any:
    """Lists as tuples, also those in a mapping."""
    if isinstance(value, dict):
        return {key: _frozen(inner) for key, inner in value.items()}
    return tuple(value) if isinstance(value, list) else value


def _check_scales(claims: Iterable[Claim], path: Path, folder: Path) -> None:
    """Raise `ConfigError` if a scenario is not of the scale it is listed under, or a study is of two."""
    found: dict[str, str] = {}
    for claim in claims:
        for test in claim.tests:
            for scale in SCALES:
                for name in test.scenarios_at(scale):
                    if (own := _scale_of(name, folder)) != scale:
                        raise ConfigError(
                            f"{path}: claim '{claim.id}' lists '{name}' at scale '{scale}';"
                            f" its file says '{own}'"
                        )
                for name in test.studies.get(scale, ()):
                    if found.setdefault(name, scale) != scale:
                        raise ConfigError(
                            f"{path}: '{name}' is at scale '{found[name]}' in one test and at '{scale}' in"
                            f" another, of claim '{claim.id}'; it can have only one"
                        )


@cache
def _scale_of(name: str, folder: Path) -> str:
    """Scale of a scenario."""
    return load_scenario(name, folder).scale


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


def plain(claims: Iterable[Claim]) -> list[dict[str, Any]]:
    """Claims as nested dictionaries and lists, from which the workflow sees a change."""
    return [
        {
            "id": claim.id,
            "sentence": claim.sentence,
            "place": claim.place,
            "tests": [{f.name: getattr(test, f.name) for f in fields(test)} for test in claim.tests],
        }
        for claim in claims
    ]
