"""Top-level definitions of the package: what each says, and which others it uses.

A definition is a function, a class with all its methods, or an assigned name. What it says is its syntax tree
without comments, docstrings, annotations (those of a class's fields stay: settings are checked by them) and
the text of ``raise``. A registry says no more than its name: its records count for those that use them.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

#: Name of the pseudo-definition that stands for all definitions of a module.
WHOLE = "*"
#: Name of the pseudo-definition with the statements that take effect when a module is imported.
EFFECTS = ""

#: A definition named in a string.
_REFERENCE = re.compile(r"pausefl(\.\w+)+:\w+")
#: Fields of syntax trees that bear on nothing.
_IGNORED = frozenset({"ctx", "kind", "simple", "type_comment", "type_params"})

#: What an imported name is: a module, and a name in it; None for the module itself.
Import = tuple[str, str | None]


class Definition(NamedTuple):
    """A definition by its place: module and name; a method is ``Class.method``."""

    module: str
    name: str


#: Modules that are known by the names of their definitions: a description of a run decides nothing in it, and
#: what is taken from an index counts, not how the index is kept.
_BY_NAME = ("pausefl.provenance", "pausefl.registry.base")
#: Calls of it make registries, which are such indices.
_REGISTRY = Definition("pausefl.registry.base", "Registry")


class Source(NamedTuple):
    """What a definition says and uses.

    Attributes
    ----------
    text
        What it says.
    uses
        Names in it, and what each is: a definition of the package, or another dotted name.
    attributes
        Names of all attributes in it.
    """

    text: str
    uses: tuple[tuple[str, Definition | str], ...] = ()
    attributes: frozenset[str] = frozenset()


class Package:
    """The source files of ``pausefl`` below a folder; each is read once.

    Parameters
    ----------
    root
        The folder of the package.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._modules: dict[str, _Module | None] = {}
        self._sources: dict[Definition, Source] = {}
        self.effects = cache(self._effects)

    def definitions(self, module: str) -> list[Definition]:
        """All definitions of a module."""
        return [Definition(module, name) for name in self._known(module).statements]

    def methods(self, definition: Definition) -> list[Definition]:
        """Methods of a class, each as a definition ``Class.method``."""
        return [
            Definition(definition.module, f"{definition.name}.{part.name}")
            for statement in self._statements(definition)
            if isinstance(statement, ast.ClassDef)
            for part in statement.body
            if isinstance(part, ast.FunctionDef)
        ]

    def _effects(self, module: str) -> list[Definition]:
        """Statements that take effect when a module, and all that it imports, is imported."""
        found: dict[str, _Module] = {}
        pending = [module]
        while pending:
            name = pending.pop()
            if name not in found and (there := self._module(name)) is not None:
                found[name] = there
                pending += [*there.loads, name.rpartition(".")[0]]
        return [Definition(name, EFFECTS) for name, there in found.items() if EFFECTS in there.statements]

    def source(self, definition: Definition) -> Source:
        """What a definition says and uses; `LookupError` if there is no such definition."""
        if definition not in self._sources:
            self._sources[definition] = self._read(definition)
        return self._sources[definition]

    def _read(self, definition: Definition) -> Source:
        if definition.name == WHOLE:
            return Source("", tuple(("", used) for used in self.definitions(definition.module)))
        module, statements = self._known(definition.module), self._statements(definition)
        if definition.module.startswith(_BY_NAME) or any(self._is_registry(module, one) for one in statements):
            return Source("")
        form = module.form(definition.name, statements)
        uses: set[tuple[str, Definition | str]] = set()
        for name in form.names:
            if name in module.statements:
                uses.add((name, Definition(definition.module, name)))
            elif name in module.imports:
                uses |= self._used(form.chains, name, self._follow(*module.imports[name]))
        for name, imported in form.imports:
            uses |= self._used(form.chains, name, self._follow(*imported))
        for loaded in _loaded(form.imports):
            uses |= {("", effect) for effect in self.effects(loaded)}
        for reference in form.references:
            there, _, name = reference.partition(":")
            uses.add((name, self._follow(there, name)))
        uses.discard((definition.name, definition))
        return Source(form.text, tuple(sorted(uses)), frozenset(form.attributes))

    def _statements(self, definition: Definition) -> list[ast.stmt]:
        name, _, method = definition.name.partition(".")
        found = self._known(definition.module).statements.get(name, [])
        if method:
            parts = [part for cls in found if isinstance(cls, ast.ClassDef) for part in cls.body]
            found = [part for part in parts if isinstance(part, ast.FunctionDef) and part.name == method]
        if not found:
            raise LookupError(f"{definition.module} has no definition '{definition.name}'")
        return found

    def _module(self, name: str) -> _Module | None:
        """Parse a module of this package; None for anything else."""
        if name not in self._modules:
            base = self.root.joinpath(*name.split(".")[1:])
            paths = (base / "__init__.py", base.with_suffix(".py")) if name.startswith("pausefl") else ()
            path = next((path for path in paths if path.is_file()), None)
            above = name if path is not None and path.name == "__init__.py" else name.rpartition(".")[0]
            self._modules[name] = None if path is None else _parsed(above, path.read_text(encoding="utf-8"))
        return self._modules[name]

    def _known(self, name: str) -> _Module:
        module = self._module(name)
        if module is None:
            raise LookupError(f"there is no module {name}")
        return module

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

    def _used(
        self, chains: Iterable[tuple[str, ...]], name: str, target: Definition | str
    ) -> set[tuple[str, Definition | str]]:
        """What is used of an import: of a module that is only asked for attributes, these; else all of it."""
        if isinstance(target, str) or target.name != WHOLE:
            return {(name, target)}
        uses = set()
        for chain in chains:
            if chain[0] == name:
                found: Definition | str = target
                try:
                    for part in chain[1:]:
                        if isinstance(found, Definition) and found.name == WHOLE:
                            found = self._follow(found.module, part)
                except LookupError:
                    found = target
                uses.add((".".join(chain), found))
        return uses


