"""The published JSON Schema of a study, and what it says of a place in it."""

from __future__ import annotations

from typing import Any

from deltann.spec.models import Study


def study_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of ``deltann.study/1``, as ``deltann spec schema`` prints it."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Study.model_json_schema(by_alias=True)}


def fields_at(path: tuple[int | str, ...]) -> list[str]:
    """The fields that a mapping at a path may have."""
    schema = study_schema()
    nodes = [schema]
    for part in path:
        nodes = [child for node in nodes for child in _children(node, part, schema)]
    return sorted(
        {name for node in nodes for option in _options(node, schema) for name in option.get("properties", {})}
    )


def _children(node: dict[str, Any], part: int | str, schema: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for option in _options(node, schema):
        if isinstance(part, int) and isinstance(option.get("items"), dict):
            found.append(option["items"])
        elif part in option.get("properties", {}):
            found.append(option["properties"][part])
        elif isinstance(option.get("additionalProperties"), dict):
            found.append(option["additionalProperties"])
    return found


def _options(node: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
    """A schema node with references followed and alternatives opened."""
    if "$ref" in node:
        return _options(schema["$defs"][node["$ref"].rsplit("/", 1)[-1]], schema)
    options = [node]
    for word in ("anyOf", "oneOf", "allOf"):
        options += [option for alternative in node.get(word, []) for option in _options(alternative, schema)]
    return options
