"""Hash of the code behind results: all definitions that are reached by name from where they are made."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

from pausefl.provenance.definitions import WHOLE, Definition, definitions, effects, methods, source
from pausefl.provenance.kept import kept
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
    "pausefl.data.sources:prepare",
    "pausefl.data.dataset:load_dataset",
    "pausefl.data.partition:make_partition",
    "pausefl.data.partition:load_partition",
    "pausefl.federated.run:run_job",
)
#: How far around a definition its uses count, so that two of the same source are told apart.
_DEPTH = 3


def job_code(
    scenario: Scenario, selector: str, device: str = "cpu", *, genie: bool = False, in_folder: bool = False
) -> str:
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


def study_code(kind: str, study: Any, selector: str = "") -> str:
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


def code_hash(*roots: str, records: Iterable[Record] = ()) -> str:
    """Hash of definitions and of all definitions that they use, directly or not.

    Comments, docstrings, layout, annotations, messages and checks do not count; nor does where a definition
    stands. What is registered counts only where its record is given.

    Parameters
    ----------
    roots
        Definitions, ``"package.module:name"``, or modules, for all of their definitions.
    records
        Records of what is used. Their code counts, and those of their other fields that this code reads.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    used = list(records)
    return str(kept(f"hash {sorted(roots)} {used}", lambda: _hash(roots, used)))


def _hash(roots: Iterable[str], used: Iterable[Record]) -> str:
    places = frozenset([*roots, *(record.code for record in used)])
    lines, read = _definitions(places, frozenset(type(record) for record in used))
    said = set()
    for record in used:
        fields = {name: value for name, value in vars(record).items() if name in read and name != "code"}
        said.add(repr((type(record).__name__, _digest_of(record.code), sorted(fields.items()))))
    return _short("\n".join(sorted(lines | said)))


@cache
def _definitions(
    roots: frozenset[str], classes: frozenset[type[Record]]
) -> tuple[frozenset[str], frozenset[str]]:
    """Hashes of all definitions that roots and records of these classes use, and all attributes in them."""
    found, read = _with_methods(frozenset().union(*map(reached, roots)), classes)
    return frozenset(_digest(definition, _DEPTH) for definition in found), read


@cache
def reached(root: str) -> frozenset[Definition]:
    """All definitions that a root uses, itself included, and statements that importing them executes."""
    module, _, name = root.partition(":")
    found: set[Definition] = set()
    pending = [Definition(module, name)] if name else definitions(module)
    while pending:
        definition = pending.pop()
        if definition in found:
            continue
        found.add(definition)
        pending += [used for _, used in source(definition).uses if isinstance(used, Definition)]
        pending += effects(definition.module)
    return frozenset(definition for definition in found if definition.name != WHOLE)


def _with_methods(
    found: frozenset[Definition], classes: frozenset[type[Record]]
) -> tuple[frozenset[Definition], frozenset[str]]:
    """Add methods of records that are used by name, and all that they use.

    Returns
    -------
    found
        All definitions.
    read
        Names of all attributes that they use.
    """
    candidates = {
        method
        for cls in classes
        for base in cls.__mro__
        if issubclass(base, Record)
        for method in methods(Definition(base.__module__, base.__qualname__))
    }
    while True:
        read = frozenset(name for definition in found for name in source(definition).attributes)
        used = {method for method in candidates - found if method.name.partition(".")[2] in read}
        if not used:
            return found, read
        found = found.union(used, *(reached(f"{method.module}:{method.name}") for method in used))


def _digest_of(code: str) -> str:
    module, _, name = code.partition(":")
    return _digest(Definition(module, name), _DEPTH)


@cache
def _digest(definition: Definition, depth: int) -> str:
    """Hash of a definition and, ``depth`` steps far, of those that it uses."""
    said = source(definition)
    lines = [
        f"{name} = {_digest(used, depth - 1) if isinstance(used, Definition) else used}"
        for name, used in said.uses
        if depth > 0
    ]
    return _short("\n".join([said.text, *lines]))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