class _Module:
    """A parsed module: the statements that define each name, and what each imported name is."""

    def __init__(self, package: str, tree: ast.Module) -> None:
        self.package = package
        self.statements: dict[str, list[ast.stmt]] = {}
        self.imports: dict[str, Import] = {}
        self._forms: dict[str, _Form] = {}
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

    @cached_property
    def loads(self) -> set[str]:
        """What importing it imports, modules of other packages and names of definitions included."""
        return _loaded(self.imports.items())

    def form(self, name: str, statements: Iterable[ast.stmt]) -> _Form:
        """What the statements of a definition say."""
        if name not in self._forms:
            self._forms[name] = _Form(self.package, statements)
        return self._forms[name]

    def _enter(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            match statement:
                case ast.Import() | ast.ImportFrom():
                    self.imports.update(_imported(statement, self.package))
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    self._define([name], statement)
                case ast.Expr(ast.Constant()) | ast.Pass() | ast.AnnAssign(value=None):
                    pass
                case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                    parts = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                    self._define([name for part in parts for name in _stored(part)] or [EFFECTS], statement)
                case ast.If(test=test, orelse=orelse) if _never(test):
                    self._enter(orelse)
                case _:
                    self._define([EFFECTS, *_stored(statement)], statement)
                    for node in ast.walk(statement):
                        if isinstance(node, ast.Import | ast.ImportFrom):
                            self.imports.update(_imported(node, self.package))

    def _define(self, names: Iterable[str], statement: ast.stmt) -> None:
        for name in dict.fromkeys(names):
            self.statements.setdefault(name, []).append(statement)


@cache
def _parsed(package: str, text: str) -> _Module:
    return _Module(package, ast.parse(text))


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
            bound = alias.name.partition(".")[0]
            yield (alias.asname, (alias.name, None)) if alias.asname else (bound, (bound, None))
            if "." in alias.name and not alias.asname:  # loaded, and bound to no name
                yield "", (alias.name, None)
        return
    above = package.split(".")[: len(package.split(".")) - statement.level + 1] if statement.level else []
    module = ".".join([*above, *([statement.module] if statement.module else [])])
    for alias in statement.names:
        yield alias.asname or alias.name, (module, alias.name)


def _loaded(imports: Iterable[tuple[str, Import]]) -> set[str]:
    """What imports may load: the module, and what is asked of it, which may be a module too."""
    return {name for _, (module, asked) in imports for name in (module, f"{module}.{asked}")}


def _stored(node: ast.AST) -> list[str]:
    """Names that a statement outside functions, or the target of an assignment, binds."""
    nodes = list(ast.walk(node))
    names = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return [*names, *(n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef))]


def _global_names(text: str) -> set[str]:
    """Names of a source that are not local to a function or class of it."""
    found: set[str] = set()
    pending = [symtable.symtable(text, "<definition>", "exec")]
    while pending:
        table = pending.pop()
        top = table.get_type() == "module"
        found |= {
            one.get_name()
            for one in table.get_symbols()
            if one.is_declared_global() or (one.is_referenced() and (top or one.is_global()))
        }
        pending += table.get_children()
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
    chains
        Names, each with the attributes that it is asked for: ``("a", "b", "c")`` of ``a.b.c``.
    attributes
        Names of all attributes.
    imports
        Names that functions import, and what each is.
    references
        Definitions of the package that strings name.
    """

    def __init__(self, package: str, statements: Iterable[ast.stmt]) -> None:
        self.chains: set[tuple[str, ...]] = set()
        self.attributes: set[str] = set()
        self.imports: list[tuple[str, Import]] = []
        self.references: set[str] = set()
        self._package = package
        self._in_class = False
        # A method is read on its own and in its class, so the statements have been changed already, or will be.
        text = ast.unparse(self.visit(ast.Module(list(statements), [])))
        self.text = re.sub(r"^ *pass$\n?", "", text, flags=re.MULTILINE)
        self.names = _global_names(text)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        self.chains.add((node.id,))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        names, base = [node.attr], node.value
        while isinstance(base, ast.Attribute):
            names.append(base.attr)
            base = base.value
        self.attributes.update(names)
        if not isinstance(base, ast.Name):
            return self.generic_visit(node)
        self.chains.add((base.id, *reversed(names)))
        return node

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> ast.AST:
        passed = ast.Pass()
        passed.imported = list(_imported(node, self._package))  # type: ignore[attr-defined]
        return self.visit(passed)

    visit_ImportFrom = visit_Import

    def visit_Pass(self, node: ast.Pass) -> ast.AST:
        self.imports += getattr(node, "imported", ())
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        for part in ast.walk(node.args):
            if isinstance(part, ast.arg):
                part.annotation = None
        return self._inside(node, in_class=False)

    visit_AsyncFunctionDef = visit_FunctionDef

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

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, str) and _REFERENCE.fullmatch(node.value):
            node.reference = node.value  # type: ignore[attr-defined]
            node.value = node.value.partition(":")[2]
        self.references |= {node.reference} if hasattr(node, "reference") else set()
        return node


class _Blank(ast.NodeTransformer):
    """Empties texts."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return ast.Constant("")
