"""Edits of a copy of the package, by module and definition; none depends on how a line is written."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import pausefl
from pausefl.provenance import code, definitions, kept

Edit = Callable[[ast.Module], None]


class Copy:
    """A copy of the package whose code is hashed in place of the package's.

    Parameters
    ----------
    folder
        Where to put it.
    monkeypatch
        Puts everything back.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        ignored = shutil.ignore_patterns("__pycache__")
        self.root = Path(shutil.copytree(Path(pausefl.__file__).parent, folder / "pausefl", ignore=ignored))
        monkeypatch.setattr(definitions, "_ROOT", self.root)
        self.forget()

    def forget(self) -> None:
        """Read all files again; what was made of a text stays."""
        for function in (definitions._text, definitions.source, definitions.effects):
            function.cache_clear()
        for function in (code.reached, code._definitions, code._digest, kept._folder):
            function.cache_clear()

    def path(self, module: str) -> Path:
        """File of a module."""
        base = self.root.joinpath(*module.split(".")[1:])
        return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")

    @contextmanager
    def edited(self, module: str, edit: Edit) -> Iterator[None]:
        """Edit a module; undone afterwards."""
        path = self.path(module)
        before = path.read_text(encoding="utf-8")
        tree = ast.parse(before)
        edit(tree)
        try:
            path.write_text(ast.unparse(ast.fix_missing_locations(tree)) + "\n# edited\n", encoding="utf-8")
            self.forget()
            yield
        finally:
            path.write_text(before, encoding="utf-8")
            self.forget()

    @contextmanager
    def emptied(self, package: str) -> Iterator[None]:
        """Take everything out of the modules of a package; undone afterwards."""
        before = {path: path.read_text(encoding="utf-8") for path in (self.root / package).rglob("*.py")}
        assert any(before.values())
        try:
            for path in before:
                path.write_text("", encoding="utf-8")
            self.forget()
            yield
        finally:
            for path, text in before.items():
                path.write_text(text, encoding="utf-8")
            self.forget()

    def reword(self) -> None:
        """Change every docstring, message, annotation of a function and check of every module."""
        for path in self.root.rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            _Reword().visit(tree)
            path.write_text(ast.unparse(ast.fix_missing_locations(tree)), encoding="utf-8")
        self.forget()


def find(tree: ast.Module, name: str) -> ast.stmt:
    """A definition ``name`` or ``Class.method`` of a module."""
    body = tree.body
    found: ast.stmt | None = None
    for part in name.split("."):
        found = next(s for s in body if part in _names(s))
        body = getattr(found, "body", [])
    assert found is not None
    return found


def _names(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    targets = (
        statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", statement)]
    )
    return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]


def add_statement(name: str) -> Edit:
    """Add a statement to a function or class, or another value to a constant."""

    def edit(tree: ast.Module) -> None:
        definition = find(tree, name)
        if isinstance(definition, ast.FunctionDef | ast.ClassDef):
            definition.body.append(ast.parse("edited = 1").body[0])
        else:
            assert isinstance(definition, ast.Assign | ast.AnnAssign)
            assert definition.value is not None
            definition.value = ast.Tuple([definition.value, ast.Constant(1)], ast.Load())

    return edit


def change_default(name: str) -> Edit:
    """Change the last default argument of a function."""

    def edit(tree: ast.Module) -> None:
        function = find(tree, name)
        assert isinstance(function, ast.FunctionDef)
        defaults = function.args.defaults or function.args.kw_defaults
        defaults[-1] = ast.Constant("edited")

    return edit


def drop_decorators(name: str) -> Edit:
    """Take away the decorators of a function or class."""

    def edit(tree: ast.Module) -> None:
        definition = find(tree, name)
        assert isinstance(definition, ast.FunctionDef | ast.ClassDef)
        assert definition.decorator_list
        definition.decorator_list = []

    return edit


def change_number(name: str) -> Edit:
    """Change the first number in a definition."""

    def edit(tree: ast.Module) -> None:
        numbers = (
            node
            for node in ast.walk(find(tree, name))
            if isinstance(node, ast.Constant) and type(node.value) in (int, float)
        )
        number = next(numbers)
        number.value += 1  # type: ignore[operator]

    return edit


def change_operator(name: str) -> Edit:
    """Turn the first product of a definition into a sum."""

    def edit(tree: ast.Module) -> None:
        operations = (
            node
            for node in ast.walk(find(tree, name))
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
        )
        next(operations).op = ast.Add()

    return edit


def insert(name: str, source: str) -> Edit:
    """Put a statement at the start of a function."""

    def edit(tree: ast.Module) -> None:
        function = find(tree, name)
        assert isinstance(function, ast.FunctionDef)
        function.body.insert(0, ast.parse(source).body[0])

    return edit


def insert_at_top(source: str) -> Edit:
    """Put a statement at the end of a module."""
    return lambda tree: tree.body.append(ast.parse(source).body[0])


class _Reword(ast.NodeTransformer):
    def visit_Raise(self, node: ast.Raise) -> ast.Raise:
        if isinstance(node.exc, ast.Call):
            node.exc.args = [ast.Constant("reworded")]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = ast.Constant("reworded")
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            argument.annotation = ast.Constant("reworded")
        if "check_" in node.name:
            node.body.append(ast.parse("edited = 1").body[0])
        return self._documented(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._documented(node)

    def visit_Module(self, node: ast.Module) -> ast.AST:
        return self._documented(node)

    def _documented(self, node: ast.FunctionDef | ast.ClassDef | ast.Module) -> ast.AST:
        self.generic_visit(node)
        docstring = ast.Expr(ast.Constant("Reworded."))
        if ast.get_docstring(node) is None:
            node.body.insert(0, docstring)
        else:
            node.body[0] = docstring
        if isinstance(node, ast.Module):  # `from __future__` stays ahead of everything else
            node.body.append(ast.parse("'at the end'").body[0])
        return node
