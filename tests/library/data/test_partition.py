"""Partitions: exact, disjoint, reproducible, and distributed as the papers say."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from pausefl.data.partition import (
    Partition,
    check_partition,
    label_mix,
    largest_shares,
    load_partition,
    make_partition,
    partition_key,
)
from pausefl.data.partition_sizes import sample_sizes
from pausefl.errors import DataError
from pausefl.settings import SHIPPED, DataSettings, PartitionSettings, load_scenario
from pausefl.streams import Streams


def iid(**changes: Any) -> PartitionSettings:
    base = {"labels": "iid", "sizes": "equal", "min_size": 1, "qualities": "equal"}
    return PartitionSettings(**(base | changes))


def dirichlet(concentration: float = 2.0, **changes: Any) -> PartitionSettings:
    return iid(**({"sizes": "dirichlet", "size_concentration": concentration} | changes))


def by_labels(concentration: float, **changes: Any) -> PartitionSettings:
    labels = {"labels": "dirichlet", "label_concentration": concentration, "sizes": "by_labels"}
    return iid(**(labels | changes))


def dominant(**changes: Any) -> PartitionSettings:
    return dirichlet(3.0, **({"labels": "dominant", "dominant_share": 0.25, "min_size": 20} | changes))


def pools(**changes: Any) -> PartitionSettings:
    """Non-i.i.d. data as in the authors' logs."""
    base = {"labels": "dominant_pools", "dominant_share": 0.25, "sizes": "dirichlet_floored"}
    return dirichlet(2.0, **(base | changes))


def floored_pools(share: float, **changes: Any) -> PartitionSettings:
    return iid(labels="dominant_pools", dominant_share=share, sizes="equal_floored", **changes)


def listed(sizes: Sequence[int], **changes: Any) -> PartitionSettings:
    return iid(**({"sizes": "listed", "listed_sizes": tuple(sizes)} | changes))


def stratified(**changes: Any) -> PartitionSettings:
    return iid(**({"labels": "stratified"} | changes))


def data_of(n_validation: int, n_train: int | None = None) -> DataSettings:
    return DataSettings(source="mnist", n_validation=n_validation, n_train=n_train)


def classes_of(n: int, n_classes: int = 10) -> NDArray[np.int64]:
    return np.random.default_rng(n).integers(0, n_classes, n)


def assert_equal(first: Partition, second: Partition) -> None:
    for a, b in zip(first.users, second.users, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(first.validation, second.validation)
    np.testing.assert_array_equal(first.quality, second.quality)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, DataSettings, PartitionSettings, int, Streams]:
    n_users, min_size = draw(st.integers(1, 40)), draw(st.integers(0, 5))
    sizes = draw(st.sampled_from(["equal", "dirichlet"]))
    # Without a minimum, users may be left without data, which is an error.
    min_size = max(min_size, 1) if sizes == "dirichlet" else min_size
    least = n_users * max(min_size, 1 if sizes == "equal" else 2)
    n_pool = draw(st.integers(least, least + 400))
    n_validation, n_beyond = draw(st.integers(0, 30)), draw(st.integers(0, 30))
    limited = draw(st.booleans())
    n_classes = draw(st.integers(1, 12))
    law = draw(st.sampled_from(["iid", "dominant", *(["stratified"] if sizes == "equal" else [])]))
    partition = iid(
        labels=law,
        sizes=sizes,
        min_size=min_size,
        qualities=draw(st.sampled_from(["equal", "uniform"])),
        dominant_share=draw(st.floats(1 / n_classes, 1)) if law == "dominant" else None,
        size_concentration=draw(st.floats(0.01, 100)) if sizes == "dirichlet" else None,
    )
    labels = classes_of(n_pool + n_validation + (n_beyond if limited else 0), n_classes)
    data = data_of(n_validation, n_pool if limited else None)
    return labels, data, partition, n_users, Streams(draw(st.integers(0, 2**32)))


@settings(max_examples=200)
@given(case=cases())
def test_every_example_of_the_pool_goes_to_exactly_one_user(case: Any) -> None:
    labels, data, partition_settings, n_users, streams = case
    plain = partition_settings.replace(labels="iid", dominant_share=None)
    there = np.concatenate(make_partition(labels, data, plain, n_users, streams).users)
    # A small pool may lack classes, so that the others are more frequent by chance.
    assume((partition_settings.dominant_share or 1) * len(np.unique(labels[there])) >= 1)
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
    assert_equal(partition, make_partition(*case))


