"""An unfinished job: killed, stopped, damaged, of another job, on a full disk, held by another process."""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pausefl import files as files_module
from pausefl.data.dataset import Dataset, load_dataset
from pausefl.data.partition import Partition, make_partition
from pausefl.errors import ConfigError, PauseflError, StoppedError
from pausefl.federated import job as job_module
from pausefl.federated.checkpoint import Checkpoint, Saving
from pausefl.federated.job import Job
from pausefl.federated.run_job import run_job
from pausefl.federated.simulation import Simulation
from pausefl.files import locked
from pausefl.provenance import job_code
from pausefl.settings import Scenario, load_scenario
from pausefl.streams import Streams

ROOT = Path(__file__).parents[3]
TABLES = ("rounds.parquet", "ledger.parquet")
FILES = {*TABLES, "summary.json"}
N_ROUNDS = 6


class _BrokenOffError(Exception):
    """Ends a job in the middle."""


class Runs:
    """Runs jobs of the demo that save their state after every round, and keeps what they say."""

    def __init__(self, demo: Scenario, digits: Dataset, partition: Partition, folder: Path) -> None:
        self.job = Job(demo, "sa_pause", 0, N_ROUNDS, device="cpu")
        self.digits, self.partition, self.out = digits, partition, folder / "out"
        self.notes: list[str] = []

    @property
    def state(self) -> Path:
        return self.out / "state.npz"

    def run(
        self, *, until: int = 0, out: Path | None = None, data: Dataset | None = None, **values: Any
    ) -> Path:
        """Run the job, with changes of it or of how it saves; ``until`` breaks it off after that round."""

        def on_round(t: int) -> None:
            if until and t == until + 1:  # the state after the round before is there
                raise _BrokenOffError

        names = {field.name for field in dataclasses.fields(Saving)}
        saving = Saving(
            **{"interval": 0.0, "note": self.notes.append} | {k: values[k] for k in values if k in names}
        )
        job = dataclasses.replace(self.job, **{k: values[k] for k in values if k not in names})
        arguments = (job, data or self.digits, self.partition, out or self.out, on_round, saving)
        if until:
            with pytest.raises(_BrokenOffError):
                run_job(*arguments)
        else:
            run_job(*arguments)
        return out or self.out


@pytest.fixture
def runs(demo: Scenario, digits: Dataset, share_out: Callable[..., Partition], tmp_path: Path) -> Runs:
    return Runs(demo, digits, share_out(demo), tmp_path)


@pytest.fixture(scope="module")
def unbroken(
    demo: Scenario, digits: Dataset, share_out: Callable[..., Partition], tmp_path_factory: Any
) -> dict[str, bytes]:
    """The tables of a job that was never broken off."""
    return tables(Runs(demo, digits, share_out(demo), tmp_path_factory.mktemp("unbroken")).run())


def tables(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in TABLES}


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def summary(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "summary.json").read_text("utf-8"))


def test_a_job_broken_off_twice_gives_the_same_bytes_and_tells_it(
    runs: Runs, unbroken: dict[str, bytes]
) -> None:
    runs.run(until=2)
    assert names(runs.out) == {"state.npz"}
    runs.run(until=5)
    assert tables(runs.run()) == unbroken
    assert names(runs.out) == FILES
    told = summary(runs.out)
    assert told["resumed_from_rounds"] == [2, 5]
    assert 0 < told["timings_s"]["saving"] < told["timings_s"]["total"]
    expected = [f"resuming after round {t}, from {runs.state}" for t in (2, 5)]
    assert runs.notes == expected


def test_a_job_with_a_time_horizon_ends_early_and_resumes(runs: Runs, demo: Scenario) -> None:
    elapsed = pd.read_parquet(runs.run() / "rounds.parquet")["elapsed_s"]
    told = summary(runs.out)
    assert (told["n_rounds"], told["rounds_made"], told["ended_by"]) == (6, 6, "n_rounds")
    training = demo.training.replace(time_horizon_s=(elapsed[2] + elapsed[3]) / 2)
    long = {"scenario": demo.replace(training=training), "n_rounds": 1000}
    ended, broken = (runs.out.with_name(name) for name in ("ended", "broken"))
    expected = tables(runs.run(out=ended, **long))
    told = summary(ended)
    assert (told["n_rounds"], told["rounds_made"], told["ended_by"]) == (1000, 4, "time_horizon_s")
    for until in (1, 3):
        runs.run(until=until, out=broken, **long)
    assert tables(runs.run(out=broken, **long)) == expected
    assert names(broken) == FILES
    assert summary(broken)["class_accuracy"] == told["class_accuracy"]


# Another job


