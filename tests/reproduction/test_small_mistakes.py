"""Small mistakes around the command: a variable, a device, a folder, a full or read-only disk."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pausefl import run
from pausefl.errors import ConfigError, PauseflError
from pausefl.files import replacing
from pausefl.runs.collected import read_run
from pausefl.settings import Scenario

ROOT = Path(__file__).parents[2]
Command = Callable[..., tuple[int, str, str]]
JOB = ("run", "--scenario", "demo_small", "--selector", "random", "--rounds", 2, "--no-train")


def refused(said: tuple[int, str, str]) -> str:
    code, out, err = said
    assert code == 2, out + err
    assert "Traceback" not in out + err
    return " ".join(err.split())


@pytest.mark.parametrize("value", ["0", "-3"])
def test_numba_that_cannot_be_loaded_is_a_sentence(tmp_path: Path, value: str) -> None:
    code = "from pausefl.command import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, JOB), "--out", tmp_path / "out"],
        env={**os.environ, "NUMBA_NUM_THREADS": value},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert f"Error: Numba cannot be loaded with NUMBA_NUM_THREADS={value}: Number of threads" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_device_is_refused_also_where_nothing_is_trained(
    command: Command, demo: Scenario, tmp_path: Path
) -> None:
    message = refused(command(*JOB, "--device", "tpu", "--out", tmp_path / "out"))
    assert "unknown device 'tpu'. Did you mean 'cpu'? Allowed: auto, cpu, cuda." in message
    assert not (tmp_path / "out/summary.json").exists()
    with pytest.raises(ConfigError, match="unknown device 'gpu'"):
        run(demo, "random", n_rounds=1, train=False, device="gpu", progress=False)


def test_published_results_that_are_not_here_are_a_sentence(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "the published runs are in results/published of a checkout" in refused(
        command("claims", "--published")
    )


def test_a_folder_of_results_that_is_not_there_is_named(command: Command) -> None:
    assert refused(command("claims", "--results", "nope")) == "Error: --results: there is no folder nope"


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg", "csv"])
def test_a_full_disk_names_the_figure(
    command: Command,
    finish: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    suffix: str,
) -> None:
    finish(tmp_path / "run", "random")
    target = tmp_path / f"figure.{suffix}"

    def full(path: Path, *given: Any, **named: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # as a write does, without a name

    for writes in ("write_bytes", "write_text"):
        monkeypatch.setattr(Path, writes, full)
    message = refused(command("plot", tmp_path / "run", "--out", target))
    assert message == f"Error: {target}: No space left on device"
    monkeypatch.undo()
    assert {path.name for path in tmp_path.iterdir()} == {"run"}


def test_an_error_of_a_temporary_file_names_the_file(tmp_path: Path) -> None:
    for name, named in ((None, "b"), (str(tmp_path / ".a.tmp"), "a"), ("elsewhere", "elsewhere")):
        with pytest.raises(OSError, match="broken") as error, replacing(tmp_path / "a", tmp_path / "b"):
            raise OSError(errno.EIO, "broken", name)
        assert Path(str(error.value.filename)).name == named


def test_a_finished_run_on_a_read_only_disk_is_found(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    assert command(*JOB, "--out", out)[0] == 0

    def read_only(path: Any, *given: Any, **named: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    # Not even root writes to such a disk.
    monkeypatch.setattr("tempfile.TemporaryFile", lambda dir: read_only(dir))
    monkeypatch.setattr("pausefl.files.os.open", read_only)
    code, said, error = command(*JOB, "--out", out)
    assert code == 0, error
    assert "Already finished; nothing was run" in said
    message = refused(command(*JOB, "--force", "--out", out))
    assert f"cannot write to output folder {out}: Read-only file system" in message


def test_a_run_in_the_folder_of_another_selector_or_seed_is_refused(
    finish: Callable[..., Path], tmp_path: Path, command: Command
) -> None:
    place = finish(tmp_path / "demo_small/pause/seed-0", "pause")
    assert read_run(place).selector == "pause"
    for other in ("demo_small/random/seed-0", "demo_small/pause/seed-1"):
        shutil.copytree(place, tmp_path / other)
        with pytest.raises(PauseflError, match=f"{other} has a run of pause, seed 0, as its summary"):
            read_run(tmp_path / other)
        assert "has a run of pause, seed 0" in refused(command("plot", tmp_path / other))
    shutil.copytree(place, other_scenario := tmp_path / "mnist_large_iid_r1/pause/seed-0")
    words = f"{other_scenario} has a run of scenario 'demo_small', as its summary"
    with pytest.raises(PauseflError, match=words):
        read_run(other_scenario)
    assert words in refused(command("plot", other_scenario))
    for free in (
        "mine",
        "own_scenario/pause/seed-0",
        "seed-7",
        "kept/seed-7",
        "my.Module/seed-7",
    ):  # what somebody calls folders
        shutil.copytree(place, tmp_path / "x" / free)
        assert read_run(tmp_path / "x" / free).seed == 0
