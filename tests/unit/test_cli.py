"""The command line."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
import pytest
import yaml

from pausefl.claims.load import KINDS
from pausefl.cli import main
from pausefl.data.dataset import Dataset, load_dataset

ROOT = Path(__file__).parents[2]
FILES = {"rounds.parquet", "ledger.parquet", "summary.json"}
#: Packages of the workflow, without which a job must run.
WORKFLOW_ONLY = (
    "PIL",
    "jinja2",
    "matplotlib",
    "scipy",
    "snakemake",
    "tabulate",
    "torchvision",
)
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def pausefl(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command in the root of the project; exit code, output, errors."""
    monkeypatch.chdir(ROOT)

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["pausefl", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        said = capsys.readouterr()
        return int(stop.value.code or 0), said.out, said.err

    return run


@pytest.fixture
def prepared(digits: Dataset, tmp_path: Path) -> Path:
    path = tmp_path / "digits.npz"
    digits.save(path)
    return path


def run_demo(out: Path, *more: object, scenario: str = "demo_small", selector: str = "pause") -> list[object]:
    return ["run", "--scenario", scenario, "--selector", selector, "--seed", 0, "--out", out, *more]


def refused(said: tuple[int, str, str]) -> str:
    """The message of a refusal, on one line."""
    code, out, err = said
    assert code == 2
    assert "Traceback" not in out + err
    return " ".join(err.split())


def test_run_does_one_job_and_says_what_it_wrote(pausefl: Command, digits: Dataset, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, said, progress = pausefl(*run_demo(out, "--rounds", 3))
    assert code == 0
    assert re.search(r"rounds +3\n", said)
    assert f"{out}/rounds.parquet, ledger.parquet and summary.json" in said
    last = progress.splitlines()[-1]  # a slow machine says more, every 30 s
    assert re.fullmatch(r"round 3 of 3, [\d.]+ simulated s, accuracy [\d.]+%, largest leakage [\d.]+", last)
    assert {path.name for path in out.iterdir()} == FILES
    rounds = pd.read_parquet(out / "rounds.parquet")
    assert len(rounds) == 3
    assert rounds.accuracy.between(0, 1).all()


def test_a_terminal_shows_a_bar(
    pausefl: Command, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    code, _, progress = pausefl(*run_demo(tmp_path / "out", "--rounds", 3, "--data", prepared))
    assert code == 0
    assert progress.startswith("demo_small pause seed 0\n")
    assert re.search(r"\x1b.*━.* round 3 of 3, accuracy [\d.]+%", progress)


def test_a_selector_that_the_scenario_does_not_list_runs_with_the_given_options(
    pausefl: Command, prepared: Path, tmp_path: Path
) -> None:
    scenario = yaml.safe_load((ROOT / "config/scenarios/demo_small.yaml").read_text("utf-8"))
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(scenario | {"name": "mine", "selectors": ["pause"]}))
    more = ["--rounds", 2, "--threads", 1, "--device", "cpu", "--data", prepared, "--scenarios", tmp_path]
    command = run_demo(tmp_path / "out", *more, scenario="mine", selector="sa_pause")
    assert pausefl(*command)[0] == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    options = {key: summary[key] for key in ("selector", "n_rounds", "n_threads", "device", "seed")}
    assert options == {"selector": "sa_pause", "n_rounds": 2, "n_threads": 1, "device": "cpu", "seed": 0}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"selector": "puase"}, "Error: unknown selector 'puase'. Did you mean 'pause'?"),
        ({"scenario": "demo_smal"}, "Error: unknown scenario 'demo_smal'. Did you mean 'demo_small'?"),
        (
            {"selector": "cs_ucb"},
            "selector 'cs_ucb' needs network.round_latency_max",
        ),
    ],
)
def test_misspelt_names_are_answered_with_the_nearest_one(
    pausefl: Command, tmp_path: Path, wrong: dict[str, str], message: str
) -> None:
    assert message in refused(pausefl(*run_demo(tmp_path / "out", **wrong)))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--data", "nowhere.npz"], "nowhere.npz: no such file"),
        (["--scenarios", "nowhere"], "no scenarios in nowhere"),
        (["--rounds", 0], "--rounds"),
        (["--seed", -1], "--seed"),
        (["--threads", 0], "--threads"),
        (["--device", "gpu", "--rounds", 1], "auto, cpu, cuda"),
    ],
)
def test_wrong_options_are_refused_with_a_message(
    pausefl: Command, tmp_path: Path, more: list[object], message: str
) -> None:
    assert message in refused(pausefl(*run_demo(tmp_path / "out", *more)))


