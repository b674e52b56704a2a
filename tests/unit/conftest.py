"""Fixtures shared by the unit tests: the small demo on digits, and a way to run it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from pausefl.cli import main
from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition, make_partition
from pausefl.data.raw_data import prepare
from pausefl.federated.job import Job
from pausefl.federated.run_job import run_job
from pausefl.runs.collected import runs_in, write
from pausefl.settings import RawData, Scenario, load_scenario
from pausefl.streams import Streams
from pausefl.tools.published import Published

# A busy machine is no reason to fail.
settings.register_profile("pausefl", deadline=None)
settings.load_profile("pausefl")

ROOT = Path(__file__).parents[2]


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
