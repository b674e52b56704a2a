"""The workflow keeps its results in a bucket of S3, here of a server on this machine."""

from __future__ import annotations

import os
import subprocess
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from environments import make_environment_with
from workspace import Checkout

pytestmark = pytest.mark.slow

#: Snakemake's plugin, and a server. In no extra: the plugin needs an older python-dateutil than is pinned.
WANTED = ("snakemake-storage-plugin-s3==0.3.6", "moto[s3]==5.2.5", "flask", "flask-cors")

#: Starts the server, says where it is, and ends it with its standard input.
SERVE = """
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
server.start()
print("http://{}:{}".format(*server.get_host_and_port()), flush=True)
input()
"""

#: Results with the same bytes in each run, and tables beside them that have times.
SAME = ("results/tables", "results/figures", "results/claims")
TIMED = {"runs.csv", "summary.csv", "summary.md", "summary.tex"}


@dataclass(frozen=True)
class Bucket:
    """A bucket, and the options with which the workflow uses it; docs/cluster.md has the same."""

    name: str
    address: str

    @property
    def options(self) -> list[str]:
        return [
            *("--default-storage-provider", "s3", "--default-storage-prefix", f"s3://{self.name}"),
            *("--storage-s3-endpoint-url", self.address, "--storage-s3-region", "us-east-1"),
        ]

    def ask(self, path: str, method: str = "GET") -> bytes:
        """What the server answers to anyone who has a signature; it checks none."""
        url = f"{self.address}/{self.name}/{path}"
        request = urllib.request.Request(url, headers={"Authorization": "AWS test:test"}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return bytes(answer.read())


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of an environment with the plugin and the server."""
    folder = tmp_path_factory.mktemp("s3")
    return make_environment_with(folder, *WANTED, unpinned="python-dateutil")


@pytest.fixture
def bucket(python: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """An empty bucket."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    pipe = subprocess.PIPE
    with subprocess.Popen([python, "-c", SERVE], stdin=pipe, stdout=pipe, text=True) as server:
        assert server.stdout is not None
        bucket = Bucket("bucket", server.stdout.readline().strip())
        bucket.ask("", method="PUT")
        yield bucket
        server.terminate()


def test_a_storage_changes_no_byte_and_runs_nothing_twice(
    python: Path, bucket: Bucket, finished: Checkout, tmp_path: Path
) -> None:
    checkout = replace(finished.copy(tmp_path / "copy", "results", "data", ".snakemake"), python=python)
    checkout.snakemake("--cores", "2", *bucket.options, "--", "all", "metrics")
    local = {
        path.relative_to(finished.root).as_posix(): path
        for folder in SAME
        for path in (finished.root / folder).rglob("[!.]*.*")
        if path.name not in TIMED
    }
    assert len(local) == 24
    different = [name for name, path in local.items() if bucket.ask(name) != path.read_bytes()]
    assert different == []
    assert b"final_accuracy" in bucket.ask("results/metrics/tiny/pause.json")
    assert checkout.planned(*bucket.options, "--", "all") == {}
