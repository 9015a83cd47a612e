"""The examples of engines and libraries, on few photos: ``make test-studies``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from .sweeps import REPOSITORY, SHARED, Swept, sweep

pytestmark = [
    pytest.mark.studies,
    pytest.mark.skipif(not SHARED.is_dir(), reason=f"the shared data is not at {SHARED} (DELTANN_SHARED)"),
]


def small(name: str, folder: Path) -> Swept:
    """An example with 20 photos and no timings."""
    study: dict[str, Any] = yaml.safe_load((REPOSITORY / "examples" / name).read_text())
    study["data"]["limit"], study["timing"] = 20, None
    path = folder / name
    path.write_text(yaml.safe_dump(study))
    return sweep(path, folder / "home", folder / "report")


def test_one_model_by_every_engine_that_reads_onnx(tmp_path: Path) -> None:
    report = small("engines.yaml", tmp_path).report
    variants = {variant["id"].partition("@")[2]: variant for variant in report["variants"]}
    assert list(variants) == [
        "onnxruntime disabled", "onnxruntime basic", "onnxruntime extended", "onnxruntime all", "openvino fp32",
        "openvino default", "openvino bf16", "iree O0", "iree O2", "tvm O4",
    ]  # fmt: skip
    assert {variant["outcome"] for variant in report["variants"]} == {"ok"}
    assert [variants[f"onnxruntime {name}"]["opt_level"] for name in ("disabled", "basic", "all")] == [0, 1, 3]
    assert variants["openvino fp32"]["precision_used"] == "fp32"
    own, asked = variants["openvino default"]["precision_used"], variants["openvino bf16"]["precision_used"]
    assert own == asked  # bf16 where the processor has it, else fp32 for both
    silent = {name for one in report["findings"] if one["kind"] == "silent_precision" for name in one["variants"]}
    assert variants["openvino default" if own == "bf16" else "openvino bf16"]["id"] in silent
    exact = {id for id, one in variants.items() if one["precision_used"] in (None, "fp32")}
    for pair in report["pairs"]:
        if {pair["a"].partition("@")[2], pair["b"].partition("@")[2]} <= exact:
            assert pair["n_differ"] == 0
    assert {pair["axis"] for pair in report["pairs"]} == {"engine", "optimization", "precision"}


def test_the_same_files_by_other_kernel_libraries(tmp_path: Path) -> None:
    swept = small("libraries.yaml", tmp_path)
    asked = {variant["id"]: (variant["library"], variant["library_used"]) for variant in swept.report["variants"]}
    assert len(asked) == 7
    assert all(wanted == used for wanted, used in asked.values())
    along = [pair for pair in swept.report["pairs"] if pair["axis"] == "library"]
    assert len(along) == 1 + 1 + 3
    assert all((pair["n"], pair["n_differ"]) == (20, 0) for pair in along)
    natives = [pair for pair in swept.report["pairs"] if pair["axis"] == "framework"]
    assert len(natives) == 3  # the first library of each
    assert swept.exit_code == 0