def test_data_of_another_scenario_are_refused(pausefl: Command, digits: Dataset, tmp_path: Path) -> None:
    other = Dataset("mnist", digits.train_x, digits.train_y, digits.test_x, digits.test_y, 10, "not digits")
    other.save(tmp_path / "mnist.npz")
    more = ["--rounds", 1, "--data", tmp_path / "mnist.npz"]
    message = refused(pausefl(*run_demo(tmp_path / "out", *more)))
    assert "mnist" in message
    assert "digits" in message


def test_check_lists_the_experiment_table(pausefl: Command) -> None:
    code, out, _ = pausefl("check", "--config", "config/demo.yaml")
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    for row in ("demo_small sa_pause 3", "demo_small fedavg_no_privacy 1", "demo_large pause 1"):
        assert [*row.split(), "seeds"] in lines
    assert out.splitlines()[-1].startswith("16 jobs in 2 scenarios")


def test_check_names_data_that_are_missing(pausefl: Command, tmp_path: Path) -> None:
    document = yaml.safe_load((ROOT / "config/demo.yaml").read_text("utf-8"))
    rows = [{"scenario": "mnist_large_iid_r1", "seeds": [0]}]
    document |= {"data_root": str(tmp_path / "raw"), "experiments": rows}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(document), "utf-8")
    assert f"{tmp_path}/raw/MNIST" in refused(pausefl("check", "--config", tmp_path / "mine.yaml"))


def test_claims_refuses_what_is_missing_and_judges_the_rest_when_asked(
    pausefl: Command, tmp_path: Path
) -> None:
    command = ["claims", "--config", "config/demo.yaml", "--results", tmp_path]
    message = refused(pausefl(*command))
    assert "claims at scale 'demo': 16 results are missing" in message
    assert "demo_large/random/seed-0" in message
    assert message.endswith("and 6 more")
    for seed in (0, 2):
        folder = tmp_path / f"collected/demo_small/pause/seed-{seed}"
        assert pausefl(*run_demo(folder, "--no-train"), "--seed", seed)[0] == 0
    code, out, _ = pausefl(*command, "--partial", "--missing")
    assert code == 0
    verdicts = {line.split()[0]: line for line in out.splitlines()}
    assert verdicts["C3"].startswith("C3     not run")
    found = "2 runs; 14 results missing (names: --missing)"
    assert out.startswith(f"Judged on {tmp_path}/collected and {tmp_path}/studies: {found}\n")
    assert out.count("missing: ") == 14
    assert "missing: demo_small/fedavg/seed-0" in out


def test_published_results_are_judged_and_what_is_missing_is_counted(
    pausefl: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in KINDS.values():
        monkeypatch.setattr(kind, "compare", lambda *_: ())
    judged = re.findall("Judged on .*", pausefl("claims", "--published")[1])
    nothing = "results/published and results/published/studies: 0 runs"
    assert judged == [f"Judged on {nothing}"]
    out = pausefl("claims", "--config", "config/demo.yaml", "--partial")[1]
    assert "missing: " not in out


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


@pytest.fixture
def command() -> Path:
    """The installed command."""
    found = Path(sys.executable).with_name("pausefl")
    if not found.is_file():
        pytest.skip("the command is not installed beside the interpreter")
    return found


def test_the_installed_command_exits_with_2_and_one_message(command: Path, tmp_path: Path) -> None:
    arguments = [str(a) for a in run_demo(tmp_path / "out", selector="puase")]
    done = subprocess.run([str(command), *arguments], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: unknown selector 'puase'.")
    assert len(done.stderr.splitlines()) == 1


def test_a_run_with_settings_of_its_own_says_so_in_its_summary(
    pausefl: Command, digits: Dataset, tmp_path: Path
) -> None:
    more = ["--set", "network.n_users=8", "--set", "privacy.epsilon_total=5", "--set", "training.n_rounds=3"]
    assert pausefl(*run_demo(tmp_path / "out", *more, selector="bsfl"))[0] == 0
    settings = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))["scenario"]
    assert settings["network"]["n_users"] == 8
    assert settings["privacy"]["epsilon_total"] == 5
    assert len(pd.read_parquet(tmp_path / "out" / "rounds.parquet")) == 3
    wrong = run_demo(tmp_path / "wrong", "--set", "network.n_usres=8")
    assert "Error: --set: unknown key 'network.n_usres'. Did you mean 'n_users'?" in refused(pausefl(*wrong))


