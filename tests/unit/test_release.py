"""What the files at the root say of a release: its version, date, authors and dependencies."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

import pausefl

ROOT = Path(__file__).parents[2]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
#: What only CUDA needs, or Windows, or macOS.
OTHERS = re.compile(r"(nvidia|cuda)-.*|triton|pywin32|pyreadline3|appnope")


def normal(name: str) -> str:
    """The name of a package in the one form that all spellings have."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pairs = (line.split("==") for line in lines if not line.startswith("#"))
    return {normal(name): version for name, version in pairs}


def locked(name: str) -> dict[str, tuple[str, list[str]]]:
    """Version and digests of each package in a lock."""
    text = re.sub(r"^#.*\n", "", (ROOT / name).read_text("utf-8"), flags=re.MULTILINE).replace("\\\n", "")
    found = {}
    for line in text.splitlines():
        match = re.fullmatch(r"([\w.-]+)==(\S+)( ; .*?)?((?:\s+--hash=sha256:[0-9a-f]{64})+)", line)
        assert match, line
        found[match[1]] = (match[2], match[4].split())
    return found


def test_version_date_and_licence_are_the_same_everywhere() -> None:
    codemeta: dict[str, Any] = json.loads((ROOT / "codemeta.json").read_text("utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    version, date = re.findall(r"^## (\d\S*) - (\S+)$", changelog, re.MULTILINE)[0]
    assert pausefl.__version__ == CITATION["version"] == codemeta["version"] == version
    assert str(CITATION["date-released"]) == codemeta["datePublished"] == date
    assert codemeta["license"] == f"https://spdx.org/licenses/{CITATION['license']}"
    assert PROJECT["license"] == CITATION["license"]
    assert [one["name"] for one in codemeta["author"]] == [one["name"] for one in CITATION["authors"]]
    assert codemeta["keywords"] == CITATION["keywords"]
    assert [one["name"] for one in codemeta["referencePublication"]] == [
        one["title"] for one in CITATION["references"]
    ]
    assert codemeta["description"] == PROJECT["description"]


def test_the_locks_have_what_the_constraints_pin() -> None:
    rest, torch = locked("requirements.lock"), locked("requirements-torch.lock")
    assert not rest.keys() & torch.keys()
    versions = {name: version for name, (version, _) in (rest | torch).items()}
    assert {name: version for name, version in versions.items() if not OTHERS.fullmatch(name)} == pinned()
    assert {name for name in torch if not OTHERS.fullmatch(name)} == {"torch", "torchvision"}
    # Flower is tried in an environment of its own.
    extras = {name: own for name, own in PROJECT["optional-dependencies"].items() if name != "flower"}
    wanted = [*PROJECT["dependencies"], *(one for extra in extras.values() for one in extra)]
    wanted.remove("pausefl[training]")
    assert {normal(re.match(r"[\w.-]+", one)[0]) for one in wanted} <= versions.keys()  # type: ignore[index]


def test_conda_installs_what_make_installs() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))
    *packages, pip = environment["dependencies"]
    assert {"git", "make", "pip", f"python {PROJECT['requires-python']}"} == set(packages)
    makefile = (ROOT / "Makefile").read_text("utf-8").replace("'", "")
    assert " ".join(pip["pip"]) in makefile
