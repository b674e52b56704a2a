"""JSON schemas of settings, for messages, the reference and editors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel


def inside(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Schema of what is in a list or in a mapping of free names; None for anything else."""
    if "items" in schema:
        items: dict[str, Any] = schema["items"]
        return items
    for named in (*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")):
        if isinstance(named, dict):
            return named
    return None


def described(model: type[BaseModel], null: bool = False) -> dict[str, Any]:
    """JSON schema of a model without references; whether a value may be null is left out unless wanted."""
    schema = model.model_json_schema()
    plain: dict[str, Any] = _inlined(schema, schema.get("$defs", {}), null)
    return plain


def _inlined(schema: Any, definitions: Mapping[str, Any], null: bool) -> Any:
    if isinstance(schema, list):
        return [_inlined(part, definitions, null) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "anyOf" in schema and not null:
        schema = {**schema["anyOf"][0], **{key: part for key, part in schema.items() if key != "anyOf"}}
    if "$ref" in schema:
        definition = definitions[schema["$ref"].rpartition("/")[2]]
        schema = {**definition, **{key: part for key, part in schema.items() if key != "$ref"}}
    plain = {key: _inlined(part, definitions, null) for key, part in schema.items() if key != "$defs"}
    if isinstance(plain.get("title"), str):
        del plain["title"]
    if isinstance(text := plain.get("description"), str):
        plain["description"] = " ".join(text.split())
    return plain
