"""Slurm on this machine alone: one node, on loopback, without systemd, and with all files in one folder."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from workspace import PATIENCE_S, Checkout

_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
#: Daemons, and commands that the plugin and the tests use.
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol", "sinfo")
MISSING = [program for program in PROGRAMS if shutil.which(program, path=_PATH) is None]
NODE = "node1"

_CONFIG = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={root}/munge.socket
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/slurmd.log
AccountingStorageType=accounting_storage/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=bf_interval=1,sched_min_interval=100000
ReturnToService=2
SlurmdParameters=config_overrides
InactiveLimit=0
KillWait=20
GresTypes=gpu
NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=32000 Gres=gpu:1 State=UNKNOWN
PartitionName=only Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_ports() -> tuple[int, int]:
    """Two ports that nothing listens to."""
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


def wait_until(what: Callable[[], object], seconds: float, meaning: str) -> None:
    """Return once something holds; fail after some time."""
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:.0f} s: {meaning}")
        time.sleep(0.2)


@dataclass
class Cluster:
    """The daemons, and what is asked of them. The path of their folder must be short: it has a socket."""

    root: Path
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """With which Slurm's commands find this cluster."""
        return {"SLURM_CONF": f"{self.root}/slurm.conf", "PATH": f"{self.root}/bin:{os.environ['PATH']}"}

    def start(self) -> None:
        """Write the configuration, start the daemons and wait for the node."""
        for name in ("state", "spool", "bin"):
            (self.root / name).mkdir()
        controller_port, node_port = free_ports()
        config = _CONFIG.format(
            root=self.root,
            host=socket.gethostname().split(".")[0],
            controller_port=controller_port,
            node_port=node_port,
            user=subprocess.check_output(["id", "-un"], text=True).strip(),
            node=NODE,
        )
        (self.root / "slurm.conf").write_text(config, "utf-8")
        (self.root / "gres.conf").write_text("Name=gpu File=/dev/null\n", "utf-8")
        (self.root / "munge.key").write_bytes(secrets.token_bytes(1024))
        (self.root / "munge.key").chmod(0o400)
        # The plugin takes SLURM_CONF away from the srun of a job.
        srun = self.root / "bin/srun"
        real = shutil.which("srun")
        srun.write_text(f'#!/bin/sh\nSLURM_CONF={self.root}/slurm.conf exec {real} "$@"\n', "utf-8")
        srun.chmod(0o755)
        files = [f"--{name}-file={self.root}/munge.{name}" for name in ("key", "pid", "log", "seed")]
        self.run("munged", *files, f"--socket={self.root}/munge.socket", "--force", "--foreground")
        wait_until((self.root / "munge.socket").exists, 10, "munged listens")
        self.run("slurmctld", "-D")
        self.run("slurmd", "-D")
        state = ("sinfo", "--noheader", "--format=%t")
        wait_until(lambda: self.ask(*state, ok=False) == "idle", 30, f"the node is idle, see {self.root}")

    def run(self, program: str, *arguments: str) -> None:
        """Start a daemon that stays in the foreground of a session of its own."""
        output = (self.root / f"{program}.out").open("ab")
        path = shutil.which(program, path=_PATH)
        assert path is not None
        self.daemons[program] = subprocess.Popen(
            [path, *arguments],
            env=os.environ | self.environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )

    def stop(self) -> None:
        """End all jobs and daemons; the daemons even if one that has died makes Slurm's commands fail."""
        try:
            if "slurmctld" in self.daemons:
                self.end_jobs()
        finally:
            for program in ("slurmd", "slurmctld", "munged"):
                if program in self.daemons:
                    self.daemons[program].kill()
                    self.daemons[program].wait(10)

    def end_jobs(self) -> None:
        """Make the node ready for others: no jobs, and not drained."""
        # Not by scancel, after which a job has the time to save its state.
        self.ask("scontrol", "update", f"NodeName={NODE}", "State=RESUME", ok=False)
        for job in self.jobs():
            self.ask("scancel", "--signal=KILL", "--full", job, ok=False)
            self.ask("scancel", job, ok=False)
        wait_until(lambda: not self.jobs(), 60, "all jobs have ended")

    def ask(self, *command: str, ok: bool = True) -> str:
        """What a command of Slurm answers."""
        environment = os.environ | self.environment
        answer = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        assert answer.returncode == 0 or not ok, answer.stderr
        return answer.stdout.strip()

    def jobs(self, states: str = "PENDING,RUNNING,COMPLETING") -> list[str]:
        """Numbers of the jobs in these states."""
        return self.ask("squeue", "--noheader", "--array", f"--states={states}", "--format=%i").split()


#: Starts Snakemake. The plugin waits ten seconds longer after each look at jobs of which none has ended.
_START = """
from snakemake.cli import main
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

RemoteExecutor.next_seconds_between_status_checks = property(lambda self: 1, lambda self, seconds: None)
main()
"""


@dataclass(frozen=True)
class Submission:
    """Snakemake in a checkout, while it runs the jobs of a workflow on the cluster."""

    checkout: Checkout
    process: subprocess.Popen[bytes]

    @property
    def log(self) -> str:
        """What it has written to its own log so far."""
        files = sorted((self.checkout.root / ".snakemake/log").glob("*.log"), key=os.path.getmtime)
        return files[-1].read_text("utf-8", "replace") if files else ""

    def finish(self) -> None:
        """Wait for the end, which is a good one."""
        code = self.process.wait(PATIENCE_S)
        assert code == 0, (self.checkout.root / "output.txt").read_text("utf-8", "replace")


@contextmanager
def submitted(checkout: Checkout, *arguments: str) -> Iterator[Submission]:
    """Run Snakemake with the profile of a checkout, and see to its end.

    The profile is as it is shipped, but jobs are looked after every second.
    """
    with (checkout.root / "output.txt").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", _START, "--profile", "profiles/slurm", *arguments],
            cwd=checkout.root,
            env=os.environ | {"PYTHONPATH": str(checkout.root / "src")},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield Submission(checkout, process)
    finally:  # without a warning; jobs on the cluster go on
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)
