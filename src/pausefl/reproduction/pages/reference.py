"""The reference of all configuration keys and the schemas for editors, made from the models.

``python -m pausefl.reproduction.pages.reference`` writes ``config/README.md`` and ``config/schemas``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pausefl.analysis.benchmark.suite import Suite
from pausefl.analysis.figures.kinds import FigureSettings
from pausefl.analysis.markdown import table
from pausefl.bandit.latency import LATENCIES
from pausefl.bandit.presence import AVAILABILITIES, FAILURES
from pausefl.bandit.rewards import REWARDS
from pausefl.data.sources import SOURCES
from pausefl.plugins import OWN
from pausefl.privacy import ACCOUNTANTS, MECHANISMS, SAMPLERS, SCHEDULES
from pausefl.reproduction.claims.load import KINDS, Claims
from pausefl.reproduction.config import ConfigFile
from pausefl.reproduction.studies import file_of_studies
from pausefl.schema.base import Settings
from pausefl.schema.json_schema import described, inside, plain_schema
from pausefl.schema.types import Name
from pausefl.selectors import SELECTORS
from pausefl.settings.load import load_scenario, scenario_names
from pausefl.settings.scenario import Scenario
from pausefl.training.models import MODELS

_INTRODUCTION = """\
# Configuration

<!-- Made by `python -m pausefl.reproduction.pages.reference`; edit `src/pausefl/settings`, not this file. -->

- `config.yaml` says where the data are and which experiments are run: rows of a scenario, its selectors and
  seeds. Each selector and seed of a row is one federated job.
- `scenarios/NAME.yaml` describes one federated experiment: everything a job needs apart from the selector and
  the seed. A comment beside each value says where it comes from.
- `studies.yaml` lists studies: of selection alone, of the noise, and of training with changed settings.
- `benchmarks.yaml` says in which worlds and under which seeds `pausefl benchmark` compares selectors
  ([docs/benchmark.md](../docs/benchmark.md)).
- `claims.yaml` says what the papers claim and how each claim is tested ([docs/claims.md](../docs/claims.md)).
- Two files have the keys of `config.yaml` and are used in its place (`--configfile config/demo.yaml`):
  `demo.yaml`, two small experiments that run in minutes and need no download, and `published.yaml`, the runs
  in `results/published`.
- `schemas` tells editors with a YAML language server the keys of each file.

