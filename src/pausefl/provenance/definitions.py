"""Top-level definitions of the package: what each says, and which others it uses.

A definition is a function, a class with all its methods, or an assigned name. Its source is normalised: what
cannot bear on a number is dropped (`_Normaliser`), so two sources are equal if they compute the same in the
same words.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

_ROOT = Path(__file__).parents[1]
#: Packages of values and messages. Callers hash the values of settings, not the code that reads them.
_NOT_FOLLOWED = ("pausefl.settings", "pausefl.errors", "pausefl.provenance")
#: Errors that end a run. `PrivacyError` is not one: the federated loop catches it and goes on.
_REFUSALS = frozenset({"PauseflError", "ConfigError", "DataError", "StoppedError"})
#: Calls that only refuse or tell, where nothing is done with what they return.
_TELLING = re.compile(r"_?check_\w+|_?note|print|warn|echo")
#: A module, or ``module:name``, named in a string.
_REFERENCE = re.compile(r"pausefl(\.\w+)+(:\w+)?")

#: Name of the pseudo-definition that stands for all definitions of a module.
WHOLE = "*"
#: Name of the pseudo-definition with the statements that take effect when a module is imported.
EFFECTS = ""


class Definition(NamedTuple):
    """A definition by its place: module and name."""

    module: str
    name: str


@dataclass
class Source:
    """What a definition says and uses.

    Attributes
    ----------
    text
        Normalised source.
    uses
        Global names in it, and what each is: a definition of the package, or another dotted name.
    attributes
        Names of all attributes in it.
    """

    text: str
    uses: list[tuple[str, Definition | str]]
    attributes: frozenset[str] = frozenset()


@dataclass
class _Module:
    """A parsed module.

    Attributes
    ----------
    statements
        Statements that define each name.
    imports
        For each imported name, the module and the name in it; None for the module itself.
    loads
        Modules of the package that importing this one imports.
    """

    statements: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    loads: set[str] = field(default_factory=set)


def is_module(name: str) -> bool:
    """Whether the package has a module of this name."""
    return _path(name) is not None


def definitions(module: str) -> list[Definition]:
    """All definitions of a module."""
    return [Definition(module, name) for name in _module(module).statements]


@cache
def effects(module: str) -> tuple[Definition, ...]:
    """Statements that take effect when a module, and all that it imports from the package, is imported."""
    found: set[str] = set()
    pending = [module]
    while pending:
        name = pending.pop()
        if name in found or not _followed(name):
            continue
        found.add(name)
        pending += [*_module(name).loads, name.rpartition(".")[0] or name]
    return tuple(Definition(name, EFFECTS) for name in sorted(found) if EFFECTS in _module(name).statements)


@cache
def source(definition: Definition) -> Source:
    """Normalised source of a definition and what it uses."""
    if definition.name == WHOLE:
        return Source("", [("", used) for used in definitions(definition.module)])
    module, form = _module(definition.module), _normalised(definition, _text(definition.module))
    uses: list[tuple[str, Definition | str]] = []
    for name in form.names:
        if name in module.statements:
            uses.append((name, Definition(definition.module, name)))
        elif name in module.imports:
            uses += _used(form.chains, name, _follow(*module.imports[name]))
    for name, imported in form.imports:
        uses += _used(form.chains, name, _follow(*imported))
    for name in form.references:
        there, _, attribute = name.partition(":")
        uses += _used(form.chains, name, _follow(there, attribute or None))
    return Source(form.text, sorted({use for use in uses if use[1] != definition}, key=repr), form.attributes)


class _Form(NamedTuple):
    """What a definition says, whatever the names in it are.

    Attributes
    ----------
    text
        Normalised source.
    names
        Global names in it.
    chains
        Names in it, each with the attributes that it is asked for: ``("a", "b", "c")`` of ``a.b.c``.
    imports
        Names that it imports itself, and what each is.
    references
        Modules and definitions of the package that its strings name.
    attributes
        Names of all attributes in it.
    """

    text: str
    names: list[str]
    chains: frozenset[tuple[str, ...]]
    imports: list[tuple[str, tuple[str, str | None]]]
    references: list[str]
    attributes: frozenset[str]


@cache
def _normalised(definition: Definition, text: str) -> _Form:
    """Normalise a definition of a module with this text."""
    normaliser = _Normaliser(definition.module)
    nodes = [normaliser.normalised(statement) for statement in _statements(definition)]
    said = "\n".join(ast.unparse(node) for node in nodes)
    parts = [part for node in nodes for part in ast.walk(node)]
    return _Form(
        said,
        _global_names(said),
        _chains(nodes),
        normaliser.imports,
        _references(parts),
        frozenset(part.attr for part in parts if isinstance(part, ast.Attribute)),
    )


def methods(definition: Definition) -> list[Definition]:
    """Methods of a class, each as a definition ``Class.method``."""
    return [
        Definition(definition.module, f"{definition.name}.{part.name}")
        for statement in _statements(definition)
        if isinstance(statement, ast.ClassDef)
        for part in statement.body
        if isinstance(part, ast.FunctionDef)
    ]


def _statements(definition: Definition) -> list[ast.stmt]:
    """Statements of a definition, or of a method ``Class.method``."""
    name, _, method = definition.name.partition(".")
    found = _module(definition.module).statements.get(name, [])
    if method:
        parts = [part for cls in found if isinstance(cls, ast.ClassDef) for part in cls.body]
        found = [part for part in parts if isinstance(part, ast.FunctionDef) and part.name == method]
    if not found:
        raise LookupError(f"{definition.module} has no definition '{definition.name}'")
    return found


def _path(module: str) -> Path | None:
    """File of a module of this package, or None for anything else."""
    base = _ROOT.joinpath(*module.split(".")[1:])
    candidates = (base / "__init__.py", base.with_suffix(".py"))
    return next((path for path in candidates if module.split(".")[0] == "pausefl" and path.is_file()), None)


def _followed(module: str) -> bool:
    """Whether the definitions of a module can bear on numbers."""
    return not any(module == name or module.startswith(f"{name}.") for name in _NOT_FOLLOWED)


@cache
def _text(module: str) -> str:
    """Text of a module of the package."""
    path = _path(module)
    assert path is not None, module
    return path.read_text(encoding="utf-8")


def _module(name: str) -> _Module:
    """Parse a module of the package."""
    return _parsed(name, _text(name))


@cache
def _parsed(name: str, text: str) -> _Module:
    """Parse a module with this text."""
    path = _path(name)
    package = name if path is not None and path.name == "__init__.py" else name.rpartition(".")[0]
    found = _Module()
    for statement in ast.parse(text).body:
        _enter(statement, package, found)
    return found


def _enter(statement: ast.stmt, package: str, found: _Module) -> None:
    """Enter one top-level statement of a module into what was found in it."""
    match statement:
        case ast.Import() | ast.ImportFrom():
            for bound, (module, name) in _imported(statement, package):
                found.imports[bound] = (module, name)
                found.loads |= {m for m in (module, f"{module}.{name}") if is_module(m)}
            if isinstance(statement, ast.Import):
                found.loads |= {alias.name for alias in statement.names if is_module(alias.name)}
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            found.statements.setdefault(name, []).append(statement)
        case ast.AnnAssign(value=None):
            pass
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names = [name for target in targets for name in _bound(target)]
            for name in names:
                found.statements.setdefault(name, []).append(statement)
            if not names:
                found.statements.setdefault(EFFECTS, []).append(statement)
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            pass
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            pass
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            pass
        case _:
            found.statements.setdefault(EFFECTS, []).append(statement)
            for node in ast.walk(statement):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    _enter(node, package, found)
            for name in _bound(statement):
                found.statements.setdefault(name, []).append(statement)


def _bound(node: ast.AST) -> list[str]:
    """Names that a statement, or the target of an assignment, binds."""
    nodes = list(ast.walk(node))
    names = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return list(
        dict.fromkeys([*names, *(n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef))])
    )


def _imported(
    statement: ast.Import | ast.ImportFrom, package: str
) -> Iterator[tuple[str, tuple[str, str | None]]]:
    """Names that an import binds, and what to."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            yield (
                (alias.asname, (alias.name, None))
                if alias.asname
                else (alias.name.partition(".")[0], (alias.name.partition(".")[0], None))
            )
        return
    above = package.split(".")[: len(package.split(".")) - statement.level + 1] if statement.level else []
    module = ".".join([*above, *([statement.module] if statement.module else [])])
    for alias in statement.names:
        yield alias.asname or alias.name, (module, alias.name)


