"""The scripts behind what pages say: their tables are on the page, and the JPEG folder is as it was."""

from __future__ import annotations

import copy
import importlib
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import own_parts
import pandas as pd
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, Subset

import pausefl
from pausefl.data.dataset import Dataset
from pausefl.errors import PauseflError
from pausefl.federated.untrained import selection_only
from pausefl.privacy.zcdp import epsilon_of, rho_of_gaussian
from pausefl.settings import load_scenario
from pausefl.streams import Streams

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Imports a script by name; what it brings to registries is forgotten."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks/investigations")
    yield importlib.import_module
    own_parts.forget()


def test_tables_of_the_same_rounds_are_those_of_the_page(script: Any) -> None:
    page = (ROOT / "results/published/authors.md").read_text("utf-8")
    assert all(table in page for table in script("same_rounds").tables())


def test_counts_of_the_findings_are_sums_of_that_table() -> None:
    authors, findings = (
        (ROOT / folder / "authors.md").read_text("utf-8") for folder in ("results/published", "docs")
    )
    rows = re.findall(r"^\| `(\w+)_as_run` \| (\d+) of (\d+) \| (\d+) \|", authors, re.MULTILINE)
    groups = {
        "MNIST": "mnist",
        "CIFAR-10, 300 clients": "cifar10_large",
        "CIFAR-10, 30 clients": "cifar10_small",
    }
    for words, start in groups.items():
        counts = [list(map(int, row)) for name, *row in rows if name.startswith(start)]
        inside, n, expected = map(sum, zip(*counts, strict=True))
        row = f"the same rounds on {words}, settings of their logs | {inside} of {n} | {expected} |"
        assert row in findings


def test_the_table_of_bounds_and_noises_is_that_of_its_page(
    script: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "benchmarks/investigations/update_budget.md").read_text("utf-8")
    monkeypatch.setattr("sys.argv", ["update_budget.py"])
    script("update_budget").main()
    assert capsys.readouterr().out.strip() in page


def test_all_runs_of_bounds_and_noises_are_there(script: Any) -> None:
    module = script("update_budget")
    rows = pd.read_csv(module.FILE)[list(module.Tried._fields)]
    assert sorted(rows.itertuples(index=False, name=None)) == sorted(map(tuple, module.all_tried()))


def test_gaussian_noise_spends_the_rho_of_its_epsilon(script: Any) -> None:
    """Clipped updates are 2 C apart at most, and all participations together cost rho."""
    module = script("update_budget")
    settings = pausefl.change(
        pausefl.load_scenario(module.SCENARIO),
        {
            "privacy.clip_norm": 0.3,
            "privacy.mechanism": "update_budget:GaussianMechanism",
            "privacy.sampler": "update_budget:GaussianNoise",
        },
    ).privacy
    mechanism, sampler = settings.make_mechanism(), settings.make_sampler(Streams(0))
    budgets = settings.make_schedule().epsilon(np.arange(1, 2001))
    rho = sum(rho_of_gaussian(0.6, mechanism.scale(float(epsilon))) for epsilon in budgets)
    assert float(epsilon_of(rho)) == pytest.approx(10)
    update = np.linspace(-1, 1, 1000, dtype=np.float32)
    mechanism.clip(update)
    assert 0.2999 < np.linalg.norm(update.astype(np.float64)) <= 0.3
    short = update / 2
    kept = short.copy()
    mechanism.clip(kept)
    assert (kept == short).all()
    noise = sampler.sample(100_000, 0.7, user=3, round=5)
    assert noise.std() == pytest.approx(0.7, rel=0.01)
    assert (noise == sampler.sample(100_000, 0.7, user=3, round=5)).all()
    assert (noise != sampler.sample(100_000, 0.7, user=3, round=6)).any()


