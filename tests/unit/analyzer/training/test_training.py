"""Mean, spread and the difference between frameworks, with figures that can be counted by hand."""

from __future__ import annotations

from typing import Any

import pytest
from deltann_analyzer.html.training import training_tables
from deltann_analyzer.training import training_report
from deltann_analyzer.training.spread import differences, spreads

from deltann.artifact import ArtifactRef
from deltann.kinds.resolve import DataManifest, DataShard
from deltann.kinds.train import Epoch
from deltann.model import ModelInfo, TensorSpec
from deltann.outcome import Outcome
from deltann.plan.context import NativeModel, SweepContext, TrainedInstance, Untrained
from deltann.report.models import MeanMax, OutputErrors, Pair, Times, Variant
from deltann.report.training import InstanceMeasures
from deltann.spec.models import Study

CURVE = (Epoch(loss=2.0, accuracy=0.5, validation_accuracy=0.4, learning_rate=0.1, seconds=3.0),) * 2


def native(framework: str, number: int) -> NativeModel:
    info = ModelInfo(
        format="keras" if framework == "keras" else "pt2",
        input=TensorSpec(name="x", shape=(None, 4), dtype="float32"),
        output=TensorSpec(name="y", shape=(None, 2), dtype="float32"),
        output_kind="logits",
    )
    trained = TrainedInstance(seed=number, curves=CURVE, n=9, seconds=6.0, memory_peak_bytes=7, resumed=number - 1)
    name = f"{framework}-{number}"
    return NativeModel(id=f"net/{name}", model="net", instance=name, number=number, info=info, trained=trained)


def variant(id: str, framework: str, instance: str, accuracy: float | None, **more: Any) -> Variant:
    engine = {"keras": "keras", "pytorch": "torch", "onnx": "onnxruntime"}[framework]
    base: dict[str, Any] = {name: None for name in Variant.model_fields if Variant.model_fields[name].is_required()}
    base |= {
        "id": id, "model": "net", "instance": instance, "source": framework, "framework": framework, "chain": [],
        "engine": engine, "precision": "fp32", "library": "default", "preprocessing": "none", "pool": "cpu",
        "toolchain": {}, "outcome": Outcome.OK, "accuracy_top1": accuracy,
    }  # fmt: skip
    return Variant.model_validate(base | more)


def context(**more: Any) -> SweepContext:
    study = Study.model_validate(
        {
            "schema": "deltann.study/1",
            "name": "s",
            "data": {"source": "d", "part": "test"},
            "models": [{"name": "net", "preprocessing": ["none"], "train": {"network": "lenet5"}}],
        }
    )
    shard = DataShard(blob=ArtifactRef(digest="a" * 64, size=1, name="s"), start=0, stop=1)
    manifest = DataManifest(kind="tensors", ids=("0",), labels=(0,), shards=(shard,))
    return SweepContext(sweep="s", study=study, manifest=manifest, conversions=(), variants=(), **more)


def pair(a: str, b: str, disagreement: float, error: float) -> Pair:
    figures = MeanMax(mean=error, max=1.0)
    return Pair(
        a=a, b=b, axis="conversion", same_weights=True, same_graph=True, tainted_by=None, n=10, n_invalid_a=0,
        n_invalid_b=0, top1_disagreement=disagreement,
        errors={"y": OutputErrors(space="logits", abs=figures, rel=figures)},
    )  # fmt: skip