def _follow(module: str, name: str | None) -> Definition | str | None:
    """What an imported name is: a definition, however often re-exported; None if it is not followed."""
    if not is_module(module):
        return module if name is None else f"{module}.{name}"
    if not _followed(module):
        return None
    if name is None:
        return Definition(module, WHOLE)
    here = _module(module)
    if name in here.statements:
        return Definition(module, name)
    if name in here.imports and here.imports[name] != (module, name):
        return _follow(*here.imports[name])
    if is_module(f"{module}.{name}"):
        return _follow(f"{module}.{name}", None)
    raise LookupError(f"{module} has no definition '{name}'")


def _used(
    chains: Iterable[tuple[str, ...]], name: str, target: Definition | str | None
) -> list[tuple[str, Definition | str]]:
    """What is used of an import: of a module that is only asked for attributes, these; else all of it.

    A local name may shadow a module; where an attribute is not the module's, all of the module counts.
    """
    if target is None:
        return []
    if not (isinstance(target, Definition) and target.name == WHOLE):
        return [(name, target)]
    uses: list[tuple[str, Definition | str]] = []
    for chain in chains:
        if chain[0] != name:
            continue
        found: Definition | str | None = target
        try:
            for part in chain[1:]:
                if isinstance(found, Definition) and found.name == WHOLE:
                    found = _follow(found.module, part)
        except LookupError:
            found = target
        if found is not None:
            uses.append((".".join(chain), found))
    return uses


