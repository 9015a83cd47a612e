"""Trained networks converted to CoreML packages, through everything; who answered for CoreML is told in all results."""

from __future__ import annotations

import platform
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from .learnable import STUDY, write_digits, write_text
from .sweeps import SHARED, Swept, sweep

pytestmark = [
    pytest.mark.studies,
    pytest.mark.skipif(find_spec("coremltools") is None, reason="coremltools is not installed: it has no wheel here"),
]
EVALUATOR = "mil-reference (DeltaNN's evaluator, not CoreML)"


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Swept:
    folder = tmp_path_factory.mktemp("coreml")
    write_digits(folder / "digits.npz", 400)
    write_text(folder / "text", 400)
    study: dict[str, Any] = yaml.safe_load(STUDY)
    for model in study["models"]:
        model["train"] |= {"frameworks": ["pytorch"], "instances": 1}
    study["models"].append({**study["models"][1], "name": "gru"})
    study["models"][2]["train"] = {**study["models"][1]["train"], "network": "gru"}
    study["conversions"] = {"pairs": [["pytorch", "coreml"]]}
    path = folder / "coreml.yaml"
    path.write_text(yaml.safe_dump(study))
    return sweep(path, folder / "home", folder / "report")


def test_no_label_changes_on_the_way_to_coreml(swept: Swept) -> None:
    assert swept.exit_code == 0, swept.printed
    assert {(one["outcome"], one["model"]) for one in swept.report["variants"]} == {
        ("ok", "lenet5"),
        ("ok", "lstm"),
        ("ok", "gru"),
    }
    pairs = [pair for pair in swept.report["pairs"] if pair["axis"] == "conversion"]
    assert len(pairs) == 3
    for pair in pairs:
        (errors,) = pair["errors"].values()
        assert pair["top1_disagreement"] == 0
        assert 0 < errors["abs"]["mean"] < 1e-4


def test_the_evaluator_is_named_wherever_it_answered(swept: Swept) -> None:
    (steps,) = zip(*(one["steps"] for one in swept.report["conversions"]), strict=True)
    assert {(step["tool"], step["checked_by"], step["verdict"]) for step in steps} == {
        ("coremltools", EVALUATOR, "clear")
    }
    converted = [one for one in swept.report["variants"] if one["conversion"] is not None]
    assert {(one["engine"], one["library_used"]) for one in converted} == {("mil-reference", EVALUATOR)}
    page = (swept.folder / "report.html").read_text().replace("&#39;", "'")
    assert EVALUATOR in page


MOBILENET = """
schema: deltann.study/1
name: mobilenet
models:
  - name: mobilenet_v2
    natives: [{source: "${DELTANN_SHARED}/data/models/mobilenet_v2/mobilenet_v2.pt2"}]
    preprocessing: [tf]
data: {source: "${DELTANN_SHARED}/data/images", limit: 8}
conversions: {pairs: [[pytorch, coreml]]}
engines: [own]
timing: null
"""


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"the shared data is not at {SHARED} (DELTANN_SHARED)")
def test_mobilenet_keeps_its_labels(tmp_path: Path) -> None:
    path = tmp_path / "mobilenet.yaml"
    path.write_text(MOBILENET)
    report = sweep(path, tmp_path / "home", tmp_path / "report").report
    assert {one["outcome"] for one in report["variants"]} == {"ok"}
    (pair,) = (pair for pair in report["pairs"] if pair["axis"] == "conversion")
    assert (pair["n"], pair["n_differ"]) == (8, 0)


@pytest.mark.skipif(platform.system() == "Darwin", reason="CoreML is here")
def test_coreml_itself_is_refused_here_before_anything_is_run(tmp_path: Path) -> None:
    path = tmp_path / "refused.yaml"
    path.write_text(STUDY.replace("engines: [own]", "engines: [own, coreml]"))
    deltann = Path(sys.executable).with_name("deltann")
    done = subprocess.run([deltann, "sweep", "run", path], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    for words in ("engines.1: coreml predicts on macOS alone", "pool of macOS workers", "mil-reference"):
        assert words in " ".join(done.stderr.split())
