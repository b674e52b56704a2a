"""The reference of all configuration keys, generated from the schemas and the scenario files.

``python -m pausefl.settings.reference > config/README.md``
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pausefl.settings.scenario import Scenario, load_scenario, load_schema, scenario_names

_INTRODUCTION = """\
# Configuration

<!-- Made by `python -m pausefl.settings.reference > config/README.md`; edit the schemas, not this file. -->

- `config.yaml` says where the data are and which experiments are run: rows of a scenario, its selectors and
  seeds. Each selector and seed of a row is one federated job.
- `scenarios/NAME.yaml` describes one federated experiment of a paper, everything a job needs apart from the
  selector and the seed. A comment beside each value says where it comes from.
- `studies.yaml` lists studies of selection alone and audits of the noise, without training or data.
- `claims.yaml` says what the papers claim and how each claim is tested ([docs/claims.md](../docs/claims.md)).
- Three files have the shape of `config.yaml` and are used in its place (`--configfile config/demo.yaml`):
  `demo.yaml`, two small experiments that run in minutes and need no download; `reduced.yaml`, the papers'
  settings with less work, for a laptop; `published.yaml`, the runs that are kept in `results/published`.

All keys are checked before anything runs: an unknown or missing key, a value of the wrong type or out of
range, and a selector that does not apply to a scenario are refused with a message that says what is allowed.
YAML reads `1e-3` as text; write `0.001`. A key of a scenario that is not required may be left out or be null.

A scenario file may say `base: NAME`, a scenario of the same folder that has no base itself; below it are
`name`, `title`, `figures` and what differs. Sections are merged key by key; a list, a number or null takes
the place of what the base says.
"""

_TABLE_HEAD = ("Key", "Required", "Value", "Meaning")
_SCENARIO_HEAD = ("Scenario", "Title", "K", "m", "Data", "Model", "Budget")


def reference(scenario_folder: Path) -> str:
    """Write the text of ``config/README.md``.

    Parameters
    ----------
    scenario_folder
        Folder of the scenario files to be listed.

    Returns
    -------
    str
        Markdown, ending with a newline.

    Raises
    ------
    ConfigError
        If a scenario file is not valid.
    """
    scenarios = [load_scenario(name, scenario_folder) for name in scenario_names(scenario_folder)]
    parts = [
        _INTRODUCTION,
        "## Keys of `config.yaml` and `demo.yaml`\n",
        *_sections(load_schema("config")),
        "## Keys of a scenario file\n",
        *_sections(load_schema("scenario")),
        "## Keys of a file of studies\n",
        "NAME is the name of a study, which is also its target.\n",
        *_sections(load_schema("studies")),
        "## Keys of `claims.yaml`\n",
        *_sections(load_schema("claims")),
        "## Scenarios\n",
        "K users, m of them selected in a round; the budget holds per user and coordinate.\n",
        _table(_SCENARIO_HEAD, (_scenario_row(scenario) for scenario in scenarios)),
    ]
    return "\n".join(parts)


def _sections(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of the top-level values, then one section for each key that has keys of its own."""
    required = schema.get("required", [])
    plain = {key: sub for key, sub in schema["properties"].items() if not _has_keys(sub)}
    if plain:
        yield _table(_TABLE_HEAD, (_row(key, sub, key in required) for key, sub in plain.items()))
    for key, sub in schema["properties"].items():
        if key in plain:
            continue
        note = "" if key in required else " Optional."
        yield f"### `{key}`\n\n{sub['description']}{note}\n"
        yield _table(_TABLE_HEAD, _leaves(sub, key))


def _inside(schema: Mapping[str, Any], path: str) -> tuple[Mapping[str, Any], str]:
    """What is in a list or in a mapping of free names, and its path; anything else as it is."""
    if "items" in schema:
        return schema["items"], f"{path}[]"
    named = schema.get("additionalProperties")
    return (named, f"{path}.NAME") if isinstance(named, Mapping) else (schema, path)


def _has_keys(schema: Mapping[str, Any]) -> bool:
    return "properties" in _inside(schema, "")[0]


def _leaves(schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, ...]]:
    """Rows of all values below a mapping or a list of mappings, however deep."""
    schema, path = _inside(schema, path)
    for key, sub in schema["properties"].items():
        where, required = f"{path}.{key}", key in schema.get("required", [])
        yield _row(where, sub, required)
        if _has_keys(sub):
            yield from _leaves(sub, where)


def _row(path: str, schema: Mapping[str, Any], required: bool) -> tuple[str, ...]:
    return f"`{path}`", "yes" if required else "no", _allowed(schema), schema["description"]


def _allowed(schema: Mapping[str, Any]) -> str:
    """Type, range and choices of a value in words."""
    if "enum" in schema:
        return "one of " + ", ".join(f"`{choice}`" for choice in schema["enum"])
    kinds = [schema["type"]] if isinstance(schema["type"], str) else list(schema["type"])
    kind = " or ".join(kind for kind in kinds if kind != "null")
    if kind == "array":
        unique = "distinct " if schema.get("uniqueItems") else ""
        return f"list of {unique}values ({_allowed(schema['items'])}), at least {schema.get('minItems', 0)}"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"mapping of names to values ({_allowed(values)})" if values else "mapping"
    bounds = (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"), ("exclusiveMaximum", "<"))
    limits = [f"{sign} {schema[key]}" for key, sign in bounds if key in schema]
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


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


if __name__ == "__main__":
    sys.stdout.write(reference(Path("config/scenarios")))
