"""The workflow keeps its results in a bucket of S3, here of a server on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from workspace import Checkout, make_checkout

pytestmark = pytest.mark.slow
pytest.importorskip("snakemake_storage_plugin_s3", reason="needs the plugin for S3: docs/storage.md")
server = pytest.importorskip("moto.server", reason="needs moto[s3], flask and flask-cors: docs/storage.md")

#: Results with the same bytes in each run, and tables beside them that have times.
SAME = ("results/tables", "results/figures", "results/claims")
TIMED = {"runs.csv", "summary.csv", "summary.md"}


@dataclass(frozen=True)
class Bucket:
    """A bucket, and the options with which the workflow uses it."""

    name: str
    address: str
    client: Any

    @property
    def options(self) -> list[str]:
        """Options of Snakemake; docs/storage.md has the same."""
        return [
            *("--default-storage-provider", "s3", "--default-storage-prefix", f"s3://{self.name}"),
            *("--storage-s3-endpoint-url", self.address, "--storage-s3-region", "us-east-1"),
        ]

    def names(self) -> set[str]:
        """Names of all files."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.name)
        return {one["Key"] for page in pages for one in page.get("Contents", [])}

    def read(self, name: str) -> bytes:
        """The content of a file."""
        with closing(self.client.get_object(Bucket=self.name, Key=name)["Body"]) as body:
            return bytes(body.read())


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """An empty bucket."""
    import boto3

    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    serving = server.ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    serving.start()
    address = "http://{}:{}".format(*serving.get_host_and_port())
    client = boto3.client("s3", endpoint_url=address, region_name="us-east-1")
    client.create_bucket(Bucket="bucket")
    yield Bucket("bucket", address, client)
    serving.stop()


def test_the_demo_is_in_the_bucket(bucket: Bucket, tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "checkout")
    checkout.snakemake("--cores", "2", *bucket.options, "--", "demo")
    there = bucket.names()
    assert {"results/report/demo.html", "results/claims/demo/claims.json"} <= there
    for scenario in ("demo_small", "demo_large"):
        assert f"results/tables/{scenario}/summary.csv" in there
        for ending in ("pdf", "png", "svg", "json"):
            assert f"results/figures/{scenario}/accuracy_vs_time.{ending}" in there
    assert b"<html" in bucket.read("results/report/demo.html")
    assert not (checkout.root / "results/tables").exists()
    assert not (checkout.root / "results/figures").exists()


def test_a_storage_changes_no_byte_and_runs_nothing_twice(
    bucket: Bucket, finished: Checkout, tmp_path: Path
) -> None:
    checkout = finished.copy(tmp_path / "copy", "results", "data", ".snakemake")
    checkout.snakemake("--cores", "2", *bucket.options, "--", "all", "metrics")
    local = {
        path.relative_to(finished.root).as_posix(): path
        for folder in SAME
        for path in (finished.root / folder).rglob("*.*")
        if path.name not in TIMED
    }
    assert len(local) > 20
    different = [name for name, path in local.items() if bucket.read(name) != path.read_bytes()]
    assert different == []
    assert "results/metrics/tiny/pause.json" in bucket.names()
    assert checkout.planned(*bucket.options, "--", "all") == {}
