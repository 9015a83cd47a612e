"""The jobs as a worker's child does them, over a set of inputs."""

import io
import json
import re
import subprocess
import sys

import numpy as np
import onnx
import pytest
from deltann_converter.repair.jobs import localize_model, repair_model
from deltann_converter.repair.patch import apply_edits
from deltann_engines.describe import describe
from deltann_engines.graphs.onnx import load_session
from PIL import Image
from pydantic import TypeAdapter

from deltann.data.shards import write_image_shard
from deltann.errors import JobFailure
from deltann.faults.edits import Edit
from deltann.faults.layers import Layers
from deltann.faults.suspect import Suspect
from deltann.job import Job
from deltann.kinds.repair import LocalizeParams, RepairParams
from deltann.preprocess.steps import Channels, Normalise, Recipe
from deltann.service import JobContext
from deltann.store import open_store

NONE = Recipe(name="none")


class Jobs:
    def __init__(self, folder):
        self._folder, self._count = folder, 0
        self.store = open_store(str(folder / "store"))

    def __call__(self, handler, source, target, inputs, kind="tensors", target_recipe=NONE, source_recipe=NONE):
        self._count += 1
        workdir = self._folder / f"work{self._count}"
        workdir.mkdir()
        paths = {}
        for role, model in (("source", source), ("target", target)):
            paths[role] = self._folder / f"{role}{self._count}.onnx"
            onnx.save(model, paths[role])
        shard = inputs
        if isinstance(inputs, np.ndarray):
            shard = self._folder / "x.npy"
            np.save(shard, inputs)
        info = describe(paths["source"], "onnx")
        params = (LocalizeParams if handler is localize_model else RepairParams)(
            source="onnx",
            target="onnx",
            source_info=info,
            target_info=info,
            source_recipe=source_recipe,
            target_recipe=target_recipe,
            data_kind=kind,
        )
        sources = {role: self.store.put_path(path) for role, path in paths.items()}
        sources["shard0"] = self.store.put_path(shard)
        job = Job(index=0, kind="repair", params={}, queue="converter", job_id="0", sources=sources)
        context = JobContext(
            store=self.store, sweep="s", job=job, inputs={}, workdir=workdir, cache=self._folder / "cache"
        )
        return handler(params, context)

    def read(self, produced, role):
        return self.store.materialise(produced.artifacts[role], self._folder / "cache")


@pytest.fixture
def jobs(tmp_path):
    return Jobs(tmp_path)


@pytest.fixture
def inputs():
    return np.random.default_rng(2).normal(size=(12, 16, 16, 3)).astype(np.float32)


def test_two_faults_are_repaired_and_the_patch_list_does_the_same_again(jobs, faulty, inputs):
    case = faulty("residual")
    case.change(case.of_kind("Conv", 1).input[1], lambda w: w * 1.5)
    case.change(case.of_kind("Gemm").input[1], lambda w: np.roll(w, 1, axis=0))
    produced = jobs(repair_model, case.source, case.target, inputs)
    data = produced.data
    assert len(data.before.differing) > 0
    assert data.after.differing == ()
    assert data.after.error < 1e-6
    assert data.stopped == "nothing disagrees"
    patch = TypeAdapter(list[Edit]).validate_python(json.loads(jobs.read(produced, "patch").read_text()))
    repaired = onnx.load(jobs.read(produced, "model"))
    assert apply_edits(case.target, patch).SerializeToString() == repaired.SerializeToString()


def test_a_sound_pair_has_no_suspects_and_no_edits(jobs, faulty, inputs):
    case = faulty("mobile")
    found = jobs(localize_model, case.source, case.target, inputs)
    assert (found.data.suspects, found.data.note, found.data.agreement.error) == (0, "", 0)
    done = jobs(repair_model, case.source, case.target, inputs).data
    assert done.steps == ()


