"""The JSON Schema of ``report.json``, and the committed file of it.

``python -m deltann.report.schema`` writes the file anew; a test holds it equal to the types.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from deltann.report.models import Report

SCHEMA_FILE = Path(__file__).with_name("deltann_report.schema.json")


class _AsWritten(GenerateJsonSchema):
    """Requires every field: a report is always written whole."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        return True


def report_schema() -> dict[str, Any]:
    """The schema (draft 2020-12) that every ``report.json`` fulfils."""
    schema = Report.model_json_schema(by_alias=True, mode="serialization", schema_generator=_AsWritten)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "deltann_report.schema.json", **schema}


def schema_text() -> str:
    """The schema as it stands in its file."""
    return json.dumps(report_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