@pytest.mark.parametrize("n_examples", [30, 39, 40, 100, 130])
@pytest.mark.parametrize("n_train", [None, 30, 90])
def test_what_cannot_be_made_is_refused_before_data_are_read(n_examples: int, n_train: int | None) -> None:
    """The message says how many users are left without data: the same sizes are sampled of the same pool."""
    data, partition = data_of(10, n_train), dirichlet(0.3, min_size=0)

    def problem(make: Callable[[], object]) -> str:
        with pytest.raises(DataError) as caught:
            make()
        return str(caught.value)

    made = problem(lambda: make_partition(classes_of(n_examples), data, partition, 30, Streams(3)))
    assert problem(lambda: check_partition(data, partition, 30, n_examples, [3])) == made


def test_dirichlet_sizes_follow_their_distribution() -> None:
    n_users, n, a = 6, 100_000, 2.0
    shares = np.array([sample_sizes(dirichlet(a), n_users, n, Streams(seed)) for seed in range(1500)]) / n
    expected = stats.dirichlet(np.full(n_users, a))
    np.testing.assert_allclose(shares.mean(axis=0), expected.mean(), rtol=0.06)
    np.testing.assert_allclose(shares.var(axis=0), expected.var(), rtol=0.25)
    assert stats.kstest(shares[:, 0], stats.beta(a, (n_users - 1) * a).cdf).pvalue > 1e-3


@pytest.mark.parametrize(("share", "n_classes"), [(0.25, 10), (0.1, 10), (0.6, 4), (1.0, 10)])
def test_a_dominant_label_has_its_share_of_a_users_data_in_all(share: float, n_classes: int) -> None:
    labels = np.arange(60_000) % n_classes
    found = []
    for seed in range(3):
        settings = dominant(dominant_share=share)
        partition = make_partition(labels, data_of(10_000), settings, 300, Streams(seed))
        rng = Streams(seed).generator("partition/labels")
        own = rng.permutation(rng.permutation(n_classes)[np.arange(300) % n_classes])
        mix = label_mix(partition, labels, n_classes)[np.arange(300), own]
        found.append(mix.sum() / partition.sizes.sum())
        reserved = (share - 1 / n_classes) / (1 - 1 / n_classes)
        if share < 1:  # a label that everybody wants whole runs out
            assert np.all(mix >= np.round(reserved * partition.sizes))
    if share < 1:
        assert np.mean(found) == pytest.approx(share, abs=0.005)
    else:
        assert np.mean(found) > 0.8


@pytest.mark.parametrize(
    ("law", "n_users", "advised"),
    [("dominant", 5, "0.5"), ("dominant", 12, "0.6"), ("dominant_pools", 5, "0.5")],
)
def test_labels_that_run_out_are_told_with_advice_that_helps(law: str, n_users: int, advised: str) -> None:
    labels, asking = balanced(1440), iid(labels=law, dominant_share=1.0)
    with pytest.warns(
        UserWarning, match=f"labels run out, and .* of {n_users} users .*lower it to {advised}, or"
    ):
        partition = make_partition(labels, data_of(0), asking, n_users, Streams(0))
    assert largest_shares(partition, labels).min() <= 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_partition(labels, data_of(0), asking.replace(dominant_share=float(advised)), n_users, Streams(0))
        make_partition(labels, data_of(0), asking, 10, Streams(0))  # a multiple of the number of classes


def given_by(names: Sequence[str], n_validation: int = 0) -> Partition:
    """The partition of examples that the source gives to three users."""
    settings = iid(users="given", labels="dominant", dominant_share=1.0, min_size=2)
    return make_partition(
        classes_of(len(names)), data_of(n_validation), settings, 3, Streams(0), np.array(names)
    )


def test_users_may_be_those_of_the_source() -> None:
    names = np.array(["zoe", "ann", "bob"] * 5)
    partition = given_by(names.tolist(), 1)
    assert [set(names[indices]) for indices in partition.users] == [{"ann"}, {"bob"}, {"zoe"}]
    held = np.concatenate([*partition.users, partition.validation])
    assert sorted(held) == list(range(15))


