"""A study that trains, converts and attacks, from its data to the report, through everything."""

from __future__ import annotations

import csv

import pytest

from .learnable import write_digits
from .sweeps import Swept, sweep

pytestmark = pytest.mark.studies

STUDY = """
schema: deltann.study/1
name: attacked
data: {source: digits.npz, part: test, limit: 60}
models:
  - name: lenet5
    preprocessing: [none]
    train: {network: lenet5, epochs: 3, batch: 32, optimiser: {kind: sgd, learning_rate: 0.05}}
  - name: lstm
    preprocessing: [none]
    data: {source: text, part: test, limit: 30, seed: 1}
    train: {network: lstm, epochs: 5, batch: 32, optimiser: {kind: adam, learning_rate: 0.01}}
conversions: {pairs: [[keras, onnx], [pytorch, onnx]]}
engines: [own]
timing: null
attacks:
  - {kind: fgsm, epsilon: 0.3, inputs: 40}
  - {kind: boundary, steps: 2000, inputs: 40, budget_seconds: 12}
  - {kind: genetic, inputs: 20, population: 6, generations: 5}
"""


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Swept:
    folder = tmp_path_factory.mktemp("attacked")
    write_digits(folder / "digits.npz", 400)
    (folder / "text").mkdir()
    for ending, word in (("neg", "dull"), ("pos", "fine")):
        fill = [" ".join([word, *(f"w{(at * step) % 40}" for step in range(1, 13))]) for at in range(100)]
        (folder / "text" / f"s.{ending}").write_text("\n".join(fill) + "\n")
    spec = folder / "study.yaml"
    spec.write_text(STUDY)
    return sweep(spec, folder / "home", folder / "report")


def test_every_native_is_attacked_and_its_variants_answer(swept: Swept) -> None:
    assert swept.exit_code == 0, swept.printed
    runs = {(one["attack"], one["instance"]): one for one in swept.report["attacks"]["runs"]}
    assert len(runs) == 6
    for (attack, _), run in runs.items():
        assert run["failed"] is None
        assert run["n"] + run["unfinished"] + run["impossible"] == run["asked"]
        if attack == "fgsm-0.3":
            assert run["linf"] == pytest.approx(0.3, abs=1e-5)
        if attack == "genetic-5":
            assert 0 < run["changed"] <= 0.25
    assert any(run["unfinished"] for (attack, _), run in runs.items() if attack == "boundary-2000")
    rows = swept.report["attacks"]["measures"]
    assert len(rows) == 6 * 2  # the ONNX, and the other framework
    for row in rows:
        assert row["n"] > 0
        if not row["across"]:
            assert row["misclassification"] <= 0.1 or row["attack"].startswith("boundary")
            assert 0 < row["error_abs"] < 1e-4
        if row["attack"].startswith("boundary"):
            assert row["success_before"] > 0.9  # it ends on the other side of the boundary, by definition


def test_tables_and_page(swept: Swept) -> None:
    assert len(list(csv.DictReader((swept.folder / "attack_measures.csv").open()))) == 12
    assert len(list(csv.DictReader((swept.folder / "attack_robustness.csv").open()))) == 4
    page = (swept.folder / "report.html").read_text()
    for words in ("Under attack", "R of the conversions", "were left when its budget was spent"):
        assert words in page