def test_a_run_takes_data_and_scenarios_from_a_configuration(pausefl: Command, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    lines = "name: few\ntitle: Few users\nbase: mnist_large_iid_r1\nfigures: {}\n"
    (mine / "few.yaml").write_text(lines, "utf-8")
    document = yaml.safe_load((ROOT / "config/demo.yaml").read_text("utf-8"))
    document |= {"data_root": str(tmp_path / "raw"), "scenarios": str(mine), "experiments": []}
    document["experiments"] = [{"scenario": "few", "seeds": [0]}]
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(document), "utf-8")
    command = run_demo(tmp_path / "out", "--config", tmp_path / "mine.yaml", scenario="few")
    message = refused(pausefl(*command))
    assert f"{tmp_path}/raw/MNIST/raw/train-images-idx3-ubyte" in message
    assert "Downloading is off" in message
    message = refused(pausefl(*command, "--data-root", tmp_path / "elsewhere"))
    assert f"{tmp_path}/elsewhere/MNIST" in message


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Bytes and time of each file."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_a_finished_run_is_not_overwritten(pausefl: Command, prepared: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = run_demo(out, "--no-train", "--data", prepared, "--rounds", 3)
    assert pausefl(*command)[0] == 0
    before = contents(out)
    code, said, _ = pausefl(*command)
    assert code == 0
    assert "Already finished; nothing was run." in said
    for more, message in (
        (["--seed", 1], "seed = 0 (asked for: 1)"),
        (["--rounds", 4], "n_rounds = 3 (asked for: 4)"),
        (["--set", "reward.alpha=1"], "scenario.reward.alpha = 100.0 (asked for: 1)"),
        (["--genie"], "genie = False (asked for: True)"),
        (["--rounds", 4, "--force"], "n_rounds = 3 (asked for: 4)"),
    ):
        message_seen = refused(pausefl(*command, *more))
        assert f"{out} holds the finished run of another job: {message}" in message_seen
        assert "use another folder" in message_seen
    assert "finished otherwise: n_threads = 1 (asked for: 2)" in refused(pausefl(*command, "--threads", 2))
    assert contents(out) == before
    code, said, _ = pausefl(*command, "--force")
    assert "Already finished" not in said
    after = contents(out)
    assert after["rounds.parquet"][0] == before["rounds.parquet"][0]
    assert after["rounds.parquet"][1] > before["rounds.parquet"][1]


def test_a_run_that_a_time_horizon_ended_is_finished(
    pausefl: Command, prepared: Path, tmp_path: Path
) -> None:
    command = run_demo(
        tmp_path / "out", "--no-train", "--data", prepared, "--set", "training.time_horizon_s=3"
    )
    code, said, _ = pausefl(*command)
    assert code == 0
    assert re.search(r"rounds +\d+ of at most \d+\n +simulated time \(s\) +3\.\d", said)
    assert "Already finished" in pausefl(*command)[1]
    other = [*command[:-1], "training.time_horizon_s=4"]
    assert "scenario.training.time_horizon_s = 3 (asked for: 4)" in refused(pausefl(*other))


