"""The workflow in a project of its own, as snakedeploy writes it or as a module, and without the package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from environments import make_environment
from workspace import ROOT, Checkout, make_checkout

SNAKEDEPLOY = Path(sys.executable).with_name("snakedeploy")
#: The address of a repository that exists only here.
ADDRESS = "https://github.com/pausefl/pausefl"


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.slow
@pytest.mark.skipif(not SNAKEDEPLOY.exists(), reason="snakedeploy is not for this Python")
def test_what_snakedeploy_writes_runs_a_job_of_the_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = make_checkout(tmp_path / "pausefl")
    git(checkout.root, "init", "--initial-branch", "main")
    git(checkout.root, "add", "--all")
    git(checkout.root, "commit", "--message", "All")
    # Git takes the address for that of the folder, so that all is as with GitHub, but for the network.
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.file://{checkout.root}.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", ADDRESS)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    deployed = Checkout(tmp_path / "deployed")
    command = [SNAKEDEPLOY, "deploy-workflow", ADDRESS, deployed.root, "--branch", "main"]
    subprocess.run(command, check=True, capture_output=True)
    assert f'github("{ADDRESS[19:]}"' in (deployed.root / "workflow/Snakefile").read_text("utf-8")
    (deployed.root / "src").symlink_to(checkout.root / "src")
    run = "results/runs/demo_small/random/seed-0/summary.json"
    deployed.snakemake("--cores", "2", run)
    assert (deployed.root / run).is_file()


def test_without_the_package_a_sentence_says_what_to_install(tmp_path: Path) -> None:
    python = make_environment(tmp_path / "env")  # the project is there as editable, which others do not see
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [python, "-m", "snakemake", "--cores", "1", "--dry-run", "demo"]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "The package pausefl is not installed in this Python" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


CONSUMER = """
configfile: "config/config.yaml"


module pausefl:
    snakefile:
        "{snakefile}"
    config:
        config


use rule * from pausefl


rule own:
    input: "results/tables/demo_small", "mine"
    output: "own_page"
    shell: "touch {{output}}"
"""


def test_another_workflow_needs_nothing_but_a_configuration(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "pausefl")
    consumer = Checkout(tmp_path / "consumer")
    (consumer.root / "config").mkdir(parents=True)
    (consumer.root / "src").symlink_to(checkout.root / "src")
    text = (checkout.root / "config/demo.yaml").read_text("utf-8")
    (consumer.root / "config/config.yaml").write_text(text, "utf-8")
    snakefile = CONSUMER.format(snakefile="../pausefl/workflow/Snakefile")
    (consumer.root / "Snakefile").write_text(snakefile, "utf-8")
    (consumer.root / "mine").touch()  # files of its own are not taken for misspelt names
    output = consumer.snakemake("--dry-run", "--printshellcmds", "demo", "own_page")
    assert (output.count("rule job:"), output.count("rule report:")) == (16, 1)
    assert "touch own_page" in output
