"""Top-level definitions of the package: what each says, and which others it uses.

A definition is a function, a class with all its methods, or an assigned name. What it says is its source
without comments, docstrings, annotations (those in the body of a class stay: settings are checked by them)
and the texts that ``raise`` gives to an error.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

#: Name of the pseudo-definition that stands for all definitions of a module.
WHOLE = "*"
#: Name of the pseudo-definition with the statements that take effect when a module is imported.
EFFECTS = ""

#: What an imported name is: a module, and a name in it; None for the module itself.
Import = tuple[str, str | None]


class Definition(NamedTuple):
    """A definition by its place: module and name."""

    module: str
    name: str


#: Modules whose definitions say no more than their names: a description of a run decides nothing in it, and
#: of an index counts what is taken from it, not how it is kept.
_BY_NAME = ("pausefl.provenance", "pausefl.registry.base")
#: Calls of it make such indices.
_REGISTRY = Definition("pausefl.registry.base", "Registry")


class Source(NamedTuple):
    """What a definition says and uses.

    Attributes
    ----------
    text
        What it says; empty if no more than its name.
    uses
        Names in it, and what each is: a definition of the package, or another dotted name.
    attributes
        Names of all attributes in it.
    effects
        Statements that importing its module, and what it imports itself, executes.
    """

    text: str
    uses: tuple[tuple[str, Definition | str], ...] = ()
    attributes: frozenset[str] = frozenset()
    effects: frozenset[Definition] = frozenset()


class Package:
    """The source files of ``pausefl`` below the folder ``root``; each is read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.source, self._module = cache(self._source), cache(self._parse)
        self._effects = cache(self._executed)

    def _source(self, definition: Definition) -> Source:
        """What a definition says and uses; `LookupError` if there is no such definition."""
        module, name = self._module(definition.module), definition.name
        if module is None or name not in (WHOLE, *module.statements):
            raise LookupError(f"{definition.module} has no definition '{name}'")
        if name == WHOLE:
            return Source("", tuple((one, Definition(definition.module, one)) for one in module.statements))
        if definition.module.startswith(_BY_NAME) or self._is_registry(module, module.statements[name][0]):
            return Source("")
        form = module.form(name)
        own = form.names & module.statements.keys()
        imported = {name: module.imports[name] for name in form.names & module.imports.keys() - own}
        uses: set[tuple[str, Definition | str]] = {
            (used, Definition(definition.module, used)) for used in own
        }
        uses |= {(used, self._follow(*target)) for used, target in (*imported.items(), *form.imports)}
        loads = (definition.module, *_loaded(form.imports))
        effects = frozenset[Definition]().union(*map(self._effects, loads))
        ordered = sorted(uses, key=lambda use: (use[0], str(use[1])))
        return Source(form.text, tuple(ordered), frozenset(form.attributes), effects)

    def _executed(self, module: str) -> frozenset[Definition]:
        """Statements that take effect when a module, and all that it imports, is imported."""
        found: dict[str, _Module] = {}
        pending = [module]
        while pending:
            name = pending.pop()
            if name not in found and (there := self._module(name)) is not None:
                found[name] = there
                pending += [*there.loads, name.rpartition(".")[0]]
        return frozenset(Definition(name, EFFECTS) for name in found if EFFECTS in found[name].statements)

    def _parse(self, name: str) -> _Module | None:
        """A module of this package; None for anything else."""
        base = self.root.joinpath(*name.split(".")[1:])
        paths = (base / "__init__.py", base.with_suffix(".py")) if name.split(".")[0] == "pausefl" else ()
        path = next((path for path in paths if path.is_file()), None)
        above = name if path is not None and path.name == "__init__.py" else name.rpartition(".")[0]
        return None if path is None else _parsed(above, path.read_text(encoding="utf-8"))

    def _is_registry(self, module: _Module, statement: ast.stmt) -> bool:
        match statement:
            case ast.Assign(value=ast.Call(ast.Name(name))) | ast.AnnAssign(value=ast.Call(ast.Name(name))):
                return name in module.imports and self._follow(*module.imports[name]) == _REGISTRY
        return False

    def _follow(self, module: str, name: str | None) -> Definition | str:
        """What an imported name is: a definition, however often re-exported, or another dotted name."""
        here = self._module(module)
        if here is None:
            return module if name is None else f"{module}.{name}"
        if name is None:
            return Definition(module, WHOLE)
        if name in here.statements:
            return Definition(module, name)
        if name in here.imports and here.imports[name] != (module, name):
            return self._follow(*here.imports[name])
        if self._module(f"{module}.{name}") is not None:
            return Definition(f"{module}.{name}", WHOLE)
        raise LookupError(f"{module} has no definition '{name}'")


@cache
def _parsed(package: str, text: str) -> _Module:
    return _Module(package, ast.parse(text))