@pytest.mark.parametrize(
    ("steps", "kind"),
    [
        ((Channels(order="bgr"),), "channel order"),
        ((Normalise(std=(2.0,)),), "scale"),
        ((Normalise(mean=(0.5, 0.25, 0.1)),), "mean"),
        ((Channels(order="bgr"), Normalise(mean=(0.5,), std=(0.25, 0.5, 1.0))), "channel order and scale and mean"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_preprocessing_is_named_and_undone_by_nodes_behind_the_input(jobs, faulty, tmp_path, steps, kind):
    random, photos = np.random.default_rng(1), []
    for _ in range(6):
        file = io.BytesIO()
        Image.fromarray(random.integers(0, 256, (16, 16, 3), np.uint8)).save(file, "png")
        photos.append(file.getvalue())
    shard = tmp_path / "photos.zip"
    write_image_shard(shard, photos)
    case = faulty("plain")
    recipes = {"source_recipe": NONE, "target_recipe": Recipe(name="other", steps=steps), "kind": "images"}
    found = jobs(localize_model, case.source, case.target, shard, **recipes)
    (suspect,) = TypeAdapter(list[Suspect]).validate_json(jobs.read(found, "suspects").read_bytes())
    assert (suspect.node, suspect.stage, suspect.kind) == ("x", "preprocessing", kind)
    data = jobs(repair_model, case.source, case.target, shard, **recipes).data
    assert data.before.error > 1e-4
    assert data.after.error < 1e-4
    assert data.after.differing == ()


def test_a_source_that_answers_with_nan_is_refused(jobs, faulty, inputs):
    case = faulty("plain")
    inputs[3] = np.nan
    with pytest.raises(JobFailure, match="the source itself answers 1 of 12 inputs with NaN") as caught:
        jobs(localize_model, case.source, case.target, inputs)
    assert caught.value.outcome == "repair_failed"


def _norm(model, x, value):
    """Of a value that ONNX Runtime computes."""
    with_value = onnx.ModelProto.FromString(model.SerializeToString())
    with_value.graph.output.append(onnx.helper.make_empty_tensor_value_info(value))
    return np.linalg.norm(load_session(with_value).run([value], {with_value.graph.input[0].name: x})[0])


def test_every_layer_is_told_and_the_smallest_part_shows_the_fault(jobs, faulty, inputs):
    case = faulty("residual")
    node = case.of_kind("Conv", 1)
    case.change(node.input[1], lambda w: np.roll(w, 1, axis=0))
    found = jobs(localize_model, case.source, case.target, inputs)
    layers = Layers.model_validate_json(jobs.read(found, "layers").read_bytes())
    own = {one.output: one for one in layers.layers}
    computing = {name for one in case.target.graph.node for name in one.output}
    assert set(own) == computing
    assert [name for name, one in own.items() if one.own_error and one.own_error > 1e-4] == [node.output[0]]
    before = list(own).index(node.output[0])
    assert all(one.error < 1e-5 for one in list(own.values())[:before])
    assert own[node.output[0]].error > 0.1
    assert own[case.target.graph.output[0].name].error > 1e-3
    assert own[node.output[0]].right.shape == own[node.output[0]].found.shape
    assert own[node.output[0]].right.norm == pytest.approx(
        _norm(case.source, inputs[layers.inputs[0]].transpose(2, 0, 1)[None], node.output[0]), rel=1e-5
    )
    assert {one.what for one in layers.pictures} == {"activation", "input 1"}
    folder = jobs.read(found, "reproducers")
    ran = subprocess.run([sys.executable, "1/reproduce.py"], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stderr
    errors = dict(re.findall(r"(\w+)\.onnx: off by ([\d.e-]+)", ran.stdout))
    assert float(errors["model"]) == pytest.approx(own[node.output[0]].own_error, rel=1e-2)
    assert float(errors["repaired"]) < 1e-5
    assert float(errors["source"]) < 1e-5


def test_where_the_fault_moves_some_labels_alone_the_layers_behind_it_are_ranked_first(jobs, faulty):
    case = faulty("residual")
    inputs = np.random.default_rng(5).normal(size=(40, 16, 16, 3)).astype(np.float32)
    node = case.of_kind("Conv", 1)
    case.change(node.input[1], lambda w: w * np.float32(1.2))
    found = jobs(localize_model, case.source, case.target, inputs)
    assert 3 <= len(found.data.agreement.differing) <= 37
    layers = Layers.model_validate_json(jobs.read(found, "layers").read_bytes())
    assert len(layers.inputs) == min(8, len(found.data.agreement.differing)) + 8
    p = {one.output: one.p for one in layers.layers}
    assert all(0 <= value <= 1 for value in p.values())
    assert min(p, key=p.get) in list(p)[list(p).index(node.output[0]) :]
