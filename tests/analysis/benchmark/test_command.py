"""`pausefl benchmark`: what it leaves, what fails, what is not done twice, and what is refused."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import own_parts
import pandas as pd
import pytest

from pausefl.analysis.benchmark import newcomer, training
from pausefl.analysis.benchmark.comparisons import compare, published
from pausefl.analysis.benchmark.suite import Cell, find_suite
from pausefl.runs.collected import run_folder
from pausefl.runs.run_id import RunId
from pausefl.settings import RawData

Command = Callable[..., tuple[int, str, str]]

MODULE = '''
import numpy as np
import pausefl


class Mine(pausefl.Selector):
    """Random users; it cannot count in a drift."""

    def __init__(self, swap_round=None):
        self.divisor = 1 if swap_round is None else 0

    def __call__(self, history, rng):
        1 / self.divisor
        return np.sort(rng.choice(history.candidates(), history.n_selected, replace=False))


class Broken(pausefl.Selector):
    def __init__(self):
        raise RuntimeError("never made")

    def __call__(self, history, rng): ...


class NoKey(pausefl.Selector):
    def __init__(self, colour):
        self.colour = colour

    def __call__(self, history, rng): ...
'''
#: A job of about a second.
ONE = ("--benchmark", "digits", "--labels", "iid", "--seeds", "10", "--cores", "1")


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    own_parts.forget()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder with a module of one's own, and nothing of the project."""
    (folder := tmp_path_factory.mktemp("own")).joinpath("mine.py").write_text(MODULE, "utf-8")
    return folder


