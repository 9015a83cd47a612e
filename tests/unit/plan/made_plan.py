"""Studies as staged, the results of their resolve jobs, and the plans of both."""

from __future__ import annotations

from collections import Counter
from typing import Any

from deltann.artifact import ArtifactRef
from deltann.job import JobResult, Plan
from deltann.model import Format, ModelInfo
from deltann.outcome import Outcome
from deltann.plan import plan_resolve, plan_sweep
from deltann.plan.context import SweepContext
from deltann.spec.models import Study

FORMATS: tuple[Format, ...] = ("pt2", "keras", "savedmodel", "tflite", "onnx")


def ref(seed: int, name: str = "model") -> ArtifactRef:
    return ArtifactRef(digest=f"{seed:064x}", size=seed, name=name)


def info(fmt: Format) -> ModelInfo:
    shape = (None, 3, 224, 224) if fmt == "pt2" else (None, 224, 224, 3)
    return ModelInfo.model_validate(
        {
            "format": fmt,
            "input": {"name": "x", "shape": shape, "dtype": "float32", "layout": "NCHW" if fmt == "pt2" else "NHWC"},
            "output": {"name": "y", "shape": (None, 1001), "dtype": "float32"},
            "output_kind": "logits",
            "classes": 1001,
            "class_offset": 1,
            "weights_fingerprint": "a" * 64,
            "graph_fingerprint": "b" * 64,
        }
    )


def study(natives: int = 1, *, preprocessing: Any = ("tf",), own: str | None = None, **more: Any) -> Study:
    return Study.model_validate(
        {
            "schema": "deltann.study/1",
            "name": "s",
            "models": [
                {
                    "name": "m",
                    "natives": [{"source": f"m{i}", "file": ref(i + 1), "preprocessing": own} for i in range(natives)],
                    "preprocessing": preprocessing,
                }
            ],
            "data": {"source": "photos", "archive": ref(99)},
            **more,
        }
    )


def results(one: Study, formats: tuple[Format, ...], inputs: int = 20, shard: int = 500) -> dict[int, JobResult]:
    found = {
        index: JobResult(
            kind="resolve_model",
            result_key=str(index),
            outcome=Outcome.OK,
            artifacts={"model": ref(index + 1)},
            data={"info": info(fmt).model_dump(mode="json"), "note": ""},
        )
        for index, fmt in enumerate(formats)
    }
    shards = [
        {"blob": ref(1000 + start).model_dump(), "start": start, "stop": min(start + shard, inputs)}
        for start in range(0, inputs, shard)
    ]
    manifest = {
        "kind": "images",
        "ids": [f"{i}.jpg" for i in range(inputs)],
        "labels": [None] * inputs,
        "shards": shards,
    }
    found[len(formats)] = JobResult(
        kind="resolve_data", result_key="d", outcome=Outcome.OK, data={"manifest": manifest}
    )
    assert len(plan_resolve(one).jobs) == len(found)
    return found


def planned(
    one: Study, *formats: Format, inputs: int = 20, shard: int = 500
) -> tuple[Plan, SweepContext, Counter[str]]:
    plan = plan_sweep(one, results(one, formats, inputs, shard))
    return plan, SweepContext.model_validate(plan.context), Counter(job.kind for job in plan.jobs)
