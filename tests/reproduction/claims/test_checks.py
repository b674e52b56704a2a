"""What is said of our code and of theorems (``checks`` in ``config/claims.yaml``), on the published runs."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from pausefl.bandit.history import History
from pausefl.bandit.rewards import confidence_bound
from pausefl.reproduction.claims.load import load_checks
from pausefl.reproduction.searches.swap_graphs import CRITERIA, Swaps, sample_criteria
from pausefl.reproduction.studies import load_studies
from pausefl.runs.collected import FILES, runs_in
from pausefl.runs.run import Run
from pausefl.selectors import SELECTORS
from pausefl.selectors.brute import BrutePause
from pausefl.selectors.pause import Bsfl, Pause
from pausefl.settings import PrivacySettings, RewardSettings, Scenario, load_scenario
from pausefl.streams import Streams

ROOT = Path(__file__).parents[3]
SCENARIOS = ROOT / "config" / "scenarios"
PUBLISHED = ROOT / "results" / "published"
STUDIES = load_studies(ROOT / "config" / "studies.yaml", SCENARIOS)
#: Leakages that differ by at most this share of the budget are equal.
ROUNDING = 1e-9

Floats = NDArray[np.float64]


def published(selectors: set[str] | None = None) -> list[str]:
    """Published scenarios with a budget and with runs of all these selectors."""
    found = []
    for folder in sorted(path.parent for path in PUBLISHED.glob(f"*/{FILES[-1]}")):
        lines = (folder / FILES[-1]).read_text("utf-8")
        there = {name for name in selectors or () if f'"selector":"{name}"' in lines}
        if load_scenario(folder.name, SCENARIOS).privacy and there == (selectors or set()):
            found.append(folder.name)
    return found


def runs_of(scenario: str, *selectors: str) -> list[Run]:
    """Published runs of a scenario, of some selectors or of all."""
    return [run for run in runs_in(PUBLISHED / scenario) if not selectors or run.selector in selectors]


def partial_sums(privacy: PrivacySettings, n: int) -> Floats:
    """Budget spent after 0 .. n participations (n + 1,)."""
    return np.concatenate([[0.0], np.cumsum(privacy.make_schedule().epsilon(np.arange(1, n + 1)))])


def test_the_tests_that_show_a_check_are_there() -> None:
    for check in load_checks(ROOT / "config" / "claims.yaml"):
        for name in check.tests:
            file, _, test = name.partition("::")
            assert re.search(rf"^def {test}\(", (ROOT / file).read_text("utf-8"), re.MULTILINE), name


def random_history(rng: np.random.Generator) -> History:
    """A history of 3 to 14 users in up to four clusters; each has participated."""
    n_users = int(rng.integers(3, 15))
    m = int(rng.integers(1, n_users))
    quality, cluster = rng.uniform(0.2, 1, n_users), rng.integers(4, size=n_users)
    history = History.empty(rng.integers(50, 500, n_users), m, 0.05, quality, cluster)
    history.round = int(rng.integers(20, 300))
    history.participations = rng.integers(1, history.round, n_users)
    history.mean_speed, history.privacy = rng.random(n_users), rng.random(n_users)
    return history


@pytest.mark.parametrize(("name", "exact"), [("r1", Pause), ("r2", Pause), ("bsfl", Bsfl)])
def test_the_exact_search_is_as_good_as_enumeration(name: str, exact: type[Pause]) -> None:
    weights = {"alpha": 4.0, "beta": 2.0, "gamma": 0.0 if name == "bsfl" else 3.0}
    overlaps = {"n_clusters": 4, "overlap_penalty": 0.2, "overlap_latency": 0.05} if name == "r2" else {}
    reward = RewardSettings(name=name, **weights, **overlaps).make()
    for seed in range(200):
        rng = Streams(seed).generator(f"claims/{name}")
        history = random_history(rng)
        bound = confidence_bound(history, 1.0)
        chosen = [search(reward, 1.0)(history, rng) for search in (BrutePause, exact)]
        best, found = (reward.value(history, users, bound[users]) for users in chosen)
        assert found == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("name", published())
def test_no_user_leaks_more_than_its_budget(name: str) -> None:
    """As the ledger has it, and as counted again from the selections alone."""
    privacy = load_scenario(name, SCENARIOS).privacy
    assert privacy is not None
    private = [run for run in runs_of(name) if SELECTORS[run.selector].private]
    assert private
    for run in private:
        counts: Counter[int] = Counter()
        most = []
        for selection in run.rounds["selection"]:
            counts.update(set(selection))  # once, also if a user is there twice
            most.append(max(counts.values(), default=0))
        counted, told = partial_sums(privacy, max(most))[most], run.rounds["leakage_max"].to_numpy()
        np.testing.assert_allclose(told, counted, rtol=0, atol=ROUNDING * privacy.epsilon_total)
        assert max(*told, *counted) <= privacy.epsilon_total * (1 + ROUNDING)


@pytest.mark.parametrize("name", ["cifar10_small_iid_r1", "cifar10_small_iid_r2"])
def test_fedavg_and_the_fastest_leak_the_same(name: str) -> None:
    """In each round, one participation more."""
    privacy = load_scenario(name, SCENARIOS).privacy
    assert privacy is not None
    runs = runs_of(name, "fedavg", "fastest")
    assert {run.selector for run in runs} == {"fedavg", "fastest"}
    for run in runs:
        spent = partial_sums(privacy, len(run.rounds))[1:]
        atol = ROUNDING * privacy.epsilon_total
        np.testing.assert_allclose(run.rounds["leakage_max"], spent, rtol=0, atol=atol)


@pytest.mark.parametrize("name", published({"pause"}))
def test_everyone_takes_part_first(name: str) -> None:
    network = load_scenario(name, SCENARIOS).network
    if network.availability != "always":
        pytest.skip("not everyone can be asked at first")
    n = network.n_users // network.n_selected
    for run in runs_of(name, "pause", "sa_pause", "sa_pause_v1", "sa_pause_best_gain"):
        first = np.concatenate(list(run.rounds["selection"][:n]))
        assert len(set(first)) == n * network.n_selected, run.name


def theorem3(scenario: Scenario, n_rounds: int) -> float:
    """Bound on the regret after n rounds (PAUSE v2, Theorem 3), with the constant of its proof (D5).

    K (Delta_max + delta) (4 (m + 1) ln n / delta^2 + 1 + 4 pi^2 / 3), where delta is the least difference of
    two users' expected latencies in seconds (v2, II-A).
    """
    network = scenario.network
    delta = float(np.diff(np.sort(network.make_latency().expected_latencies())).min())
    terms = 4 * (network.n_selected + 1) * math.log(n_rounds) / delta**2 + 1 + 4 * math.pi**2 / 3
    return network.n_users * (largest_gap(scenario) + delta) * terms


def theorem1(scenario: Scenario, n_rounds: int, step: float) -> float:
    """Bound on the regret after n rounds (BSFL, Theorem 1), where rewards are multiples of a step.

    Delta_max K (4 (m + 1) ln n / Delta_min^2 + 1 + pi^2 / 3), where Delta_min, the least difference of two
    rewards, is the step.
    """
    network = scenario.network
    terms = 4 * (network.n_selected + 1) * math.log(n_rounds) / step**2 + 1 + math.pi**2 / 3
    return network.n_users * largest_gap(scenario) * terms


def largest_gap(scenario: Scenario) -> float:
    """Delta_max (PAUSE v2, Lemma 1; BSFL, eq. 14), with ranges 2 of generalisation and 1 of privacy (D4)."""
    speeds, reward = scenario.network.make_latency().expected_speeds(), scenario.reward
    return float(np.ptp(speeds)) + 2 * reward.alpha + (reward.gamma or 0.0)


@pytest.mark.parametrize(
    ("study", "selector"),
    [
        ("pause_v2_theorem3_small", "pause"),
        ("pause_v2_theorem3_large", "pause"),
        ("bsfl_regret_quantised", "bsfl"),
    ],
)
def test_regret_stays_below_its_bound(study: str, selector: str) -> None:
    """It excludes nothing in runs of this length: no selector could lose as much."""
    settings = STUDIES.of_kind("regret")[study]
    growth = pd.read_csv(PUBLISHED / "studies" / study / "growth.csv")
    regret = growth.loc[(growth["selector"] == selector) & (growth["seed"] != "mean"), "regret"]
    step, n = settings.reward_step, settings.n_rounds
    bound = theorem3(settings.scenario, n) if step is None else theorem1(settings.scenario, n, step)
    assert len(regret) >= 5
    assert regret.max() < bound


def test_no_graph_has_more_neighbours_than_claimed() -> None:
    """On Fig. 3's graphs. With m <= 4 no graph could have more."""
    settings = STUDIES.of_kind("graphs")["bsfl_fig3"]
    degrees = pd.read_parquet(PUBLISHED / "studies" / "bsfl_fig3" / "degrees.parquet").set_index("selector")
    m, others = settings.n_selected, settings.n_users - settings.n_selected
    assert degrees.loc["alsa", "degree_mean"].max() <= 4 * others
    assert (degrees.loc["sa_bsfl", ["degree_min", "degree_max"]] == m * others).all(axis=None)


