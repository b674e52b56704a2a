"""Registries: every record loads, reading them is cheap, and nothing else compares with their names."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from pausefl.bandit.rewards import Reward
from pausefl.errors import ConfigError
from pausefl.privacy import Mechanism, Sampler, Schedule
from pausefl.registry import (
    BACKENDS,
    FIGURES,
    MECHANISMS,
    MODELS,
    REWARDS,
    SAMPLERS,
    SCHEDULES,
    SELECTORS,
    SOURCES,
    Registry,
)
from pausefl.registry.backends import fastest_backend
from pausefl.selectors import Selector
from pausefl.studies import kinds
from pausefl.training.backends.base import Backend

ROOT = Path(__file__).parents[2]
REGISTRIES: dict[str, Registry[Any]] = {
    registry.what: registry
    for registry in (
        SELECTORS,
        MODELS,
        SOURCES,
        REWARDS,
        MECHANISMS,
        SCHEDULES,
        SAMPLERS,
        BACKENDS,
        FIGURES,
    )
}
#: Base of the classes that records name; the others name functions.
BASES: dict[str, type] = {
    SELECTORS.what: Selector,
    REWARDS.what: Reward,
    MECHANISMS.what: Mechanism,
    SCHEDULES.what: Schedule,
    SAMPLERS.what: Sampler,
    BACKENDS.what: Backend,
}


@pytest.mark.parametrize("what", REGISTRIES)
def test_every_record_loads_what_it_names(what: str) -> None:
    for name, record in REGISTRIES[what].items():
        code = record.load()
        if what in BASES:
            assert issubclass(code, BASES[what]), name
            assert not inspect.isabstract(code), name
        else:
            assert callable(code), name


@pytest.mark.parametrize("what", REGISTRIES)
def test_an_unknown_name_is_refused_with_the_nearest_one(what: str) -> None:
    name = next(iter(REGISTRIES[what]))
    with pytest.raises(ConfigError, match=f"unknown {what} '{name}x'. Did you mean '{name}'"):
        REGISTRIES[what].find(f"{name}x")


def test_reading_the_registries_loads_nothing_large() -> None:
    heavy = "{'torch', 'numba', 'matplotlib', 'scipy', 'sklearn', 'pandas'}"
    code = f"import sys, pausefl.registry; print(sorted(set(sys.modules) & {heavy}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_backend(name: str) -> None:
    family = MODELS[name].family
    for device, precision, regression in product(("cpu", "cuda"), ("float32", "bfloat16"), (True, False)):
        chosen = BACKENDS[fastest_backend(device, family, precision, regression)]
        assert chosen.takes(device, family, precision, regression)


#: What may compare with names: the records themselves, styles, and claims, which are about selectors.
ALLOWED = ("src/pausefl/registry/", "src/pausefl/figures/style.py", "src/pausefl/claims/")
#: What an expression says if it looks at a setting whose value is a name.
CONTEXT = re.compile(r"selector|mechanism|schedule|sampler|model|reward|source|kind|backend|names?\b")
#: Names that are words with other meanings elsewhere.
WORDS = {
    *(
        "random",
        "fastest",
        "genie",
        "bsfl",
        "linear",
        "uniform",
        "listed",
        "geometric",
        "coordinate",
        "vector",
    ),
    *("simulated", "secure", *FIGURES, *kinds()),
}
NAMES = {what: set(registry) for what, registry in REGISTRIES.items()}
ALL_NAMES = set().union(*NAMES.values())


def strings(node: ast.AST) -> set[str]:
    return {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def offends(node: ast.AST) -> bool:
    """Whether an expression branches on a registered name: ``==``, ``in``, ``startswith`` or tables."""
    if isinstance(node, ast.Compare):
        hits = strings(node) & ALL_NAMES
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "startswith":
        prefixes = {text for argument in node.args for text in strings(argument) if len(text) > 1}
        hits = {name for name in ALL_NAMES - WORDS for text in prefixes if name.startswith(text)}
        return bool(hits and CONTEXT.search(ast.unparse(node)))
    elif isinstance(node, ast.Dict):
        keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
        return any(len(keys & names) > 1 for names in NAMES.values())
    else:
        return False
    return bool(hits - WORDS or (hits and CONTEXT.search(ast.unparse(node))))


def expressions(path: Path) -> Iterator[tuple[int, ast.AST]]:
    """Expressions of a Python file, or of the lines of a Snakemake file that are Python."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from ((getattr(node, "lineno", 0), node) for node in ast.walk(ast.parse(text)))
        return
    for number, line in enumerate(text.splitlines(), start=1):
        for attempt in (line.strip(), line.strip().rstrip(",").partition("=")[2], f"{line.strip()} 0"):
            try:
                tree = ast.parse(attempt.removeprefix("return ").strip())
            except SyntaxError:
                continue
            yield from ((number, node) for node in ast.walk(tree))
            break


def test_nothing_else_compares_with_a_registered_name() -> None:
    files = [
        *ROOT.glob("src/pausefl/**/*.py"),
        *ROOT.glob("workflow/**/*.py"),
        *ROOT.glob("workflow/**/*.smk"),
    ]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {ast.unparse(node)[:90]}"
        for path in [*files, ROOT / "workflow/Snakefile", ROOT / "Snakefile"]
        if path.is_file() and not str(path.relative_to(ROOT)).startswith(ALLOWED)
        for number, node in expressions(path)
        if offends(node)
    ]
    assert found == [], "ask the record of the registry instead:\n" + "\n".join(sorted(set(found)))
