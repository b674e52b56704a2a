"""Fixtures shared by all tests: the small demo on digits, and a way to run it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

# One thread for each process of the tests, as for each job. PyTorch reads this when it is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from hypothesis import settings
from worlds import World

from pausefl.cli import main
from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition, make_partition
from pausefl.data.raw_data import prepare
from pausefl.federated.job import Job
from pausefl.federated.run_job import run_job
from pausefl.reproduction.pages.published import Published
from pausefl.runs.collected import runs_in, write
from pausefl.settings import RawData, Scenario, load_scenario
from pausefl.settings import scenario as config
from pausefl.streams import Streams

# A busy machine is no reason to fail.
settings.register_profile("pausefl", deadline=None)
settings.load_profile("pausefl")

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def published() -> Published:
    """The claims, judged on the published runs."""
    return Published(ROOT)


@pytest.fixture(scope="session")
def demo() -> Scenario:
    """Twelve users, three selected, fc on 8 x 8 digits."""
    return load_scenario("demo_small", ROOT / "config" / "scenarios")


@pytest.fixture(scope="session")
def digits(demo: Scenario) -> Dataset:
    return prepare(demo.data, RawData(Path("nowhere"), False, {}))


@pytest.fixture(scope="session")
def share_out(digits: Dataset) -> Callable[[Scenario, int], Partition]:
    """Partition of the digits among the users of a scenario for a seed."""

    def share(scenario: Scenario, seed: int = 0) -> Partition:
        network = scenario.network
        return make_partition(
            digits.train_y, scenario.data, scenario.partition, network.n_users, Streams(seed)
        )

    return share


@pytest.fixture(scope="session")
def finish(demo: Scenario, digits: Dataset, share_out: Callable[..., Partition]) -> Callable[..., Path]:
    """Run a job of the demo, or of another scenario with its data, to its end; returns its folder."""

    def run(
        out: Path, selector: str, seed: int = 0, n_rounds: int = 3, *, scenario: Scenario = demo, **more: Any
    ) -> Path:
        job = Job(scenario, selector, seed, n_rounds, **({"device": "cpu"} | more))
        run_job(job, digits, share_out(scenario, seed), out)
        return out

    return run


@pytest.fixture(scope="session")
def prepared(digits: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The digits in a file."""
    path: Path = tmp_path_factory.mktemp("prepared") / "digits.npz"
    digits.save(path)
    return path


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run ``pausefl`` in the root of the project; exit code, output, errors."""
    monkeypatch.chdir(ROOT)

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["pausefl", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        said = capsys.readouterr()
        return int(stop.value.code or 0), said.out, said.err

    return run


@pytest.fixture(scope="session")
def seed_0(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published runs of a scenario under seed 0, to be copied."""
    source = ROOT / "results/published/cifar10_small_iid_r1"
    write((run for run in runs_in(source) if run.seed == 0), folder := tmp_path_factory.mktemp("seed_0"))
    return folder


@pytest.fixture
def made_up_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs pass that tests make up, whose ledgers and latencies are of no run."""
    monkeypatch.setattr("pausefl.runs.run._disagreement", lambda _: "")


@pytest.fixture
def default_signals() -> Iterator[None]:
    """Handlers as in a terminal, also if the tests were started with SIGINT ignored (nohup, ``&``)."""
    defaults = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in defaults.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def data_root() -> Path:
    """Folder of the raw data sets; tests that need one are skipped where there is none."""
    root = os.environ.get("PAUSEFL_DATA_ROOT")
    if not root:
        pytest.skip("set PAUSEFL_DATA_ROOT to a folder with MNIST/raw, FashionMNIST/raw and shakespeare")
    return Path(root)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A checkout in which the tiny workflow ran to its end on this machine; not to be changed."""
    from workspace import make_finished, shared

    return shared(tmp_path_factory, "finished", make_finished)


@pytest.fixture
def scenario() -> config.Scenario:
    return config.Scenario(
        name="mnist_large_iid_r1",
        title="MNIST_large *i.i.d.*",
        data=config.DataSettings(source="mnist", n_validation=10),
        partition=config.PartitionSettings(labels="iid", sizes="equal", min_size=20, qualities="equal"),
        network=config.NetworkSettings(
            n_users=311,
            n_selected=17,
            latency_floor=0.05,
            fast_latency_max=0.2,
            slow_latency_min=0.7,
            slow_latency_max=0.9,
            latency_std=0.05,
        ),
        reward=config.RewardSettings(name="r1", alpha=100, beta=2, gamma=5),
        selection=config.SelectionSettings(exploitation=1, n_iterations=500, temperature_divisor=30),
        model=config.ModelSettings(name="cnn3", norm="batch"),
        training=config.TrainingSettings(
            n_rounds=293,
            n_epochs=1,
            batch_size=20,
            max_batches=100,
            learning_rate=0.01,
            optimizer_state="persist",
        ),
        selectors=("pause", "sa_pause"),
        figures={
            "pause_v2_fig8": "accuracy_vs_time",
            "pause_v1_fig6": "accuracy_vs_time",
            "bsfl_fig7b": "loss_vs_time",
            "odd_name": "leakage_vs_time",
        },
        privacy=config.PrivacySettings(epsilon_total=37, decay=0.04, sensitivity=0.0031),
    )


@pytest.fixture
def world(tmp_path: Path, demo: Scenario, made_up_runs: None) -> World:
    return World(tmp_path, demo)