#: Users and selected users of the graphs of annealing, and iterations computed one by one. From there on ln j
#: grows by `BLOCK`, and in a block the temperature stays constant.
GRAPH, EXACT, BLOCK = (5, 2), 100, 0.5


def probabilities(
    selector: str, n_instances: int, decades: tuple[int, ...] = (1, 10, 100), exact: int = EXACT
) -> Floats:
    """Probability (n, n decades) that annealing holds a maximiser after 10^d iterations, on small graphs.

    The chain proposes a uniformly random neighbour and accepts a worse one with probability
    (1 + j)^(-loss / C), where C, the largest difference of energies, is the smallest value that the theorems
    allow (PAUSE v2, Theorem 4; BSFL, Theorem 2).
    """
    swaps = Swaps.of(*GRAPH)
    walks, losses, best = [], [], []
    for instance in range(n_instances):
        criteria = sample_criteria(GRAPH[0], instance)
        energy = swaps.energies(criteria["ucb"], criteria["g"])
        mask = swaps.kept([criteria[name] for name in CRITERIA[selector]])
        edges = np.zeros((len(energy), len(energy)))
        edges[swaps.u[mask], swaps.v[mask]] = edges[swaps.v[mask], swaps.u[mask]] = 1
        walks.append(edges / edges.sum(axis=1, keepdims=True))
        losses.append(np.maximum(energy[:, None] - energy, 0) / np.ptp(energy))
        best.append(energy == energy.max())
    laws = laws_of(np.array(walks), np.array(losses), decades, exact)
    return np.stack([(law * np.array(best)).sum(axis=1) for law in laws], axis=1)


