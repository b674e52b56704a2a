"""Partitions: exact, disjoint, reproducible, and distributed as the papers say."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pausefl.data.partition import (
    Partition,
    draw_sizes,
    label_mix,
    load_partition,
    make_partition,
    partition_key,
)
from pausefl.errors import DataError
from pausefl.figures.partition import draw_partition
from pausefl.settings import DataSettings, PartitionSettings, Scenario
from pausefl.streams import Streams

IID = PartitionSettings("iid", "equal", 1, "equal")
DIRICHLET = PartitionSettings("iid", "dirichlet", 1, "equal", size_concentration=2.0)
DOMINANT = PartitionSettings(
    "dominant", "dirichlet", 20, "equal", dominant_share=0.25, size_concentration=3.0
)


def classes_of(n: int, n_classes: int = 10) -> Any:
    return np.random.default_rng(n).integers(0, n_classes, n)


def with_validation(n_validation: int, n_train: int | None = None) -> DataSettings:
    return DataSettings("mnist", n_validation, n_train)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, DataSettings, PartitionSettings, int, Streams]:
    n_users = draw(st.integers(1, 40))
    min_size = draw(st.integers(0, 5))
    sizes = draw(st.sampled_from(["equal", "dirichlet"]))
    # With no minimum an uneven draw may rightly be refused; that has a test of its own.
    least = max(min_size, 1) if sizes == "equal" else max(min_size, 2)
    n_pool = draw(st.integers(n_users * least, n_users * least + 400))
    n_validation, n_beyond = draw(st.integers(0, 30)), draw(st.integers(0, 30))
    limited = draw(st.booleans())
    n = n_pool + n_validation + (n_beyond if limited else 0)
    partition = PartitionSettings(
        labels=draw(st.sampled_from(["iid", "dominant"])),
        sizes=sizes,
        min_size=max(min_size, 1) if sizes == "dirichlet" else min_size,
        qualities=draw(st.sampled_from(["equal", "uniform"])),
        dominant_share=draw(st.floats(0.01, 1)),
        size_concentration=draw(st.floats(0.01, 100)),
    )
    data = with_validation(n_validation, n_pool if limited else None)
    labels = classes_of(n, draw(st.integers(1, 12)))
    return labels, data, partition, n_users, Streams(draw(st.integers(0, 2**32)))


@settings(deadline=None, max_examples=300)
@given(case=cases())
def test_every_example_of_the_pool_goes_to_exactly_one_user(case: Any) -> None:
    labels, data, partition_settings, n_users, _ = case
    partition = make_partition(*case)
    used = np.concatenate(partition.users)
    if data.n_train is None:
        pool = np.setdiff1d(np.arange(len(labels)), partition.validation)
    else:
        pool = np.arange(data.n_train)
    np.testing.assert_array_equal(np.sort(used), pool)
    assert len(np.unique(partition.validation)) == data.n_validation
    assert not np.intersect1d(used, partition.validation).size
    assert len(partition.users) == n_users
    assert partition.sizes.min() >= max(partition_settings.min_size, 1)
    assert all(np.all(np.diff(indices) > 0) for indices in partition.users)
    assert all(indices.dtype == np.int64 for indices in (*partition.users, partition.validation))
    assert partition.quality.shape == (n_users,)


@settings(deadline=None, max_examples=50)
@given(case=cases())
def test_the_same_seed_gives_the_same_partition(case: Any) -> None:
    first, second = make_partition(*case), make_partition(*case)
    for a, b in zip(first.users, second.users, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(first.validation, second.validation)
    np.testing.assert_array_equal(first.quality, second.quality)


@pytest.mark.parametrize("partition_settings", [IID, DIRICHLET, DOMINANT])
def test_different_seeds_differ(partition_settings: PartitionSettings) -> None:
    varied = dataclasses.replace(partition_settings, qualities="uniform")
    first, second = (
        make_partition(classes_of(5000), with_validation(500), varied, 30, Streams(seed)) for seed in (1, 2)
    )
    assert not np.array_equal(first.validation, second.validation)
    assert not np.array_equal(np.concatenate(first.users), np.concatenate(second.users))
    assert not np.array_equal(first.quality, second.quality)


def test_validation_and_sizes_do_not_depend_on_the_labels_law() -> None:
    iid = dataclasses.replace(DOMINANT, labels="iid")
    a, b = (
        make_partition(classes_of(5000), with_validation(500), s, 30, Streams(1)) for s in (iid, DOMINANT)
    )
    np.testing.assert_array_equal(a.validation, b.validation)
    np.testing.assert_array_equal(a.sizes, b.sizes)


def test_the_first_n_train_examples_train_and_validation_comes_from_beyond() -> None:
    partition = make_partition(classes_of(600), with_validation(50, 200), IID, 7, Streams(3))
    np.testing.assert_array_equal(np.sort(np.concatenate(partition.users)), np.arange(200))
    assert partition.validation.min() >= 200
    assert len(partition.validation) == 50


def test_equal_sizes_differ_by_at_most_one_and_chance_decides() -> None:
    draws = np.array([draw_sizes(IID, 7, 24, Streams(seed)) for seed in range(300)])
    assert set(np.unique(draws)) == {3, 4}
    assert np.all(draws.sum(axis=1) == 24)
    # Each user has one more in 3 of 7 draws: 300 of them, five standard deviations.
    assert np.all(np.abs((draws == 4).mean(axis=0) - 3 / 7) < 5 * np.sqrt(3 / 7 * 4 / 7 / 300))


def test_dirichlet_sizes_follow_their_law() -> None:
    n_users, n, a = 6, 100_000, 2.0
    no_floor = dataclasses.replace(DIRICHLET, min_size=1)
    shares = np.array([draw_sizes(no_floor, n_users, n, Streams(seed)) for seed in range(1500)]) / n
    law = stats.dirichlet(np.full(n_users, a))
    np.testing.assert_allclose(shares.mean(axis=0), law.mean(), rtol=0.06)
    np.testing.assert_allclose(shares.var(axis=0), law.var(), rtol=0.25)
    marginal = stats.beta(a, (n_users - 1) * a)
    assert stats.kstest(shares[:, 0], marginal.cdf).pvalue > 1e-3


@given(
    weights=st.integers(0, 2**32),
    n_users=st.integers(1, 50),
    least=st.integers(1, 20),
    spare=st.integers(0, 5000),
)
@settings(deadline=None)
def test_small_users_are_raised_and_the_others_keep_their_proportions(
    weights: int, n_users: int, least: int, spare: int
) -> None:
    n = n_users * least + spare
    tiny = dataclasses.replace(DIRICHLET, min_size=least, size_concentration=0.3)
    sizes = draw_sizes(tiny, n_users, n, Streams(weights))
    proportions = Streams(weights).generator("partition/sizes").dirichlet(np.full(n_users, 0.3))
    assert sizes.sum() == n
    assert sizes.min() >= least
    above = sizes > least + 1
    if above.sum() > 1:
        ratio = sizes[above] / proportions[above]
        # Rounding moves a size by less than one.
        slack = 1 / proportions[above]
        assert np.max(ratio - slack) <= np.min(ratio + slack)


def test_a_dominant_label_holds_about_a_quarter_of_a_users_data() -> None:
    labels = classes_of(60_000)
    partition = make_partition(labels, with_validation(10_000), DOMINANT, 300, Streams(1))
    mix = label_mix(partition, labels, 10)
    share = mix.max(axis=1) / partition.sizes
    assert np.all(share >= np.floor(0.25 * partition.sizes) / partition.sizes)
    # A quarter, and a tenth of the remaining three quarters.
    assert abs(np.average(share, weights=partition.sizes) - 0.325) < 0.01
    dominant = np.bincount(mix[partition.sizes > 60].argmax(axis=1), minlength=10)
    assert dominant.max() <= 30


def test_dominant_labels_are_balanced() -> None:
    labels = np.arange(20_000) % 10
    settings_ = dataclasses.replace(DOMINANT, sizes="equal", dominant_share=0.5)
    mix = label_mix(make_partition(labels, with_validation(0), settings_, 25, Streams(5)), labels, 10)
    counts = np.bincount(mix.argmax(axis=1), minlength=10)
    assert sorted(counts) == [2] * 5 + [3] * 5


def test_a_label_that_runs_out_is_replaced_from_the_pool() -> None:
    labels = np.r_[np.zeros(10, int), np.ones(190, int)]
    settings_ = dataclasses.replace(DOMINANT, sizes="equal", min_size=1, dominant_share=1.0)
    partition = make_partition(labels, with_validation(0), settings_, 4, Streams(0))
    assert list(partition.sizes) == [50] * 4
    assert label_mix(partition, labels, 2)[:, 0].sum() == 10


def test_iid_users_hold_the_classes_of_the_pool() -> None:
    labels = classes_of(20_000)
    mix = label_mix(make_partition(labels, with_validation(0), IID, 20, Streams(2)), labels, 10)
    assert stats.chi2_contingency(mix).pvalue > 1e-3


def test_qualities() -> None:
    uniform = dataclasses.replace(IID, qualities="uniform")
    quality = make_partition(classes_of(4000), with_validation(0), uniform, 2000, Streams(2)).quality
    assert stats.kstest(quality, stats.uniform(0.2, 0.8).cdf).pvalue > 1e-3
    assert np.all(make_partition(classes_of(40), with_validation(0), IID, 20, Streams(2)).quality == 1)


def test_label_mix_counts() -> None:
    partition = Partition((np.array([0, 2]), np.array([1, 3, 4])), np.ones(2), np.array([5]))
    labels = np.array([2, 0, 2, 1, 1, 0])
    np.testing.assert_array_equal(label_mix(partition, labels, 4), [[0, 0, 2, 0], [1, 2, 0, 0]])


def test_too_few_examples() -> None:
    floor = dataclasses.replace(DIRICHLET, min_size=20)
    message = "590 training examples cannot give 30 users at least 20 each: that takes 600"
    with pytest.raises(DataError, match=message):
        draw_sizes(floor, 30, 590, Streams(0))
    with pytest.raises(DataError, match="9 training examples cannot give 10 users at least 1 each"):
        draw_sizes(dataclasses.replace(IID, min_size=0), 10, 9, Streams(0))


def test_exactly_enough_examples() -> None:
    floor = dataclasses.replace(DIRICHLET, min_size=20, size_concentration=0.01)
    assert list(draw_sizes(floor, 30, 600, Streams(0))) == [20] * 30


def test_a_draw_that_leaves_users_empty_names_the_remedy() -> None:
    bare = dataclasses.replace(DIRICHLET, min_size=0, size_concentration=0.05)
    with pytest.raises(DataError) as caught:
        draw_sizes(bare, 40, 400, Streams(7))
    message = str(caught.value)
    for part in ("size_concentration = 0.05", "of 40 users", "seed 7", "raise partition.min_size"):
        assert part in message


def test_hold_out_larger_than_the_split() -> None:
    with pytest.raises(DataError, match="n_validation = 101, but the training split of 'mnist' has only 100"):
        make_partition(classes_of(100), with_validation(101), IID, 3, Streams(0))
    with pytest.raises(DataError, match=r"n_validation = 30, .* only 20 examples beyond the first .* = 80"):
        make_partition(classes_of(100), with_validation(30, 80), IID, 3, Streams(0))
    with pytest.raises(DataError, match="n_train = 200, but the training split of 'mnist' has only 100"):
        make_partition(classes_of(100), with_validation(0, 200), IID, 3, Streams(0))


def test_round_trip_through_a_file(tmp_path: Path) -> None:
    labels = classes_of(3000)
    saved = make_partition(labels, with_validation(100), DOMINANT, 30, Streams(1))
    saved.save(tmp_path / "p.npz")
    loaded = load_partition(tmp_path / "p.npz")
    assert len(loaded.users) == 30
    for a, b in zip(saved.users, loaded.users, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(saved.quality, loaded.quality)
    np.testing.assert_array_equal(saved.validation, loaded.validation)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    make_partition(classes_of(300), with_validation(10), IID, 3, Streams(1)).save(path)
    path.write_bytes(path.read_bytes()[:700])
    with pytest.raises(DataError, match=r"p\.npz: truncated or corrupt .*; delete it and rerun"):
        load_partition(path)


def scenario(partition: PartitionSettings, data: DataSettings, n_users: int) -> Scenario:
    """The parts of a scenario that a partition depends on."""
    stub = SimpleNamespace(partition=partition, data=data, network=SimpleNamespace(n_users=n_users))
    return cast(Scenario, stub)


def test_partition_key_is_readable_and_tells_partitions_apart() -> None:
    base = scenario(DIRICHLET, with_validation(10), 30)
    assert partition_key(base).startswith("iid-dirichlet2-K30-")
    others = [
        scenario(dataclasses.replace(DIRICHLET, min_size=2), with_validation(10), 30),
        scenario(dataclasses.replace(DIRICHLET, size_concentration=2.0000001), with_validation(10), 30),
        scenario(dataclasses.replace(DIRICHLET, qualities="uniform"), with_validation(10), 30),
        scenario(DIRICHLET, with_validation(11), 30),
        scenario(DIRICHLET, with_validation(10, 100), 30),
        scenario(DIRICHLET, with_validation(10), 31),
        scenario(IID, with_validation(10), 30),
        scenario(DOMINANT, with_validation(10), 30),
    ]
    assert len({partition_key(s) for s in [base, *others]}) == len(others) + 1


def test_partition_key_ignores_what_plays_no_part() -> None:
    """Integer or float, and settings of a law that is not in use, make no new partition."""
    base = partition_key(scenario(DIRICHLET, with_validation(10), 30))
    same = dataclasses.replace(DIRICHLET, size_concentration=2, dominant_share=0.3)
    assert partition_key(scenario(same, with_validation(10), 30)) == base


@pytest.mark.parametrize("n_users", [1, 12, 61, 500])
@pytest.mark.parametrize("n_classes", [0, 2, 10, 30])
def test_the_figure_shows_every_user(tmp_path: Path, n_users: int, n_classes: int) -> None:
    labels = classes_of(3000, n_classes) if n_classes else np.zeros(3000)
    partition = make_partition(labels, with_validation(0), IID, n_users, Streams(1))
    figure = draw_partition(partition, labels, n_classes, "a title, seed 1")
    figure.savefig(tmp_path / "figure.svg")
    upper, lower = figure.axes[:2]
    assert upper.get_title(loc="left").strip() == "a title, seed 1"
    assert f"K = {n_users} users, 3,000 examples" in upper.texts[0].get_text()
    assert upper.get_xlim()[0] <= -0.5
    assert upper.get_xlim()[1] >= n_users - 0.5
    assert lower.get_ylabel() == ("class" if n_classes else "quality of the data")
