from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from deltann.errors import InputError, NotFoundError
from deltann.report import Report, read_report
from deltann.report.schema import SCHEMA_FILE, report_schema, schema_text

EMPTY = {
    "schema": "deltann.report/1",
    "sweep": {"id": "s", "name": "n", "started": 1.0, "finished": 2.0, "toolchain": {}, "seconds_by_stage": {},
              "overhead_share": None},
    "settings": {"k": 5, "rbo": {"p": 0.9, "depth": 5}, "bootstrap_seed": 0, "parity_max_rel": 1e-3},
    "inputs": {"n": 0, "left_out": []},
    "conversions": [], "variants": [], "pairs": [], "findings": [], "gates": [],
    "questions": {
        **{f"RQ{number}": {"columns": [], "rows": []} for number in range(1, 7)},
        "sensitivity": {"columns": [], "rows": [], "strongest": {}},
    },
}  # fmt: skip


def test_schema_file_is_what_the_types_say() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(), "run: python -m deltann.report.schema"


def test_a_report_is_read_as_it_was_written_and_fulfils_the_schema(tmp_path: Path) -> None:
    text = Report.model_validate(EMPTY).model_dump_json(by_alias=True)
    (tmp_path / "report.json").write_text(text)
    jsonschema.Draft202012Validator(report_schema()).validate(json.loads(text))
    assert read_report(tmp_path) == read_report(tmp_path / "report.json") == Report.model_validate(EMPTY)


def test_schema_refuses_a_share_beyond_one() -> None:
    wrong = json.loads(Report.model_validate(EMPTY).model_dump_json(by_alias=True))
    wrong["sweep"]["overhead_share"] = 1.5
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(report_schema()).validate(wrong)


def test_reading_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no report"):
        read_report(tmp_path)
    (tmp_path / "report.json").write_text(json.dumps(EMPTY | {"schema": "deltann.report/9"}))
    with pytest.raises(InputError, match=r"schema: .*deltann\.report/1"):
        read_report(tmp_path)


def test_gates_ok_needs_every_gate() -> None:
    def gate(ok: bool) -> dict[str, object]:
        return {"name": "g", "limit": 1.0, "value": 1.0, "ok": ok}

    assert Report.model_validate(EMPTY | {"gates": [gate(True), gate(True)]}).gates_ok
    assert not Report.model_validate(EMPTY | {"gates": [gate(True), gate(False)]}).gates_ok
