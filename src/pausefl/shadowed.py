"""Files of a user's that have the name of a package, and are imported in its place."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from importlib.machinery import PathFinder
from pathlib import Path


def shadow(error: BaseException) -> str:
    """A sentence on the file that an error comes of, since it hides a package; empty if none does.

    Such a file stands on PYTHONPATH or in the folder of a script. The error is raised in it, or names what it
    should have.
    """
    frames, trace = set[str](), error.__traceback__
    while trace is not None:
        frames.add(os.path.realpath(trace.tb_frame.f_code.co_filename))
        trace = trace.tb_next
    words = {*re.findall(r"\w+", str(error)), *re.findall(r"\w+", getattr(error, "name", None) or "")}
    installed = [sysconfig.get_path(kind) for kind in ("purelib", "platlib", "stdlib", "platstdlib")]
    installed += [os.path.join(installed[2], "lib-dynload")]
    own = Path(__file__).parents[1]
    for folder in sys.path:
        place = Path(folder or ".").absolute()
        if str(place) in installed or place == own or not place.is_dir():
            continue
        for file in sorted((*place.glob("*.py"), *place.glob("*/__init__.py"))):
            name = file.stem if file.parent == place else file.parent.name
            there = PathFinder.find_spec(name, installed)
            if (
                there is None
                or there.origin is None
                or os.path.realpath(there.origin) == os.path.realpath(file)
            ):
                continue
            if name in words or os.path.realpath(file) in frames:
                package = "module of Python" if name in sys.stdlib_module_names else "package"
                return f"{file} hides the {package} '{name}', which has the same name: rename the file"
    return ""