def laws_of(walk: Floats, loss: Floats, decades: tuple[int, ...], exact: int) -> Iterator[Floats]:
    """Yield the distribution (n, N) of the state after each of the decades, from a uniformly random start.

    ``walk`` (n, N, N) has the probabilities of proposals, ``loss`` (n, N, N) a move's loss as a share of C.
    """

    def step(log_j: float) -> Floats:
        return stochastic(walk * np.exp(-loss * log_j))

    n_instances, n_states = walk.shape[:2]
    law = np.full((n_instances, 1, n_states), 1 / n_states)
    j, log_j = 0, 0.0
    for end in (math.log(10) * decade for decade in decades):
        while log_j < end - 1e-12:
            if j < exact:
                j += 1
                law, log_j = law @ step(math.log(1 + j)), math.log(j)
                continue
            width = min(BLOCK, end - log_j)
            block = step(log_j + width / 2)
            log_length = log_j + math.log(math.expm1(width))
            for _ in range(max(round(log_length / math.log(2)), 0)):  # to the nearest power of two
                block = stochastic(block @ block)
            law, log_j = law @ block, log_j + width
        yield law[:, 0]


def stochastic(moves: Floats) -> Floats:
    """Set the diagonals so that rows sum to 1."""
    diagonal = np.einsum("nii->ni", moves)  # a view
    diagonal[:] = 0
    diagonal[:] = 1 - moves.sum(axis=2)
    return moves


@pytest.mark.parametrize("selector", ["sa_pause", "sa_bsfl"])
def test_the_law_of_annealing_is_that_of_the_exact_chain(selector: str) -> None:
    """Blocks against every single iteration, of the first 1,000."""
    blocks, singly = (probabilities(selector, 4, (2, 3), exact) for exact in (EXACT, 1000))
    np.testing.assert_allclose(blocks, singly, atol=0.02)


@pytest.mark.parametrize("selector", ["sa_pause", "alsa"])
def test_annealing_tends_to_a_maximiser(selector: str) -> None:
    """It rises on all graphs; the limit comes too slowly to be seen on each, and is there on most."""
    held = probabilities(selector, 20)
    assert (np.diff(held, axis=1) > 0).all()
    assert (held[:, -1] >= 0.99).mean() >= 0.5
