"""The digest of every published run and study, in one file that Git has: ``results/published/manifest.json``.

Publishing writes it, and whatever reads published results refuses what has another digest. A run's is that of
its line in ``runs.jsonl``, which has digests of its rows and its summary; a study's that of all its files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pausefl.errors import PauseflError
from pausefl.files import remedy, replacing
from pausefl.results.reading import read_json

#: Name of the file.
FILE = "manifest.json"
#: Digests by name, of runs (``SCENARIO/SELECTOR/seed-SEED``) and of studies.
Digests = dict[str, dict[str, str]]


def read(published: Path) -> Digests:
    """What was published; `PauseflError` if the file is missing or damaged."""
    found = read_json(path := published / FILE)
    if not all(isinstance(found.get(section), dict) for section in ("runs", "studies")):
        raise PauseflError(f"{path} has no digests of runs and studies{remedy(path)}")
    return found


def write(published: Path, section: str, entries: Mapping[str, str]) -> None:
    """Add entries to a section, or replace them, if that changes anything."""
    digests = read(published) if (published / FILE).exists() else {"runs": {}, "studies": {}}
    if entries.items() <= digests[section].items():
        return
    digests[section] |= entries
    _write(published, digests)


def renew(published: Path) -> None:
    """Write the digests of what is there, right or wrong."""
    digests: Digests = {"runs": {}, "studies": {}}
    for path in published.glob("*/runs.jsonl"):
        for run in map(json.loads, path.read_text("utf-8").splitlines()):
            digests["runs"][f"{path.parent.name}/{run['selector']}/seed-{run['seed']}"] = of_json(run)
    for folder in filter(Path.is_dir, published.glob("studies/*")):
        digests["studies"][folder.name] = of_study(folder)
    _write(published, digests)


def _write(published: Path, digests: Digests) -> None:
    with replacing(published / FILE) as (staged,):
        staged.write_text(json.dumps(digests, indent=1, sort_keys=True) + "\n", "utf-8")


def of_json(value: Any) -> str:
    """SHA-256 of what JSON can hold, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def of_study(folder: Path) -> str:
    """SHA-256 of the names and bytes of a study's files."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return of_json([[path.name, hashlib.sha256(path.read_bytes()).hexdigest()] for path in files])


def check_study(folder: Path) -> None:
    """Raise `PauseflError` unless a published study is the one that was published."""
    if read(folder.parents[1])["studies"].get(folder.name) != of_study(folder):
        raise PauseflError(f"{folder}: its files are not those that were published{remedy(folder)}")
