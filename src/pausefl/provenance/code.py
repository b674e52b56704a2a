"""Which code made a result."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from pausefl.registry import SELECTORS

_ROOT = Path(__file__).parents[1]


def code_hash(*modules: str, selectors: Iterable[str] = ()) -> str:
    """Hash of modules of this package and of every module of the package they import, directly or not.

    Comments, docstrings and layout do not count, so only an edit that can change a result changes the hash.
    Nor does `pausefl.registry.selectors`: of the selectors, only those named count, with their lines there.

    Parameters
    ----------
    modules
        Dotted names, e.g. ``"pausefl.federated.job"``.
    selectors
        Names of the selectors that run.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    infos = {name: SELECTORS[name] for name in sorted(selectors)}
    digest = hashlib.sha256(repr(infos).encode())
    for name in sorted(_closure([*modules, *[info.code.partition(":")[0] for info in infos.values()]])):
        digest.update(f"{name}\n{_read(name)[0]}\n".encode())
    return digest.hexdigest()[:16]


def _path(module: str) -> Path | None:
    """File of a module of this package, or None for anything else."""
    base = _ROOT.joinpath(*module.split(".")[1:])
    candidates = (base / "__init__.py", base.with_suffix(".py"))
    return next((path for path in candidates if module.split(".")[0] == "pausefl" and path.is_file()), None)


@cache
def _read(module: str) -> tuple[str, tuple[str, ...]]:
    """Code of a module without comments, docstrings and layout, and all names that it imports."""
    path = _path(module)
    assert path is not None, module
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    imported: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            imported += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return ast.unparse(tree), tuple(name for name in imported if _path(name) is not None)


def _closure(modules: Iterable[str]) -> set[str]:
    """The modules and all modules of the package that importing them can load."""
    found: set[str] = set()
    pending = list(modules)
    while pending:
        name = pending.pop()
        if name in found or name == "pausefl.registry.selectors":
            continue
        found.add(name)
        pending += [name.rpartition(".")[0] or name, *_read(name)[1]]
    return found
