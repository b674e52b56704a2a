"""Downloading official files with torchvision: over https only, and only below the working directory."""

from __future__ import annotations

import http.client
import os
import shutil
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from pausefl.data.sources.common import check_installed
from pausefl.registry.sources import SOURCES

#: Seconds to wait for a host before it counts as unreachable.
NETWORK_TIMEOUT = 10.0


#: What addresses must start with.
SCHEME = "https://"


def download_files(source: str, root: Path) -> str:
    """Download the official files of a source to ``root``; return why it failed, or an empty text.

    They are unpacked in a folder beside, since a file that is there counts as whole.
    """
    staged = root / f".download-{source}"
    try:
        _official(source)(str(staged), download=True)
        for path in [path for path in staged.rglob("*") if path.is_file()]:
            target = root / path.relative_to(staged)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, target)
        shutil.rmtree(staged)
    except (OSError, EOFError, RuntimeError, http.client.HTTPException) as error:
        return f"The download failed: {error}."
    return ""


def find_problem(source: str, root: Path) -> str:
    """Return why a download to ``root`` must fail; an empty text if nothing shows before it starts."""
    if not _is_below(root, Path.cwd()):
        return (
            f"Nothing is downloaded to {root}: it is outside of the working directory. Make data/raw"
            " a link to a folder elsewhere if you want downloads there."
        )
    problems = []
    for url in addresses(source):
        if not url.startswith(SCHEME):
            return f"Nothing is downloaded from {url}: it is not an https address."
        try:
            with urllib.request.urlopen(url, timeout=NETWORK_TIMEOUT):
                return ""
        except (OSError, http.client.HTTPException) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            problems.append(f"{url} cannot be opened ({reason})")
    return f"The download failed: {', '.join(problems)}."


def addresses(source: str) -> list[str]:
    """Return the addresses of one file of an official data set, one at each host."""
    official = _official(source)
    if hasattr(official, "mirrors"):
        return [mirror + official.resources[1][0] for mirror in official.mirrors]
    return [official.url]


def _official(source: str) -> Any:
    """Return torchvision's class of an official data set; the record's mirror replaces its own."""
    with check_installed("torchvision"):
        from pausefl.data._torchvision import datasets
    record = SOURCES[source]
    official = getattr(datasets, record.torchvision)
    # The class's name is that of its folder.
    return type(record.torchvision, (official,), {"mirrors": [record.mirror]}) if record.mirror else official


def _is_below(path: Path, folder: Path) -> bool:
    """Whether a path is in a folder, by name: a link that somebody put there counts as being there."""
    return Path(os.path.abspath(path)).is_relative_to(os.path.abspath(folder))
