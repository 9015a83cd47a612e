"""Findings that the made-up sweep of most tests does not have in all their forms."""

from __future__ import annotations

from pathlib import Path

from deltann_analyzer.handler import write_report
from made_sweep import SWEEP, TRUTH, MadeSweep, changed, study

from deltann.engines import EngineOptions
from deltann.kinds.bisect import BisectData, Comparison, NamedNode, NamedPass
from deltann.kinds.bisect import Finding as Found
from deltann.outcome import Outcome
from deltann.report.models import Finding
from deltann.store import LocalStore


def unscheduled(root: Path, kernels_of: dict[str, tuple[str, ...]]) -> list[Finding]:
    made = MadeSweep(LocalStore(root / "store"))
    for at, (id, kernels) in enumerate(kernels_of.items()):
        made.variant(id, "pytorch", TRUTH, engine="tvm", opt_level=at, target="host", schedule="standard",
                     import_job=made.job("import", {}), compile_job=made.compile(kernels))  # fmt: skip
    made.write(study())
    report = write_report(made.store, SWEEP, root / "report", root / "scratch")
    return [finding for finding in report.findings if finding.kind == "unscheduled_kernels"]


def test_variants_that_keep_the_same_plain_loops_are_one_finding(tmp_path: Path) -> None:
    (found,) = unscheduled(tmp_path, {"a": ("softmax",), "b": ("softmax",), "c": ("softmax",), "d": ()})
    assert (found.severity, found.variants, found.value) == ("warning", ["a", "b", "c"], 1 / 8)
    assert found.text.startswith("pytorch · tvm level 0 and 2 more variants: 1 of 8 kernels kept plain loops")


def test_many_kernels_are_counted_and_three_are_named(tmp_path: Path) -> None:
    (found,) = unscheduled(tmp_path, {"a": ("k1", "k2", "k3", "k4", "k5")})
    assert "5 of 8 kernels" in found.text
    assert "k1, k2, k3 and 2 more." in found.text


def test_other_kernels_are_another_finding_the_larger_share_first(tmp_path: Path) -> None:
    found = unscheduled(tmp_path, {"a": ("k1",), "b": ("k1", "k2")})
    assert [finding.variants for finding in found] == [["b"], ["a"]]


def silent(root: Path, *runs: tuple[str, str | None, list[int]]) -> list[Finding]:
    """Findings on OpenVINO, asked for and used precisions and labels given, beside the own engine."""
    made = MadeSweep(LocalStore(root / "store"))
    made.variant("own", "pytorch", TRUTH)
    for precision, used, labels in runs:
        made.variant(precision, "pytorch", labels, engine="openvino", precision=precision,
                     used=EngineOptions(precision=used))  # fmt: skip
    made.write(study())
    report = write_report(made.store, SWEEP, root / "report", root / "scratch")
    assert [v.precision_used for v in report.variants] == [None, *(used for _, used, _ in runs)]
    return [finding for finding in report.findings if finding.kind == "silent_precision"]


def test_a_precision_that_nobody_asked_for_is_a_finding_with_the_labels_it_costs(tmp_path: Path) -> None:
    (found,) = silent(tmp_path, ("default", "bf16", changed(3, 4)), ("fp32", "fp32", TRUTH))
    assert found.text == (
        "pytorch · openvino · default computed in bf16, although nothing was asked and the model is fp32; openvino "
        "gave no warning. Against pytorch · openvino · fp32, 2 of 20 labels differ (10.0 %)."
    )
    assert (found.severity, found.value, found.variants) == ("warning", 0.1, ["default", "fp32"])
    assert len(found.inputs) == 2


def test_a_precision_that_was_asked_for_and_not_used_is_one_too(tmp_path: Path) -> None:
    (found,) = silent(tmp_path, ("bf16", "fp32", TRUTH))
    assert found.text == ("pytorch · openvino computed in fp32, although bf16 was asked; openvino gave no warning.")


def test_what_was_asked_for_and_what_is_not_told_are_none(tmp_path: Path) -> None:
    assert silent(tmp_path, ("default", "fp32", TRUTH), ("fp32", "fp32", TRUTH), ("bf16", None, TRUTH)) == []


def bisected(root: Path, *found: Found, outcome: Outcome = Outcome.OK) -> list[Finding]:
    """Findings on level 4, held against level 0, with what a search found."""
    made = MadeSweep(LocalStore(root / "store"))
    fields = {"engine": "tvm", "target": "host", "schedule": "standard", "import_job": made.job("import", {})}
    made.variant("low", "pytorch", TRUTH, opt_level=0, compile_job=made.compile(), **fields)
    data = BisectData(comparisons=(), findings=found, candidates=9, failed={})
    job = made.job("bisect", {}, outcome=outcome, data=data)
    made.variant("high", "pytorch", changed(3), opt_level=4, compile_job=made.compile(), bisect_job=job, against="low",
                 **fields)  # fmt: skip
    made.write(study())
    report = write_report(made.store, SWEEP, root / "report", root / "scratch")
    return [finding for finding in report.findings if finding.kind == "bisected"]


def culprit(**more: object) -> Found:
    fields = {
        "comparison": Comparison(a="level 0", b="level 4", n=4, differing=(3, 5), error=0.25, symptom="differs"),
        "position": 3,
        "passes": (NamedPass(name="FuseOps", joins="1"), NamedPass(name="FuseTIR", joins="1")),
        "avoided_by": ("FuseOps",),
        "nodes": tuple(NamedNode(name=f"n{place}", op_type="Relu", output=f"v{place}") for place in range(4)),
        "alone": 0.5,
        "minimal": True,
        "reproducer": "level-4",
        "reproduced": True,
    }
    return Found.model_validate(fields | more)


def test_what_a_search_found_is_told_with_passes_and_operators(tmp_path: Path) -> None:
    (found,) = bisected(tmp_path, culprit())
    assert found.text.startswith(
        "pytorch · tvm level 4 against pytorch · tvm level 0: level 4 is otherwise than level 0 by FuseOps and "
        "FuseTIR. It shows on Relu n0, Relu n1, Relu n2 and 1 more alone: a relative error of 0.5. Without FuseOps "
        "they agree. It is reproduced by reproducers/"
    )
    assert found.text.endswith("/level-4.")
    assert (found.severity, found.value, found.variants) == ("warning", 0.25, ["low", "high"])
    assert found.inputs == ["photo_03.jpg", "photo_05.jpg"]


def test_a_fault_of_the_importer_and_a_crash_are_told_as_such(tmp_path: Path) -> None:
    crash = Comparison(a="level 0", b="level 4", n=4, symptom="crashed", message="SIGSEGV")
    right = Comparison(a="ONNX Runtime", b="TVM without passes", n=4, differing=(1,), symptom="differs")
    one, two = bisected(
        tmp_path,
        culprit(comparison=right, passes=(), avoided_by=(), alone=None),
        culprit(comparison=crash, nodes=(), avoided_by=(), reproducer=""),
    )
    assert "TVM without passes is otherwise than ONNX Runtime by what TVM makes of it before any pass." in one.text
    assert "alone: NaN on one side only." in one.text
    assert "No part of the model shows it alone." in two.text
    assert (one.value, two.value) == (None, None)


def test_a_search_that_found_nothing_or_failed_is_no_finding(tmp_path: Path) -> None:
    assert bisected(tmp_path / "nothing") == []
    assert bisected(tmp_path / "failed", culprit(), outcome=Outcome.COMPILE_FAILED) == []
