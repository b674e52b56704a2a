"""The command line."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from pausefl.data.dataset import Dataset
from pausefl.federated import checkpoint
from pausefl.federated.checkpoint import is_finished

ROOT = Path(__file__).parents[2]
FILES = {"rounds.parquet", "ledger.parquet", "summary.json"}
#: Packages of the workflow, without which a job must run.
WORKFLOW_ONLY = ("PIL", "jinja2", "matplotlib", "scipy", "snakemake", "torchvision")
Command = Callable[..., tuple[int, str, str]]


def run_demo(out: Path, *more: object, scenario: str = "demo_small", selector: str = "pause") -> list[object]:
    return ["run", "--scenario", scenario, "--selector", selector, "--seed", 0, "--out", out, *more]


def refused(said: tuple[int, str, str]) -> str:
    """The message of a refusal, on one line."""
    code, out, err = said
    assert code == 2
    assert "Traceback" not in out + err
    return " ".join(err.split())


def test_run_does_one_job_and_says_what_it_wrote(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, said, progress = command(*run_demo(out, "--rounds", 3))
    assert code == 0
    assert re.search(r"rounds +3\n", said)
    assert f"{out}/rounds.parquet, ledger.parquet and summary.json" in said
    last = progress.splitlines()[-1]  # a slow machine says more, every 30 s
    assert re.fullmatch(
        r"round 3 of 3, [\d.]+ simulated s, accuracy [\d.]+%, largest budget spent [\d.]+", last
    )
    assert {path.name for path in out.iterdir()} == FILES
    rounds = pd.read_parquet(out / "rounds.parquet")
    assert len(rounds) == 3
    assert rounds.accuracy.between(0, 1).all()


def test_data_of_another_scenario_are_refused(command: Command, digits: Dataset, tmp_path: Path) -> None:
    other = Dataset("mnist", digits.train_x, digits.train_y, digits.test_x, digits.test_y, 10, "not digits")
    other.save(tmp_path / "mnist.npz")
    more = ["--rounds", 1, "--data", tmp_path / "mnist.npz"]
    message = refused(command(*run_demo(tmp_path / "out", *more)))
    assert "mnist" in message
    assert "digits" in message


def test_published_results_are_judged_in_place_of_ones_own(command: Command, tmp_path: Path) -> None:
    asked = ["claims", "--published", "--config", "config/demo.yaml", "--results", tmp_path]
    assert "leave out --config, --results" in refused(command(*asked))


def test_claims_refuses_what_is_missing_and_judges_the_rest_when_asked(
    command: Command, tmp_path: Path
) -> None:
    asked = ["claims", "--config", "config/demo.yaml", "--results", tmp_path]
    message = refused(command(*asked))
    assert "claims at scale 'demo': 16 results are missing" in message
    assert "demo_large/random/seed-0" in message
    assert message.endswith("and 6 more")
    assert "On the runs in results/published: --published" in command(*asked, "--partial")[1]
    for seed in (0, 2):
        folder = tmp_path / f"collected/demo_small/pause/seed-{seed}"
        assert command(*run_demo(folder, "--no-train"), "--seed", seed)[0] == 0
    code, out, _ = command(*asked, "--partial", "--missing")
    assert code == 0
    verdicts = {line.split()[0]: line for line in out.splitlines()}
    assert verdicts["C3a"].startswith("C3a    not run")
    found = "2 runs; 14 results missing (names: --missing)"
    assert out.startswith(f"Judged on {tmp_path}/collected and {tmp_path}/studies: {found}\n")
    assert out.count("missing: ") == 14
    assert "missing: demo_small/fedavg/seed-0" in out


def test_a_job_runs_on_prepared_data_without_the_packages_of_the_workflow(
    prepared: Path, tmp_path: Path
) -> None:
    arguments = run_demo(tmp_path / "out", "--rounds", 2, "--data", prepared)
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({WORKFLOW_ONLY!r}));"
        f" sys.argv = ['pausefl', *{[str(argument) for argument in arguments]!r}];"
        " from pausefl.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Bytes and time of each file."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_a_run_that_another_process_has_just_finished_stays(
    command: Command, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    asked = run_demo(out, "--no-train", "--data", prepared, "--rounds", 3)
    assert command(*asked)[0] == 0
    before = contents(out)
    for more, message in (
        (["--seed", 1], f"{out} holds the finished run of another job: seed = 0 (asked for: 1)"),
        ([], f"{out}: another process has just finished this job"),
    ):
        looks = iter([lambda *_: False, is_finished])
        monkeypatch.setattr(checkpoint, "is_finished", lambda *job, looks=looks: next(looks)(*job))
        assert message in refused(command(*asked, *more))
    assert contents(out) == before


def test_a_run_with_a_genie_is_found_though_no_round_had_a_pseudo_regret(
    command: Command, prepared: Path, tmp_path: Path
) -> None:
    more = ("--no-train", "--data", prepared, "--rounds", 3, "--genie")
    asked = run_demo(tmp_path / "out", *more, selector="fedavg")  # which asks more than m
    assert "Already finished" not in command(*asked)[1]
    assert "Already finished" in command(*asked)[1]


def test_a_finished_run_is_made_again_only_when_asked(
    command: Command, prepared: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    asked = run_demo(out, "--no-train", "--data", prepared, "--rounds", 3)
    assert command(*asked)[0] == 0
    before = contents(out)
    code, said, _ = command(*asked)
    assert code == 0
    assert "Already finished; nothing was run." in said
    for more, message in (
        (["--seed", 1], "seed = 0 (asked for: 1)"),
        (["--set", "reward.alpha=1"], "scenario.reward.alpha = 100.0 (asked for: 1)"),
        (["--rounds", 4, "--force"], "n_rounds = 3 (asked for: 4)"),
    ):
        message_seen = refused(command(*asked, *more))
        assert f"{out} holds the finished run of another job: {message}" in message_seen
        assert "use another folder" in message_seen
    assert "finished otherwise: n_threads = 1 (asked for: 2)" in refused(command(*asked, "--threads", 2))
    assert contents(out) == before
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    (out / "summary.json").write_text(json.dumps(summary | {"code_hash": "0"}), "utf-8")
    message = refused(command(*asked))
    assert f"{out} holds this job, finished otherwise: other code. To run it again: --force" in message
    (out / "summary.json").write_text("{", "utf-8")
    message = refused(command(*asked))
    assert f"{out}/summary.json cannot be read" in message
    assert "To run this job in its place: --force" in message
    code, said, _ = command(*asked, "--force")
    assert (code, "Already finished" in said) == (0, False)
    assert json.loads((out / "summary.json").read_text("utf-8"))["code_hash"] == summary["code_hash"]
    after = contents(out)
    assert after["rounds.parquet"][0] == before["rounds.parquet"][0]
    assert after["rounds.parquet"][1] > before["rounds.parquet"][1]


@pytest.mark.parametrize(
    ("arguments", "row"),
    [
        (["selectors"], r"pause_brute +– +PAUSE by enumeration\."),
        (["figures"], r"pause_v2_fig8 +mnist_large_iid_r1_as_run +0\.\d\d +test accuracy against"),
        (["studies"], r"\nbenchmark_mnist_iid +0\.[67]\d +MNIST"),
        ([], r"\n\nscenario +scale"),
    ],
)
def test_everything_that_can_be_asked_for_is_listed(command: Command, arguments: list[str], row: str) -> None:
    code, out, _ = command("list", *arguments)
    assert code == 0
    assert re.search(row, out), out


def test_the_plan_of_a_figure_says_how_long_it_takes(command: Command) -> None:
    asked = ("plan", "demo_small_accuracy", "--cores", 2, "--config", "config/demo.yaml")
    out = " ".join(command(*asked)[1].split())
    assert re.search(r"14 jobs, \d+ of them done. Left to compute: .* on 2 cores; a job uses one", out)


def test_a_job_that_may_have_too_little_memory_does_not_start(tmp_path: Path) -> None:
    code = "from pausefl.cli import main; main()"
    line = shlex.join([sys.executable, "-c", code, *map(str, run_demo(tmp_path / "out"))])
    limited = ["bash", "-c", f"ulimit -v 1380000; {line}"]
    done = subprocess.run(limited, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: a job needs 2 GB of address space; ulimit -v allows 1.4 GB\n"
    assert not (tmp_path / "out").exists()