def test_users_of_a_source_must_fit_the_settings() -> None:
    with pytest.raises(
        DataError, match=r"n_users = 3, but data source 'mnist' gives .* set network\.n_users to 2"
    ):
        given_by(["ann", "bob"] * 5)
    with pytest.raises(
        DataError, match=r"'given' leaves 1 of 3 users .* = 2 .* lower partition\.min_size, or leave"
    ):
        given_by(["ann", "bob"] * 5 + ["zoe"])
    with pytest.raises(DataError, match="'mnist' has no train_users"):
        make_partition(classes_of(9), data_of(0), iid(users="given"), 3, Streams(0))


@pytest.mark.parametrize("min_size", [0, 1])
def test_nobody_is_told_to_lower_a_least_size_of_nothing(min_size: int) -> None:
    few = floored_pools(0.01, min_size=min_size)
    with pytest.raises(DataError, match=r"; take partition\.labels 'dominant'.*, or lower network\.n_users$"):
        make_partition(balanced(100), data_of(0), few, 20, Streams(0))
    uneven = iid(labels="dirichlet", sizes="by_labels", label_concentration=0.01, min_size=min_size)
    with pytest.raises(DataError, match=r"label_concentration, or lower network\.n_users$"):
        make_partition(balanced(100), data_of(0), uneven, 50, Streams(0))


def test_a_label_cannot_dominate_with_less_than_its_share_by_chance() -> None:
    with pytest.raises(DataError, match=r"dominant_share = 0\.2 is less than 1/4.* raise it to 0\.25"):
        make_partition(np.arange(400) % 4, data_of(0), dominant(dominant_share=0.2), 5, Streams(0))


#: Sizes of the 30 users in the log behind v2's Fig. 6.
FIG_6 = (
    *(996, 1344, 541, 672, 541, 625, 1451, 541, 1381, 3109, 733, 1415, 1703, 577, 816),
    *(541, 1129, 5498, 1848, 3467, 1404, 2077, 541, 4259, 2174, 1453, 2797, 1022, 1885, 2628),
)


