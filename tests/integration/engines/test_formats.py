"""What a fresh process has to show: nothing inside a model file runs, threads are those asked for, short files fail."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from deltann_engines.base import load
from deltann_engines.describe import describe
from deltann_engines.parity import outputs, seeded_inputs

SHARED = Path(os.environ.get("DELTANN_SHARED", Path(__file__).resolve().parents[4] / "shared"))
MODELS = SHARED / "data" / "models"

needs_models = pytest.mark.skipif(not MODELS.is_dir(), reason=f"the shared models are not at {MODELS} (DELTANN_SHARED)")


def child(code, *arguments):
    """Run code in a fresh process: the lines it prints."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


@needs_models
def test_a_quantised_model_is_described_with_its_scales_and_answers_within_them():
    path = MODELS / "efficientnet_lite0" / "efficientnet_lite0_int8.tflite"
    info = describe(path, "tflite")
    assert info.input.dtype == "uint8"
    assert info.input.quantisation.scale == pytest.approx(0.012566, rel=1e-4)
    assert info.input.quantisation.zero_point == 131
    assert (info.classes, info.class_offset, info.output_kind) == (1000, 0, "probabilities")
    with load("tflite", path, info) as session:
        x = seeded_inputs(info, 2, seed=5)
        stored = np.stack([session.run(row[None])[0] for row in x])
        real = outputs(session, x)
    assert stored.dtype == np.uint8
    np.testing.assert_array_equal(real, stored.astype(np.float32) / 256)


SHORT = """
import sys
from pathlib import Path
from deltann.errors import ModelError
from deltann_engines.describe import describe
try:
    describe(Path(sys.argv[1]), "savedmodel")
except ModelError as error:
    print("REFUSED", error)
"""


