"""The published JSON Schema of a study."""

from __future__ import annotations

from typing import Any

from deltann.spec.models import Study


def study_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of ``deltann.study/1``, as ``deltann spec schema`` prints it."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Study.model_json_schema(by_alias=True)}
