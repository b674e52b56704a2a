"""Hash of the code behind results: every definition that is reached by name from where they are made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self

from pausefl.provenance.definitions import WHOLE, Definition, Package
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


class Code(str):
    """Hash of the code behind a result: 16 hexadecimal digits.

    Attributes
    ----------
    parts
        Hash of each definition, ``package.module:name``, and of what is read of each record; of statements
        that importing a module executes under its name alone.
    """

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
        Definitions, ``"package.module:name"``, or modules, for all of their definitions.
    records
        Records of what is used. Their code counts, and those of their other fields that this code reads.

    Raises
    ------
    LookupError
        If there is no such root.
    """
    return TODAY.code(roots, records)


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


class _Reached(NamedTuple):
    """All that a definition reaches by name.

    Attributes
    ----------
    hash
        Of what all of these say and how they use each other, wherever they stand.
    definitions
        The definition itself, and those that it reaches.
    attributes
        Names of all attributes in them.
    effects
        Statements that importing them executes.
    """

    hash: str
    definitions: frozenset[Definition]
    attributes: frozenset[str]
    effects: frozenset[Definition]


class Hashes:
    """Hashes of the code of a package.

    Parameters
    ----------
    root
        Folder of the package ``pausefl``.
    """

    def __init__(self, root: Path) -> None:
        self.package = Package(root)
        self._reached, self._definitions = cache(self._reach), cache(self._define)

    def code(self, roots: Iterable[str], records: Iterable[Record]) -> Code:
        """What `code_hash` returns."""
        used = list(records)
        places = frozenset(map(_place, [*roots, *(record.code for record in used)]))
        whole, parts, read = self._definitions(places)
        lines, said = {whole}, {}
        for record in used:
            fields = json.dumps(_fields(record, read), sort_keys=True, default=sorted)
            lines.add(f"{self._reached(_place(record.code)).hash} {fields}")
            said[f"{record.code} ({type(record).__name__})"] = _short(fields)[:_PART]
        return Code(_short(*sorted(lines)), parts | said)

    def _define(self, roots: frozenset[Definition]) -> tuple[str, dict[str, str], frozenset[str]]:
        """Hash and parts of all that some definitions reach, and names of attributes in them."""
        reached: dict[Definition, _Reached] = {}
        while new := roots - reached.keys():
            reached |= {root: self._reached(root) for root in new}
            roots = roots.union(*(reached[root].effects for root in new))
        found = sorted(frozenset[Definition]().union(*(one.definitions for one in reached.values())))
        parts = {f"{one.module}:{one.name}".rstrip(":"): self._own(one) for one in found}
        return (
            _short(*sorted({one.hash for one in reached.values()})),
            {name: part for name, part in parts.items() if part},
            frozenset[str]().union(*(one.attributes for one in reached.values())),
        )

    def _reach(self, root: Definition) -> _Reached:
        """Follow all names, in their order; a definition is told by when it is reached first."""
        numbers, found, lines = {root: 0}, [root], list[str]()
        for definition in found:
            source = self.package.source(definition)
            lines.append(source.text or definition.name)
            for name, used in source.uses:
                if isinstance(used, Definition) and used not in numbers:
                    numbers[used] = len(found)
                    found.append(used)
                lines.append(f"{name} = {numbers[used] if isinstance(used, Definition) else used}")
        sources = [self.package.source(definition) for definition in found]
        return _Reached(
            _short(*lines),
            frozenset(found),
            frozenset[str]().union(*(source.attributes for source in sources)),
            frozenset[Definition]().union(*(source.effects for source in sources)),
        )

    def _own(self, definition: Definition) -> str:
        """Hash of a definition alone; empty if nothing counts but its name."""
        source = self.package.source(definition)
        named = [f"{name} = {used if isinstance(used, str) else used.name}" for name, used in source.uses]
        return _short(source.text, *sorted(named))[:_PART] if source.text else ""


def _place(text: str) -> Definition:
    """Where a text, ``package.module:name`` or ``package.module``, says."""
    module, _, name = text.partition(":")
    return Definition(module, name or WHOLE)


def _fields(record: Record, read: frozenset[str]) -> dict[str, Any]:
    """Fields and properties of a record that are read, apart from the place of its code."""
    kind: Any = type(record)
    names = read & (vars(record).keys() | _properties(kind)) - {"code"}
    values = {name: getattr(record, name) for name in names}
    return {name: _fields(one, read) if isinstance(one, Record) else one for name, one in values.items()}


@cache
def _properties(cls: Any) -> frozenset[str]:
    """Names of the properties of a class."""
    return frozenset(name for name in dir(cls) if isinstance(getattr(cls, name), property))


def _short(*lines: str) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


#: Of the code that runs.
TODAY = Hashes(Path(__file__).parents[1])
