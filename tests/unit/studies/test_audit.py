"""The audit finds no fault in the noise as it is, and finds those that are planted."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pausefl.errors import PauseflError
from pausefl.privacy import (
    CoordinateMechanism,
    Mechanism,
    Protection,
    Sampler,
    SecureSampler,
    SimulatedSampler,
    VectorMechanism,
)
from pausefl.privacy.mechanisms import Vector
from pausefl.privacy.samplers import Noise
from pausefl.streams import Streams
from pausefl.studies import audit
from pausefl.studies.audit import Audit

N, ALPHA = 4000, 1e-4
MECHANISMS: dict[str, Mechanism] = {
    "coordinate": CoordinateMechanism(audit.SENSITIVITY),
    "vector": VectorMechanism(audit.CLIP_NORM),
}
OBSERVATIONS = {seen.name: seen for seen in audit.observations([2, 4])}
ONE, TWO_USERS, TWO_ROUNDS = "one coordinate", "one coordinate, two users", "one coordinate, two rounds"
WIDE = "one coordinate of 2,048"


def refuted(
    protection: Protection, epsilon: float, n_trials: int = N, only: str | None = None, alpha: float = ALPHA
) -> dict[str, float]:
    """Bounds above their claims, by observation."""
    found = {}
    for name, seen in OBSERVATIONS.items():
        if only in (None, name):
            wide = replace(protection, n_protected=len(seen.releases[0].signs))
            row = audit.audit(wide, seen, epsilon, n_trials, alpha)
            if row["audited"] > row["claimed"]:
                found[name] = float(row["audited"])
    return found


@pytest.fixture(params=MECHANISMS)
def mechanism(request: pytest.FixtureRequest) -> Mechanism:
    return MECHANISMS[request.param]


@pytest.fixture
def sampler() -> Sampler:
    return SimulatedSampler(Streams(1))


MOST = audit.ceiling(N, ALPHA)


def test_the_noise_as_it_is_stands(mechanism: Mechanism, sampler: Sampler) -> None:
    assert refuted(Protection(mechanism, sampler, 0), 2.0) == {}


def test_noise_from_the_operating_system_stands(mechanism: Mechanism) -> None:
    # No seed makes this the same again, so it may fail once in a million runs.
    assert refuted(Protection(mechanism, SecureSampler(), 0), 1.0, 200, alpha=1e-7) == {}


@dataclass(frozen=True)
class Louder(Mechanism):
    """Noise of another scale than the sensitivity takes."""

    inner: Mechanism
    factor: float

    @property
    def sensitivity(self) -> float:
        return self.inner.sensitivity

    def clip(self, update: Vector) -> None:
        self.inner.clip(update)

    def update_epsilon(self, epsilon: float, n: int) -> float:
        return self.inner.update_epsilon(epsilon, n)

    def scale(self, epsilon: float) -> float:
        return self.factor * self.inner.scale(epsilon)


@dataclass(frozen=True)
class Unclipped(Louder):
    """What is far out stays there."""

    factor: float = 1.0

    def clip(self, update: Vector) -> None:
        pass


@dataclass(frozen=True)
class Generous(Louder):
    """A whole update is said to leak what a coordinate does."""

    factor: float = 1.0

    def update_epsilon(self, epsilon: float, n: int) -> float:
        return epsilon


class Reusing(SimulatedSampler):
    """Noise that forgets what it should depend on."""

    def __init__(self, forget: str) -> None:
        super().__init__(Streams(1))
        self.forget = forget

    def sample(self, n: int, scale: float, user: int, round: int) -> Vector:
        if self.forget == "coordinate":
            return np.repeat(super().sample(1, scale, user, round), n)
        if self.forget == "pass":
            return np.resize(super().sample(min(n, 1024), scale, user, round), n)
        return super().sample(
            n, scale, 0 if self.forget == "user" else user, 0 if self.forget == "round" else round
        )


class Afterwards(Protection):
    """The server adds the noise, to the sum of what the users have sent."""

    def release(self, update: Vector, noise: Noise, epsilon: float, user: int, round: int) -> None:
        self.mechanism.clip(update[: self.n_protected])


def test_halved_noise_is_found_everywhere_that_noise_is(mechanism: Mechanism, sampler: Sampler) -> None:
    found = refuted(Protection(Louder(mechanism, 0.5), sampler, 0), 1.0)
    assert {ONE, TWO_USERS, TWO_ROUNDS, WIDE} <= set(found)
    assert all(found[name] == pytest.approx(2, abs=0.45) for name in (ONE, TWO_USERS, WIDE))
    assert found[ONE] < 2


def test_noise_ten_per_cent_too_small_is_found_where_trials_suffice(
    mechanism: Mechanism, sampler: Sampler
) -> None:
    quiet = Protection(Louder(mechanism, 0.9), sampler, 0)
    (bound,) = refuted(quiet, 2.0, 30_000, only=ONE).values()
    assert 2 < bound < 2 / 0.9
    assert refuted(quiet, 0.1, 30_000, only=ONE) == {}


@pytest.mark.parametrize(
    ("forget", "where"),
    [
        ("round", {TWO_ROUNDS}),
        ("user", {TWO_USERS}),
        ("coordinate", {WIDE, "update of 2 coordinates", "update of 4 coordinates"}),
        ("pass", {WIDE}),
    ],
)
def test_reused_noise_is_found_where_it_is(mechanism: Mechanism, forget: str, where: set[str]) -> None:
    found = refuted(Protection(mechanism, Reusing(forget), 0), 1.0)
    assert set(found) == where
    assert all(bound == pytest.approx(MOST) for bound in found.values())


def test_a_bound_left_out_is_found(mechanism: Mechanism, sampler: Sampler) -> None:
    found = refuted(Protection(Unclipped(mechanism), sampler, 0), 1.0)
    assert set(found) == set(OBSERVATIONS)
    assert all(bound == pytest.approx(MOST) for bound in found.values())


def test_clamping_coordinates_does_not_pass_for_clipping_the_update(sampler: Sampler) -> None:
    class Each(VectorMechanism):
        def clip(self, update: Vector) -> None:
            np.clip(update, -self.norm, self.norm, out=update)

    found = refuted(Protection(Each(audit.CLIP_NORM), sampler, 0), 1.0)
    assert set(found) == {"update of 2 coordinates", "update of 4 coordinates"}


def test_noise_that_is_added_after_the_release_is_found(mechanism: Mechanism, sampler: Sampler) -> None:
    found = refuted(Afterwards(mechanism, sampler, 0), 1.0)
    assert set(found) == set(OBSERVATIONS)
    assert all(bound == pytest.approx(MOST) for bound in found.values())


def test_composition_over_coordinates_that_is_not_claimed_is_found(sampler: Sampler) -> None:
    found = refuted(Protection(Generous(MECHANISMS["coordinate"]), sampler, 0), 1.0)
    assert set(found) == {"update of 2 coordinates", "update of 4 coordinates"}
    assert refuted(Protection(Generous(MECHANISMS["vector"]), sampler, 0), 1.0) == {}


@pytest.mark.parametrize("n", [1, 50])
@pytest.mark.parametrize("alpha", [1e-5, 0.05])
def test_bounds_on_probabilities_are_those_of_clopper_and_pearson(n: int, alpha: float) -> None:
    for hits in range(n + 1):
        exact = stats.binomtest(hits, n).proportion_ci(1 - 2 * alpha, "exact")
        assert audit.lower(np.array(hits), n, alpha) == pytest.approx(exact.low)
        assert audit.upper(np.array(hits), n, alpha) == pytest.approx(exact.high)


def test_the_ceiling_is_what_a_perfect_attack_shows() -> None:
    n = 7500
    hit, miss = ALPHA ** (1 / n), 1 - ALPHA ** (1 / n)
    assert audit.ceiling(10_000, ALPHA) == pytest.approx(math.log(hit / miss))
    assert audit.epsilon_lower(np.array(0), np.array(5), n, ALPHA) == 0


@pytest.fixture(scope="module")
def study() -> Audit:
    return Audit(
        title="",
        mechanisms=("coordinate", "vector"),
        sampler="simulated",
        epsilons=(1.0, 4.0),
        dimensions=(2,),
        n_trials=1000,
        confidence=0.99,
        seed=0,
    )


def run(study: Audit) -> pd.DataFrame:
    return study.compute(lambda note: None)["audit.csv"]


def test_a_study_has_a_row_a_claim_and_can_be_repeated(study: Audit) -> None:
    table = run(study)
    assert len(table) == 2 * 2 * 5
    assert not table["violated"].any()
    study.verdict({"audit.csv": table})
    of_update = table[table["n_coordinates"] == 2].set_index(["mechanism", "epsilon"])["claimed"]
    assert of_update.to_dict() == {
        ("coordinate", 1): 2,
        ("coordinate", 4): 8,
        ("vector", 1): 1,
        ("vector", 4): 4,
    }
    n_tests = 2 * len(table)
    assert table["ceiling"].unique() == [audit.ceiling(1000, 0.01 / n_tests)]
    assert run(study).equals(table)
    assert not run(study.replace(seed=1))["audited"].equals(table["audited"])


def test_a_bound_just_above_its_claim_is_a_violation(study: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, shares = audit.audit, iter([0.5, 1.0, 1.001, 3.0, 0.999])

    def shifted(*given: Any) -> dict[str, Any]:
        row = plain(*given)
        return row | {"audited": next(shares) * row["claimed"]}

    monkeypatch.setattr(audit, "audit", shifted)
    table = run(study.replace(mechanisms=("vector",), epsilons=(1.0,)))
    assert table["violated"].tolist() == [False, False, True, True, False]


def test_a_violation_is_said_and_shown(study: Audit) -> None:
    table = run(study.replace(mechanisms=("vector",)))
    assert "No claim is refuted." in audit.to_markdown(table)
    table.loc[1, ["audited", "violated"]] = 1.5, True
    assert "**VIOLATED: 1.5 of 1**" in audit.to_markdown(table)
    assert "**Refuted claims: 1.**" in audit.to_markdown(table)
    with pytest.raises(PauseflError, match=r"vector \(simulated\), epsilon 1, one coordinate of 2,048: 1.5"):
        study.verdict({"audit.csv": table})
