"""The report of the made-up sweep: every figure here was worked out by hand from what made_sweep.py says."""

from __future__ import annotations

import csv
import json
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import numpy as np
import pyarrow.parquet as pq
import pytest
from made_sweep import HOSTILE, MadeSweep, changed, logits, study
from written_report import Written

from deltann.outcome import Outcome
from deltann.report.models import Conversion, Pair, Strongest, Variant
from deltann.report.schema import report_schema
from deltann.store import LocalStore


def variant(written: Written, id: str) -> Variant:
    return next(one for one in written.report.variants if one.id == id)


def pair(written: Written, a: str, b: str) -> Pair:
    return next(one for one in written.report.pairs if (one.a, one.b) == (a, b))


def conversion(written: Written, id: str) -> Conversion:
    return next(one for one in written.report.conversions if one.id == id)


def texts(written: Written, kind: str) -> list[str]:
    return [finding.text for finding in written.report.findings if finding.kind == kind]


def test_report_fulfils_its_schema_and_has_neither_nan_nor_inf(written: Written) -> None:
    def refuse(word: str) -> float:
        raise AssertionError(f"{word} in report.json")

    found = json.loads((written.folder / "report.json").read_text(), parse_constant=refuse)
    jsonschema.Draft202012Validator(report_schema()).validate(found)


@pytest.mark.parametrize(
    ("id", "top1", "outcome"),
    [
        ("torch", 1.0, Outcome.OK),
        ("torch-raw", 0.75, Outcome.OK),
        ("keras", 0.8, Outcome.OK),
        ("as-keras", 0.5, Outcome.OK),
        ("as-onnx", 0.95, Outcome.INVALID_OUTPUT),
        ("as-tflite", None, Outcome.CONVERT_FAILED),
        ("onnx-tvm-4", None, Outcome.COMPILE_FAILED),
    ],
)
def test_accuracy_and_outcome_of_a_variant(written: Written, id: str, top1: float | None, outcome: Outcome) -> None:
    one = variant(written, id)
    assert (one.accuracy_top1, one.outcome) == (top1, outcome)


def test_top5_accuracy_counts_a_truth_that_comes_later(written: Written) -> None:
    # A changed row ranks label+1, label+2, … first; the truth comes last of ten, so it is never in the first five.
    assert variant(written, "as-keras").accuracy_top5 == 0.5
    assert variant(written, "torch").accuracy_top5 == 1.0


def test_error_of_a_lost_variant_names_the_first_cause_with_its_log(written: Written) -> None:
    error = variant(written, "as-tflite").error
    assert error is not None
    assert (error.stage, error.type, error.message) == ("convert", "ValueError", f"Unsupported operator {HOSTILE}")
    assert (written.folder / str(error.log)).read_text() == f"Traceback: Unsupported operator {HOSTILE}"


def test_times_of_a_variant_are_milliseconds(written: Written) -> None:
    times = variant(written, "tvm-2").time_ms
    assert times is not None
    assert times.median == pytest.approx(14.0)
    assert times.mean == pytest.approx(14.0)
    assert times.first == pytest.approx(42.0)
    assert times.n == 40


def test_memory_is_the_largest_of_all_shards_or_the_timed_run(written: Written) -> None:
    assert variant(written, "torch-raw").memory_peak_bytes == 6_000_000
    assert variant(written, "torch").load_ms == 11.0


def test_a_pair_along_the_conversion_axis(written: Written) -> None:
    found = pair(written, "torch", "as-keras")
    assert (found.axis, found.n, found.n_differ, found.top1_disagreement) == ("conversion", 20, 10, 0.5)
    assert found.inputs_that_differ == [f"photo_{row:02d}.jpg" for row in range(10)]
    # Equal rows share 5 of 5; in the others 4 of the 6 that either has.
    assert found.topk_jaccard == pytest.approx((10 + 10 * 4 / 6) / 20)
    assert found.time_change_pct == pytest.approx(120.0)
    assert (found.same_weights, found.same_graph) == (True, True)
    assert found.tainted_by == "conversion step onnx → keras (onnx2keras)"