def _chains(nodes: Iterable[ast.AST]) -> frozenset[tuple[str, ...]]:
    """Names, each with the attributes that it is asked for."""
    found = set()
    pending = list(nodes)
    while pending:
        node = pending.pop()
        chain = _chain(node)
        if chain:
            found.add(chain)
        else:
            pending += ast.iter_child_nodes(node)
    return frozenset(found)


def _chain(node: ast.AST) -> tuple[str, ...]:
    """``("a", "b", "c")`` of the expression ``a.b.c``; empty for any other."""
    if isinstance(node, ast.Name):
        return (node.id,)
    inner = _chain(node.value) if isinstance(node, ast.Attribute) else ()
    return (*inner, node.attr) if inner and isinstance(node, ast.Attribute) else ()


def _references(nodes: Iterable[ast.AST]) -> list[str]:
    """Modules and definitions of the package that strings name, in order."""
    found = [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _REFERENCE.fullmatch(node.value)
    ]
    return [name for name in dict.fromkeys(found) if is_module(name.partition(":")[0])]


def _global_names(text: str) -> list[str]:
    """Names of a source that are not local to a function or class of it, in order."""
    found: list[str] = []
    pending = [symtable.symtable(text, "<definition>", "exec")]
    while pending:
        table = pending.pop(0)
        top = table.get_type() == "module"
        found += [s.get_name() for s in table.get_symbols() if s.is_referenced() and (top or s.is_global())]
        pending += table.get_children()
    return sorted(set(found))