@pytest.mark.parametrize(
    ("values", "difference"),
    [
        ({"seed": 1}, r"seed = 0 \(asked for: 1\)"),
        ({"selector": "pause"}, r"selector = sa_pause \(asked for: pause\), .*other code"),
        ({"n_threads": 2}, r"n_threads = 1 \(asked for: 2\)"),
    ],
)
def test_the_state_of_another_job_is_refused_by_what_differs(
    runs: Runs, values: dict[str, Any], difference: str
) -> None:
    runs.run(until=1)
    before = runs.state.read_bytes()
    with pytest.raises(ConfigError, match=f"{runs.state} .*{difference}"):
        runs.run(**values)
    assert names(runs.out) == {"state.npz"}
    assert runs.state.read_bytes() == before


def test_other_code_libraries_and_data_are_refused_but_not_other_figures(
    runs: Runs, demo: Scenario, unbroken: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs.run(until=1)
    found = job_module.versions() | {"torch": "0.1"}
    for name, other, words in (
        ("job_code", "0123456789abcdef", "other code"),
        ("versions", found, r"versions\.torch = .* \(asked for: 0\.1\)"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(job_module, name, lambda *_, other=other, **__: other)
            with pytest.raises(ConfigError, match=words):
                runs.run()
    pixels, share = runs.digits.train_x.copy(), runs.partition
    pixels[-1, 0, 0, 0] ^= 1
    with pytest.raises(ConfigError, match="other data set"):
        runs.run(data=dataclasses.replace(runs.digits, train_x=pixels))
    runs.partition = Partition(share.users, share.quality / 2, share.validation)
    with pytest.raises(ConfigError, match="other partition"):
        runs.run()
    runs.partition = share
    assert tables(runs.run(scenario=demo.replace(title="Other", figures={}))) == unbroken


def test_the_workflow_discards_the_state_of_another_job(runs: Runs, unbroken: dict[str, bytes]) -> None:
    """And `restart` that of the same job."""
    runs.run(until=2, seed=1)
    assert tables(runs.run(discard=True)) == unbroken
    assert summary(runs.out)["resumed_from_rounds"] == []
    assert "seed = 1 (asked for: 0)" in runs.notes[0]
    again = runs.out.with_name("again")
    runs.run(until=3, out=again)
    assert tables(runs.run(restart=True, out=again)) == unbroken
    assert summary(again)["resumed_from_rounds"] == []


# Damage


def damages(whole: bytes) -> dict[str, bytes]:
    """A state file cut off, overwritten in places, and other files."""
    damaged = {f"cut {share}": whole[: int(share * len(whole))] for share in (0.0, 0.01, 0.5, 0.99)}
    damaged["one byte short"] = whole[:-1]
    for place in np.linspace(100, len(whole) // 2, 5).astype(int):
        damaged[f"bit {place}"] = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
    return damaged | {"zeros": bytes(len(whole)), "text": b"nothing of the kind"}


def test_a_damaged_state_is_never_used(runs: Runs, unbroken: dict[str, bytes]) -> None:
    runs.run(until=3)
    whole = runs.state.read_bytes()
    for name, damaged in damages(whole).items():
        runs.state.write_bytes(damaged)
        runs.notes.clear()
        checkpoint = Checkpoint(runs.state, {}, Saving(note=runs.notes.append))
        assert checkpoint.load() is None, name
        assert len(runs.notes) == 1
        assert str(runs.state) in runs.notes[0]
    assert tables(runs.run()) == unbroken
    assert summary(runs.out)["resumed_from_rounds"] == []


# A full disk


def test_a_full_disk_leaves_the_old_state_and_the_job_goes_on(
    runs: Runs, unbroken: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs.run(until=2)
    before = runs.state.read_bytes()
    seen = []

    def half(file: Any, **arrays: Any) -> None:
        file.write(before[:1000])
        raise OSError(28, "No space left on device")

    save = Checkpoint.save

    def watched(self: Checkpoint, *arguments: Any) -> bool:
        saved = save(self, *arguments)
        seen.append((saved, runs.state.read_bytes(), names(runs.out)))
        return saved

    monkeypatch.setattr(np, "savez", half)
    monkeypatch.setattr(Checkpoint, "save", watched)
    assert tables(runs.run()) == unbroken
    assert seen == [(False, before, {"state.npz", "job.lock"})] * 3
    (failure,) = [note for note in runs.notes if "cannot save" in note]
    assert "round 3" in failure
    assert "No space left on device" in failure
    assert names(runs.out) == FILES


# Signals


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_after_the_round_and_the_job_goes_on(
    runs: Runs, unbroken: dict[str, bytes], number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    observe = Simulation._round

    def kill(self: Any, t: int, n_rounds: int) -> Any:
        if t == 3:
            os.kill(os.getpid(), number)
        return observe(self, t, n_rounds)

    monkeypatch.setattr(Simulation, "_round", kill)
    with pytest.raises(StoppedError, match=r"round 3 of 6"):
        runs.run(interval=3600.0)
    assert names(runs.out) == {"state.npz"}
    monkeypatch.undo()
    assert tables(runs.run()) == unbroken
    assert summary(runs.out)["resumed_from_rounds"] == [3]


# Two at once


def test_a_second_job_in_the_folder_is_refused(runs: Runs, unbroken: dict[str, bytes]) -> None:
    runs.out.mkdir()
    with locked(runs.out, runs.notes.append):
        with pytest.raises(
            PauseflError, match=rf"process {os.getpid()} on \S+ is running a job in {runs.out}"
        ):
            runs.run()
        assert names(runs.out) == {"job.lock"}
    assert names(runs.out) == set()
    assert tables(runs.run()) == unbroken


def test_a_file_system_without_locks_is_no_failure(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, unbroken: dict[str, bytes]
) -> None:
    def unsupported(*_: Any) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(files_module.fcntl, "flock", unsupported)
    assert tables(runs.run()) == unbroken
    (note,) = runs.notes
    assert str(runs.out) in note
    assert "Operation not supported" in note


# Kills. A child of a small process of its own runs the job, so that a life costs no imports.


def test_killed_jobs_give_the_bytes_of_one_never_killed(prepared: Path, tmp_path: Path) -> None:
    """Killed before and after each move of a file into place: of three states and three results."""
    command = [sys.executable, __file__, str(prepared), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "12 kills\n"), done.stderr


class Mortal:
    """A job whose process can be killed."""

    def __init__(self, data: Path, folder: Path, n_rounds: int) -> None:
        scenario = load_scenario("demo_small", ROOT / "config" / "scenarios")
        self.folder, self.dataset = folder, load_dataset(data)
        network = scenario.network
        self.partition = make_partition(
            self.dataset.train_y, scenario.data, scenario.partition, network.n_users, Streams(0)
        )
        self.job = Job(scenario, "sa_pause", 0, n_rounds, device="cpu")
        importlib.import_module("pausefl.training.engine")  # once, and not in every life
        scenario.make_selector("sa_pause")
        job_code(scenario, "sa_pause")
        assert self.live("unbroken") == 0
        self.expected = tables(self.folder / "unbroken")

    def live(self, out: str, kill_at: int | None = None) -> int:
        """Run the job, or what is left of it; wait status of its process.

        The process kills itself before or after moving a file into place.
        """
        child = os.fork()
        if child == 0:
            if kill_at is not None:
                self._die_at(kill_at)
            saving = Saving(interval=0.0, note=lambda text: None)
            run_job(self.job, self.dataset, self.partition, self.folder / out, saving=saving)
            os._exit(0)
        return os.waitpid(child, 0)[1]

    def _die_at(self, instant: int) -> None:
        replace, calls = os.replace, iter(range(10**6))

        def deadly(*paths: Any) -> None:
            if next(calls) == instant // 2:
                if instant % 2:
                    replace(*paths)
                os.kill(os.getpid(), signal.SIGKILL)
            replace(*paths)

        files_module.os.replace = deadly

    def check(self, out: str) -> None:
        """A finished job has the right bytes and nothing else beside them."""
        folder = self.folder / out
        assert tables(folder) == self.expected
        assert names(folder) == FILES, names(folder)
        assert len(summary(folder)["resumed_from_rounds"]) <= 1
        shutil.rmtree(folder)


# The command


def test_the_command_stops_with_exit_code_75_and_goes_on(
    command: Callable[..., tuple[int, str, str]], prepared: Path, tmp_path: Path
) -> None:
    def arguments(out: str, *more: str) -> list[str]:
        what = ["--scenario", "demo_small", "--selector", "pause", "--seed", "0", "--rounds", "60"]
        return ["run", *what, "--data", str(prepared), "--out", str(tmp_path / out), *more]

    start = [sys.executable, "-c", "from pausefl.cli import main; main()"]
    process = subprocess.Popen(
        [*start, *arguments("out", "--save-every", "0")], stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "out" / "state.npz").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == os.EX_TEMPFAIL == 75, said
    assert re.search(r"stopped after round \d+ of 60", said)
    code, _, said = command(*arguments("out"), "--seed", "1")
    assert (code, "seed = 0 (asked for: 1)" in " ".join(said.split())) == (2, True)
    code, _, said = command(*arguments("out"))
    assert (code, "resuming after round " in said) == (0, True)
    assert command(*arguments("unbroken", "--restart"))[0] == 0
    assert tables(tmp_path / "out") == tables(tmp_path / "unbroken")
    assert len(summary(tmp_path / "out")["resumed_from_rounds"]) == 1


if __name__ == "__main__":
    mortal = Mortal(Path(sys.argv[1]), Path(sys.argv[2]), 4)
    for instant in range(12):
        assert mortal.live("killed", kill_at=instant) == signal.SIGKILL
        assert mortal.live("killed") == 0
        mortal.check("killed")
    print("12 kills")
