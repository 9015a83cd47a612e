"""The executor as a worker runs it, its handlers in child processes, over every engine and the same real photos."""

import csv
import io
import os
from pathlib import Path

import numpy as np
import pytest

from deltann.data import write_image_shard
from deltann.digest import digest_value
from deltann.job import Job, JobResult, Plan
from deltann.kinds.execute import ExecuteParams, TimeParams
from deltann.model import ENDS, ENGINE_OF, ModelInfo, Quantisation, TensorSpec
from deltann.outcome import Outcome
from deltann.preprocess.recipes import resolve_recipe
from deltann.store import open_store
from deltann.worker.inline import run_inline

SHARED = Path(os.environ.get("DELTANN_SHARED", Path(__file__).resolve().parents[4] / "shared"))
DATA = SHARED / "data"
N = 20

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"the shared data is not at {DATA} (DELTANN_SHARED)")


def mobilenet(fmt, layout="NHWC", kind="logits", dtype="float32", quantisation=(None, None)):
    shape = (1, 3, 224, 224) if layout == "NCHW" else (1, 224, 224, 3)
    scaled = [None if found is None else Quantisation(scale=found[0], zero_point=found[1]) for found in quantisation]
    return ModelInfo(
        format=fmt,
        input=TensorSpec(name="x", shape=shape, dtype=dtype, layout=layout, quantisation=scaled[0]),
        output=TensorSpec(name="y", shape=(None, 1001), dtype=dtype, quantisation=scaled[1]),
        output_kind=kind,
        classes=1001,
        class_offset=1,
    )


NATIVES = {
    "mobilenet_v2.onnx": mobilenet("onnx", "NCHW"),
    "mobilenet_v2.tflite": mobilenet("tflite"),
    "mobilenet_v2.pt2": mobilenet("pt2", "NCHW"),
    "mobilenet_v2.torchscript.pt": mobilenet("torchscript", "NCHW"),
    "mobilenet_v2.keras": mobilenet("keras"),
    "saved_model": mobilenet("savedmodel"),
    "mobilenet_v2_int8.tflite": mobilenet(
        "tflite", "NHWC", "probabilities", "uint8", ((0.007843137718737125, 127), (1 / 256, 0))
    ),
}


@pytest.fixture(scope="module")
def ends(tmp_path_factory):
    """Name of the native (or ``"time"``) → its result and arrays, all run by one worker; and the photos' labels."""
    folder = tmp_path_factory.mktemp("executor")
    store = open_store(str(folder / "store"))
    with (DATA / "images" / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))[:N]
    photos = folder / "photos.zip"
    write_image_shard(photos, [(DATA / "images" / row["file"]).read_bytes() for row in rows])
    shard = store.put_path(photos)

    jobs = []

    def add(kind, params, model):
        plain = params.model_dump(mode="json")
        jobs.append(
            Job(
                index=len(jobs),
                kind=kind,
                params=plain,
                queue="exec.cpu",
                job_id=digest_value([kind, plain, model.digest]),
                sources={"model": model, "shard": shard},
            )
        )

    for name, info in NATIVES.items():
        shared = {"engine": ENGINE_OF[info.framework], "info": info, "recipe": resolve_recipe("tf", info)}
        model = store.put_path(DATA / "models" / "mobilenet_v2" / name)
        add("execute", ExecuteParams(**shared, start=0, stop=N), model)
        if info.format == "onnx":
            add("time", TimeParams(**shared, inputs=3, repeats=5), model)

    found = {}
    for job, end in zip(jobs, run_inline(Plan(jobs=tuple(jobs)), store, folder / "cache"), strict=True):
        assert isinstance(end, JobResult)
        assert end.outcome == Outcome.OK, end.error
        (ref,) = end.artifacts.values()
        name = "time" if job.kind == "time" else job.sources["model"].name
        found[name] = end, dict(np.load(io.BytesIO(store.read(ref))))
    return found, np.array([int(row["label"]) for row in rows])


@pytest.mark.parametrize("name", NATIVES)
def test_a_native_gives_every_photo_labels_of_the_data_set(ends, name):
    result, arrays = ends[0][name]
    assert {key: (value.dtype.name, value.shape) for key, value in arrays.items()} == {
        "labels": ("int32", (N, 5)),
        "scores": ("float32", (N, 5)),
        "valid": ("bool", (N,)),
        "outputs": ("float32", (N, 1000)),
    }
    assert arrays["valid"].all()
    assert (result.data["n"], result.data["n_invalid"], result.data["classes"]) == (N, 0, 1000)
    np.testing.assert_array_equal(arrays["labels"][:, 0], arrays["outputs"].argmax(axis=1))
    assert (arrays["labels"][:, 0] == ends[1]).mean() >= 0.7


@pytest.mark.parametrize("name", [name for name in NATIVES if "int8" not in name])
def test_the_natives_of_one_set_of_weights_agree_on_every_photo(ends, name):
    reference, arrays = ends[0]["mobilenet_v2.onnx"][1], ends[0][name][1]
    np.testing.assert_array_equal(arrays["labels"][:, 0], reference["labels"][:, 0])
    np.testing.assert_allclose(arrays["outputs"], reference["outputs"], atol=1e-3)
    assert ends[0][name][0].data["space"] == "logits"


def test_the_quantised_model_answers_in_probabilities_without_the_background(ends):
    result, arrays = ends[0]["mobilenet_v2_int8.tflite"]
    assert result.data["space"] == "probabilities"
    np.testing.assert_allclose(arrays["outputs"].sum(axis=1), 1, atol=1e-5)
    agreement = (arrays["labels"][:, 0] == ends[0]["mobilenet_v2.onnx"][1]["labels"][:, 0]).mean()
    assert agreement >= 0.9


def test_every_result_says_how_it_came_about(ends):
    for name in NATIVES:
        result = ends[0][name][0]
        assert result.data["load_ms"] > 0
        assert 1 << 26 < result.data["memory_peak_bytes"] < 1 << 33
        assert result.data["threads"] == 1
        assert result.data["device"]
    torch = ends[0]["mobilenet_v2.pt2"][0]
    assert set(torch.toolchain) >= {"torch", "numpy", "pillow"}


def test_a_time_is_that_of_an_inference(ends):
    result, arrays = ends[0]["time"]
    assert arrays["ns"].shape == (3, 5)
    assert arrays["ns"].dtype == np.int64
    assert arrays["first_ns"].shape == ()
    # 300 million multiply-adds on one core: no less than a millisecond, and here far less than a second.
    assert 1e6 < np.median(arrays["ns"]) < 1e9
    assert result.data["affinity"] == [min(os.sched_getaffinity(0))]
    assert (result.data["n"], result.data["batch"]) == (15, 1)


def test_the_engine_of_every_framework_that_natives_have_was_run():
    native = {engine for framework, engine in ENGINE_OF.items() if framework not in ENDS}
    assert {ENGINE_OF[info.framework] for info in NATIVES.values()} == native
