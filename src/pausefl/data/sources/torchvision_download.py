"""Data sets that torchvision downloads, only below the working directory.

Addresses that its class lists must be https; where it lists none, its checksums vouch for the files.
"""

from __future__ import annotations

import http.client
import os
import shutil
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, ClassVar

from pausefl.data.sources.base import Source, check_installed

#: Seconds to wait for a host before it counts as unreachable.
NETWORK_TIMEOUT = 10.0

#: What addresses must start with.
SCHEME = "https://"


class Official(Source):
    """A data set whose files a class of ``torchvision.datasets`` downloads.

    One that torchvision does not have defines `fetch` and `addresses`.
    """

    #: Name of its class in ``torchvision.datasets``, if there is one.
    dataset: ClassVar[str]
    #: Folder on the web with the archives, in place of the class's own list, which has http addresses.
    mirror: ClassVar[str] = ""

    def download(self, root: Path) -> str:
        """Download the files to ``root``; why it failed, or an empty text.

        They are unpacked in a folder beside, since a file that is there counts as whole.
        """
        staged = root / f".download-{self.dataset}"
        try:
            self.fetch(staged)
            for path in [path for path in staged.rglob("*") if path.is_file()]:
                target = root / path.relative_to(staged)
                target.parent.mkdir(parents=True, exist_ok=True)
                os.replace(path, target)
            shutil.rmtree(staged)
        except (OSError, EOFError, RuntimeError, ValueError, http.client.HTTPException) as error:
            return f"The download failed: {error}."
        return ""

    def fetch(self, folder: Path) -> None:
        """Have torchvision download and unpack all files, as `files` names them, and verify checksums."""
        self.official()(str(folder), download=True)

    def find_problem(self, root: Path) -> str:
        """Why a download to ``root`` must fail; an empty text if nothing shows before it starts."""
        if not _is_below(root, Path.cwd()):
            return (
                f"Nothing is downloaded to {root}: it is outside of the working directory. Make data/raw"
                " a link to a folder elsewhere if you want downloads there."
            )
        problems = []
        for url in self.addresses():
            if not url.startswith(SCHEME):
                return f"Nothing is downloaded from {url}: it is not an https address."
            try:
                with urllib.request.urlopen(url, timeout=NETWORK_TIMEOUT):
                    return ""
            except (OSError, http.client.HTTPException) as error:
                reason = error.reason if isinstance(error, urllib.error.URLError) else error
                problems.append(f"{url} cannot be opened ({reason})")
        return f"The download failed: {', '.join(problems)}." if problems else ""

    def addresses(self) -> list[str]:
        """Addresses of one file of the data set, one at each host; none if the class does not list them."""
        official = self.official()
        if hasattr(official, "mirrors"):
            return [mirror + official.resources[1][0] for mirror in official.mirrors]
        return [official.url] if isinstance(getattr(official, "url", None), str) else []

    @classmethod
    def official(cls) -> Any:
        """Torchvision's class; the mirror replaces its own."""
        with check_installed("torchvision"):
            from pausefl.data._torchvision import datasets
        official = getattr(datasets, cls.dataset)
        # The class's name is that of its folder.
        return type(cls.dataset, (official,), {"mirrors": [cls.mirror]}) if cls.mirror else official


def _is_below(path: Path, folder: Path) -> bool:
    """Whether a path is in a folder, by name: a link that somebody put there counts as being there."""
    return Path(os.path.abspath(path)).is_relative_to(os.path.abspath(folder))
