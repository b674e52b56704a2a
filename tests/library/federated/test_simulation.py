"""The federated loop: aggregation by hand, the same streams for every selector, leakage within the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.typing import NDArray
from scenarios import changed
from torch.nn import functional

from pausefl.bandit.history import Feedback
from pausefl.columns import ALONE as COLUMNS
from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.federated.simulation import Result, Simulation
from pausefl.plugins import arguments
from pausefl.privacy import (
    CoordinateMechanism,
    GeometricSchedule,
    LossProtection,
    Protection,
    SimulatedSampler,
)
from pausefl.selectors import SELECTORS
from pausefl.settings import ModelSettings, Scenario
from pausefl.streams import Streams
from pausefl.testing.contract import SELECTION as NEEDED
from pausefl.training.backends.base import LocalUpdates
from pausefl.training.engine import Trainer, build_model
from pausefl.training.flat import FlatModel
from pausefl.training.sizes import model_layout

CPU = torch.device("cpu")
N_USERS = 12
#: One selector of each combination of traits that the loop looks at.
TRAITS = {
    (r.private, r.uniform_weights, r.takes_everyone, r.needs_updates, r.needs_losses, r.asks_losses): name
    for name, r in SELECTORS.items()
}
NEEDS_TRAINING = {name for name, r in SELECTORS.items() if r.looks_at()}
KINDS = sorted(
    {"pause", "sa_pause", "cs_ucb_q", "tifl", "fedcs", "oort", "power_of_choice", *TRAITS.values()}
)
PRIVATE = [name for name in KINDS if SELECTORS[name].private]
WITHOUT_TRAINING = [name for name in KINDS if name not in NEEDS_TRAINING]
ALONE = list(COLUMNS)
Build = Callable[..., Simulation]
Simulate = Callable[..., Result]


def paid(scenario: Scenario, share: float = 0.25, bound: float = 2.0) -> Scenario:
    """Reported losses are paid for."""
    return changed(scenario, privacy={"loss_share": share, "loss_bound": bound})


@pytest.fixture(scope="module")
def unequal() -> Partition:
    """Users with 20 to 130 examples of the digits."""
    order = np.random.default_rng(0).permutation(1400)
    users = np.split(order[: sum(range(20, 140, 10))], np.cumsum(range(20, 130, 10)))
    return Partition(tuple(np.sort(indices) for indices in users), np.ones(N_USERS), np.arange(0))


@pytest.fixture(scope="module")
def build(demo: Scenario, digits: Dataset, unequal: Partition) -> Build:
    """Make simulations of the demo, or of another scenario, on users of unequal sizes."""

    def make(
        selector: str,
        scenario: Scenario = demo,
        *,
        data: Dataset = digits,
        share: Partition = unequal,
        train: bool = True,
        genie: bool = False,
        seed: int = 0,
    ) -> Simulation:
        streams = Streams(seed)
        if "round_latency_max" in arguments(SELECTORS[selector]):  # never reached
            scenario = changed(scenario, network={"round_latency_max": 100.0})
        scenario = changed(scenario, selection=NEEDED)
        trainer = Trainer(scenario.model, scenario.training, data, share, streams, CPU) if train else None
        layout = model_layout(scenario.model, data)
        return Simulation(scenario, selector, streams, share, layout, trainer, genie)

    return make


@pytest.fixture(scope="module")
def simulate(build: Build) -> Simulate:
    """Make a simulation and run some rounds."""

    def run(selector: str, n_rounds: int = 12, **given: Any) -> Result:
        return build(selector, **given).run(n_rounds)

    return run


@pytest.fixture
def one_round(build: Build, demo: Scenario, digits: Dataset, unequal: Partition) -> Callable[..., Any]:
    """The global model before and after a round, who took part, and their local models by hand."""

    def run(selector: str, scenario: Scenario = demo) -> tuple[Any, Any, list[int], dict[int, Any]]:
        simulation = build(selector, scenario)
        before = simulation.theta.copy()
        users = simulation.run(1).rounds.selection[0]
        trainer = Trainer(scenario.model, scenario.training, digits, unequal, Streams(0), CPU)
        np.testing.assert_array_equal(trainer.initial, before)
        local = {
            int(u): before + update
            for part in trainer.train(before, users, 1)
            for u, update in zip(part.users, part.updates.copy(), strict=True)
        }
        return before, simulation.theta, [int(user) for user in users], local

    return run


@pytest.mark.parametrize("selector", ["fedavg_no_privacy", "random", "pause"])
def test_the_next_model_is_the_average_of_local_models_weighted_by_data(
    one_round: Callable[..., Any], demo: Scenario, unequal: Partition, selector: str
) -> None:
    _, after, users, local = one_round(selector, changed(demo, privacy=None))
    sizes = {user: len(unequal.users[user]) for user in users}
    assert sorted(local) == users
    expected = sum(local[user].astype(float) * sizes[user] for user in users) / sum(sizes.values())
    np.testing.assert_allclose(after, expected, atol=1e-6)


@pytest.mark.parametrize("selector", PRIVATE)
def test_private_updates_are_clamped_and_noised_before_they_are_averaged(
    one_round: Callable[..., Any], unequal: Partition, selector: str
) -> None:
    before, after, drawn, local = one_round(selector)
    users = sorted(set(drawn))
    uniform = SELECTORS[selector].uniform_weights
    weights = {u: drawn.count(u) if uniform else len(unequal.users[u]) for u in users}
    epsilon = float(GeometricSchedule(40.0, 0.04).epsilon(1))
    expected = before.astype(float)
    for user in users:
        update = local[user] - before
        mechanism = CoordinateMechanism(0.003)
        given = Protection(mechanism, SimulatedSampler(Streams(0)), len(update))
        given.release(update, given.noise(epsilon, user, 1), epsilon, user, 1)
        expected += update * weights[user] / sum(weights.values())
    np.testing.assert_allclose(after, expected, atol=1e-6)


def test_noise_has_the_scale_of_the_participation(build: Build, demo: Scenario, unequal: Partition) -> None:
    # A learning rate of nothing leaves updates of zero, and so the noise alone.
    scenario = changed(demo, training={"learning_rate": 1e-12})
    simulation = build("fastest", scenario)
    weights = unequal.sizes[:3] / unequal.sizes[:3].sum()
    for i in range(1, 6):
        before = simulation.theta.copy()
        simulation.run(i)
        scale = 0.003 / GeometricSchedule(40.0, 0.04).epsilon(i)
        expected = scale * np.sqrt(2 * (weights**2).sum())  # a Laplace variable has variance 2 scale^2
        assert (simulation.theta - before).std() == pytest.approx(expected, rel=0.1)


def with_budget(scenario: Scenario, n_participations: int, **changes: Any) -> Scenario:
    """Users may take part so many times."""
    uniform = {"schedule": "uniform", "decay": None, "n_participations": n_participations}
    return changed(scenario, privacy=uniform | changes)


@pytest.mark.parametrize("selector", sorted(set(PRIVATE) - NEEDS_TRAINING))
def test_nobody_takes_part_without_budget_whatever_the_selector(
    simulate: Simulate, demo: Scenario, selector: str
) -> None:
    result = simulate(selector, 30, scenario=with_budget(demo, 4), train=False)
    assert result.ledger.participations.max() <= 4
    assert (result.rounds.leakage_max <= 40).all()
    taken = np.zeros(N_USERS, int)
    for drawn in result.rounds.selection:
        remaining = np.flatnonzero(taken < 4)
        if len(remaining) < 3:  # all that are left take part
            assert set(drawn) == set(remaining)
        taken[np.unique(drawn)] += 1
    np.testing.assert_array_equal(taken, result.ledger.participations)


def test_a_selector_that_ignores_the_budget_is_overruled(
    build: Build, demo: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulation = build("random", with_budget(demo, 2))
    monkeypatch.setattr(type(simulation.select), "__call__", lambda *_: np.array([0, 1, 2]))
    rounds = simulation.run(4).rounds
    assert [list(users) for users in rounds.selection] == [[0, 1, 2], [0, 1, 2], [], []]
    assert rounds.latency_s[2:].tolist() == [0, 0]
    assert rounds.train_loss[2:].isna().all()
    assert rounds.accuracy[1:].nunique() == 1  # nothing moves the model any more
    np.testing.assert_allclose(rounds.leakage_max, [20, 40, 40, 40])


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_an_update_that_is_not_finite_is_refused_and_noise_leaves_in_its_place(
    build: Build, monkeypatch: pytest.MonkeyPatch, broken: float
) -> None:
    simulation = build("clustered_similarity")
    train = simulation.trainer.train

    def break_one(*given: Any) -> Iterable[LocalUpdates]:
        for local in train(*given):
            local.updates[list(local.users).index(1), 5] = broken
            yield local

    monkeypatch.setattr(simulation.trainer, "train", break_one)
    users = np.array([0, 1, 2])
    epsilon = simulation.ledger.spend(users)
    *_, observed = simulation._train(simulation.trainer, users, np.ones(3) / 3, epsilon, 1)
    np.testing.assert_array_equal(observed[1], simulation.protection.noise(epsilon[1], 1, 1))
    assert (observed[0] != simulation.protection.noise(epsilon[0], 0, 1)).any()
    assert simulation.refused == [(1, 1)]
    assert np.isfinite(simulation.theta).all()


def test_batch_normalisation_leaves_without_noise_and_everything_else_with_it(
    build: Build, demo: Scenario
) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 256, (72, 1, 22, 22)).astype(np.uint8), rng.integers(0, 10, 72)
    data = Dataset("noise", x, y, x[:20], y[:20], 10, "drawn")
    share = Partition(tuple(np.split(np.arange(72), N_USERS)), np.ones(N_USERS), np.arange(0))
    scenario = demo.replace(model=ModelSettings(name="cnn3", norm="batch"))
    layout = model_layout(scenario.model, data)
    thetas: list[NDArray[np.float32]] = []
    for variant in (scenario, changed(scenario, privacy=None)):
        simulation = build("random", variant, data=data, share=share)
        simulation.run(1)
        thetas.append(simulation.theta)
        ledger = simulation.ledger.table()
        n = layout.n_values if variant.privacy is None else layout.n_values - layout.n_protected
        np.testing.assert_array_equal(ledger.values_unprotected, n * ledger.participations)
    noisy, clean = thetas
    np.testing.assert_array_equal(noisy[layout.n_protected :], clean[layout.n_protected :])
    assert (noisy[: layout.n_protected] != clean[: layout.n_protected]).mean() > 0.99


@pytest.mark.parametrize("selector", WITHOUT_TRAINING)
def test_selection_alone_gives_what_the_trained_job_gives(simulate: Simulate, selector: str) -> None:
    trained, alone = simulate(selector), simulate(selector, train=False)
    pd.testing.assert_frame_equal(trained.rounds[ALONE], alone.rounds)
    pd.testing.assert_frame_equal(trained.ledger, alone.ledger)
    assert [stage for stage, seconds in alone.seconds.items() if seconds > 0] == ["selection"]
    assert set(trained.seconds) == {"selection", "training", "noise", "evaluation"}


@pytest.mark.parametrize(
    ("selector", "training"),
    [
        ("pause", {}),
        ("pause", {"optimizer_state": "reset"}),
        ("clustered_similarity", {}),
        ("cs_ucb_q", {}),
        ("fedavg", {"optimizer": "sgd", "momentum": 0.9}),
        ("tifl", {}),
        ("oort", {}),
    ],
    ids=str,
)
def test_a_simulation_goes_on_from_its_state_to_the_bit(
    build: Build, demo: Scenario, tmp_path: Path, selector: str, training: dict[str, Any]
) -> None:
    scenario = changed(paid(demo), training=training)
    train = selector != "cs_ucb_q"
    genie = selector == "pause"
    whole, first, second = (build(selector, scenario, train=train, genie=genie) for _ in range(3))
    expected = whole.run(15)
    first.run(7)
    np.savez(tmp_path / "state.npz", **first.state())  # type: ignore[arg-type]
    first.run(9)  # what was saved does not change with it
    with np.load(tmp_path / "state.npz", allow_pickle=False) as archive:
        second.restore({name: archive[name] for name in archive.files})
    rounds: list[int] = []
    result = second.run(15, rounds.append)
    assert rounds == list(range(8, 16))
    pd.testing.assert_frame_equal(result.rounds, expected.rounds, check_exact=True)
    pd.testing.assert_frame_equal(result.ledger, expected.ledger, check_exact=True)
    np.testing.assert_array_equal(second.theta, whole.theta)
    left, right = second.state(), whole.state()
    assert left.keys() == right.keys()
    for name in left.keys() - {"loop/seconds"}:
        np.testing.assert_array_equal(left[name], right[name], err_msg=name)
        assert left[name].dtype == right[name].dtype, name


@pytest.mark.parametrize("selector", WITHOUT_TRAINING)
def test_a_round_costs_the_latency_of_its_slowest_user_the_same_for_every_selector(
    simulate: Simulate, demo: Scenario, selector: str
) -> None:
    rounds = simulate(selector, 20, train=False).rounds
    law, streams = demo.network.make_latency(), Streams(0)
    expected = [
        law.sample(streams, t)[list(users)].max() for t, users in enumerate(rounds.selection, start=1)
    ]
    np.testing.assert_array_equal(rounds.latency_s, expected)
    np.testing.assert_allclose(rounds.elapsed_s, np.cumsum(expected))
    np.testing.assert_array_equal(rounds["round"], np.arange(1, 21))


def test_a_longest_round_caps_its_cost_and_nothing_else(simulate: Simulate, demo: Scenario) -> None:
    free = simulate("pause", 20, train=False)
    capped = simulate("pause", 20, train=False, scenario=changed(demo, network={"round_latency_max": 0.3}))
    assert free.rounds.latency_s.max() > 0.3
    np.testing.assert_array_equal(capped.rounds.latency_s, np.minimum(free.rounds.latency_s, 0.3))
    np.testing.assert_allclose(capped.rounds.elapsed_s, np.cumsum(capped.rounds.latency_s))
    others = [column for column in ALONE if column not in ("latency_s", "elapsed_s")]
    pd.testing.assert_frame_equal(capped.rounds[others], free.rounds[others])


@pytest.mark.parametrize("selector", PRIVATE)
def test_leakage_rises_and_stays_within_the_budget(simulate: Simulate, selector: str) -> None:
    train = selector in NEEDS_TRAINING
    result = simulate(selector, 30 if train else 150, train=train)
    rounds, ledger = result.rounds, result.ledger
    assert (rounds.leakage_max.diff().dropna() >= 0).all()
    assert (rounds.leakage_mean.diff().dropna() > 0).all()
    assert (rounds.leakage_mean <= rounds.leakage_max + 1e-12).all()
    assert rounds.leakage_max.max() <= 40
    assert rounds.leakage_max.iloc[-1] == ledger.epsilon_coordinate.max()
    # Whoever is drawn twice in a round trains and leaks once.
    once = [np.unique(users) for users in rounds.selection]
    counts = np.bincount(np.concatenate(once), minlength=N_USERS)
    np.testing.assert_array_equal(ledger.participations, counts)
    np.testing.assert_allclose(
        ledger.epsilon_coordinate,
        [GeometricSchedule(40.0, 0.04).epsilon(range(1, n + 1)).sum() for n in counts],
    )


def test_asking_for_the_genie_changes_nothing_else(simulate: Simulate) -> None:
    asked, not_asked = (simulate("pause", 20, train=False, genie=genie).rounds for genie in (True, False))
    assert not_asked.pseudo_regret.isna().all()
    assert asked.pseudo_regret.notna().all()
    pd.testing.assert_frame_equal(
        asked.drop(columns="pseudo_regret"), not_asked.drop(columns="pseudo_regret")
    )


def test_reward_is_worked_out_by_hand_for_the_first_rounds(
    simulate: Simulate, demo: Scenario, unequal: Partition
) -> None:
    rounds = simulate("random", 2, train=False).rounds
    law, share = demo.network.make_latency(), 3 * unequal.sizes / unequal.sizes.sum()
    participations, left = np.zeros(N_USERS), np.ones(N_USERS)
    for t, users in enumerate(rounds.selection, start=1):
        gap = share - participations / t
        g = np.sign(gap) * gap**2
        expected = (
            min(0.05 / law.sample(Streams(0), t)[users]) + 100 * g[users].mean() + 5 * left[users].mean()
        )
        assert rounds.reward[t - 1] == pytest.approx(expected)
        participations[users] += 1
        left = 1 - GeometricSchedule(40.0, 0.04).spent(participations) / 40


def test_a_model_that_is_no_longer_finite_is_reported_and_the_run_goes_on(
    simulate: Simulate, demo: Scenario
) -> None:
    scenario = changed(demo, training={"learning_rate": 1e12})
    result = simulate("fedavg_no_privacy", 4, scenario=scenario)
    assert result.diverged_round == 1
    assert len(result.rounds) == 4
    assert (result.rounds.loss == np.inf).all()
    np.testing.assert_allclose(result.rounds.accuracy, 0.1)  # chance, with ten classes
    assert simulate("fedavg_no_privacy", 4).diverged_round is None
    assert simulate("fedavg_no_privacy", 4, train=False).diverged_round is None


@pytest.mark.parametrize(("every", "until", "due"), [(3, 1, [1, 3, 6, 8]), (3, 5, [1, 2, 3, 4, 5, 6, 8])])
def test_rounds_between_evaluations_have_no_scores_and_change_nothing_else(
    simulate: Simulate, demo: Scenario, every: int, until: int, due: list[int]
) -> None:
    expected = simulate("random", 8).rounds
    sparse = changed(demo, training={"evaluate_every": every, "evaluate_all_until": until})
    found = simulate("random", 8, scenario=sparse).rounds
    expected.loc[~expected["round"].isin(due), ["accuracy", "loss"]] = np.nan
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize("train", [True, False])
def test_the_first_round_to_reach_the_horizon_is_the_last_and_is_evaluated(
    build: Build, demo: Scenario, train: bool
) -> None:
    seldom = changed(demo, training={"evaluate_every": 50})

    def run(n_rounds: int, horizon: float) -> pd.DataFrame:
        ends = changed(seldom, training={"time_horizon_s": None if np.isinf(horizon) else float(horizon)})
        return build("random", ends, train=train).run(n_rounds).rounds

    whole = run(9, np.inf)
    elapsed = whole["elapsed_s"]
    for horizon, n in [
        (elapsed[4], 5),  # reached to the bit
        (np.nextafter(elapsed[4], np.inf), 6),
        (1e-9, 1),
        (elapsed[8] + 1, 9),
    ]:
        found = run(9, horizon)
        assert len(found) == n
        pd.testing.assert_frame_equal(found, run(n, np.inf))
        if train:
            assert found["accuracy"].notna().tolist() == [t in (1, n) for t in range(1, n + 1)]


def test_clustered_sampling_by_similarity_sees_the_updates_as_released(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulation = build("clustered_similarity")
    seen: list[Any] = []
    observe = simulation.select.observe
    monkeypatch.setattr(simulation.select, "observe", lambda f, h: (seen.append(f), observe(f, h)))
    before = simulation.theta.copy()
    drawn = simulation.run(1).rounds.selection[0]
    (feedback,) = seen
    np.testing.assert_array_equal(feedback.users, np.unique(drawn))
    times = np.unique(drawn, return_counts=True)[1]
    step = (feedback.updates * (times / 3)[:, None]).sum(axis=0)
    np.testing.assert_allclose(simulation.theta - before, step, atol=1e-6)


@pytest.mark.parametrize(("selector", "power"), [("random", None), ("power_of_choice", 1), ("oort", 2)])
def test_a_selector_sees_the_losses_that_it_needs_and_nobody_elses(
    build: Build,
    demo: Scenario,
    digits: Dataset,
    unequal: Partition,
    monkeypatch: pytest.MonkeyPatch,
    selector: str,
    power: int | None,
) -> None:
    """Means by hand: of the global model, since a rate of almost nothing leaves it as it is.

    Oort looks at the root mean square (Lai et al., OSDI 2021).
    """
    still = changed(demo, training={"learning_rate": 1e-12, "n_epochs": 2})
    simulation = build(selector, still)
    seen: list[Feedback] = []
    monkeypatch.setattr(simulation.select, "observe", lambda told, history: seen.append(told))
    module = FlatModel(build_model(still.model, digits, Streams(0)), CPU).module
    train_loss = simulation.run(1).rounds.train_loss[0]
    (feedback,) = seen
    means, expected = [], []
    for mine in (unequal.users[user] for user in feedback.users):
        x = torch.from_numpy(digits.train_x[mine]).float() / 127.5 - 1
        y = torch.from_numpy(digits.train_y[mine])
        losses = functional.cross_entropy(module(x), y, reduction="none").detach().numpy()
        means.append(losses.mean())
        expected.append(np.mean(losses ** (power or 1)) ** (1 / (power or 1)))
    assert train_loss == pytest.approx(np.average(means, weights=unequal.sizes[feedback.users]))
    if power:
        assert feedback.losses.tolist() == pytest.approx(expected)
        assert np.ptp(expected) > 0.01
    else:
        assert feedback.losses is None


def test_pow_d_selects_the_candidates_on_whose_data_the_model_is_worst(
    build: Build, demo: Scenario, digits: Dataset, unequal: Partition
) -> None:
    """Everyone is a candidate; losses of the current model by hand, after some training."""
    simulation = build("pow_d", changed(demo, privacy=None, selection={"n_candidates": N_USERS}))
    simulation.select = simulation.scenario.replace(
        selection=simulation.scenario.selection.replace(n_candidates=N_USERS)
    ).make_selector("pow_d")
    simulation.run(4)
    model = FlatModel(build_model(demo.model, digits, Streams(0)), CPU)
    model.values.copy_(torch.from_numpy(simulation.theta))
    losses = []
    for mine in unequal.users:
        x = torch.from_numpy(digits.train_x[mine]).float() / 127.5 - 1
        losses.append(
            float(functional.cross_entropy(model.module(x), torch.from_numpy(digits.train_y[mine])))
        )
    chosen = simulation.run(5).rounds.selection[4]
    assert sorted(chosen.tolist()) == sorted(np.argsort(losses)[-3:].tolist())


def test_losses_that_are_paid_for_are_released_and_updates_get_the_rest(
    build: Build, demo: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With almost no learning, the model moves by the noise alone."""
    still = changed(demo, training={"learning_rate": 1e-12})
    raw, moved, seen = {}, {}, {}
    for name, scenario in {"free": still, "paid": paid(still)}.items():
        simulation = build("power_of_choice", scenario)
        told: list[Feedback] = []
        monkeypatch.setattr(simulation.select, "observe", lambda one, history, told=told: told.append(one))
        before = simulation.theta.copy()
        simulation.run(1)
        moved[name], seen[name] = simulation.theta - before, told[0]
    raw = seen["free"].losses
    np.testing.assert_array_equal(seen["paid"].users, seen["free"].users)
    np.testing.assert_allclose(moved["paid"], moved["free"] / 0.75, rtol=1e-3, atol=1e-7)
    epsilon = GeometricSchedule(40.0, 0.04).epsilon(np.ones(3))
    privacy = paid(demo).privacy
    release = LossProtection.build(privacy, 0.25, Streams(0)).release
    np.testing.assert_array_equal(seen["paid"].losses, release(raw, epsilon, seen["free"].users, 1))
    assert np.abs(seen["paid"].losses - raw).max() > 0.1


