"""Values that follow from the package's code, kept between processes because they are slow to compute.

They are in a folder beside Python's compiled files, named by a hash of all code. It may be lost at any time,
or be read-only: what is not there is computed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from pausefl.provenance import definitions

_PREFIX = "kept-"


def kept(key: str, compute: Callable[[], Any]) -> Any:
    """The value of a key, as JSON has it: what ``compute`` returned under the same code, or returns now.

    Parameters
    ----------
    key
        Everything besides the code that the value follows from.
    compute
        Returns the value.
    """
    folder = _folder(definitions._ROOT)
    path = folder / f"{hashlib.sha256(key.encode()).hexdigest()}.json"
    with suppress(OSError, ValueError):  # not there, or cut off
        return json.loads(path.read_bytes())
    value = compute()
    with suppress(OSError):
        _write(path, json.dumps(value))
    return value


def _write(path: Path, text: str) -> None:
    """Write a file that others may be writing or reading too; a first file removes what older code left."""
    if not path.parent.is_dir():
        for old in path.parent.parent.glob(f"{_PREFIX}*"):
            shutil.rmtree(old, ignore_errors=True)
        path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.write(text)
    os.replace(file.name, path)


@cache
def _folder(root: Path) -> Path:
    """Where values of the code below ``root`` are, under this version of Python."""
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes() + b"\0")
    return root / "__pycache__" / f"{_PREFIX}{digest.hexdigest()[:16]}"
