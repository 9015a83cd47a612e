"""What a validation found, as sentences for the person who wrote the study."""

from __future__ import annotations

import difflib
import json
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from deltann.spec.lists import SLUG
from deltann.spec.schema import fields_at

Path = tuple[int | str, ...]

_LOOKED_AT = 50
_SHOWN = 5
_KINDS = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
}
"""What a value should have been, by pydantic's name for its not being so."""


def explain(error: ValidationError, data: Any) -> str:
    """The first mistakes, each with the path a person wrote, what should be there and what is.

    Args:
        error: what pydantic says.
        data: what it was given.
    """
    found: dict[Path, list[ErrorDetails]] = {}
    for item in error.errors(include_url=False)[:_LOOKED_AT]:
        found.setdefault(_path(item, data), []).append(item)
    # Every alternative of a union complains: the one that fits best is the one whose mistake lies deepest.
    deepest = [path for path in found if not any(path == other[: len(path)] and path != other for other in found)]
    lines = [_sentence(path, found[path]) for path in deepest]
    more = f" And {len(lines) - _SHOWN} more." if len(lines) > _SHOWN else ""
    return " ".join(lines[:_SHOWN]) + more


def hint(name: str, known: list[str]) -> str:
    """What was probably meant, or all that there is."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean {close[0]!r}?" if close else f"Allowed here: {', '.join(known)}."


def _path(item: ErrorDetails, data: Any) -> Path:
    """Where a mistake is in what was written: pydantic's location without its names of types."""
    path: list[int | str] = []
    value = data
    for part in item["loc"]:
        if (isinstance(value, dict) and part in value) or (
            isinstance(value, list) and isinstance(part, int) and part < len(value)
        ):
            value = value[part]  # type: ignore[index]
            path.append(part)
    if item["type"] == "missing":
        path.append(item["loc"][-1])
    if item["type"] == "repeated":
        path.append(item["ctx"]["at"])
    if item["type"] in ("union_tag_invalid", "union_tag_not_found"):
        path.append(item["ctx"]["discriminator"].strip("'"))
    return tuple(path)


def _sentence(path: Path, items: list[ErrorDetails]) -> str:
    field = ".".join(map(str, path)) or "study"
    kinds = list(dict.fromkeys(kind for item in items if (kind := _kind(item)) is not None))
    item = next((one for one in items if _kind(one) is None), items[0])
    if item["type"] == "extra_forbidden":
        return f"{field}: there is no such field. {hint(str(path[-1]), fields_at(path[:-1]))}"
    says = f"should be {' or '.join(kinds)}" if _kind(item) is not None else _says(item)
    return f"{field}: {says}{_found(item)}."


def _kind(item: ErrorDetails) -> str | None:
    """What the value should have been, where it is of the wrong kind altogether."""
    if item["type"] == "literal_error":
        return str(item["ctx"]["expected"])
    return _KINDS.get(item["type"])


def _says(item: ErrorDetails) -> str:
    ctx = item.get("ctx", {})
    match item["type"]:
        case "missing":
            return "is required and is not there"
        case "union_tag_not_found":
            return "is required and is not there"
        case "union_tag_invalid":
            return f"should be one of {ctx['expected_tags']}"
        case "too_short":
            return f"should have at least {ctx['min_length']} {'entry' if ctx['min_length'] == 1 else 'entries'}"
        case "string_pattern_mismatch" if ctx["pattern"] == SLUG:
            return "is a name, which has letters, digits, '.', '_' and '-' alone and begins with a letter or digit"
    message = item["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _found(item: ErrorDetails) -> str:
    value = item["input"]
    match item["type"]:
        case "missing" | "union_tag_not_found":
            return ""
        case "repeated":
            value = item["ctx"]["found"]
        case "union_tag_invalid":
            value = item["ctx"]["tag"]
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return f", found {text if len(text) <= 60 else f'{text[:57]}...'}"