Selectors, models, data sources and other parts may also be `MODULE:CLASS`, [a part of your
own](../docs/extending.md#without-an-edit-of-the-package).

All keys are checked before anything runs. A message says what is wrong with which key and what is allowed.
A key of a scenario that is not required may be left out or be null.

Put scenarios of your own into a folder of your own and name it by `scenarios`; a scenario that is not there
is looked for in `config/scenarios`. A scenario file may name another one as its `base`, which must have no
base itself. It then needs only `name`, `title`, `figures` and what differs. Sections are merged key by key; a
list, a number or null replaces that of the base.
"""

_KIND_HEAD = ("Kind", "Holds if", "Keys that it needs", "Keys that it may have")
_HEAD = ("Key", "Required", "Value", "Meaning")
_SCENARIO_HEAD = ("Scenario", "Title", "K", "m", "Data", "Model", "Budget")

#: Longer lists of choices, those of selectors, are not repeated in every row.
_MOST_CHOICES = 10


class ScenarioFile(Scenario):
    """One federated experiment of a paper, apart from the selector and the seed."""

    figures: dict[Name, FigureSettings]
    """Figures that are targets of their own: names, which are unique over all scenarios, and the kind of
    each, or a mapping with its kind and its axes. The other kinds are made too, but `spending_vs_rounds` and
    `selections` only if they are named."""


#: Model of each file, by the name of its schema.
_FILES: dict[str, type[Settings]] = {
    "config": ConfigFile,
    "scenario": ScenarioFile,
    "studies": file_of_studies(),
    "claims": Claims,
}


def reference(scenario_folder: Path) -> str:
    """Text of ``config/README.md``, which lists the scenarios of a folder."""
    scenarios = [load_scenario(name, scenario_folder) for name in scenario_names(scenario_folder)]
    parts = [
        _INTRODUCTION,
        "## Keys of `config.yaml`\n",
        *_sections(ConfigFile),
        "## Keys of a scenario file\n",
        f"Selectors are {', '.join(f'`{name}`' for name in SELECTORS)}.\n",
        *_sections(ScenarioFile),
        "## Keys of `studies.yaml`\n",
        "NAME is the name of a study, which is also its target.\n",
        *_sections(file_of_studies()),
        "## Keys of `claims.yaml`\n",
        *_sections(Claims),
        "### Kinds of tests\n",
        table(_KIND_HEAD, map(_kind, KINDS.values())),
        "## Scenarios\n",
        "K users, m of them selected in a round; the budget holds per user and coordinate.\n",
        table(_SCENARIO_HEAD, (_scenario_row(scenario) for scenario in scenarios)),
    ]
    return "\n".join(parts)


def editor_schemas() -> dict[str, dict[str, Any]]:
    """JSON schema of each file, by the name of the file in ``config/schemas``."""
    texts = {name: json.dumps(plain_schema(model)) for name, model in _FILES.items()}
    schemas = {name: json.loads(text, object_hook=_with_own) for name, text in texts.items()}
    text = json.dumps(schemas["scenario"])
    scenario = schemas["scenario"] = json.loads(text, object_hook=_without_required)
    scenario["properties"]["base"] = {
        "type": "string",
        "description": "Scenario from which this one differs.",
    }
    scenario |= {"if": {"required": ["base"]}, "else": _required(described(ScenarioFile))}
    schemas["benchmarks"] = _file_of_suites()
    return {f"{name}.json": schema for name, schema in schemas.items()}


def _file_of_suites() -> dict[str, Any]:
    """Schema of ``benchmarks.yaml``: benchmarks by name."""
    suite = json.loads(json.dumps(plain_schema(Suite)), object_hook=_with_own)
    del suite["properties"]["name"]  # its key
    suite["required"].remove("name")
    return {"$defs": suite.pop("$defs"), "type": "object", "additionalProperties": suite}


def write(folder: Path) -> None:
    """Write the reference and the schemas into the folder of the configuration."""
    (folder / "README.md").write_text(reference(folder / "scenarios"), encoding="utf-8")
    (folder / "schemas").mkdir(exist_ok=True)
    for name, schema in editor_schemas().items():
        (folder / "schemas" / name).write_text(_as_json(schema) + "\n", encoding="utf-8")


def _as_json(value: Any, margin: str = "\n") -> str:
    """JSON in long lines: only mappings of mappings have a line for each key."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) < 110 or not isinstance(value, Mapping) or not _has_mappings(value):
        return line
    keys = [f"{json.dumps(key)}: {_as_json(part, margin + ' ')}" for key, part in value.items()]
    return "{" + ",".join(f"{margin} {key}" for key in keys) + margin + "}"


def _has_mappings(value: Mapping[str, Any]) -> bool:
    return any(isinstance(part, Mapping) for part in value.values())


#: Names that may also be ``MODULE:CLASS``.
_WITH_OWN = (
    *(SELECTORS, MODELS, SOURCES, REWARDS, MECHANISMS, SCHEDULES, ACCOUNTANTS, SAMPLERS),
    *(LATENCIES, AVAILABILITIES, FAILURES),
)


def _with_own(schema: dict[str, Any]) -> dict[str, Any]:
    """A mapping of a schema, in which a name of a class may also be a part of the user's own."""
    if schema.get("enum") in [[name for name in plugins if ":" not in name] for plugins in _WITH_OWN]:
        names = {key: schema.pop(key) for key in ("enum", "enumDescriptions") if key in schema}
        schema["anyOf"] = [names, {"pattern": f"^{OWN}$"}]
    return schema


def _without_required(schema: dict[str, Any]) -> dict[str, Any]:
    """A mapping of a schema, of whose keys any may be missing."""
    return {key: part for key, part in schema.items() if key != "required"}


def _required(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What `_without_required` leaves out of a schema."""
    sections = {key: _required(sub) for key, sub in schema.get("properties", {}).items()}
    found = {"required": schema.get("required"), "properties": {k: sub for k, sub in sections.items() if sub}}
    return {key: part for key, part in found.items() if part}


def _sections(model: type[Settings]) -> Iterator[str]:
    """Yield a table of the top-level values, then one section for each key that has keys of its own."""
    schema = described(model)
    required = schema.get("required", [])
    plain = {key: sub for key, sub in schema["properties"].items() if not _has_keys(sub)}
    if plain:
        yield table(_HEAD, (_row(key, sub, key in required) for key, sub in plain.items()))
    for key, sub in schema["properties"].items():
        if _has_keys(sub):
            note = "" if key in required else " Optional."
            yield f"### `{key}`\n\n{sub['description']}{note}\n"
            yield table(_HEAD, _leaves(sub, key))


def _kind(model: type[Settings]) -> tuple[str, ...]:
    """Row of a kind of claim test."""
    schema = plain_schema(model)
    needed, keys = schema["required"], [key for key in schema["properties"] if key not in ("kind", "reason")]
    listed = (", ".join(f"`{key}`" for key in keys if (key in needed) == wanted) for wanted in (True, False))
    return f"`{schema['properties']['kind']['const']}`", schema["description"], *listed


def _has_keys(schema: Mapping[str, Any]) -> bool:
    return "properties" in (inside(schema) or schema)


def _leaves(schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, ...]]:
    """Rows of all values below a mapping or a list of mappings, however deep."""
    if (within := inside(schema)) is not None:
        path += "[]" if "items" in schema else ".NAME"
        schema = within
    for key, sub in schema["properties"].items():
        where, required = f"{path}.{key}", key in schema.get("required", [])
        yield _row(where, sub, required)
        if _has_keys(sub):
            yield from _leaves(sub, where)


def _row(path: str, schema: Mapping[str, Any], required: bool) -> tuple[str, ...]:
    default = schema.get("default")
    given = default not in (None, "", 0, [], {})
    choices = zip(schema.get("enum", ()), schema.get("enumDescriptions", ()), strict=False)
    about = " ".join(f"`{name}`: {text}." for name, text in choices)
    return (
        f"`{path}`",
        "yes" if required else f"no, `{default}`" if given else "no",
        _allowed(schema),
        f"{schema['description']} {about}".strip(),
    )


def _allowed(schema: Mapping[str, Any]) -> str:
    """Type, range and choices of a value in words."""
    if "enum" in schema:
        if len(schema["enum"]) > _MOST_CHOICES:
            return "string"
        return "one of " + ", ".join(f"`{choice}`" for choice in schema["enum"])
    kind = schema["type"]
    if kind == "array":
        distinct = "distinct " if schema.get("uniqueItems") else ""
        return f"list of {distinct}values ({_allowed(schema['items'])}), at least {schema.get('minItems', 0)}"
    if kind == "object":
        if (values := inside(schema)) is None:
            return "mapping"
        names = " or ".join(f"`{name}`" for name in schema.get("propertyNames", {}).get("enum", ()))
        return f"mapping of {names or 'names'} to values ({_allowed(values)})"
    bounds = (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"), ("exclusiveMaximum", "<"))
    limits = [f"{sign} {schema[key]:g}" for key, sign in bounds if key in schema]
    return ", ".join([kind, *limits])


def _scenario_row(scenario: Scenario) -> tuple[str, ...]:
    budget = f"{scenario.privacy.epsilon_total:g}" if scenario.privacy else "none"
    return (
        f"[`{scenario.name}`](scenarios/{scenario.name}.yaml)",
        scenario.title,
        str(scenario.network.n_users),
        str(scenario.network.n_selected),
        scenario.data.source,
        scenario.model.name,
        budget,
    )


if __name__ == "__main__":
    write(Path("config"))
