"""Targets as people give them: a name of the table, a tag of TVM, or TVM's own mapping; each becomes one text.

A text stands for its target in studies, plans, keys and reports. That of a mapping is its canonical JSON, so that it is
the same however it was written. What TVM would take and silently understand otherwise is refused.
"""

from __future__ import annotations

import difflib
import json
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, JsonValue, TypeAdapter, ValidationError, WithJsonSchema

from deltann.digest import canonical_json
from deltann.targets.table import TARGETS

_TAG = r"^[a-z0-9-]+/[A-Za-z0-9_.-]+$"
_MAPPING = TypeAdapter(dict[str, JsonValue])
_SHOWN = 5
_LONGEST = 400

_OTHERWISE = {
    "native": "should not be native, which LLVM does not know and builds for a generic processor; host is this one",
    "llvm": "should say for which processor: llvm alone builds for a generic one. Give host, another name, or "
    "{kind: llvm, mcpu: generic} where that is meant",
    "cuda": "should say for which GPU: cuda alone silently becomes sm_50. Give a name such as cuda-sm80, or "
    "{kind: cuda, arch: sm_80, host: {kind: llvm, mcpu: x86-64-v2}}",
}
"""What TVM takes without a word, and what it makes of it."""
_NO_HOST = (
    "should say which processor drives the device, or its module is for the machine that compiles: add host, such as "
    "host: {kind: llvm, mtriple: aarch64-linux-gnu, mcpu: cortex-a57}"
)


def read_target(value: object) -> str:
    """The text of a target that a person gave, as YAML or on the command line.

    Args:
        value: a name, a tag, a mapping or its JSON.

    Raises:
        ValueError: if it is none, or TVM would understand it otherwise; continues "the target …".
    """
    if isinstance(value, str) and not value.lstrip().startswith("{"):
        return _named(value)
    try:
        return _mapping(_MAPPING.validate_json(value) if isinstance(value, str) else _MAPPING.validate_python(value))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        but = f", and is no JSON ({first['ctx']['error']})" if first["type"] == "json_invalid" else ""
        raise ValueError(f"should be text or a mapping, as TVM has its targets{but}") from error


def mapping_of(text: str) -> dict[str, Any] | None:
    """The mapping that a target's text is; None for a name or tag."""
    found: dict[str, Any] | None = json.loads(text) if text.startswith("{") else None
    return found


def _named(text: str) -> str:
    if text in _OTHERWISE:
        raise ValueError(_OTHERWISE[text])
    if text not in TARGETS and not re.fullmatch(_TAG, text):
        close = difflib.get_close_matches(text, TARGETS, n=1, cutoff=0.5)
        known = f"did you mean {close[0]!r}" if close else f"{', '.join(list(TARGETS)[:_SHOWN])}, …"
        raise ValueError(
            f"should be a target that `deltann targets` lists ({known}), a tag of TVM such as arm/rk3399, or TVM's "
            "mapping"
        )
    return text


def _mapping(given: dict[str, Any]) -> str:
    kind, tagged = given.get("kind"), isinstance(given.get("tag"), str)
    if not tagged and not isinstance(kind, str):
        raise ValueError("should have a kind (llvm, cuda, opencl, …) or a tag of TVM")
    if kind == "llvm":
        given = {"mcpu": "generic", **given}
    if isinstance(host := given.get("host"), dict) and host.get("kind") == "llvm":
        given = {**given, "host": {"mcpu": "generic", **host}}
    for part in (given, given.get("host")):
        if isinstance(part, dict) and part.get("mcpu") == "native":
            raise ValueError(_OTHERWISE["native"])
    if kind == "cuda" and not tagged and not given.get("arch"):
        raise ValueError(_OTHERWISE["cuda"])
    if kind in ("cuda", "opencl") and not tagged and not isinstance(given.get("host"), dict):
        raise ValueError(_NO_HOST)
    try:
        text = canonical_json(given).decode()
    except ValueError as error:
        raise ValueError("should have finite numbers and valid text alone") from error
    if len(text) > _LONGEST:
        raise ValueError(f"should be shorter: {len(text)} characters, of at most {_LONGEST}")
    return text


Target = Annotated[
    str,
    BeforeValidator(read_target),
    WithJsonSchema(
        {
            "description": "A named target, a tag of TVM, or TVM's own mapping",
            "anyOf": [
                {"oneOf": [{"const": one.name, "description": one.about} for one in TARGETS.values()]},
                {"type": "string", "pattern": _TAG, "description": "A tag of TVM: arm/rk3399"},
                {"type": "object", "description": "TVM's mapping: {kind: llvm, mcpu: znver4}"},
            ],
        }
    ),
]
"""A target of a study, as its text."""
