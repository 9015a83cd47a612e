"""A target that is no ONNX is followed in ONNX: its fault is named there, and the repaired model is ONNX."""

import numpy as np
import onnx
import pytest
import torch
from deltann_converter.repair.jobs import localize_model, repair_model
from deltann_engines.describe import describe
from pydantic import TypeAdapter

from deltann.errors import JobFailure
from deltann.faults.suspect import Suspect
from deltann.job import Job
from deltann.kinds.repair import LocalizeParams, RepairParams
from deltann.preprocess.steps import Recipe
from deltann.service import JobContext
from deltann.store import open_store

NONE = Recipe(name="none")


def network():
    torch.manual_seed(0)
    layers = torch.nn
    return layers.Sequential(
        layers.Conv2d(3, 8, 3, padding=1), layers.ReLU(), layers.Conv2d(8, 8, 3, padding=1), layers.ReLU(),
        layers.AdaptiveAvgPool2d(1), layers.Flatten(), layers.Linear(8, 5),
    ).eval()  # fmt: skip


@pytest.fixture
def exported(tmp_path):
    def export(model, name):
        path = tmp_path / name
        torch.export.save(torch.export.export(model, (torch.zeros(1, 3, 16, 16),)), path)
        return path

    return export


@pytest.fixture
def do(tmp_path):
    store = open_store(str(tmp_path / "store"))

    def run(handler, kind, source, target):
        inputs = tmp_path / "x.npy"
        np.save(inputs, np.random.default_rng(0).normal(size=(10, 16, 16, 3)).astype(np.float32))
        params = kind(
            source="pytorch",
            target="pytorch",
            source_info=describe(source, "pt2"),
            target_info=describe(target, "pt2"),
            source_recipe=NONE,
            target_recipe=NONE,
            data_kind="tensors",
        )
        sources = {
            role: store.put_path(path) for role, path in (("source", source), ("target", target), ("shard0", inputs))
        }
        workdir = tmp_path / f"work-{kind.__name__}"
        workdir.mkdir()
        job = Job(index=0, kind="repair", params={}, queue="converter", job_id="0", sources=sources)
        context = JobContext(store=store, sweep="s", job=job, inputs={}, workdir=workdir, cache=tmp_path / "cache")
        made = handler(params, context)
        return made.data, {role: store.materialise(ref, tmp_path / "cache") for role, ref in made.artifacts.items()}

    return run


def test_a_fault_in_a_pytorch_target_is_named_and_put_right_in_its_onnx(exported, do):
    right, wrong = network(), network()
    with torch.no_grad():
        wrong[2].weight *= 1.5
    source, target = exported(right, "source.pt2"), exported(wrong, "target.pt2")
    data, artifacts = do(localize_model, LocalizeParams, source, target)
    (suspect,) = TypeAdapter(list[Suspect]).validate_json(artifacts["suspects"].read_bytes())
    assert data.followed == "torch-onnx-script"
    assert (suspect.op_type, suspect.stage, suspect.kind) == ("Conv", "parameters", "weights: scaled")
    data, artifacts = do(repair_model, RepairParams, source, target)
    assert data.before.error > 1e-3
    assert data.after.error < 1e-6
    repaired = onnx.load(artifacts["model"])
    weights = next(onnx.numpy_helper.to_array(one) for one in repaired.graph.initializer if "repaired" in one.name)
    assert np.array_equal(weights, right[2].weight.detach().numpy())
    assert (data.info.format, data.info.framework) == ("onnx", "onnx")


def test_a_sound_target_is_not_even_converted(exported, do, monkeypatch):
    source, target = exported(network(), "source.pt2"), exported(network(), "target.pt2")
    monkeypatch.setattr("deltann_converter.repair.pair.follow", lambda *_: pytest.fail("nothing to follow"))
    data, artifacts = do(localize_model, LocalizeParams, source, target)
    assert (data.suspects, data.note, data.followed, artifacts) == (0, "", "", {})


def test_a_target_whose_own_conversion_is_wrong_is_refused(exported, do, monkeypatch, tmp_path):
    right, wrong = network(), network()
    with torch.no_grad():
        wrong[6].bias[2] += 5  # every label is 2
    from deltann_converter.repair import pair
    from deltann_converter.repair.followed import Followed

    other = tmp_path / "other.onnx"
    torch.onnx.export(right, (torch.zeros(1, 3, 16, 16),), other, dynamo=False)
    monkeypatch.setattr(pair, "follow", lambda *_: Followed(other, describe(other, "onnx"), "a tool"))
    source, target = exported(right, "source.pt2"), exported(wrong, "target.pt2")
    with pytest.raises(JobFailure, match="its conversion by a tool answers otherwise: 0 labels differ") as caught:
        do(localize_model, LocalizeParams, source, target)
    assert caught.value.stage == "follow"
