"""The example app with a SuperLink and three SuperNodes, one of which is killed and started again.

Run by the Python of an environment with Flower, in an empty folder, with the number of rounds; prints what
the server printed. With ``simulation`` as second argument four nodes are simulated, and none is killed.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

APP = Path(__file__).parents[2] / "examples/flower_app"
BIN = Path(sys.executable).parent
HOME = Path("flower_home").absolute()
ENVIRONMENT = {
    **os.environ,
    "FLWR_HOME": str(HOME),
    "FLWR_TELEMETRY_ENABLED": "0",
    "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def started(log: str, *command: str) -> subprocess.Popen[bytes]:
    """A process of Flower in a group of its own, whose output goes to a file."""
    with Path(log).open("ab") as file:
        return subprocess.Popen(
            [BIN / command[0], *command[1:]],
            env=ENVIRONMENT,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )


def node(name: str, part: int, superlink: str) -> subprocess.Popen[bytes]:
    config = f'partition-id={part} num-partitions=3 name="{name}"'
    own = ("--host", "127.0.0.1", "--port", str(free_port()))
    return started(
        f"{name}.log",
        "flower-supernode",
        "--insecure",
        "--superlink",
        superlink,
        *own,
        "--node-config",
        config,
    )


def wait_for(address: str) -> None:
    """Wait until somebody listens there."""
    host, port = address.split(":")
    for _ in range(240):
        time.sleep(0.5)
        with socket.socket() as one:
            if one.connect_ex((host, int(port))) == 0:
                return
    raise TimeoutError(f"nobody listens at {address}")


def kill(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL to a process and to those that it started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def main(n_rounds: str, simulated: bool) -> None:
    port = str(free_port())
    superlink = f"127.0.0.1:{port}"  # of Flower 1.42: one address for SuperNodes and for flwr run
    HOME.mkdir(exist_ok=True)
    lines = (
        "[superlink]",
        'default = "own"',
        "[superlink.own]",
        f'address = "{superlink}"',
        "insecure = true",
    )
    (HOME / "config.toml").write_text("\n".join(lines), "utf-8")
    kind = ("--simulation",) if simulated else ()
    command = ("flower-superlink", "--insecure", "--host", "127.0.0.1", "--port", port, *kind)
    running = [started("superlink.log", *command)]
    try:
        wait_for(superlink)
        if simulated:
            command = (
                "flwr",
                "federation",
                "simulation-config",
                "@none/default",
                "own",
                "--num-supernodes",
                "4",
            )
            subprocess.run([BIN / command[0], *command[1:]], env=ENVIRONMENT, check=True, stdout=sys.stderr)
        else:
            nodes = {name: node(name, part, superlink) for part, name in enumerate(("ann", "bob", "eve"))}
            running += nodes.values()
        settings = f'num-server-rounds={n_rounds} state-file="{Path("picker.json").absolute()}"'
        server = started("server.log", "flwr", "run", str(APP), "own", "--stream", "-c", settings)
        running.append(server)
        killed = simulated
        while server.poll() is None:
            time.sleep(0.5)
            output = Path("server.log").read_text("utf-8", errors="replace")
            if "[ROUND 4/" in output and not killed:
                killed = True
                kill(nodes["ann"])
                running.append(node("ann", 0, superlink))
            if output.count("SPENT") == (4 if simulated else 3):
                break
        print(Path("server.log").read_text("utf-8", errors="replace"))
    finally:
        for process in reversed(running):
            if process.poll() is None:
                process.terminate()  # a SuperLink ends what it started itself
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    kill(process)


if __name__ == "__main__":
    main(sys.argv[1], simulated=sys.argv[2:] == ["simulation"])
