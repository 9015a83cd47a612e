from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from deltann_analyzer.handler import analyze
from deltann_analyzer.service import SERVICE
from deltann_analyzer.summary import summary
from made_sweep import SWEEP
from written_report import Written

from deltann.kinds.analyze import AnalyzeData, AnalyzeParams
from deltann.service import JobContext


def test_summary_is_five_lines_with_the_figures_of_the_report(written: Written) -> None:
    lines = summary(written.report)
    assert len(lines) == 5
    assert lines[0] == "Ran 7 of 10 variants on 20 inputs; 1 of 3 conversions kept the model."
    assert lines[1] == "Labels: differ in 3 of 10 pairs, at most on 50.0 % of inputs (axis conversion)."
    assert "-64 % to +40 %" in lines[2]
    assert lines[3].startswith("Faults: 5; the first: net: converting pytorch to keras")
    assert lines[4].startswith("Gates: 2 of 2 broken (max_disagreement 0.5 > 0.2, max_slowdown 40 > 30)")


def test_handler_stores_the_report_folder(written: Written, tmp_path: Path) -> None:
    kind = SERVICE.kind("analyze")
    context = JobContext(
        store=written.store, sweep=SWEEP, job=SimpleNamespace(), inputs={}, workdir=tmp_path, cache=tmp_path / "cache"
    )  # type: ignore[arg-type]
    produced = analyze(AnalyzeParams(), context)
    folder = written.store.materialise(produced.artifacts["report"], tmp_path / "cache")
    assert {"report.json", "report.html", "differences.parquet", "variants.csv"} <= {
        path.name for path in folder.iterdir()
    }
    data = AnalyzeData.model_validate(produced.data.model_dump())  # type: ignore[union-attr]
    assert not data.gates_ok
    assert data.summary == summary(written.report)
    assert kind.handler == "deltann_analyzer.handler:analyze"
