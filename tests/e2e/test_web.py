"""A model in a browser, through a device pool of its own: the labels that it has outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltann.installed import modules

from .sweeps import REPOSITORY, SHARED, sweep

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (modules() / "onnxruntime-web").is_dir(), reason="onnxruntime-web: make test-web"),
    pytest.mark.skipif(not SHARED.is_dir(), reason=f"the shared data is not at {SHARED} (DELTANN_SHARED)"),
]


def test_mobilenet_answers_in_the_browser_as_it_does_outside(tmp_path: Path) -> None:
    swept = sweep(REPOSITORY / "examples/web.yaml", tmp_path / "home", tmp_path / "report")
    assert swept.exit_code == 0, swept.printed
    outside, inside = swept.report["variants"]
    assert {one["outcome"] for one in (outside, inside)} == {"ok"}
    assert (inside["engine"], inside["pool"]) == ("onnxruntime-web", "web")
    assert "wasm" in inside["library_used"]
    assert "Chrome/" in inside["device"]
    assert inside["time_ms"]["median"] > 0
    (pair,) = swept.report["pairs"]
    assert (pair["axis"], pair["n"], pair["n_differ"]) == ("engine", 20, 0)
    assert pair["errors"]["logits"]["abs"]["max"] < 1e-3