@pytest.mark.slow
def test_participations_in_long_runs_are_those_of_the_findings() -> None:
    """In 1,000 rounds on MNIST; models do not matter, so nothing is trained."""
    counts = {}
    for name, selector in product(("mnist_large_iid_r1", "mnist_large_iid_r1_as_run"), ("pause", "random")):
        scenario = load_scenario(name, ROOT / "config/scenarios")
        long = scenario.replace(training=scenario.training.replace(n_rounds=1000, time_horizon_s=None))
        runs = [selection_only(long, selector, seed) for seed in range(5)]
        for run in runs:
            run.run(1000)
        counts[name, selector] = np.array([run.ledger.participations for run in runs])
    written, random = counts["mnist_large_iid_r1", "pause"], counts["mnist_large_iid_r1", "random"]
    said = [f"one client has taken part {written.max(axis=1).min()} times or more in each seed"]
    said += [f"with random selection nobody more than {random.max()} times"]
    even, drawn = (counts["mnist_large_iid_r1_as_run", selector] for selector in ("pause", "random"))
    said += [f"each client takes part {even.min()} to {even.max()} times"]
    said += [f"with random selection {drawn.min()} to {drawn.max()} times"]
    page = " ".join((ROOT / "docs/details.md").read_text("utf-8").split())
    assert [words for words in said if words not in page] == []


@pytest.mark.slow
def test_the_table_of_noise_is_that_of_its_page(
    script: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = ("small_iid_r1", "small_noniid_r1", "large_noniid_r1", "small_authors")
    monkeypatch.setattr("sys.argv", ["aggregate_noise.py", "--groups", *(f"cifar10_{one}" for one in kinds)])
    script("aggregate_noise").main()
    assert capsys.readouterr().out.strip() in (ROOT / "docs/details.md").read_text("utf-8")


def test_the_engine_for_the_authors_program_trains_as_plain_pytorch(
    script: Any, digits: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two rounds of FedAvg without privacy, on the mini-batches that a loader draws."""
    monkeypatch.chdir(ROOT)
    authors = script("authors_code")
    engine, shares = authors.Engine("mnist_small_authors", digits), np.arange(90).reshape(3, 30)
    torch.manual_seed(0)  # of the weights, whatever other tests have drawn
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
    model.append(nn.Linear(16, 10))
    replicas = [copy.deepcopy(model) for _ in shares]
    optimizers = [torch.optim.Adam(replica.parameters(), lr=0.01) for replica in replicas]
    x = authors.scaled(digits.train_x)
    numbered = authors.Examples(digits, True, True)
    users = {
        k: SimpleNamespace(
            user_idx=k, data_loader=DataLoader(Subset(numbered, mine.tolist()), batch_size=20, shuffle=True)
        )
        for k, mine in enumerate(shares)
    }
    options = SimpleNamespace(local_iterations=100, privacy=False)
    for t in range(2):
        engine.distribute_model(users, model)
        for replica in replicas:
            replica.load_state_dict(model.state_dict())
        for k, user in users.items():
            torch.manual_seed(10 * t + k)
            loss = engine.train_one_epoch(user, None, options)
            torch.manual_seed(10 * t + k)
            losses = []
            for numbers, labels in user.data_loader:
                losses.append(functional.cross_entropy(replicas[k](x[numbers[:, 0, 0, 0].long()]), labels))
                optimizers[k].zero_grad()
                losses[-1].backward()
                optimizers[k].step()
            assert loss == pytest.approx((2 * losses[0].item() + losses[1].item()) / 3, rel=1e-4)
        engine.aggregate(users, model, [0, 1, 2], None, options)
        states = [replica.state_dict() for replica in replicas]
        model.load_state_dict({key: sum(state[key] for state in states) / 3 for key in states[0]})
    values = torch.cat([parameter.detach().ravel() for parameter in model.parameters()]).numpy()
    np.testing.assert_allclose(engine.theta, values, atol=1e-5)
    accuracy, _ = engine.test(DataLoader(authors.Examples(digits, False, True)), model, None, options)
    outputs = model(authors.scaled(digits.test_x)).argmax(1).numpy()
    assert accuracy == pytest.approx(100 * np.mean(outputs == digits.test_y))


def test_logs_of_the_authors_are_read_by_selector(script: Any, tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints/archive/MNIST with FC2/30 choose 5/all users without privacy"
    folder.mkdir(parents=True)
    (folder / "run.log").write_text("avg train loss 2.395, val loss 2.293, avg val acc 16.39%\n" * 2)
    assert script("authors_code").logged(tmp_path, 1, "all users", False) == ["16.39", "16.39"]
    with pytest.raises(PauseflError, match=r"random/run\.log is missing"):
        script("authors_code").logged(tmp_path, 1, "random", True)