def test_every_instance_is_held_against_itself_and_then_their_mean_and_spread() -> None:
    natives = [native("keras", 1), native("keras", 2), native("keras", 3)]
    before, after = (0.8, 0.9, 1.0), (0.7, 0.9, 0.5)
    variants, pairs = [], []
    for place, one in enumerate(natives):
        ids = f"{one.id}@keras", f"{one.id} → onnx@onnxruntime"
        variants.append(variant(ids[0], "keras", one.instance, before[place], size_bytes=100))
        chain = {"chain": ["keras", "onnx"], "conversion": f"c{place}", "source": "keras"}
        variants.append(variant(ids[1], "onnx", one.instance, after[place], size_bytes=90 + place, **chain))
        pairs.append(pair(*ids, 0.1 * place, 1e-6 * (place + 1)))
    pairs.append(pair(variants[0].id, variants[2].id, 0.9, 9.0))  # two instances: no step of one
    found = training_report(context(natives=natives), variants, pairs)
    assert found is not None
    assert [one.instance for one in found.instances] == ["keras-1", "keras-2", "keras-3"]
    assert {one.way for one in found.instances} == {"→ onnx@onnxruntime"}
    by_measure = {one.measure: one for one in found.spreads}
    lost = by_measure["accuracy_lost"]
    assert (lost.n, lost.mean, lost.std) == (3, pytest.approx(0.2), pytest.approx(0.264575, abs=1e-6))
    assert by_measure["disagreement"].mean == pytest.approx(0.1)
    assert by_measure["error_abs"].mean == pytest.approx(2e-6)
    assert by_measure["size_after"].max == 92
    assert "time_ms_after" not in by_measure
    assert "sum_ms_after" not in by_measure
    shown = training_tables(found)
    assert shown is not None
    assert shown["rows"][0]["cells"][:3] == ["90.0 % ± 10.0 %", "70.0 % ± 20.0 %", "10.0 % ± 10.0 %"]
    assert shown["charts"][0]["resumed"] == 2


def test_the_time_of_a_model_is_that_of_loading_and_of_one_inference() -> None:
    one = native("keras", 1)
    times = Times(median=2.0, mean=2.5, std=None, p95=None, p99=None, first=None, nth=None, drift_pct=None, n=3)
    before = variant(f"{one.id}@keras", "keras", one.instance, 0.5, load_ms=100.0, time_ms=times)
    chain = {"chain": ["keras", "onnx"], "conversion": "c", "source": "keras"}
    after = variant(f"{one.id} → onnx@onnxruntime", "onnx", one.instance, 0.5, load_ms=3.0, **chain)
    found = training_report(context(natives=(one,)), [before, after], [pair(before.id, after.id, 0.0, 0.0)])
    assert found is not None
    (row,) = found.instances
    assert (row.time_ms_before, row.sum_ms_before) == (2.0, 102.0)
    assert (row.load_ms_after, row.time_ms_after, row.sum_ms_after) == (3.0, None, None)


def test_one_instance_has_no_spread() -> None:
    (one,) = spreads([InstanceMeasures(model="m", framework="keras", instance="keras", way="@tvm", accuracy_after=0.5)])
    assert (one.measure, one.n, one.mean, one.std) == ("accuracy_after", 1, 0.5, None)


def accuracies(keras: list[float], pytorch: list[float]) -> tuple[list[Variant], dict[tuple[str, str], int]]:
    found, number = [], {}
    for framework, values in (("keras", keras), ("pytorch", pytorch)):
        for at, value in enumerate(values, 1):
            name = f"{framework}-{at}"
            found.append(variant(f"net/{name}@x", framework, name, value))
            number["net", name] = at
    return found, number


def test_the_same_configuration_in_two_frameworks_is_tested_over_its_pairs() -> None:
    (one,) = differences(*accuracies([0.80, 0.81, 0.82, 0.83, 0.84, 0.85], [0.81, 0.83, 0.85, 0.87, 0.89, 0.91]))
    assert (one.a, one.b, one.n) == ("keras", "pytorch", 6)
    assert one.mean_difference == pytest.approx(0.035)
    assert one.p_value == pytest.approx(2 / 2**6)  # all six of one sign: the two most extreme of 2⁶ assignments


def test_too_few_pairs_have_no_p_and_equal_ones_have_one() -> None:
    (few,) = differences(*accuracies([0.5] * 5, [0.6] * 5))
    assert few.p_value is None
    (equal,) = differences(*accuracies([0.5] * 6, [0.5] * 6))
    assert (equal.p_value, equal.mean_difference) == (1.0, 0.0)


def test_an_instance_that_one_framework_lacks_is_no_pair() -> None:
    variants, number = accuracies([0.5, 0.7, 0.9], [0.5, 0.6])
    (one,) = differences(variants, number)
    assert (one.n, one.mean_a) == (2, pytest.approx(0.6))


def test_a_training_that_failed_is_in_the_report() -> None:
    bad = Untrained(model="net", instance="keras-2", why="no labels.")
    found = training_report(context(natives=(native("keras", 1),), untrained=(bad,)), [], [])
    assert found is not None
    assert [run.failed for run in found.runs] == [None, "no labels."]


def test_a_sweep_that_trains_nothing_has_no_such_part() -> None:
    assert training_report(context(natives=()), [], []) is None
