"""Definitions of a module: what each says, and which names it uses.

A definition is a function, a class with all its methods, or an assigned name. What it says is its source
without comments, docstrings, annotations (those in the body of a class stay: settings are checked by them)
and the texts that ``raise`` gives to an error.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterator
from functools import cache
from importlib.util import resolve_name

#: Name, which no definition can have, of the statements that take effect when a module is imported.
EFFECTS = "import"

#: What an imported name is: a module, and a name in it; None for the module itself.
Import = tuple[str, str | None]

#: Conditions that are false in whatever is imported and runs.
_NEVER = ("TYPE_CHECKING", "typing.TYPE_CHECKING", "__name__ == '__main__'")


@cache
def parsed(package: str, text: str) -> Module:
    """A module of a package from its source."""
    return Module(package, text)


class Module:
    """A parsed module."""

    def __init__(self, package: str, text: str) -> None:
        self._package = package
        #: Statements by the names that they define.
        self.statements: dict[str, list[ast.stmt]] = {}
        #: Imported names.
        self.imports: dict[str, Import] = {}
        #: What the statements of a definition say.
        self.form = cache(lambda name: _Form(package, self.statements[name]))
        tree = ast.parse(text)
        self._enter(tree.body)
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        read = {node.id for node in nodes if isinstance(node.ctx, ast.Load)}
        for name, (first, *_) in list(self.statements.items()):
            if isinstance(first, ast.Assign) and re.match("_[^_]", name) and name not in read:
                self._define(EFFECTS, first)  # such as _OLD = torch.set_flush_denormal(True)

    def _enter(self, body: list[ast.stmt]) -> None:
        for statement in body:
            match statement:
                case ast.Import() | ast.ImportFrom():
                    self.imports |= _imported(statement, self._package)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    self._define(name, statement)
                case ast.Expr(ast.Constant()) | ast.Pass() | ast.AnnAssign(value=None):
                    pass
                case ast.If(test=test, orelse=orelse) if ast.unparse(test) in _NEVER:
                    self._enter(orelse)
                case _:
                    for name in dict.fromkeys(_bound(statement)):
                        self._define(name, statement)
                    for node in ast.walk(statement):
                        if isinstance(node, ast.Import | ast.ImportFrom):
                            self.imports |= _imported(node, self._package)

    def _define(self, name: str, statement: ast.stmt) -> None:
        self.statements.setdefault(name, []).append(statement)


class _Form(ast.NodeTransformer):
    """What the statements of a definition say.

    In place of what does not count stands ``pass``, of which nothing is said. Imports in functions are among
    it: what a name stands for is said beside the text.
    """

    def __init__(self, package: str, statements: list[ast.stmt]) -> None:
        self._package = package
        self._in_class = False
        #: Names that it imports itself, and what each is.
        self.imports: set[tuple[str, Import]] = set()
        tree = self.visit(ast.Module(statements, []))
        text = ast.unparse(tree)
        #: The statements without what does not count.
        self.text = re.sub(r"^ *pass$\n?", "", text, flags=re.MULTILINE)
        #: Names from outside.
        self.names = set(_global_names(symtable.symtable(text, "<definition>", "exec")))
        #: Names of all attributes.
        self.attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> ast.AST:
        self.imports |= set(_imported(node, self._package).items())
        return ast.Pass()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        return self._inside(node, in_class=False)

    visit_ImportFrom, visit_AsyncFunctionDef = visit_Import, visit_FunctionDef  # noqa: N815 (Python's)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._inside(node, in_class=True)

    def _inside(self, node: ast.AST, in_class: bool) -> ast.AST:
        outer, self._in_class = self._in_class, in_class
        self.generic_visit(node)
        self._in_class = outer
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(node.arg)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if self._in_class:
            return self.generic_visit(node)
        if node.value is None:
            return ast.Pass()
        return self.generic_visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return ast.Pass() if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        if isinstance(node.exc, ast.Call):
            blank = _Blank()
            arguments = [blank.visit(argument) for argument in node.exc.args]
            node.exc.args = [one for one in arguments if ast.unparse(one) != "''"]
            node.exc.keywords = [blank.visit(keyword) for keyword in node.exc.keywords]
        return self.generic_visit(node)


class _Blank(ast.NodeTransformer):
    """Empties texts."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return ast.Constant("")


def _imported(statement: ast.Import | ast.ImportFrom, package: str) -> dict[str, Import]:
    """Names that an import binds, and what to."""
    if isinstance(statement, ast.ImportFrom):
        module = resolve_name("." * statement.level + (statement.module or ""), package)
        return {alias.asname or alias.name: (module, alias.name) for alias in statement.names}
    names = {alias.asname or alias.name.partition(".")[0]: alias for alias in statement.names}
    return {name: (alias.name if alias.asname else name, None) for name, alias in names.items()}


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement binds; `EFFECTS` too if it may do more."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        yield EFFECTS
    for part in ast.walk(statement):
        match part:
            case ast.Name(name, ast.Store()) | ast.FunctionDef(name) | ast.ClassDef(name):
                yield name
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                yield EFFECTS


def _global_names(table: symtable.SymbolTable) -> Iterator[str]:
    """Names in a table of symbols, and in those below it, that are not local to a function."""
    inside = table.get_type() == "function"
    for one in table.get_symbols():
        if one.is_declared_global() or (one.is_referenced() and (one.is_global() or not inside)):
            yield one.get_name()
    for below in table.get_children():
        yield from _global_names(below)
