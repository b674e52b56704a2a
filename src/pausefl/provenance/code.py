"""Hash of the code behind results: every definition that is reached by name from where they are made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Self

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
    STUDIES,
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
    "pausefl.federated.job:run_job",
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

    def __new__(cls, digits: str, parts: dict[str, str]) -> Self:
        code = super().__new__(cls, digits)
        code.parts = parts
        return code


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


def study_code(kind: str, study: Any, selector: str = "") -> Code:
    """Hash of the code that the computed tables of a study depend on.

    Parameters
    ----------
    kind
        Kind of the study.
    study
        Its settings. What these name counts: selectors, reward and privacy of a scenario, mechanisms.
    selector
        The one selector that is computed, of a study that is computed run by run.
    """
    record = STUDIES.find(kind)
    used: list[Record] = [MECHANISMS.find(name) for name in getattr(study, "mechanisms", ())]
    if hasattr(study, "sampler"):
        used.append(SAMPLERS.find(study.sampler))
    scenario: Scenario | None = getattr(study, "scenario", None)
    if scenario is not None:
        selectors = {selector} if selector else set(scenario.selectors)
        used += scenario_records(scenario, sorted(selectors | record.besides))
        # The number of examples is the record's; nothing is read.
        used.append(replace(SOURCES.find(scenario.data.source), code="pausefl.data.sources:training_size"))
    return code_hash(record.code, records=used)


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

    What counts of a definition is said in `pausefl.provenance.definitions`.

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


class Hashes:
    """Hashes of the code of a package.

    Parameters
    ----------
    root
        Folder of the package ``pausefl``.
    """

    def __init__(self, root: Path) -> None:
        self.package = Package(root)
        self._deep: dict[Definition, str] = {}
        self._definitions, self._own = cache(self._define), cache(self._alone)
        self._reached = cache(self._reach)

    def code(self, roots: Iterable[str], records: Iterable[Record]) -> Code:
        """What `code_hash` returns."""
        used = list(records)
        places = frozenset([*roots, *(record.code for record in used)])
        whole, parts, read = self._definitions(places, frozenset(type(record) for record in used))
        lines, said = {whole}, {}
        for record in used:
            module, _, name = record.code.partition(":")
            fields = json.dumps(_fields(record, read), sort_keys=True, default=sorted)
            lines.add(f"{self._hash(Definition(module, name))} {fields}")
            said[f"{record.code} ({type(record).__name__})"] = _short(fields)[:_PART]
        return Code(_short(*sorted(lines)), parts | said)

    def _define(
        self, roots: frozenset[str], classes: frozenset[type[Record]]
    ) -> tuple[str, dict[str, str], frozenset[str]]:
        """Hash and parts of all definitions that roots and methods of records reach, and what they read."""
        found, read = self._used(roots, classes)
        parts = {f"{one.module}:{one.name}".rstrip(":"): self._own(one) for one in sorted(found)}
        return _short(*sorted({self._hash(one) for one in found})), {k: v for k, v in parts.items() if v}, read

    def _used(
        self, roots: frozenset[str], classes: frozenset[type[Record]]
    ) -> tuple[frozenset[Definition], frozenset[str]]:
        """All definitions that roots reach, with methods of records; and the attributes that these read."""
        candidates = {
            method
            for cls in classes
            for base in cls.__mro__
            if issubclass(base, Record) and base is not Record
            for method in self.package.methods(Definition(base.__module__, base.__qualname__))
        }
        while True:
            closures = [self._reached(root) for root in roots]
            read = frozenset[str]().union(*(attributes for _, attributes in closures))
            methods = {method for method in candidates if method.name.partition(".")[2] in read}
            if not methods:
                return frozenset[Definition]().union(*(found for found, _ in closures)), read
            candidates -= methods
            roots |= {f"{method.module}:{method.name}" for method in methods}

    def _reach(self, root: str) -> tuple[frozenset[Definition], frozenset[str]]:
        """All definitions that a root reaches, statements that importing them executes, and attributes."""
        module, _, name = root.partition(":")
        found: set[Definition] = set()
        pending = [Definition(module, name or WHOLE)]
        while pending:
            definition = pending.pop()
            if definition not in found:
                found.add(definition)
                pending += self._targets(definition)
                pending += self.package.effects(definition.module)
        read = frozenset[str]().union(*(self.package.source(one).attributes for one in found))
        return frozenset(one for one in found if one.name != WHOLE), read

    def _targets(self, definition: Definition) -> list[Definition]:
        """Definitions that a definition uses."""
        return [used for _, used in self.package.source(definition).uses if isinstance(used, Definition)]

    def _alone(self, definition: Definition) -> str:
        """Hash of a definition alone; empty if nothing counts but its name."""
        source = self.package.source(definition)
        if not source.text:
            return ""
        named = [f"{name} = {used if isinstance(used, str) else used.name}" for name, used in source.uses]
        return _short(source.text, *sorted(named))[:_PART]

    def _hash(self, definition: Definition) -> str:
        """Hash of a definition and of all that it reaches by name.

        Tarjan's algorithm (1972): definitions that use each other are found after all others that they use.
        """
        deep, order, low = self._deep, dict[Definition, int](), dict[Definition, int]()
        path, open_ = [(definition, iter(self._targets(definition)))], [definition]
        order[definition] = low[definition] = 0
        while path and definition not in deep:
            here, targets = path[-1]
            for used in targets:
                if used not in order and used not in deep:
                    order[used] = low[used] = len(order)
                    open_.append(used)
                    path.append((used, iter(self._targets(used))))
                    break
                if used not in deep:
                    low[here] = min(low[here], order[used])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[here])
                if low[here] == order[here]:
                    cut = open_.index(here)
                    deep |= self._together(open_[cut:])
                    del open_[cut:]
        return deep[definition]

    def _together(self, group: list[Definition]) -> dict[Definition, str]:
        """Hashes of definitions that use each other; as often refined as it takes to tell them apart."""
        hashes = dict.fromkeys(group, "")
        for _ in group:
            hashes = {one: self._with_uses(one, hashes) for one in group}
        return hashes

    def _with_uses(self, definition: Definition, known: Mapping[Definition, str]) -> str:
        """Hash of a definition and of what it uses; those not in ``known`` have theirs."""
        source = self.package.source(definition)
        named = [
            f"{name} = {used if isinstance(used, str) else known.get(used) or self._deep.get(used, '')}"
            for name, used in source.uses
        ]
        return _short(source.text or definition.name, *sorted(named))


def _fields(record: Record, read: frozenset[str]) -> dict[str, Any]:
    """Fields of a record that are read, apart from the place of its code."""
    return {
        name: _fields(value, read) if isinstance(value, Record) else value
        for name, value in vars(record).items()
        if name in read and name != "code"
    }


def _short(*lines: str) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


#: Of the code that runs.
TODAY = Hashes(Path(__file__).parents[1])
