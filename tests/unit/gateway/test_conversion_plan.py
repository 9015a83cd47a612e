from __future__ import annotations

import itertools

import pytest
from deltann_gateway.conversion_plan import conversion_plan, framework_of

from deltann.artifact import ArtifactRef
from deltann.errors import InputError
from deltann.model import ENDS, FRAMEWORKS, Framework


def ref(name: str, packing: str = "file") -> ArtifactRef:
    return ArtifactRef.model_validate({"digest": "ab" * 32, "size": 1, "name": name, "packing": packing})


@pytest.mark.parametrize(
    ("source", "target"), [pair for pair in itertools.permutations(FRAMEWORKS, 2) if not ENDS.intersection(pair)]
)
def test_every_pair_goes_through_onnx_from_end_to_end(source: Framework, target: Framework) -> None:
    jobs = conversion_plan(ref("m"), target, source=source).jobs
    passed = [source, *(job.params["target"] for job in jobs[1:])]
    assert passed[-1] == target
    assert "onnx" in passed
    assert [job.params["source"] for job in jobs[1:]] == passed[:-1]
    assert [job.needs for job in jobs] == [{}, *({"model": i} for i in range(len(jobs) - 1))]


@pytest.mark.parametrize(
    ("source", "passed"),
    [("pytorch", ["coreml"]), ("keras", ["coreml"]), ("onnx", ["pytorch", "coreml"]),
     ("tflite", ["onnx", "pytorch", "coreml"])],
)  # fmt: skip
def test_coreml_is_made_from_what_its_tool_reads(source: Framework, passed: list[Framework]) -> None:
    jobs = conversion_plan(ref("m"), "coreml", source=source).jobs
    assert [job.params["target"] for job in jobs[1:]] == passed


def test_a_tool_is_for_the_last_step() -> None:
    jobs = conversion_plan(ref("m.keras"), "tflite", tool="onnx2tf").jobs
    assert [job.params["tool"] for job in jobs[1:]] == [None, "onnx2tf"]


def test_other_options_give_other_job_ids() -> None:
    plans = [
        conversion_plan(ref("m.keras"), "tflite", raw=raw, tool=tool) for raw in (True, False) for tool in (None, "a")
    ]
    assert len({plan.jobs[-1].job_id for plan in plans}) == 4


@pytest.mark.parametrize(
    ("model", "framework"),
    [
        (ref("m.ONNX"), "onnx"),
        (ref("m.pt2"), "pytorch"),
        (ref("m.torchscript.pt"), "pytorch"),
        (ref("saved", "tar"), "tensorflow"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_the_name_tells_the_framework(model: ArtifactRef, framework: Framework) -> None:
    assert framework_of(model) == framework


def test_a_name_that_tells_nothing_and_no_conversion_at_all_are_refused() -> None:
    with pytest.raises(InputError, match="does not tell"):
        conversion_plan(ref("model.bin"), "keras")
    with pytest.raises(InputError, match="already"):
        conversion_plan(ref("m.onnx"), "onnx")
