"""A sweep whose modules run on this processor and on an OpenCL device: ``make test-opencl``."""

from __future__ import annotations

from pathlib import Path

import pytest

from .sweeps import sweep

pytestmark = pytest.mark.opencl

STUDY = """
schema: deltann.study/1
name: opencl
models:
  - name: mobilenet_v2
    natives: [{source: "torchvision:mobilenet_v2@random(seed=1)", preprocessing: torchvision}]
    preprocessing: [torchvision]
data: {source: "foolbox:imagenet", limit: 2}
compile: {levels: [3], targets: [host, opencl]}
timing: {inputs: 2, repeats: 3}
"""


def test_an_opencl_device_is_one_like_any_other(tmp_path: Path) -> None:
    spec = tmp_path / "opencl.yaml"
    spec.write_text(STUDY)
    swept = sweep(spec, tmp_path / "home", tmp_path / "report")
    assert swept.exit_code == 0
    variants = {one["id"]: one for one in swept.report["variants"]}
    assert {one["outcome"] for one in variants.values()} == {"ok"}
    (pair,) = (one for one in swept.report["pairs"] if one["axis"] == "target")
    host, opencl = variants[pair["a"]], variants[pair["b"]]
    assert (host["target"], opencl["target"]) == ("host", "opencl")
    assert host["device"] != opencl["device"]
    assert pair["n"] == 2
    assert pair["top1_disagreement"] == 0
    assert pair["errors"]["linear"]["abs"]["max"] < 1e-3
    assert host["time_ms"]["median"] > 0
    assert opencl["time_ms"]["median"] > 0
