"""Hash of the code behind results: every definition that is reached by name from where they are made."""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Self

from pausefl.errors import ConfigError
from pausefl.provenance.definitions import EFFECTS, Import, Module, parsed
from pausefl.registry import (
    BACKENDS,
    MECHANISMS,
    MODELS,
    REWARDS,
    SAMPLERS,
    SCHEDULES,
    SELECTORS,
    SOURCES,
    Record,
)
from pausefl.registry.backends import fastest_backend
from pausefl.settings import Scenario

#: What runs in every job, apart from what its scenario and its selector choose.
_JOB = (
    "pausefl.settings.scenario:Scenario",
    "pausefl.data.sources:prepare",
    "pausefl.data.dataset:load_dataset",
    "pausefl.data.partition:make_partition",
    "pausefl.data.partition:load_partition",
    "pausefl.federated.run:run_job",
)
#: Digits of the hash of a part.
_PART = 8
#: Modules whose definitions say no more than their names: a description of a run decides nothing in it, of an
#: index counts what is taken from it, not how it is kept, and the interface only says where names are.
_BY_NAME = ("pausefl.provenance", "pausefl.registry.base", "pausefl.registry.own", "pausefl:")


class Code(str):
    """Hash of the code behind a result: 16 hexadecimal digits."""

    #: Hash of each definition, ``package.module:name``, of what importing a module executes (``import``), and
    #: of what is read of each record.
    parts: dict[str, str]

    def __new__(cls, digits: str, parts: dict[str, str]) -> Self:  # noqa: D102 (see the class)
        code = super().__new__(cls, digits)
        code.parts = parts
        return code

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Other processes get the plain hash."""
        return str, (str(self),)


def job_code(
    scenario: Scenario, selector: str, device: str = "cpu", *, genie: bool = False, in_folder: bool = False
) -> Code:
    """Hash of the code that the results of a job depend on.

    Parameters
    ----------
    scenario
        Names the data source, model, reward and privacy whose code counts. Its other values do not.
    selector
        What selects.
    device
        Type of device that it trains on: ``cpu`` or ``cuda``.
    genie
        Whether the pseudo-regret is computed.
    in_folder
        Whether the data were read from a folder of images in place of the source's files.
    """
    data, training = SOURCES.find(scenario.data.source), scenario.training
    family = MODELS.find(scenario.model.name).family
    backend = fastest_backend(device, family, training.precision, data.regression)
    reader = data.in_folder if in_folder and data.in_folder is not None else data
    selectors = [selector, *(["genie"] if genie else [])]
    return code_hash(*_JOB, records=[*scenario_records(scenario, selectors), reader, BACKENDS.find(backend)])


def scenario_records(scenario: Scenario, selectors: Iterable[str]) -> list[Record]:
    """Records of what a scenario uses whether or not it trains: selectors, reward, privacy, model."""
    records: list[Record] = [SELECTORS.find(name) for name in selectors]
    private = any(SELECTORS.find(name).private for name in selectors)
    records += [REWARDS.find(scenario.reward.name), MODELS.find(scenario.model.name)]
    if scenario.privacy is not None and private:
        records += [
            MECHANISMS.find(scenario.privacy.mechanism),
            SCHEDULES.find(scenario.privacy.schedule),
            SAMPLERS.find(scenario.privacy.sampler),
        ]
    return records


def code_hash(*roots: str, records: Iterable[Record] = ()) -> Code:
    """Hash of definitions and of all definitions that they reach, wherever these stand.

    `pausefl.provenance.definitions` says what counts of a definition.

    Parameters
    ----------
    roots
        Definitions, ``"package.module:name"``, or modules, for all of theirs; `LookupError` if there is none.
    records
        Records of what is used. Their code counts, and those of their other fields that this code reads.
    """
    used = list(records)
    places = [*roots, *(record.code for record in used)]
    own = frozenset(home for place in places if (home := _home(place)) is not None)
    try:
        return (_with_own(own) if own else TODAY).code(roots, used)
    except LookupError as error:
        if not own:
            raise
        raise ConfigError(f"the code of {' and '.join(places[-1:])} cannot be read: {error}") from None


def changes(then: Mapping[str, str], now: Mapping[str, str]) -> dict[str, list[str]]:
    """Which definitions are ``changed``, ``added`` and ``removed`` from some `Code.parts` to others.

    One that only stands elsewhere is none of them.
    """
    old, new = ({name: d for name, d in a.items() if b.get(name) != d} for a, b in ((then, now), (now, then)))
    moved = set(old.values()) & set(new.values())
    names = [[name for name, digest in parts.items() if digest not in moved] for parts in (old, new)]
    return {
        "changed": sorted(set(names[0]) & set(new)),
        "added": sorted(set(names[1]) - set(old)),
        "removed": sorted(set(names[0]) - set(new)),
    }


class _Home(NamedTuple):
    """Where modules are that are a user's own."""

    folder: Path
    #: The only module or package there that is; empty if all are.
    only: str = ""