@needs_models
def test_a_truncated_saved_model_is_one_paragraph(tmp_path):
    folder = tmp_path / "short"
    folder.mkdir()
    whole = (MODELS / "mobilenet_v2" / "saved_model" / "saved_model.pb").read_bytes()
    (folder / "saved_model.pb").write_bytes(whole[: len(whole) // 2])
    (answer,) = [line for line in child(SHORT, folder) if line.startswith("REFUSED")]
    assert answer.startswith("REFUSED short cannot be read as a savedmodel model: ")
    assert answer.endswith("save it again, or declare its format.")


PICKLE = """
import io, os, pickle, sys, zipfile
from pathlib import Path
import torch
from deltann.errors import ModelError
from deltann_engines.describe import describe

class Payload:
    def __reduce__(self):
        return os.mkdir, (sys.argv[2],)

folder = Path(sys.argv[1])
plain = folder / "plain.pt2"
torch.export.save(torch.export.export(torch.nn.Linear(4, 3).eval(), (torch.zeros(1, 4),)), plain)
assert describe(plain, "pt2").classes == 3
archive = zipfile.ZipFile(plain)

def change(to, edit, more=()):
    with zipfile.ZipFile(folder / to, "w", zipfile.ZIP_STORED) as out:
        for name in archive.namelist():
            out.writestr(name, edit(name, archive.read(name)))
        for name in more:
            out.writestr(name, pickle.dumps(Payload()))

saved = io.BytesIO()
torch.save((Payload(),), saved)
change("inputs.pt2", lambda name, data: saved.getvalue() if "sample_inputs" in name else data)
root = archive.namelist()[0].split("/")[0]
change("opaque.pt2", lambda name, data: data, [f"{root}/data/constants/opaque_obj_0"])
for name in ("inputs.pt2", "opaque.pt2"):
    try:
        describe(folder / name, "pt2")
        print("DESCRIBED", name)
    except ModelError as error:
        print("REFUSED", error)
"""


def test_a_pickle_inside_an_exported_program_is_refused_and_never_run(tmp_path):
    lines = child(PICKLE, tmp_path, tmp_path / "ran")
    answers = [line for line in lines if line.startswith(("REFUSED", "DESCRIBED"))]
    assert len(answers) == 2
    for name, answer in zip(("inputs.pt2", "opaque.pt2"), answers, strict=True):
        assert answer.startswith(f"REFUSED {name} holds pickled objects or compiled libraries"), answer
    assert not (tmp_path / "ran").exists()


THREADS = """
import sys
from deltann_engines.base import prepare
prepare(sys.argv[1], 2)
if sys.argv[1] == "torch":
    import torch
    print("THREADS", torch.get_num_threads())
else:
    import tensorflow as tf
    print("THREADS", tf.config.threading.get_intra_op_parallelism_threads())
    tf.constant(1.0) + 1.0
    prepare(sys.argv[1], 2)
    try:
        prepare(sys.argv[1], 1)
    except RuntimeError:
        print("REFUSED")
"""


@pytest.mark.parametrize(("engine", "said"), [("torch", ["THREADS 2"]), ("tensorflow", ["THREADS 2", "REFUSED"])])
def test_threads_are_what_was_asked_for(engine, said):
    lines = child(THREADS, engine)
    assert [line for line in lines if line.startswith(("THREADS", "REFUSED"))] == said


CHANNELS_FIRST = """
from deltann_engines.base import prepare
prepare("tensorflow", 1)
import tensorflow as tf
convolve = tf.function(lambda x, w: tf.nn.conv2d(x, w, 1, "SAME", data_format="NCHW"))
print("SUMS", convolve(tf.ones([1, 3, 4, 4]), tf.ones([3, 3, 3, 1])).numpy()[0, 0].astype(int).tolist())
"""


def test_tensorflow_convolves_channels_first_on_every_processor():
    """Without AVX-512 TensorFlow's own default leaves oneDNN out, and with it every NCHW convolution."""
    (line,) = [line for line in child(CHANNELS_FIRST) if line.startswith("SUMS")]
    corner, side, inner = 12, 18, 27
    edge, middle = [corner, side, side, corner], [side, inner, inner, side]
    assert line == f"SUMS {[edge, middle, middle, edge]}"


COMPUTED_LAST = """
import os
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
from deltann_engines.base import prepare
prepare("keras", 1)
import keras
import numpy as np
from deltann_engines.channels_first import compute_channels_last
random = np.random.default_rng(0)

def model(data_format, shape):
    x = inputs = keras.Input(shape)
    options = {"data_format": data_format}
    x = keras.layers.Conv2D(8, 3, strides=2, padding="same", name="strided", **options)(x)
    x = keras.layers.DepthwiseConv2D(3, activation="relu", name="depthwise", **options)(x)
    x = keras.layers.Conv2D(4, 1, use_bias=False, name="pointwise", **options)(x)
    x = keras.layers.Conv2D(4, 3, dilation_rate=2, groups=2, padding="same", name="grouped", **options)(x)
    return keras.Model(inputs, x)

first, last = model("channels_first", (3, 17, 15)), model("channels_last", (17, 15, 3))
for layer in last.layers[1:]:
    layer.set_weights([random.standard_normal(one.shape).astype("float32") for one in layer.get_weights()])
    first.get_layer(layer.name).set_weights(layer.get_weights())
x = random.standard_normal((2, 17, 15, 3)).astype("float32")
expected = np.moveaxis(last(x).numpy(), 3, 1)
moved = compute_channels_last(first)
found = moved(np.moveaxis(x, 3, 1)).numpy()
print("SAME", found.shape, np.abs(found - expected).max() < 1e-5 * np.abs(expected).max())
print("SHARED", compute_channels_last(last) is last, [layer.name for layer in moved.layers[1:]])
"""


def test_channels_first_convolutions_are_computed_channels_last_and_give_the_same():
    """The first layer is as wide as it has channels, where Keras itself adds the bias along the wrong axis."""
    lines = [line for line in child(COMPUTED_LAST) if line.startswith(("SAME", "SHARED"))]
    assert lines == [
        "SAME (2, 4, 7, 6) True",
        "SHARED True ['strided', 'depthwise', 'pointwise', 'grouped']",
    ]
