"""Each scheme on networks of one product, against the arithmetic done by hand; and calibration sets that are none."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from deltann.errors import JobFailure
from deltann.preprocess.steps import Recipe

WEIGHTS = np.array([[0.5, -1.0], [0.25, 2.0], [-0.75, 1.5]], np.float32)
SET = np.array([[0.2, -0.4, 1.0], [1.5, 0.1, -0.5], [-1.0, 0.7, 0.3]], np.float32)
NONE = Recipe(name="none").model_dump()


@pytest.fixture(scope="module")
def product(tmp_path_factory):
    path = tmp_path_factory.mktemp("product") / "product.onnx"
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, side]) for name, side in (("x", 3), ("y", 2)))
    graph = helper.make_graph(nodes, "product", [x], [y], [numpy_helper.from_array(WEIGHTS, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


@pytest.fixture(scope="module")
def dense(tmp_path_factory):
    import keras

    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Input((64,)), keras.layers.Dense(16, use_bias=False)])
    path = tmp_path_factory.mktemp("dense") / "dense.keras"
    model.save(path)
    return path, model.layers[0].get_weights()[0]


def shard(converter, folder, inputs):
    np.save(folder / "set.npy", inputs)
    return converter.store.put_path(folder / "set.npy")


def quantised(converter, path, scheme, folder, inputs=None):
    native = converter.resolve(path)
    params = {"scheme": scheme, "info": native.data.info.model_dump()}
    sources = {"model": native.artifacts["model"]}
    if inputs is not None:
        params |= {"recipe": NONE, "data_kind": "tensors", "inputs": len(inputs)}
        sources["calibration"] = shard(converter, folder, inputs)
    made = converter.call("quantize", params, sources)
    return made.data, converter.store.materialise(made.artifacts["model"], converter.cache)


def run(path, x):
    import onnxruntime

    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


def affine(values, low, high, bottom, top):
    """To the integers from ``bottom`` to ``top`` and back, 0 among the levels."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = np.float32((high - low) / (top - bottom))
    zero = np.rint(bottom - low / scale)
    return ((np.clip(np.rint(values / scale) + zero, bottom, top) - zero) * scale).astype(np.float32)


def test_dynamic_int8_is_the_product_of_both_sides_quantised(converter, product, tmp_path):
    data, path = quantised(converter, product, "ort-dynamic-int8", tmp_path)
    assert (data.calibrated_on, data.info.format) == (0, "onnx")
    weights = affine(WEIGHTS, WEIGHTS.min(), WEIGHTS.max(), 0, 255)
    for x in SET[:, None]:
        expected = affine(x, x.min(), x.max(), 0, 255) @ weights
        np.testing.assert_allclose(run(path, x), expected, atol=1e-5)
        assert 1e-5 < np.abs(expected - x @ WEIGHTS).max() < 0.05


def test_static_int8_has_the_ranges_of_its_calibration_set(converter, product, tmp_path):
    data, path = quantised(converter, product, "ort-static-int8", tmp_path, SET)
    assert data.calibrated_on == 3
    right = SET @ WEIGHTS
    most = np.abs(WEIGHTS).max()
    weights = np.rint(WEIGHTS / (most / 127)) * (most / 127)
    for x in SET[:, None]:
        taken = affine(x, SET.min(), SET.max(), -128, 127) @ weights
        expected = affine(taken, right.min(), right.max(), -128, 127)
        step = (right.max() - right.min()) / 255
        assert np.abs(run(path, x) - expected).max() < step * 1.01, "at most where a tie was rounded otherwise"


def tensors(path):
    """Name, values and quantisation of every constant."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    # a delegate would take the constants in
    runner = Interpreter(str(path), experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    runner.allocate_tensors()
    found = {}
    for one in runner.get_tensor_details():
        if tuple(one["shape"]) == (16, 64):
            found[one["dtype"].__name__] = (runner.get_tensor(one["index"]), one["quantization_parameters"]["scales"])
    return found


def test_tflite_float16_rounds_weights_to_half_precision(converter, dense, tmp_path):
    path, weights = dense
    data, made = quantised(converter, path, "tflite-float16", tmp_path)
    assert np.array_equal(tensors(made)["float16"][0], weights.T.astype(np.float16))
    assert data.size_after < data.size_before
    assert 0 < data.parity.max_rel < 1e-2


@pytest.mark.parametrize("scheme", ["tflite-dynamic-int8", "tflite-full-int8"])
def test_tflite_int8_weights_are_the_nearest_of_255_levels(converter, dense, tmp_path, scheme):
    path, weights = dense
    inputs = np.random.default_rng(0).normal(size=(20, 64)).astype(np.float32)
    data, made = quantised(converter, path, scheme, tmp_path, inputs if scheme == "tflite-full-int8" else None)
    stored, scales = tensors(made)["int8"]
    each = np.abs(weights.T).max(axis=1) / 127
    expected = each if len(scales) == 16 else [each.max()]
    np.testing.assert_allclose(scales, expected, rtol=1e-5)
    assert np.abs(stored - weights.T / np.reshape(scales, (-1, 1))).max() <= 0.5001
    assert 0 < data.parity.max_rel < 0.1
    assert (data.info.input.dtype, data.info.output.dtype) == ("float32", "float32")


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (None, "needs a calibration set"),
        (np.full((2, 3), np.nan, np.float32), "2 of the 2 inputs of the calibration set hold NaN"),
    ],
)
def test_a_calibration_set_that_is_none_is_a_finding_that_says_so(converter, product, tmp_path, inputs, words):
    with pytest.raises(JobFailure, match=words) as failed:
        quantised(converter, product, "ort-static-int8", tmp_path, inputs)
    assert failed.value.stage == "calibrate"


def test_a_calibration_set_of_other_inputs_is_the_tools_own_refusal(converter, product, tmp_path):
    with pytest.raises(
        JobFailure, match=r"ort-static-int8 could not quantise the model: .*invalid dimensions"
    ) as failed:
        quantised(converter, product, "ort-static-int8", tmp_path, np.zeros((2, 5), np.float32))
    assert failed.value.outcome == "convert_failed"
