"""Hash of the code behind a result: modules and all that they import, without comments and docstrings."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import TYPE_CHECKING

from pausefl.data.sources import SOURCES
from pausefl.files import path_of

if TYPE_CHECKING:
    from pausefl.settings import Scenario

#: The folder that has the package.
_ROOT = Path(__file__).parents[2]
#: They check settings, whose values are parameters of steps, word messages, or say how a run went.
_IGNORED = tuple(
    f"pausefl.{name}." for name in ("errors", "files", "progress", "provenance", "schema", "settings")
)
#: What does not count either where it is said which parts are used: what names all, and what shows results.
_BESIDE_PARTS = ("pausefl.selectors", "pausefl.data.sources")
#: Facts of parts that only say how results are shown.
_SHOWN = {"look", "label", "color", "about", "caption", "origin"}


def job_code(scenario: Scenario, selector: str, *, genie: bool = False) -> str:
    """Hash of the code that a job depends on: the loop, and whatever its scenario and its selector name.

    A file of latencies counts as code.
    """
    source, selectors = SOURCES.find(scenario.data.source), [selector, *(["genie"] if genie else [])]
    parts = [*scenario.parts(selectors), source, *([source.in_folder] if source.in_folder else [])]
    code = code_hash("pausefl.federated.run", "pausefl.selectors.making", parts=parts)
    file = scenario.network.latency_file
    if file is None or not (path := path_of(file)).is_file():
        return code
    return hashlib.sha256(code.encode() + path.read_bytes()).hexdigest()[:16]


def code_hash(*modules: str | Path, parts: Iterable[type] | None = None) -> str:
    """Hash of modules and of all that they import, of pausefl or of a user's own: 16 hexadecimal digits.

    Files beside a module that are no Python, such as templates, count with it.

    Parameters
    ----------
    modules
        Names of modules, or ``module:name``; or the path of a script.
    parts
        Classes that are used, of selectors, data sources and so on: their modules count, and no others of
        their kind, so that an edit of one selector reruns no job of another; neither do looks and figures.
    """
    places, bare = [f"{one.__module__}:{one.__qualname__}" for one in parts or ()], parts is not None
    found, roots = dict.fromkeys(places, ""), [*modules, *places]
    pending = [(one if isinstance(one, Path) else one.partition(":")[0], _home(str(one))) for one in roots]
    while pending:
        one, home = pending.pop()
        # A script stands in another folder in another checkout.
        module, path = ("", one) if isinstance(one, Path) else (one, _file(one, home))
        if path and module not in found and not _is_ignored(module, bare):
            found[module], imported = _read(path, module, bare)
            # Beside an installed module are others' modules.
            beside = None if f"{module}.".startswith("pausefl.") or "site-packages" in path.parts else home
            pending += [(name, beside) for name in imported]
    return hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()[:16]


def _is_ignored(module: str, bare: bool) -> bool:
    beside = bare and (module in _BESIDE_PARTS or module.startswith("pausefl.figures."))
    section = re.fullmatch(r"pausefl\.\w+\.settings", module)
    return beside or section is not None or f"{module}.".startswith(_IGNORED)


def _home(place: str) -> Path | None:
    """Folder that has the top of a user's own module, with what else is the user's; None for pausefl's."""
    first = re.split("[.:]", place)[0]
    spec = find_spec(first) if first.isidentifier() and first != "pausefl" else None
    file = spec and next(iter(spec.submodule_search_locations or ()), spec.origin)
    return Path(file).parent if file else None


@cache
def _file(module: str, home: Path | None) -> Path | None:
    """File of a module of the package, or of one in a user's ``home``; None for any other."""
    root = _ROOT if f"{module}.".startswith("pausefl.") else home
    if root is None:
        return None
    base = root.joinpath(*module.split("."))
    return next(filter(Path.is_file, (base / "__init__.py", base.parent / f"{base.name}.py")), None)


@cache
def _read(path: Path, module: str, bare: bool) -> tuple[str, list[str]]:
    """Hash of what counts of a module, without looks if ``bare``; and what it imports, maybe names in it."""
    tree, imported = _Bare(_SHOWN if bare else set()).visit(ast.parse(path.read_text("utf-8"))), []
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            imported += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    beside = _beside(path.parent) if re.match(r"pausefl\.\w+\.", module) else ""
    return hashlib.sha256((ast.unparse(tree) + beside).encode()).hexdigest(), imported


@cache
def _beside(folder: Path) -> str:
    """Hash of the files of a package that are no Python, without those of packages in it."""
    packages = {path.parent for path in folder.rglob("__init__.py")} - {folder}
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and file.suffix != ".py"]
    data = [f.read_bytes() for f in files if "__pycache__" not in f.parts and not packages & {*f.parents}]
    return hashlib.sha256(b"".join(data)).hexdigest()


class _Bare(ast.NodeTransformer):
    """Takes out docstrings, imports for annotations, and the values of some names."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        return None if {ast.unparse(one) for one in node.targets} & self.names else node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else node

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if ast.unparse(node.test).endswith("TYPE_CHECKING") else self.generic_visit(node)