class _Module:
    """A parsed module: statements by the names that they define, what imported names are, what it loads."""

    def __init__(self, package: str, tree: ast.Module) -> None:
        self.package = package
        self.statements: dict[str, list[ast.stmt]] = {}
        self.imports: dict[str, Import] = {}
        self.loads: set[str] = set()
        self.form = cache(self._form)
        self._enter(tree.body)
        called = {
            name: statements[0]
            for name, statements in self.statements.items()
            if name.startswith("_") and isinstance(statements[0], ast.Assign)
            if any(isinstance(part, ast.Call) for part in ast.walk(statements[0].value))
        }
        if called:  # where nothing reads what is assigned, the call is there for its effect
            named = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
            for name, statement in called.items():
                if named[name] == 1:
                    self.statements.setdefault(EFFECTS, []).append(statement)

    def _form(self, name: str) -> _Form:
        """What the statements of a definition say."""
        return _Form(self.package, self.statements[name])

    def _enter(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            match statement:
                case ast.Import() | ast.ImportFrom():
                    self._import(statement)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    self._define([name], statement)
                case ast.Expr(ast.Constant()) | ast.Pass() | ast.AnnAssign(value=None):
                    pass
                case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                    self._define(_stored(statement), statement)
                case ast.If(test=test, orelse=orelse) if _never(test):
                    self._enter(orelse)
                case _:
                    self._define([EFFECTS, *_stored(statement)], statement)
                    for node in ast.walk(statement):
                        if isinstance(node, ast.Import | ast.ImportFrom):
                            self._import(node)

    def _define(self, names: Iterable[str], statement: ast.stmt) -> None:
        for name in dict.fromkeys(names):
            self.statements.setdefault(name, []).append(statement)

    def _import(self, statement: ast.Import | ast.ImportFrom) -> None:
        """An import of a name that is defined, too, is a part of its definition."""
        imported = list(_imported(statement, self.package))
        self.imports |= imported
        self.loads |= _loaded(imported)
        for name, _ in imported:
            if name in self.statements:
                self.statements[name].append(statement)


def _never(test: ast.expr) -> bool:
    """Whether a condition is false in whatever imports a module and runs."""
    match test:
        case ast.Name("TYPE_CHECKING") | ast.Attribute(ast.Name("typing"), "TYPE_CHECKING"):
            return True
        case ast.Compare(ast.Name("__name__"), [ast.Eq()], [ast.Constant("__main__")]):
            return True
    return False


def _imported(statement: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, Import]]:
    """Names that an import binds, and what to."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            first = alias.name.partition(".")[0]
            yield (alias.asname, (alias.name, None)) if alias.asname else (first, (first, None))
            if not alias.asname and first != alias.name:  # loaded, and bound to no name
                yield "", (alias.name, None)
        return
    above = package.split(".")[: len(package.split(".")) - statement.level + 1] if statement.level else []
    module = ".".join([*above, *([statement.module] if statement.module else [])])
    for alias in statement.names:
        if alias.name == "*":
            raise LookupError(f"{package}: 'from {module} import *' does not say which names it imports")
        yield alias.asname or alias.name, (module, alias.name)


def _loaded(imports: Iterable[tuple[str, Import]]) -> set[str]:
    """What imports may load: the module, and what is asked of it, which may be a module too."""
    return {name for _, (module, asked) in imports for name in (module, f"{module}.{asked}")}


def _stored(node: ast.AST) -> list[str]:
    """Names that a statement outside functions binds; `EFFECTS` too if it binds an attribute or an item."""
    found = []
    for part in ast.walk(node):
        match part:
            case ast.Name(name, ast.Store()) | ast.FunctionDef(name) | ast.ClassDef(name):
                found.append(name)
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                found.append(EFFECTS)
    return found


class _Form(ast.NodeTransformer):
    """What the statements of a definition say, whatever the names in it are.

    In place of what does not count stands ``pass``, of which nothing is said. Imports in functions are among
    it: what a name stands for is said beside the text.

    Attributes
    ----------
    text
        The statements without what does not count.
    names
        Names from outside.
    attributes
        Names of all attributes.
    imports
        Names that it imports itself, and what each is.
    """

    def __init__(self, package: str, statements: Iterable[ast.stmt]) -> None:
        self.attributes: set[str] = set()
        self.imports: list[tuple[str, Import]] = []
        self._package = package
        self._in_class = False
        text = ast.unparse(self.visit(ast.Module(list(statements), [])))
        self.text = re.sub(r"^ *pass$\n?", "", text, flags=re.MULTILINE)
        self.names = _global_names(text)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.attributes.add(node.attr)
        return self.generic_visit(node)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> ast.AST:
        self.imports += _imported(node, self._package)
        return ast.Pass()

    visit_ImportFrom = visit_Import  # noqa: N815 (Python's)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        for part in ast.walk(node.args):
            if isinstance(part, ast.arg):
                part.annotation = None
        return self._inside(node, in_class=False)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._inside(node, in_class=True)

    def _inside(self, node: ast.AST, in_class: bool) -> ast.AST:
        outer, self._in_class = self._in_class, in_class
        self.generic_visit(node)
        self._in_class = outer
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if self._in_class:
            return self.generic_visit(node)
        if node.value is None:
            return ast.Pass()
        return self.generic_visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return ast.Pass() if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        return (node.orelse or ast.Pass()) if _never(node.test) else node

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


def _global_names(text: str) -> set[str]:
    """Names of a source that are not local to a function of it."""
    found: set[str] = set()
    pending = [symtable.symtable(text, "<definition>", "exec")]
    while pending:
        table = pending.pop()
        inside = table.get_type() == "function"
        found |= {
            one.get_name()
            for one in table.get_symbols()
            if one.is_declared_global() or (one.is_referenced() and (one.is_global() or not inside))
        }
        pending += table.get_children()
    return found
