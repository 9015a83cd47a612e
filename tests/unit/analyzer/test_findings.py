"""Findings that the made-up sweep of most tests does not have in all their forms."""

from __future__ import annotations

from pathlib import Path

from deltann_analyzer.handler import write_report
from made_sweep import SWEEP, TRUTH, MadeSweep, study

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