@given(
    seed=st.integers(0, 2**32),
    n_users=st.integers(1, 50),
    spare=st.integers(0, 5000),
    a=st.floats(0.1, 50),
)
def test_floored_dirichlet_sizes_follow_the_text_step_by_step(
    seed: int, n_users: int, spare: int, a: float
) -> None:
    n = 10 * n_users + spare
    found = sample_sizes(dirichlet(a, sizes="dirichlet_floored"), n_users, n, Streams(seed))
    raised = [
        max(n // (3 * n_users), int(share * n))
        for share in Streams(seed).generator("partition/sizes").dirichlet(np.full(n_users, a))
    ]
    assert list(found) == [size * n // sum(raised) for size in raised]
    assert found.sum() <= n


def balanced(n: int) -> NDArray[np.int64]:
    """Labels in random order, as many of each as CIFAR-10 has."""
    return np.random.default_rng(0).permutation(np.arange(n) % 10)


def test_sizes_held_are_those_of_the_logs() -> None:
    """The logs' two partitions hold 48,641 and 48,542 examples, 45 to 49 and 674 or 638 a user."""
    held = [
        make_partition(balanced(50_000), data_of(0), pools(), 300, Streams(seed)).sizes for seed in range(12)
    ]
    sums = np.array([sizes.sum() for sizes in held])
    assert np.all((sums > 48_300) & (sums < 48_850))
    assert abs(sums.mean() - 48_641) < 100
    assert all(45 <= sizes.min() <= 49 for sizes in held)
    assert 500 < np.median([sizes.max() for sizes in held]) < 900


def slow_pools(labels: NDArray[np.int64], own: Sequence[int], sizes: Sequence[int], share: float) -> Any:
    """How many of each class each user gets, example by example."""
    stock = [int((labels == label).sum()) for label in range(labels.max() + 1)]
    held = []
    for label, size in zip(own, sizes, strict=True):
        mine = [0] * len(stock)
        for _ in range(int(share * size)):
            if stock[label]:
                stock[label] -= 1
                mine[label] += 1
        each = (size - mine[label]) // (len(stock) - 1)
        for other in range(len(stock)):
            for _ in range(each if other != label else 0):
                if stock[other]:
                    stock[other] -= 1
                    mine[other] += 1
        held.append(mine)
    return held


@given(st.integers(0, 2**32), st.integers(1, 20), st.integers(2, 6), st.floats(0.01, 1), st.booleans())
def test_pools_serve_users_as_a_slow_loop_over_examples_does(
    seed: int, n_users: int, n_classes: int, share: float, rare: bool
) -> None:
    labels = np.concatenate([classes_of(40 * n_users, n_classes), np.repeat(np.arange(n_classes), 3)])
    if rare:
        labels[labels == 0][3:] = 1
        labels = np.where((labels == 0) & (np.cumsum(labels == 0) > 3), 1, labels)
    made = floored_pools(share)
    sizes = sample_sizes(made, n_users, len(labels), Streams(seed))
    rng = Streams(seed).generator("partition/labels")
    own = rng.permutation(np.repeat(np.arange(n_classes), -(-n_users // n_classes)))[:n_users]
    expected = slow_pools(labels, own.tolist(), sizes.tolist(), share)
    if min(map(sum, expected)) == 0:
        with pytest.raises(DataError, match=r"'dominant_pools' leaves \d+ of \d+ users without data"):
            make_partition(labels, data_of(0), made, n_users, Streams(seed))
        return
    partition = make_partition(labels, data_of(0), made, n_users, Streams(seed))
    assert label_mix(partition, labels, n_classes).tolist() == expected
    used = np.concatenate(partition.users)
    assert len(np.unique(used)) == len(used)


@pytest.mark.parametrize(
    "changes", [{}, *({"labels": law, "dominant_share": 0.25} for law in ("dominant_pools", "dominant"))]
)
def test_users_hold_the_listed_sizes_however_their_labels_are_drawn(changes: dict[str, Any]) -> None:
    """A log prints what its users hold, after all losses."""
    assert sum(FIG_6) == 49_168
    settings = listed(FIG_6, **changes)
    partition = make_partition(balanced(50_000), data_of(0), settings, 30, Streams(2))
    assert tuple(partition.sizes) == FIG_6
    used = np.concatenate(partition.users)
    assert len(np.unique(used)) == len(used)
    if changes:
        mix = label_mix(partition, balanced(50_000), 10)
        assert np.median(mix.max(axis=1) / partition.sizes) == pytest.approx(0.25, abs=0.03)


def test_iid_users_hold_the_classes_of_the_pool() -> None:
    labels = classes_of(20_000)
    mix = label_mix(make_partition(labels, data_of(0), iid(), 20, Streams(2)), labels, 10)
    assert stats.chi2_contingency(mix).pvalue > 1e-3


def test_qualities() -> None:
    uniform = make_partition(classes_of(4000), data_of(0), iid(qualities="uniform"), 2000, Streams(2))
    assert stats.kstest(uniform.quality, stats.uniform(0.2, 0.8).cdf).pvalue > 1e-3
    assert np.all(make_partition(classes_of(40), data_of(0), iid(), 20, Streams(2)).quality == 1)


@pytest.mark.parametrize(
    ("partition", "n_users", "n", "needed"),
    [(dirichlet(min_size=20), 30, 590, "600"), (iid(min_size=0), 10, 9, "10")],
)
def test_too_few_examples(partition: PartitionSettings, n_users: int, n: int, needed: str) -> None:
    with pytest.raises(DataError, match=rf"{n} training examples cannot give .* that takes {needed}"):
        sample_sizes(partition, n_users, n, Streams(0))


@pytest.mark.parametrize(
    ("data", "partition", "message"),
    [
        (data_of(30, 80), iid(), "n_validation = 30, .* only 20 examples beyond the first .* = 80"),
        (data_of(0, 200), iid(), "n_train = 200, .* only 100 examples"),
        (data_of(0), listed([50, 50, 1]), "listed_sizes are 101 examples in all, .* only 100"),
        (data_of(0), listed([50, 49, 1], min_size=2), "leaves 1 of 3 users .* = 2 .*lower partition"),
    ],
)
def test_more_than_the_split_has_is_refused(
    data: DataSettings, partition: PartitionSettings, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        make_partition(classes_of(100), data, partition, 3, Streams(0))


def test_round_trip_through_a_file(tmp_path: Path) -> None:
    saved = make_partition(classes_of(3000), data_of(100), dominant(), 30, Streams(1))
    path = tmp_path / "p.npz"
    saved.save(path, "mnist/dominant/seed-1")
    assert_equal(saved, load_partition(path, "mnist/dominant/seed-1"))
    with pytest.raises(DataError, match=r"p\.npz: is partition mnist/dominant/seed-1, and mnist/iid/s"):
        load_partition(path, "mnist/iid/seed-1")
    path.write_bytes(path.read_bytes()[:700])
    with pytest.raises(DataError, match=r"p\.npz: truncated or corrupt"):
        load_partition(path, "mnist/dominant/seed-1")


def test_partition_key_tells_partitions_apart() -> None:
    base = partition_key(data_of(10), dirichlet(), 30)
    assert base.startswith("iid-dirichlet2-K30-")
    partitions = [
        dirichlet(min_size=2),
        dirichlet(2.0000001),
        iid(sizes="equal_floored"),
        dominant(labels="dominant_pools"),
        dominant(labels="dominant_pools", dominant_share=0.3),
        dirichlet(sizes="dirichlet_floored"),
        listed(FIG_6),
        listed(FIG_6[::-1]),
        by_labels(0.1),
        by_labels(0.5),
        iid(),
        iid(users="given"),
    ]
    keys = {partition_key(data_of(10), one, 30) for one in partitions}
    keys |= {partition_key(data, dirichlet(), 30) for data in (data_of(11), data_of(10, 100))}
    assert len(keys | {base, partition_key(data_of(10), dirichlet(), 31)}) == len(partitions) + 4


def test_partition_key_ignores_whether_a_number_is_an_integer() -> None:
    assert partition_key(data_of(10), dirichlet(2), 30) == partition_key(data_of(10), dirichlet(), 30)


#: Who has what for seeds 0 and 1, of 60,000 examples with random labels: the start of a SHA-256.
CONTENTS = {
    "mnist_large_iid_r1": ("c09d0c50ecf12922", "6dfc31e650cea2f0"),
    "cifar10_large_noniid_r2": ("193431ff237f2226", "986e3de4c274ffd4"),
    "mnist_small_authors": ("2ab9adf2c362bf74", "5823cc0b29fe0204"),
    "bsfl_fashion_iid": ("7575ebcc0641bf8c", "a8abb830d5c73cff"),
    "bsfl_fashion_noniid": ("c9651650c2eee4f5", "b777ba8fc990e848"),
    "bsfl_linear_noniid": ("932ab3c892456a1b", "99c9e30c17b30a22"),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_partitions_of_shipped_scenarios_keep_their_contents(name: str) -> None:
    shipped, labels = load_scenario(name, SHIPPED), np.random.default_rng(5).integers(0, 10, 60_000)
    for seed, digest in enumerate(CONTENTS[name]):
        partition = make_partition(
            labels, shipped.data, shipped.partition, shipped.network.n_users, Streams(seed)
        )
        parts = (partition.sizes, *partition.users, partition.quality, partition.validation)
        content = b"".join(part.tobytes() for part in parts)
        assert hashlib.sha256(content).hexdigest().startswith(digest)


def test_classes_are_shared_by_a_dirichlet_distribution() -> None:
    labels, data = np.repeat(np.arange(10), 600), data_of(0)
    for concentration in (0.3, 100.0):
        share_of_largest = []
        for seed in range(30):
            partition = make_partition(labels, data, by_labels(concentration), 8, Streams(seed))
            held = np.sort(np.concatenate(partition.users))
            np.testing.assert_array_equal(held, np.arange(6000))  # each once
            counts = label_mix(partition, labels, 10)
            share_of_largest += (counts.max(axis=0) / 600).tolist()
        rng = np.random.default_rng(0)
        expected = rng.dirichlet(np.full(8, concentration), 20_000).max(axis=1)
        error = 5 * expected.std() / np.sqrt(len(share_of_largest))
        assert np.mean(share_of_largest) == pytest.approx(expected.mean(), abs=error + 0.002)


def test_a_least_size_is_kept_or_refused() -> None:
    labels, data = np.repeat(np.arange(10), 60), data_of(0)
    for seed in range(20):
        partition = make_partition(labels, data, by_labels(0.5, min_size=15), 10, Streams(seed))
        assert partition.sizes.min() >= 15
    with pytest.raises(DataError, match=r"label_concentration = 0\.01 gives some of 30 users at most"):
        make_partition(labels, data, by_labels(0.01, min_size=15), 30, Streams(0))


def test_labels_and_sizes_by_labels_need_each_other() -> None:
    with pytest.raises(ValueError, match="need each other"):
        by_labels(0.5, sizes="equal")
    with pytest.raises(ValueError, match="needs label_concentration"):
        by_labels(0.5, label_concentration=None)