class _Normaliser(ast.NodeTransformer):
    """Drops what cannot bear on a number.

    That is: docstrings, annotations of functions, the arguments of raised errors, assertions, branches that
    end in a refusal, calls that only check or tell, and texts that nothing is done with afterwards.

    Imports are taken out too: what a name stands for is said beside the source.

    Attributes
    ----------
    imports
        Names imported in functions, and what each is.
    """

    def __init__(self, module: str) -> None:
        path = _path(module)
        is_package = path is not None and path.name == "__init__.py"
        self.package = module if is_package else module.rpartition(".")[0]
        self.imports: list[tuple[str, tuple[str, str | None]]] = []
        self.in_class = False

    def normalised(self, statement: ast.stmt) -> ast.Module:
        """A statement without what cannot bear on a number; the statement itself is changed."""
        module = ast.Module([statement], [])
        self.generic_visit(module)
        return module

    def visit_Import(self, node: ast.Import) -> None:
        self.imports += _imported(node, self.package)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.imports += _imported(node, self.package)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        outer, self.in_class = self.in_class, False
        node.returns = None
        arguments = node.args
        for argument in (
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            *([arguments.vararg] if arguments.vararg else []),
            *([arguments.kwarg] if arguments.kwarg else []),
        ):
            argument.annotation = None
        self.generic_visit(node)
        self.in_class = outer
        while _drop_unread_texts(node):
            pass
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        outer, self.in_class = self.in_class, True
        self.generic_visit(node)
        self.in_class = outer
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if self.in_class:
            if not isinstance(node.annotation, ast.Constant):  # as a text, it uses nothing
                node.annotation = ast.Constant(ast.unparse(node.annotation))
            return self.generic_visit(node)
        if node.value is None:
            return None
        return self.visit_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        value = node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "Registry":
            # What is registered counts for those alone that use it.
            node.value = ast.Call(value.func, [], [])
        self.generic_visit(node)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        if isinstance(node.value, ast.Constant):
            return None
        if _only_tells(node.value):
            return None
        return self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        return None

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if error is not None and _last_name(error).endswith("Error"):
            node.exc, node.cause = error, None
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt] | None:
        self.generic_visit(node)
        binds = any(isinstance(part, ast.NamedExpr) for part in ast.walk(node.test))
        if _refuses(node.body) and not binds:
            return node.orelse
        if node.body or node.orelse or binds:
            node.body = node.body or [ast.Pass()]
            return node
        return None

    def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        node.items = [item for item in node.items if not _only_tells(item.context_expr)]
        return node if node.items else node.body

    def visit_Try(self, node: ast.Try) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if not node.finalbody and all(_refuses(handler.body) for handler in node.handlers):
            return [*node.body, *node.orelse]
        return _filled(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        return _filled(node)


#: Statements that need a body.
_BLOCKS = (
    ast.For,
    ast.While,
    ast.With,
    ast.Try,
    ast.ExceptHandler,
    ast.match_case,
    ast.FunctionDef,
    ast.ClassDef,
)


def _filled(node: ast.AST) -> ast.AST:
    """A block that has lost all its statements still needs one."""
    if isinstance(node, _BLOCKS) and not node.body:
        node.body = [ast.Pass()]
    return node


def _only_tells(node: ast.expr) -> bool:
    """Whether an expression is a call that only refuses or tells."""
    return isinstance(node, ast.Call) and _TELLING.fullmatch(_last_name(node.func)) is not None


def _last_name(node: ast.AST) -> str:
    """``c`` of ``a.b.c``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _refuses(body: list[ast.stmt]) -> bool:
    """Whether a normalised block only prepares an error that ends the run, and raises it."""
    *before, last = body or [ast.Pass()]
    return (
        isinstance(last, ast.Raise)
        and last.exc is not None
        and _last_name(last.exc) in _REFUSALS
        and all(isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr) for statement in before)
    )


class _DropUnread(ast.NodeTransformer):
    """Drops assignments of texts to names that nothing reads, and branches that are empty without."""

    def __init__(self, read: set[str]) -> None:
        self.read = read
        self.dropped = False

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        return self._unless_unread(node, node.targets[0], node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | None:
        return self._unless_unread(node, node.target, node.value)

    def _unless_unread(self, node: ast.stmt, target: ast.expr, value: ast.expr) -> ast.AST | None:
        if isinstance(target, ast.Name) and target.id not in self.read and _is_text(value):
            self.dropped = True
            return None
        return node

    def visit_If(self, node: ast.If) -> ast.AST | None:
        self.generic_visit(node)
        if not node.body:
            if not node.orelse and not any(isinstance(part, ast.NamedExpr) for part in ast.walk(node.test)):
                return None
            node.body = [ast.Pass()]
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        return _filled(super().generic_visit(node))


def _drop_unread_texts(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Drop texts that nothing is done with; returns whether there were any."""
    nodes = list(ast.walk(function))
    texts = any(isinstance(n, ast.Assign | ast.AugAssign) and _is_text(n.value) for n in nodes)
    if not texts or any(isinstance(node, ast.Global | ast.Nonlocal) for node in nodes):
        return False
    drop = _DropUnread({n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)})
    drop.generic_visit(function)
    return drop.dropped


def _is_text(node: ast.expr) -> bool:
    """Whether an expression can only be a text."""
    match node:
        case ast.JoinedStr() | ast.Constant(value=str()):
            return True
        case ast.BinOp(left=left, right=right):
            return _is_text(left) and _is_text(right)
        case ast.IfExp(body=body, orelse=orelse):
            return _is_text(body) and _is_text(orelse)
        case ast.Call(func=ast.Attribute(value=value)):
            return _is_text(value)
    return False
