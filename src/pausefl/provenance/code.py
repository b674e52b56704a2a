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
_IGNORED = re.compile(r"pausefl\.((errors|files|progress|provenance|schema|settings)(\..*)?|\w+\.settings)")
#: Where it is said which parts are used, neither what names all of them counts, nor what shows results.
_BESIDE_PARTS = re.compile(r"pausefl\.(selectors|data\.sources|(analysis|reproduction)\.figures\..*)")
_SHOWN = frozenset({"look", "label", "color", "about", "caption", "origin"})


def job_code(scenario: Scenario, selector: str, *, genie: bool = False) -> str:
    """Hash of what a job depends on: the loop, what its scenario and selector name, and traces."""
    source, selectors = SOURCES.find(scenario.data.source), [selector, *(["genie"] if genie else [])]
    parts = [*scenario.parts(selectors), source, *([source.in_folder] if source.in_folder else [])]
    named = (scenario.network.latency_file, scenario.network.availability_file)
    traces = [path_of(file) for file in named if file]
    return code_hash("pausefl.federated.run_job", "pausefl.selectors.making", *traces, parts=parts)


def code_hash(*modules: str | Path, parts: Iterable[type] | None = None) -> str:
    """Hash of modules and of all that they import, of pausefl or of a user's own: 16 hexadecimal digits.

    Parameters
    ----------
    modules
        Names of modules, or ``module:name``; or paths of scripts and other files.
    parts
        Classes that are used, of selectors, data sources and so on: their modules count, and no others of
        their kind, so that an edit of one selector reruns no job of another; neither do looks and figures.
    """
    return _hash_of(modules, None if parts is None else frozenset(parts))


@cache
def _hash_of(modules: tuple[str | Path, ...], parts: frozenset[type] | None) -> str:
    """What `code_hash` returns; a dry run asks hundreds of times for the same few."""
    homes = {top: _home(top) for top in sorted({one.__module__.partition(".")[0] for one in parts or ()})}
    homes["pausefl"] = _ROOT
    # With each the folder of what imports it, where else it may be.
    pending: list[tuple[str | Path, Path | None]] = [(one, None) for one in modules]
    pending += [(one.__module__, None) for one in parts or ()]
    hashes: dict[str, str] = {}
    while pending:
        one, beside = pending.pop()
        # A script stands in another folder in another checkout.
        name = one.name if isinstance(one, Path) else one.partition(":")[0]
        if isinstance(one, Path) and name in hashes:  # a file of the same name in another folder
            name = f"{len(hashes)} {name}"
        home = homes.get(name.partition(".")[0], beside)
        path = one if isinstance(one, Path) else home and _file(name, home)
        ignored = _IGNORED.fullmatch(name) or (parts is not None and _BESIDE_PARTS.fullmatch(name))
        if path and path.is_file() and name not in hashes and not ignored:
            hashes[name], imported = _read(path, name, frozenset() if parts is None else _SHOWN)
            # Beside pausefl, and beside an installed module, are others' modules.
            beside = None if home == _ROOT or "site-packages" in path.parts else home
            pending += [(each, beside) for each in imported]
    return hashlib.sha256(repr(sorted(hashes.items())).encode()).hexdigest()[:16]


def _home(top: str) -> Path:
    """The folder that has a user's own module or package."""
    spec = find_spec(top)
    place = spec and next(iter(spec.submodule_search_locations or ()), spec.origin)
    return Path(place or "").parent


@cache
def _file(module: str, home: Path) -> Path | None:
    """File of a module in a folder; None if there is none, as of other libraries."""
    base = home.joinpath(*module.split("."))
    return next(filter(Path.is_file, (base / "__init__.py", base.parent / f"{base.name}.py")), None)


@cache
def _read(path: Path, module: str, shown: frozenset[str]) -> tuple[str, list[str]]:
    """Hash of a module without some attributes of classes, and of the files of its folder that are no Python.

    And what it imports: modules, or maybe names in them. Of what is no Python, the hash.
    """
    if path.suffix != ".py":
        return hashlib.sha256(path.read_bytes()).hexdigest(), []
    tree, imported = ast.parse(path.read_text("utf-8")), []
    for node in ast.walk(tree):
        names = shown if isinstance(node, ast.ClassDef) else frozenset()
        for lines in [value for value in vars(node).values() if isinstance(value, list)]:
            lines[:] = [one for one in lines if not _decides_nothing(one, names)]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            imported += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    beside = sorted(path.parent.iterdir()) if module.startswith("pausefl.") else []
    others = [file for file in beside if file.is_file() and file.suffix != ".py"]
    files = [file.read_bytes() for file in others if not re.match(r"\..*|.*~$", file.name)]  # an editor's
    return hashlib.sha256(b"".join([ascii(_form(tree)).encode(), *files])).hexdigest(), imported


def _form(node: object) -> object:
    """A syntax tree as lists: Python writes the same code in another way in another version."""
    if isinstance(node, list):
        return [_form(one) for one in node]
    if not isinstance(node, ast.AST):
        return node
    filled = [(name, _form(value)) for name, value in ast.iter_fields(node) if value not in (None, [])]
    return [type(node).__name__, *filled]


def _decides_nothing(statement: object, shown: frozenset[str]) -> bool:
    """Whether it is a docstring, imports for annotations alone, or the value of a name in ``shown``."""
    match statement:
        case ast.Expr(ast.Constant()) | ast.If(
            ast.Name("TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")
        ):
            return True
        case ast.Assign(names):
            return any(isinstance(one, ast.Name) and one.id in shown for one in names)
    return False