def started(place: Path, *arguments: str) -> subprocess.Popen[str]:
    code = "from pausefl.command import main; main()"
    paths = os.pathsep.join(one for one in sys.path if one)
    return subprocess.Popen(
        [sys.executable, "-c", code, "benchmark", *arguments],
        cwd=place,
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def done(place: Path, *arguments: str) -> tuple[int, str, str]:
    process = started(place, *arguments)
    said, error = process.communicate(timeout=300)
    assert "Traceback" not in said + error
    return process.returncode, said, error


@pytest.fixture(scope="module")
def half(place: Path) -> tuple[int, str, str]:
    """A selector that fails in one of two worlds."""
    return done(place, "mine:Mine", "--out", "half", "--worlds", "two_groups,drift", *ONE)


@pytest.mark.slow
def test_what_fails_in_one_world_is_reported_and_the_rest_is_compared(
    half: tuple[int, str, str], place: Path
) -> None:
    code, said, error = half
    assert code == 2
    assert "Page, tables and pictures: half/index.html" in said
    assert "1 of 2  digits_world_two_groups_iid, mine:Mine, seed 10 done" in error
    assert re.search(r"2 of 2 .*drift_iid.* failed: .*mine\.py, line 13: ZeroDivisionError", error)
    assert error.endswith("Error: failed jobs: 1; the page says which, and why\n")
    page = (place / "half/index.html").read_text("utf-8")
    assert "What is missing" in page
    assert "digits_world_drift_iid, seed 10: failed." in page
    assert "ZeroDivisionError" in page
    table = (place / "half/accuracy_iid.md").read_text("utf-8")
    assert re.search(r"\| Mine \| \d+\.\d \| – \|", table)
    assert re.search(r"\| PAUSE \| [\d.]+ \([+−][\d.]+\) \| [\d.]+ \|", table)


@pytest.mark.slow
def test_it_leaves_a_page_tables_and_pictures(half: object, place: Path) -> None:
    names = {path.name for path in (place / "half").iterdir()}
    stems = [*(f"{name}_iid" for name in ("accuracy", "seconds", "spent"))]
    assert names == {
        *(f"{stem}.{end}" for stem in stems for end in ("csv", "md", "tex")),
        *(f"{stem}.{end}" for stem in ("ranks", "front_iid") for end in ("png", "pdf", "json")),
        *("runs.csv", "comparisons.csv", "summary.md", "times.csv", "times_iid.md", "index.html", "runs"),
    }
    page = (place / "half/index.html").read_text("utf-8")
    assert page.count("data:image/png;base64,") == 2
    assert page.count("<table>") == 5
    assert "<h1>Mine in the selection benchmark</h1>" in page
    runs, part = (
        pd.read_csv(place / "half/runs.csv"),
        find_suite("digits").part(["two_groups", "drift"], ["iid"], [10]),
    )
    mine = runs[runs["selector"] == "mine:Mine"]
    assert (mine["world"].tolist(), mine["seed"].tolist()) == (["two_groups"], [10])
    rivals = published(part)
    pd.testing.assert_frame_equal(runs[len(mine) :].reset_index(drop=True), rivals)
    own = pd.read_parquet(place / "half/runs/digits_world_two_groups_iid/mine.Mine/seed-10/rounds.parquet")
    within = own[own["elapsed_s"] <= 150]
    assert mine["n_rounds"].iloc[0] == len(within)
    assert mine["accuracy"].iloc[0] == pytest.approx(within["accuracy"].tail(10).mean(), abs=0.02)
    assert mine["spent_max"].iloc[0] == pytest.approx(within["leakage_max"].iloc[-1])


@pytest.mark.slow
def test_what_is_finished_is_not_run_again_and_what_is_damaged_is(
    half: object, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(place))
    scenario, run = (
        find_suite("digits").cells[Cell("two_groups", "iid")],
        RunId("digits_world_two_groups_iid", "mine:Mine", 10),
    )
    folder, raw = run_folder(place / "half/runs", run), RawData(Path("nowhere"), False, {})
    written = (folder / "summary.json").stat().st_mtime_ns
    assert training._run(scenario, run, folder, raw, "cpu") == ("", False)
    assert (folder / "summary.json").stat().st_mtime_ns == written
    rounds = (folder / "rounds.parquet").read_bytes()
    (folder / "rounds.parquet").write_bytes(rounds[:100])
    assert training._run(scenario, run, folder, raw, "cpu") == ("", True)
    assert (folder / "rounds.parquet").read_bytes() == rounds
    other = training._run(scenario, run._replace(seed=11), folder, raw, "cpu")
    assert f"{folder} holds the finished run of another job: seed = 10 (asked for: 11)" in other.why


def test_an_error_of_any_kind_stops_only_its_job(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def breaks(*given: object) -> None:
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr(training, "data_of_job", breaks)
    run = RunId("digits_world_two_groups_iid", "random", 10)
    scenario = find_suite("digits").cells[Cell("two_groups", "iid")]
    outcome = training._run(scenario, run, tmp_path, RawData(Path("nowhere"), False, {}), "cpu")
    assert re.fullmatch(r"test_command\.py, line \d+: RuntimeError: CUDA out of memory", outcome.why)


@pytest.mark.slow
def test_after_a_signal_the_same_command_goes_on(place: Path) -> None:
    asked = (
        "mine:Mine",
        "--out",
        "stopped",
        "--worlds",
        "two_groups",
        *ONE[:4],
        "--seeds",
        "10,11,12,13",
        "--cores",
        "1",
    )
    process = started(place, *asked)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("1 of 4 ")
    process.send_signal(signal.SIGTERM)
    said, error = process.communicate(timeout=300)
    assert process.returncode == os.EX_TEMPFAIL, error
    stopped = re.search(r"stopped after (\d) of 4 jobs; run the same command again to go on\n$", error)
    assert stopped
    finished = {*(place / "stopped/runs").rglob("summary.json")}
    assert len(finished) == int(stopped[1]) < 4
    assert not (place / "stopped/index.html").exists()
    kept = {path: path.stat().st_mtime_ns for path in finished}
    code, said, error = done(place, *asked)
    assert (code, error.count("was done"), error.count("done")) == (0, len(finished), 4)
    assert kept == {path: path.stat().st_mtime_ns for path in finished}
    assert "stopped/index.html" in said


def test_if_all_jobs_fail_there_is_no_page(
    command: Command, place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.setattr(newcomer, "train", lambda jobs, *_: [training.Failed(run, "no") for run in jobs])
    code, _, error = command("benchmark", "mine:Mine", "--out", tmp_path / "none", *ONE)
    assert (code, error) == (2, "Error: all 6 jobs failed, one of them: no\n")
    assert not (tmp_path / "none/index.html").exists()


def test_a_published_selector_is_compared_and_nothing_is_trained(command: Command, tmp_path: Path) -> None:
    asked = (
        "benchmark",
        "sweep",
        "--out",
        tmp_path / "out",
        "--benchmark",
        "digits",
        "--worlds",
        "uniform,few_there",
    )
    start = time.monotonic()
    code, said, error = command(*asked, "--labels", "iid")
    assert (code, error) == (0, "'sweep' is published; nothing is trained\n")
    assert f"{tmp_path}/out/index.html" in said
    assert not (tmp_path / "out/runs").exists()
    assert time.monotonic() - start < 60
    part = find_suite("digits").part(["uniform", "few_there"], ["iid"], ())
    table = pd.read_csv(tmp_path / "out/comparisons.csv", keep_default_na=True)
    expected = compare(published(part), part, "sweep")
    assert len(table) == len(expected) == 3 * 2 * 12
    for name in ("mean", "gap", "p_holm"):
        pd.testing.assert_series_equal(table[name], expected[name])


def test_it_says_where_a_selector_cannot_run(command: Command, tmp_path: Path) -> None:
    asked = (
        "benchmark",
        "genie",
        "--out",
        tmp_path / "out",
        "--benchmark",
        "digits",
        "--worlds",
        "drift,uniform",
    )
    code, _, error = command(*asked, "--labels", "iid", "--seeds", "10,11")
    assert code == 0
    assert "Not run in digits_world_drift_iid: the latency law Drift has no expected speeds" in error
    page = (tmp_path / "out/index.html").read_text("utf-8")
    assert "Drift, i.i.d. labels: not run. the latency law Drift has no expected speeds" in page


@pytest.mark.slow
def test_a_quick_look_is_of_three_seeds_and_one_law_of_labels(command: Command, tmp_path: Path) -> None:
    code, *_ = command("benchmark", "random", "--out", tmp_path, "--benchmark", "digits", "--quick")
    assert code == 0
    rows = pd.read_csv(tmp_path / "runs.csv")
    assert (set(rows["seed"]), set(rows["labels"])) == ({10, 11, 12}, {"iid"})
    assert rows["world"].nunique() == 6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("random", "--worlds", "uniformly"),
            "unknown world 'uniformly'. Did you mean 'uniform'? Allowed: drift",
        ),
        (("random", "--labels", "skew"), "unknown law of labels 'skew'. Allowed: dirichlet, iid."),
        (
            ("random", "--benchmark", "digit"),
            "unknown benchmark 'digit'. Did you mean 'digits'? Allowed: digits",
        ),
        (("pauze",), "unknown selector 'pauze'. Did you mean 'pause'?"),
        (("random", "--seeds", "10,3"), "seed 3 has no published runs to be paired with; these have: 10, 11"),
        (("random", "--seeds", "10;11"), "--seeds '10;11' must be whole numbers separated by commas"),
        (("random", "--seeds", "1" * 5000), "must be whole numbers separated by commas"),
        (("random", "--seeds", "١٠"), "must be whole numbers separated by commas"),
        (("pow_d",), "selector 'pow_d' asks users for losses that no budget pays for"),
        (("genie", "--worlds", "drift"), "Drift has no expected speeds"),
        (("mine:Mine", "--device", "tpu"), "unknown device 'tpu'"),
        (("mine:Broken",), "selector 'mine:Broken' failed when it was built: mine.py, line 19: RuntimeError"),
        (("mine:NoKey",), "is made from 'colour', which is no key of selection or network"),
        (("mine:Nobody",), "has no 'Nobody'"),
        (("elsewhere:Mine",), "there is no module 'elsewhere'"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_trained(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: Path,
    arguments: tuple[str, ...], words: str,
) -> None:  # fmt: skip
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.setattr(newcomer, "train", None)
    more = () if "--benchmark" in arguments else ("--benchmark", "digits")
    code, said, error = command("benchmark", *arguments, *more, "--out", tmp_path / "out")
    assert code == 2
    assert words in " ".join(error.split())
    assert "Traceback" not in said + error


def test_folders_and_data_are_looked_at_first(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.setattr(newcomer, "train", None)
    (tmp_path / "file").touch()
    _, _, error = command("benchmark", "mine:Mine", "--benchmark", "digits", "--out", tmp_path / "file/out")
    assert f"cannot write to output folder {tmp_path}/file/out" in error
    with monkeypatch.context() as patch:
        patch.setattr(newcomer, "published", lambda suite: pd.DataFrame({"selector": ["pause"]}))
        asked = ("mine:Mine", "--out", tmp_path / "out", "--data-root", tmp_path / "nowhere", "--no-download")
        code, _, error = command("benchmark", *asked)
        assert code == 2
        assert "MNIST" in error
        assert "nowhere" in error
    other = find_suite("digits")
    other = other.replace(changes={**other.changes, "training": {"n_epochs": 9}})
    monkeypatch.setattr(newcomer, "find_suite", lambda name: other)
    code, _, error = command("benchmark", "mine:Mine", "--out", tmp_path / "out")
    assert code == 2
    assert "has other settings than the published runs, which cannot be paired with new ones" in error
    assert not (tmp_path / "out/runs").exists()