def test_output_errors_of_a_pair(written: Written) -> None:
    # as-onnx answers 1.1 × the native everywhere but in the row that is NaN.
    found = pair(written, "torch", "as-onnx")
    native = np.delete(logits([row % 10 for row in range(20)]), 7, axis=0)
    assert (found.n, found.n_invalid_a, found.n_invalid_b) == (19, 0, 1)
    (errors,) = found.errors.values()
    assert errors.space == "logits"
    assert errors.abs.mean == pytest.approx(float(np.abs(native).mean()) * 0.1, rel=1e-4)
    assert errors.abs.max == pytest.approx(1.0, rel=1e-4)
    assert errors.rel.max == pytest.approx(0.1, rel=1e-4)


def test_natives_trained_apart_are_not_of_the_same_weights(written: Written) -> None:
    found = pair(written, "torch", "keras")
    assert (found.axis, found.top1_disagreement, found.same_weights) == ("framework", 0.2, False)


def test_a_pair_with_a_failed_side_is_listed_with_nulls(written: Written) -> None:
    found = pair(written, "torch", "as-tflite")
    assert (found.axis, found.n) == ("conversion", 0)
    assert (found.top1_disagreement, found.rbo, found.time_change_pct, found.n_differ) == (None, None, None, None)


def test_a_silent_fault_names_the_guilty_step_and_clears_the_one_before(written: Written) -> None:
    found = conversion(written, "c-keras")
    assert (found.outcome, found.silent_fault) == (Outcome.OK, 1)
    assert [step.verdict for step in found.steps] == ["clear", "guilty"]
    assert found.parity is not None
    assert (found.parity.max_rel, found.parity.top1_agreement) == (0.3, 0.625)
    (text,) = texts(written, "silent_conversion_fault")
    assert "onnx → keras by onnx2keras (1.2), changed the model" in text
    assert "cleared: pytorch → onnx." in text


def test_a_failed_conversion_has_its_steps_and_log(written: Written) -> None:
    found = conversion(written, "c-tflite")
    assert (found.outcome, found.silent_fault) == (Outcome.CONVERT_FAILED, None)
    assert [step.verdict for step in found.steps] == ["clear", "failed"]
    assert found.log is not None


def test_findings_are_ordered_by_gravity_and_say_what_happened(written: Written) -> None:
    grave = [finding.severity for finding in written.report.findings]
    assert grave == sorted(grave, key=["fault", "warning", "note"].index)
    (level,) = texts(written, "slower_level")
    assert "level 2 is slower than at level 0, by 40.0 %" in level
    (fault,) = texts(written, "preprocessing_fault")
    assert "with raw instead of plain changes the label of 25.0 % of 20 inputs" in fault
    (slow,) = texts(written, "largest_slowdown")
    assert "22.00 ms" in slow
    assert "(+120 %)" in slow
    assert len(texts(written, "failure")) == 2
    assert len(texts(written, "invalid_output")) == 1
    (note,) = texts(written, "substitution")
    assert note == "net/pytorch: random weights, seed 1."


def test_gates_judge_the_worst_pair(written: Written) -> None:
    gates = {gate.name: gate for gate in written.report.gates}
    assert (gates["max_disagreement"].value, gates["max_disagreement"].ok) == (0.5, False)
    assert gates["max_slowdown"].value == pytest.approx(40.0)
    assert not gates["max_slowdown"].ok
    assert gates["max_disagreement"].variants == ["torch", "as-keras"]
    assert gates["max_slowdown"].variants == ["tvm-0", "tvm-2"]
    page = (written.folder / "report.html").read_text()
    assert 'pytorch · torch <span class="note">against</span> pytorch → onnx → keras · keras</td>' in page
    assert not written.report.gates_ok


def test_questions_have_one_row_for_each_pair_that_answers_them(written: Written) -> None:
    rq1, rq4 = written.report.questions.RQ1, written.report.questions.RQ4
    assert [(row[1], row[2]) for row in rq1.rows] == [("pytorch", "keras"), ("pytorch", "onnx")]
    at = rq4.columns.index("time_change_pct")
    levels = {(row[5], row[6]): row[at] for row in rq4.rows}
    assert levels == {
        (0, 2): pytest.approx(40.0), (0, 4): pytest.approx(-50.0), (2, 4): pytest.approx(-100 * 9 / 14),
    }  # fmt: skip
    assert written.report.questions.RQ5.rows == []


