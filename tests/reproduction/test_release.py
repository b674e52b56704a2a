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
    """Of this project's platforms; ``make lock`` adds what other platforms need."""
    pins = re.findall(r"(?m)^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text("utf-8"))
    locks = "".join(
        (ROOT / name).read_text("utf-8") for name in ("requirements.lock", "requirements-torch.lock")
    )
    locked = {
        re.sub(r"[-_.]+", "-", name).lower(): version
        for name, version in re.findall(r"(?m)^([\w.-]+)==(\S+)", locks)
    }
    assert [
        name for name, version in pins if locked.get(re.sub(r"[-_.]+", "-", name).lower()) != version
    ] == []
