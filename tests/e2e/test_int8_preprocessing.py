"""Raw bytes into an int8 model are a fault of preprocessing, and the report says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from .sweeps import REPOSITORY, SHARED, sweep

MODEL = SHARED / "data/models/efficientnet_lite0/efficientnet_lite0_int8.tflite"


@pytest.mark.skipif(not MODEL.exists(), reason=f"the shared int8 model is not at {MODEL} (DELTANN_SHARED)")
def test_raw_bytes_change_a_ninth_of_the_labels(tmp_path: Path) -> None:
    swept = sweep(REPOSITORY / "examples/int8_preprocessing.yaml", tmp_path / "home", tmp_path / "report")
    (pair,) = swept.report["pairs"]
    assert (pair["axis"], pair["n"], pair["n_differ"]) == ("preprocessing", 200, 22)
    assert swept.report["findings"][0]["kind"] == "preprocessing_fault"
    assert swept.exit_code == 1  # the study's gate allows 5 %