def test_sensitivity_names_the_axis_that_matters_most(written: Written) -> None:
    found = written.report.questions.sensitivity
    rows = {row[1]: dict(zip(found.columns, row, strict=True)) for row in found.rows}
    assert set(rows) == {"conversion", "engine", "framework", "optimization", "preprocessing"}
    # Preprocessing changes 5 of 20 labels; of the two conversions that ran one changes 10, the other none.
    assert rows["preprocessing"]["mean_disagreement"] == 0.25
    assert rows["conversion"]["max_disagreement"] == 0.5
    assert rows["optimization"]["mean_disagreement"] == 0.0
    # Changes of time along optimization are 40, −50 and −64 %; keras takes twice the time of pytorch.
    assert rows["optimization"]["median_time_change_pct"] == pytest.approx(50.0)
    assert rows["framework"]["median_time_change_pct"] == pytest.approx(100.0)
    assert found.strongest == {"net": Strongest(labels="conversion", times="framework")}


def test_the_passes_that_ran_are_told_of_every_compiled_variant(written: Written) -> None:
    assert variant(written, "tvm-2").passes == ["LegalizeOps", "CPUSchedule"]
    assert variant(written, "torch").passes == []


def test_kernels_in_plain_loops_are_a_finding(written: Written) -> None:
    assert (variant(written, "tvm-2").kernels, variant(written, "tvm-2").unscheduled) == (8, ["dense", "softmax"])
    assert (variant(written, "tvm-4").kernels, variant(written, "tvm-4").unscheduled) == (8, [])
    assert variant(written, "torch").kernels is None
    (text,) = texts(written, "unscheduled_kernels")
    assert text.startswith("pytorch · tvm level 2: 2 of 8 kernels kept plain loops")
    assert "dense, softmax" in text
    assert text in (written.folder / "report.html").read_text()


def test_disagreement_is_symmetric_and_matches_the_pairs(written: Written) -> None:
    (matrix,) = written.report.disagreement
    assert matrix.groups[0] == ["torch", "tvm-0", "tvm-2", "tvm-4"], "they give the same label for every input"
    assert matrix.of == sum(map(len, matrix.groups)) == 8
    shares = np.array(matrix.top1, float)
    assert (shares == shares.T).all()
    assert (np.diag(shares) == 0).all()
    at = {id: place for place, group in enumerate(matrix.groups) for id in group}
    assert shares[at["torch"], at["as-keras"]] == 0.5
    # keras differs in rows 0–3, as-keras in 0–9 in the same way: 6 of 20 differ between them.
    assert shares[at["keras"], at["as-keras"]] == pytest.approx(0.3)


def test_seconds_by_stage_add_up_and_the_overhead_is_nought_on_one_after_the_other(written: Written) -> None:
    stages = written.report.sweep.seconds_by_stage
    assert stages["convert"] == 3.0
    assert stages["compile"] == 4.0
    assert written.report.sweep.toolchain["tool-of-convert"] == "1.0"


def test_every_difference_is_in_parquet(written: Written) -> None:
    rows = pq.read_table(written.folder / "differences.parquet").to_pylist()
    found = {
        row["input"]: (row["label_a"], row["label_b"]) for row in rows if (row["a"], row["b"]) == ("torch", "as-keras")
    }
    assert found == {f"photo_{row:02d}.jpg": (row, (row + 1) % 10) for row in range(10)}
    assert len(rows) == sum(one.n_differ or 0 for one in written.report.pairs)


def test_every_single_repeat_is_in_parquet(written: Written) -> None:
    table = pq.read_table(written.folder / "times.parquet")
    assert table.num_rows == 8 * 40
    one = table.filter(np.array([value == "tvm-4" for value in table["variant"].to_pylist()]))
    assert float(np.median(one["ns"].to_numpy())) == pytest.approx(5e6)
    assert one.slice(0, 8)["repeat"].to_pylist() == list(range(8))


