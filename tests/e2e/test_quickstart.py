"""What the quickstart promises, held against the report that ``make demo`` has left; ``make demo-check`` runs it."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet
import pytest

from deltann.report import Report, read_report

FOLDER = os.environ.get("DELTANN_QUICKSTART")

pytestmark = pytest.mark.skipif(not FOLDER, reason="checks a finished report: run make demo-check")


@pytest.fixture(scope="module")
def report() -> Report:
    return read_report(Path(str(FOLDER)))


def test_twelve_of_twelve_conversions_keep_the_model(report: Report) -> None:
    conversions = report.conversions
    assert len({(one.source, one.target) for one in conversions}) == len(conversions) == 12
    for one in conversions:
        assert (one.outcome, one.silent_fault) == ("ok", None), one.id
        assert one.parity is not None
        assert one.parity.max_rel is not None
        assert one.parity.max_rel <= 1e-3, one.id


def test_every_variant_gives_the_labels_of_the_native_on_all_twenty_photos(report: Report) -> None:
    labels: dict[str, dict[str, int]] = defaultdict(dict)
    for row in pyarrow.parquet.read_table(Path(str(FOLDER)) / "outputs.parquet").to_pylist():
        assert row["valid"], row
        labels[row["variant"]][row["input"]] = row["labels"][0]
    assert report.inputs.n == 20
    native = report.variants[0]
    assert (native.chain, native.engine) == ([], "torch")
    assert len(labels[native.id]) == 20
    for variant in report.variants:
        assert variant.outcome == "ok", variant.id
        assert labels[variant.id] == labels[native.id], variant.id


def test_gates_hold(report: Report) -> None:
    assert [gate.ok for gate in report.gates] == [True]
