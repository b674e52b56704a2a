"""Which code's published results count as made by today's: those that it was found to compute bit for bit.

`pausefl.tools.recompute` computes published results again and writes ``results/published/verified.json``.
What it found equal under today's code counts as made by it, as long as it has the digest that it had then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pausefl.provenance import job_code
from pausefl.registry import SOURCES
from pausefl.registry.own import as_folder
from pausefl.results.published import Digests, read_manifest
from pausefl.results.reading import read_json
from pausefl.settings import Scenario

#: Name of the file with what was found.
FILE = "verified.json"


def current_codes(scenario: Scenario, selectors: Iterable[str], published: Path) -> dict[str, list[str]]:
    """Hashes of a job's code whose runs count as made by today's code, by selector.

    That is today's code on any device and kind of raw files, and the code of runs below ``published`` that
    were found equal under it.
    """
    known = still_verified(published)["runs"]
    folders = (False, True) if SOURCES.find(scenario.data.source).in_folder is not None else (False,)
    found = {}
    for selector in selectors:
        codes = [
            job_code(scenario, selector, device, in_folder=in_folder)
            for device in ("cpu", "cuda")
            for in_folder in folders
        ]
        runs = f"{scenario.name}/{as_folder(selector)}/"
        equal = [
            entry["made_with"]
            for name, entry in known.items()
            if name.startswith(runs) and entry["equal"] and entry["code"] in codes
        ]
        found[selector] = list(dict.fromkeys(codes + equal))
    return found


def still_verified(published: Path) -> dict[str, dict[str, Any]]:
    """What was found of ``runs`` and ``studies`` that are still as they were then, by name."""
    if not (published / FILE).is_file():
        return {"runs": {}, "studies": {}}
    digests = read_manifest(published)
    return {
        section: {
            name: entry
            for name, entry in entries.items()
            if (digest := entry.get("digest")) and digest == digest_of(digests, section, name, entry)
        }
        for section, entries in read_json(published / FILE).items()
    }


def digest_of(digests: Digests, section: str, name: str, entry: Mapping[str, Any]) -> str | None:
    """Digest of the run, or the study, that an entry is about; None if none such is published."""
    if section == "runs":
        return digests["runs"].get(f"{name.rpartition('/')[0]}/seed-{entry.get('seed')}")
    return digests["studies"].get(name.partition("/")[0])