@pytest.mark.parametrize("selector", ["oort", "power_of_choice"])
def test_what_is_paid_for_a_loss_stays_within_the_budget(
    simulate: Simulate, demo: Scenario, selector: str
) -> None:
    free, charged = (simulate(selector, 10, scenario=scenario) for scenario in (demo, paid(demo)))
    for result in (free, charged):
        counts = np.bincount(np.concatenate(result.rounds.selection.tolist()), minlength=N_USERS)
        spent = GeometricSchedule(40.0, 0.04).spent(counts)
        np.testing.assert_allclose(result.ledger.epsilon_coordinate, spent)
    n = free.ledger.epsilon_update.max() / free.ledger.epsilon_coordinate.max()
    np.testing.assert_allclose(
        charged.ledger.epsilon_update, (0.25 + 0.75 * n) * charged.ledger.epsilon_coordinate
    )
    # The demo's network protects all of its values; what is left is the loss.
    np.testing.assert_array_equal(free.ledger.values_unprotected, free.ledger.participations)
    assert not charged.ledger.values_unprotected.any()


@pytest.mark.parametrize("selector", ["random", "clustered_similarity", "fedavg_no_privacy"])
def test_who_reports_no_loss_pays_for_none(simulate: Simulate, demo: Scenario, selector: str) -> None:
    free, charged = (simulate(selector, 4, scenario=scenario) for scenario in (demo, paid(demo)))
    pd.testing.assert_frame_equal(charged.rounds, free.rounds)
    pd.testing.assert_frame_equal(charged.ledger, free.ledger)


@pytest.mark.parametrize("how", ["random", "index"])
def test_overlaps_cost_reward_and_time(simulate: Simulate, demo: Scenario, how: str) -> None:
    costs = {"n_clusters": 4, "overlap_penalty": 0.02, "overlap_latency": 0.05}
    penalised = changed(demo, reward={"name": "r2", "clusters": how, **costs})
    plain, clustered = (
        simulate("random", 30, train=False, scenario=scenario).rounds for scenario in (demo, penalised)
    )
    cluster = penalised.reward.make_clusters(N_USERS, Streams(0))
    extra = np.array([len(users) - len(set(cluster[users])) for users in plain.selection])
    assert extra.max() > extra.min() == 0
    assert [list(s) for s in plain.selection] == [list(s) for s in clustered.selection]
    np.testing.assert_allclose(clustered.latency_s, plain.latency_s + 0.05 * extra)
    np.testing.assert_allclose(clustered.elapsed_s, np.cumsum(clustered.latency_s))
    np.testing.assert_allclose(clustered.reward, plain.reward - 100 * 0.02 * extra)
