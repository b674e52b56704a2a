"""The container recipe builds, where there is an engine that gets its base image."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from workspace import PATIENCE_S, ROOT

pytestmark = pytest.mark.slow


def test_the_container_builds() -> None:
    (base,) = re.findall(r"^FROM (\S+)$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    engine = next((one for one in ("docker", "podman", "buildah") if shutil.which(one)), None)
    if engine is None:
        pytest.skip("there is no docker, podman or buildah")
    pull = subprocess.run([engine, "pull", f"docker.io/library/{base}"], capture_output=True, text=True)
    if pull.returncode:
        pytest.skip(f"{engine} cannot get {base}: {pull.stderr.strip().splitlines()[-1]}")
    tag = "pausefl-of-a-test"
    try:
        build = subprocess.run(
            [engine, "build", "--tag", tag, str(ROOT)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert build.returncode == 0, build.stdout[-4000:]
    finally:
        subprocess.run([engine, "rmi", tag], capture_output=True, check=False)
