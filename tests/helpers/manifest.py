"""The manifest of what is published, written anew."""

from __future__ import annotations

import json
from pathlib import Path

from pausefl.results.published import LINES, MANIFEST, PublishedRuns, digest_of, run_name, study_digest


def renew_manifest(published: Path) -> None:
    """Write the digests of what is there, right or wrong."""
    runs = {
        run_name(path.parent.name, *key): digest_of(json.loads(line))
        for path in published.glob(f"*/{LINES}")
        for key, line in PublishedRuns(path.parent).lines.items()
    }
    studies = {path.name: study_digest(path) for path in published.glob("studies/*") if path.is_dir()}
    text = json.dumps({"runs": runs, "studies": studies}, indent=1, sort_keys=True) + "\n"
    (published / MANIFEST).write_text(text, "utf-8")