def test_what_a_job_left_that_was_killed_after_its_last_file_is_removed(
    pausefl: Command, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = run_demo(tmp_path / "out", "--no-train", "--data", prepared, "--rounds", 2, "--save-every", 0)
    with monkeypatch.context() as killed:
        killed.setattr("pausefl.federated.checkpoint.Checkpoint.remove", lambda self: None)
        assert pausefl(*command)[0] == 0
    assert (tmp_path / "out/state.npz").exists()
    (tmp_path / "out/job.lock").touch()
    assert "Already finished" in pausefl(*command)[1]
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES


def test_other_data_of_the_same_origin_are_another_job(
    pausefl: Command, prepared: Path, tmp_path: Path
) -> None:
    command = run_demo(tmp_path / "out", "--no-train", "--rounds", 2)
    assert pausefl(*command, "--data", prepared)[0] == 0
    data = load_dataset(prepared)
    dataclasses.replace(data, origin="a copy").save(tmp_path / "copy.npz")
    assert "Already finished" in pausefl(*command, "--data", tmp_path / "copy.npz")[1]
    data.test_x[0] ^= 1
    data.save(tmp_path / "other.npz")
    said = refused(pausefl(*command, "--data", tmp_path / "other.npz"))
    assert "finished run of another job: other data set (from" in said


def test_a_run_of_other_code_is_repeated_only_when_asked(
    pausefl: Command, prepared: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command = run_demo(out, "--no-train", "--data", prepared, "--rounds", 2)
    assert pausefl(*command)[0] == 0
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    (out / "summary.json").write_text(json.dumps(summary | {"code_hash": "0"}), "utf-8")
    message = refused(pausefl(*command))
    assert f"{out} holds this job, finished otherwise: other code. To run it again: --force" in message
    (out / "summary.json").write_text("{", "utf-8")
    assert f"{out} holds a run that cannot be read" in refused(pausefl(*command))
    assert pausefl(*command, "--force")[0] == 0
    assert json.loads((out / "summary.json").read_text("utf-8"))["code_hash"] == summary["code_hash"]


@pytest.mark.parametrize(
    ("arguments", "row"),
    [
        (["selectors"], r"pause_brute +– +PAUSE by enumeration\."),
        (["scenarios"], r"mnist_large_iid_r1 +paper +0\.\d\d +MNIST, large network, i\.i\.d\. labels"),
        (
            ["figures"],
            r"pause_v2_fig8 +mnist_large_iid_r1_as_run +0\.\d\d +test accuracy against simulated time",
        ),
        (["studies"], r"\nbenchmark_mnist_iid +0\.[89]\d +MNIST"),
        (["studies"], r"bsfl_fig4 +– +25 of 500 users: two annealers on the same instances"),
        ([], r"\n\nscenario +scale"),
    ],
)
def test_everything_that_can_be_asked_for_is_listed(pausefl: Command, arguments: list[str], row: str) -> None:
    code, out, _ = pausefl("list", *arguments)
    assert code == 0
    assert re.search(row, out), out


def test_the_plan_of_a_figure_says_how_long_it_takes(pausefl: Command) -> None:
    command = ("plan", "demo_small_accuracy", "--cores", 2, "--config", "config/demo.yaml")
    out = " ".join(pausefl(*command)[1].split())
    assert re.search(r"14 jobs, \d+ of them done. Left to compute: .* on 2 cores; a job uses one", out)


def in_a_shell(arguments: Sequence[object], before: str = "", after: str = "") -> tuple[int, str, str]:
    """Run the command with redirections or limits; exit code, output, errors."""
    code = "from pausefl.cli import main; main()"
    line = shlex.join([sys.executable, "-c", code, *map(str, arguments)])
    done = subprocess.run(
        ["bash", "-c", f"{before} {line} {after}"], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("after", ["2>/dev/full", "2>&-", "0<&- 2>&-"])
def test_what_standard_error_does_not_take_goes_to_standard_output(
    prepared: Path, tmp_path: Path, after: str
) -> None:
    job = run_demo(tmp_path / "out", "--rounds", 2, "--data", prepared, "--no-train")
    code, out, _ = in_a_shell(job, after=after)
    assert code == 0
    assert out.startswith("round 2 of 2, ")
    assert f"{tmp_path}/out/rounds.parquet" in out
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES


def test_a_refusal_is_said_where_standard_error_is_closed_and_nothing_stops_a_job_that_nobody_hears(
    prepared: Path, tmp_path: Path
) -> None:
    code, out, _ = in_a_shell(run_demo(tmp_path / "wrong", selector="puase"), after="2>&-")
    assert code == 2
    assert out.startswith("Error: unknown selector 'puase'.")
    job = run_demo(tmp_path / "out", "--rounds", 2, "--data", prepared, "--no-train")
    code, out, err = in_a_shell(job, after="> /dev/full 2>&1")
    assert code != 0  # what the run came to was not said
    assert (out, err) == ("", "")
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES


@pytest.mark.parametrize("kilobytes", [300_000, 1_380_000])
def test_a_job_that_may_have_too_little_memory_does_not_start(tmp_path: Path, kilobytes: int) -> None:
    code, out, err = in_a_shell(run_demo(tmp_path / "out"), before=f"ulimit -v {kilobytes};")
    assert (code, out) == (2, "")
    assert err == (
        f"Error: a job needs 2 GB of address space; ulimit -v allows {kilobytes * 1024 / 1e9:.1f} GB\n"
    )
    assert not (tmp_path / "out").exists()
