"""JSON schemas of settings, for messages, the reference and editors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def described(model: type[BaseModel]) -> dict[str, Any]:
    """JSON schema of a model without references, and without saying which values may be null.

    One of several models (``oneOf``) has the keys of all.
    """
    schema = plain_schema(model)
    inlined: dict[str, Any] = _inlined(schema, schema.pop("$defs", {}))
    return inlined


def plain_schema(model: type[BaseModel]) -> dict[str, Any]:
    """JSON schema of a model without titles, which say no more than the keys, and line breaks."""
    plain: dict[str, Any] = _plain(model.model_json_schema())
    return plain


def _plain(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: _plain(part) for key, part in schema.items()}
    if isinstance(plain.get("title"), str):
        del plain["title"]
    if isinstance(text := plain.get("description"), str):
        plain["description"] = " ".join(text.split())
    return plain


def _inlined(schema: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inlined(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "anyOf" in schema:
        rest = {key: part for key, part in schema.items() if key != "anyOf"}
        return _inlined({**schema["anyOf"][0], **rest}, definitions)
    if "$ref" in schema:
        definition = definitions[schema["$ref"].rpartition("/")[2]]
        rest = {key: part for key, part in schema.items() if key != "$ref"}
        return _inlined({**definition, **rest}, definitions)
    inlined = {key: _inlined(part, definitions) for key, part in schema.items()}
    return {**inlined, **_keys_of_all(inlined["oneOf"])} if "oneOf" in inlined else inlined


def _keys_of_all(models: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Keys of several models, with the choices of all; those that every model requires are required."""
    keys: dict[str, Any] = {}
    for model in models:
        for key, schema in model["properties"].items():
            known = keys.setdefault(key, {name: part for name, part in schema.items() if name != "const"})
            if choices := schema.get("enum", [schema["const"]] if "const" in schema else []):
                known["enum"] = [*dict.fromkeys([*known.get("enum", ()), *choices])]
    required = [key for key in keys if all(key in model.get("required", ()) for model in models)]
    return {"type": "object", "properties": keys, "required": required}
