"""Compiled functions use nothing of another module of the package: Numba would not notice when it changes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src"


def is_compiled(node: ast.AST) -> bool:
    """Whether a node is a function under ``@njit``, with or without options."""
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    called = (d.func if isinstance(d, ast.Call) else d for d in decorators)
    return any(isinstance(d, ast.Name) and d.id == "njit" for d in called)


def taken_from_elsewhere(text: str) -> set[str]:
    """Names in the compiled functions of a module that it imports from the package."""
    tree = ast.parse(text)
    imported = {
        alias.asname or alias.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if (getattr(node, "module", None) or alias.name).split(".")[0] == "pausefl"
        or getattr(node, "level", 0)
    }
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and is_compiled(node)]
    used = {n.id for body in bodies for s in body for n in ast.walk(s) if isinstance(n, ast.Name)}
    return imported & used


MODULES = [path for path in sorted(SRC.rglob("*.py")) if "njit" in path.read_text("utf-8")]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SRC)))
def test_kernels_use_only_their_own_module(path: Path) -> None:
    assert taken_from_elsewhere(path.read_text("utf-8")) == set()