def test_answers_are_in_parquet_and_invalid_ones_are_empty(written: Written) -> None:
    rows = {
        (row["variant"], row["input"]): row for row in pq.read_table(written.folder / "outputs.parquet").to_pylist()
    }
    assert len(rows) == 8 * 20
    assert rows["torch", "photo_13.jpg"]["labels"] == [3, 4, 5, 6, 7]
    assert rows["torch", "photo_13.jpg"]["scores"] == [10, 9, 8, 7, 6]
    assert rows["as-onnx", "photo_07.jpg"] == rows["as-onnx", "photo_07.jpg"] | {
        "valid": False,
        "labels": [],
        "scores": [],
    }


def test_csv_tables_have_a_row_for_each_record(written: Written) -> None:
    report = written.report
    for name in ("variants", "conversions", "pairs", "findings", "gates"):
        with (written.folder / f"{name}.csv").open() as file:
            assert len(list(csv.DictReader(file))) == len(getattr(report, name)), name
    with (written.folder / "variants.csv").open() as file:
        by_id = {row["id"]: row for row in csv.DictReader(file)}
    assert float(by_id["tvm-2"]["time_ms.median"]) == pytest.approx(14.0)
    assert by_id["as-tflite"]["error.stage"] == "convert"


class Page(HTMLParser):
    """Ids, images, outward links and scripts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.images: list[str] = []
        self.outward: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        have = dict(attrs)
        self.ids |= {have["id"] or ""} if "id" in have else set()
        self.scripts += tag == "script"
        self.images += [have["src"] or ""] if tag == "img" else []
        links = [value or "" for name, value in attrs if name in ("href", "src")]
        self.outward += [link for link in links if link.startswith(("http:", "https:", "//"))]


def test_page_is_self_contained_escaped_and_has_its_sections(written: Written) -> None:
    text = (written.folder / "report.html").read_text()
    page = Page()
    page.feed(text)
    wanted = {
        "findings",
        "gates",
        "agreement",
        "conversions",
        "labels-times",
        "spread",
        "changed",
        "failures",
        "questions",
        "settings",
    }
    assert wanted <= page.ids
    assert not page.outward
    assert page.scripts == 1, "nothing that a message says may become a script"
    assert HOSTILE not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    # Rows 0 to 9 are disputed; each has its photo. The one step with a fault has three maps.
    kinds = Counter(image.split(";")[0] for image in page.images)
    assert kinds == {"data:image/jpeg": 10, "data:image/png": 3}
    assert len(text) < 400_000


def test_labels_that_the_model_has_no_class_for_are_a_finding_and_give_no_accuracy(tmp_path: Path) -> None:
    from deltann_analyzer.handler import write_report

    made = MadeSweep(LocalStore(tmp_path / "store"))
    made.variant("torch", "pytorch", changed())
    made.write(study(), truth=[*range(19), 999])
    report = write_report(made.store, "s-1", tmp_path / "report", tmp_path / "scratch")
    assert [one.accuracy_top1 for one in report.variants] == [None]
    (found,) = [finding for finding in report.findings if finding.kind == "class_mismatch"]
    assert "labels up to 999, but the model answers 10 classes" in found.text


def test_a_sweep_of_which_nothing_ran_still_has_a_report(tmp_path: Path) -> None:
    from deltann_analyzer.handler import write_report

    made = MadeSweep(LocalStore(tmp_path / "store"))
    failed = made.convert("pytorch", "onnx", fails="no such operator")
    made.conversion("c", ("pytorch", "onnx"), (failed,))
    made.variant("as-onnx", "onnx", conversion="c", chain=("onnx",), convert_jobs=(failed,), lost_by=failed)
    made.write(study(gates={}), truth=[None] * 20)
    report = write_report(made.store, "s-1", tmp_path / "report", tmp_path / "scratch")
    assert report.gates_ok
    assert [finding.kind for finding in report.findings if finding.severity == "fault"] == ["failure"]
    assert (tmp_path / "report" / "report.html").exists()