def _home(place: str) -> _Home | None:
    """Home of the module of a definition; None for one of pausefl, and for one without a file.

    In a folder of one's own, all modules beside it are one's own, too; among installed packages, none is.
    """
    first = re.split("[.:]", place)[0]
    spec = None if first == "pausefl" else find_spec(first)
    file = None if spec is None else next(iter(spec.submodule_search_locations or ()), spec.origin)
    if file is None:
        return None
    folder = Path(file).absolute().parent
    return _Home(folder, first if folder.name in ("site-packages", "dist-packages") else "")


@cache
def _with_own(own: frozenset[_Home]) -> Hashes:
    return Hashes(Path(__file__).parents[1], own)


class _Source(NamedTuple):
    """What a definition says and uses."""

    #: Empty if no more than its name counts.
    text: str = ""
    #: Names in it, and what each is: a definition of the package, or another dotted name.
    uses: tuple[tuple[str, str], ...] = ()
    #: Names of all attributes in it.
    attributes: frozenset[str] = frozenset()


class _Reached(NamedTuple):
    """All that a definition reaches by name."""

    #: Hash of what all of these say and how they use each other, wherever they stand.
    hash: str
    definitions: frozenset[str]
    attributes: frozenset[str]


class Hashes:
    """Hashes of the code of the package ``pausefl`` in the folder ``root``; each file is read once.

    What is a user's ``own`` counts as if it were in the package. A definition is known by its place,
    ``package.module:name``; ``package.module:*`` is all of a module.
    """

    def __init__(self, root: Path, own: Iterable[_Home] = ()) -> None:
        self._root, self._own_homes = root, sorted(own)
        self._module = cache(self._parse)
        self._effects = cache(self._executed)
        self._source = cache(self._read)
        self._own = cache(self._hash)
        self._reached = cache(self._reach)
        self._united = cache(self._unite)

    def code(self, roots: Iterable[str], records: Iterable[Record]) -> Code:
        """What `code_hash` returns."""
        used = list(records)
        reached, parts, read = self._united(frozenset((*roots, *(record.code for record in used))))
        lines, said = {reached}, dict(parts)
        for record in used:
            fields = json.dumps(_fields(record, read), sort_keys=True, default=sorted)
            lines.add(f"{self._reached(record.code).hash} {fields}")
            said[f"{record.code} ({type(record).__name__})"] = _short(fields)[:_PART]
        return Code(_short(*sorted(lines)), said)

    def _unite(self, roots: frozenset[str]) -> tuple[str, dict[str, str], frozenset[str]]:
        """Hash and parts of all that some definitions reach, and names of attributes in them."""
        reached = [self._reached(root) for root in roots]
        found = sorted(frozenset[str]().union(*(one.definitions for one in reached)))
        return (
            _short(*sorted({one.hash for one in reached})),
            {place: own for place in found if (own := self._own(place))},
            frozenset[str]().union(*(one.attributes for one in reached)),
        )

    def _reach(self, root: str) -> _Reached:
        """Follow all names, in their order; a definition is identified by when it is reached first."""
        found = [root if ":" in root else f"{root}:*"]
        numbers, lines = {found[0]: 0}, list[str]()
        for place in found:
            source = self._source(place)
            lines.append(source.text or place.partition(":")[2])
            for name, used in source.uses:
                if ":" in used and used not in numbers:
                    numbers[used] = len(found)
                    found.append(used)
                lines.append(f"{name} = {numbers.get(used, used)}")
        attributes = frozenset[str]().union(*(self._source(one).attributes for one in found))
        return _Reached(_short(*lines), frozenset(found), attributes)

    def _hash(self, place: str) -> str:
        """Hash of a definition alone; empty if nothing counts but its name."""
        text, uses, _ = self._source(place)
        named = sorted(f"{name} = {used.rpartition(':')[2]}" for name, used in uses)
        return _short(text, *named)[:_PART] if text else ""

    def _read(self, place: str) -> _Source:
        """What a definition says and uses; `LookupError` if there is no such definition."""
        where, _, name = place.partition(":")
        module = self._module(where)
        if module is None or name not in ("*", *module.statements):
            raise LookupError(f"{where} has no definition '{name}'")
        if name == "*":
            return _Source(uses=tuple((one, f"{where}:{one}") for one in module.statements))
        if place.startswith(_BY_NAME) or _is_registry(module.statements[name][0]):
            return _Source()
        form = module.form(name)
        imports = form.imports | {(used, module.imports[used]) for used in form.names & module.imports.keys()}
        uses = {(used, self._follow(*target)) for used, target in imports}
        uses |= {(used, f"{where}:{used}") for used in form.names & module.statements.keys()}
        loaded = (where, *_modules(form.imports))
        uses |= {(EFFECTS, f"{one}:{EFFECTS}") for one in frozenset[str]().union(*map(self._effects, loaded))}
        return _Source(form.text, tuple(sorted(uses)), frozenset(form.attributes))

    def _executed(self, module: str) -> frozenset[str]:
        """Modules with statements that take effect when a module, and all that it imports, is imported."""
        found: dict[str, Module] = {}
        pending = [module]
        while pending:
            name = pending.pop()
            if name not in found and (there := self._module(name)) is not None:
                found[name] = there
                pending += [*_modules(there.imports.items()), name.rpartition(".")[0]]
        return frozenset(name for name, there in found.items() if EFFECTS in there.statements)

    def _parse(self, name: str) -> Module | None:
        """A module of this package, or a user's own; None for anything else."""
        first, *below = name.split(".")
        bases = [home.folder.joinpath(first, *below) for home in self._own_homes if home.only in ("", first)]
        for base in [self._root.joinpath(*below)] if first == "pausefl" else bases:
            paths = {base / "__init__.py": name, base.with_name(f"{base.name}.py"): name.rpartition(".")[0]}
            for path, package in paths.items():
                if path.is_file():
                    return parsed(package, path.read_text(encoding="utf-8"))
        return None

    def _follow(self, module: str, name: str | None) -> str:
        """What an imported name is: a definition, however often re-exported, or another dotted name."""
        here = self._module(module)
        if here is None:
            return module if name is None else f"{module}.{name}"
        if name is None or name in here.statements:
            return f"{module}:{name or '*'}"
        if name in here.imports and here.imports[name] != (module, name):
            return self._follow(*here.imports[name])
        if self._module(f"{module}.{name}") is not None:
            return f"{module}.{name}:*"
        if "__getattr__" in here.statements:  # such as pausefl, which imports its names when they are used
            found = getattr(importlib.import_module(module), name)
            return self._follow(found.__module__, found.__qualname__)
        raise LookupError(f"{module} has no definition '{name}'")


def _modules(imports: Iterable[tuple[str, Import]]) -> set[str]:
    """What imports may load: the module, and what is asked of it, which may be a module too."""
    return {name for _, (module, asked) in imports for name in (module, f"{module}.{asked}")}


def _is_registry(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "Registry"


def _fields(record: Record, read: frozenset[str]) -> dict[str, Any]:
    """Fields and properties of a record that are read, apart from the place of its code."""
    names = [name for name in dir(record) if name in read and name != "code" and not name.startswith("_")]
    values = {name: value for name in names if not callable(value := getattr(record, name))}
    return {name: _fields(one, read) if isinstance(one, Record) else one for name, one in values.items()}


def _short(*lines: str) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


#: Hashes of the code that runs.
TODAY = Hashes(Path(__file__).parents[1])
